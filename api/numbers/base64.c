/* Base64, strict in and streaming out. */
#include "api/numbers/base64.h"

#include <stdint.h>

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#define FOREIGN 64

/* 0 .. 63, or FOREIGN. */
static unsigned value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (unsigned)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (unsigned)(c - 'a') + 26;
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0') + 52;
    return c == '+' ? 62 : c == '/' ? 63 : FOREIGN;
}

bool base64_measure(const char *characters, size_t length, size_t *bytes, size_t *bad)
{
    size_t padding = 0;
    while (padding < 2 && padding < length && characters[length - 1 - padding] == '=')
        padding++;
    for (size_t i = 0; i < length - padding; i++)
        if (value_of(characters[i]) == FOREIGN) {
            *bad = i;
            return false;
        }
    *bad = length;
    if (length % 4 != 0)
        return false;
    *bytes = length / 4 * 3 - padding;
    *bad = length - padding;
    /* The last character carries 2 or 4 bits beyond the last byte: they are zero, so that a value has one spelling. */
    unsigned spare = padding == 2 ? 0xf : padding == 1 ? 0x3 : 0;
    return padding == 0 || (value_of(characters[length - padding - 1]) & spare) == 0;
}

static void decode_group(const char *from, size_t count, unsigned char *out)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; i++)
        bits = bits << 6 | (from[i] == '=' ? 0 : value_of(from[i]));
    for (size_t i = 0; i < count; i++)
        out[i] = (unsigned char)(bits >> (16 - 8 * i));
}

void base64_decode(const char *characters, size_t length, unsigned char *out)
{
    for (size_t at = 0; at < length; at += 4, out += 3) {
        size_t count = characters[at + 2] == '=' ? 1 : characters[at + 3] == '=' ? 2 : 3;
        decode_group(characters + at, count, out);
    }
}

static char *encode_group(char *out, const unsigned char *from)
{
    uint32_t bits = (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2];
    for (unsigned i = 0; i < 4; i++)
        *out++ = ALPHABET[bits >> (18 - 6 * i) & 63];
    return out;
}

void base64_append(struct base64 *state, struct buffer *out, const void *bytes, size_t length)
{
    const unsigned char *from = bytes;
    const unsigned char *end = from + length;
    char *room = buffer_reserve(out, (length + 2) / 3 * 4 + 4);
    if (!room)
        return;
    char *at = room;
    while (state->count > 0 && from < end) {
        state->carried[state->count++] = *from++;
        if (state->count == 3) {
            at = encode_group(at, state->carried);
            state->count = 0;
        }
    }
    for (; end - from >= 3; from += 3)
        at = encode_group(at, from);
    while (from < end)
        state->carried[state->count++] = *from++;
    out->length += (size_t)(at - room);
}

void base64_end(struct base64 *state, struct buffer *out)
{
    char group[4];
    if (state->count == 0)
        return;
    for (size_t i = state->count; i < 3; i++)
        state->carried[i] = 0;
    encode_group(group, state->carried);
    for (size_t i = state->count + 1; i < 4; i++)
        group[i] = '=';
    buffer_append(out, group, 4);
    state->count = 0;
}
