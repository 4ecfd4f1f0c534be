/* Base64, strict in and streaming out. */
#include "api/numbers/base64.h"

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the bytes of a group are copied as they lie"
#endif

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* X(character, its six bits) */
/* clang-format off */
#define SIX_BITS(X) \
    X('A', 0) X('B', 1) X('C', 2) X('D', 3) X('E', 4) X('F', 5) X('G', 6) X('H', 7) \
    X('I', 8) X('J', 9) X('K', 10) X('L', 11) X('M', 12) X('N', 13) X('O', 14) X('P', 15) \
    X('Q', 16) X('R', 17) X('S', 18) X('T', 19) X('U', 20) X('V', 21) X('W', 22) X('X', 23) \
    X('Y', 24) X('Z', 25) X('a', 26) X('b', 27) X('c', 28) X('d', 29) X('e', 30) X('f', 31) \
    X('g', 32) X('h', 33) X('i', 34) X('j', 35) X('k', 36) X('l', 37) X('m', 38) X('n', 39) \
    X('o', 40) X('p', 41) X('q', 42) X('r', 43) X('s', 44) X('t', 45) X('u', 46) X('v', 47) \
    X('w', 48) X('x', 49) X('y', 50) X('z', 51) X('0', 52) X('1', 53) X('2', 54) X('3', 55) \
    X('4', 56) X('5', 57) X('6', 58) X('7', 59) X('8', 60) X('9', 61) X('+', 62) X('/', 63)
/* clang-format on */

#define KNOWN 0x1000000U /* in what a character of the alphabet stands for, past its bits */

/* The bits of a character at each of the four places of a group, the first byte lowest; 0: none of the alphabet. */
#define PLACE_0(c, bits) [c] = KNOWN | (bits) << 2,
#define PLACE_1(c, bits) [c] = KNOWN | (bits) >> 4 | ((bits)&15) << 12,
#define PLACE_2(c, bits) [c] = KNOWN | (bits) >> 2 << 8 | ((bits)&3) << 22,
#define PLACE_3(c, bits) [c] = KNOWN | (bits) << 16,
static const uint32_t places[4][256] = {
    {SIX_BITS(PLACE_0)}, {SIX_BITS(PLACE_1)}, {SIX_BITS(PLACE_2)}, {SIX_BITS(PLACE_3)}};

static size_t count_padding(const char *characters, size_t length)
{
    size_t padding = 0;
    while (padding < 2 && padding < length && characters[length - 1 - padding] == '=')
        padding++;
    return padding;
}

size_t base64_bytes(const char *characters, size_t length)
{
    return length < 4 ? 0 : length / 4 * 3 - count_padding(characters, length);
}

/* The three bytes of a group, the first lowest; *known loses KNOWN when a character is none of the alphabet. */
static inline uint32_t read_group(const char *from, uint32_t *known)
{
    const unsigned char *c = (const unsigned char *)from;
    uint32_t first = places[0][c[0]];
    uint32_t second = places[1][c[1]];
    uint32_t third = places[2][c[2]];
    uint32_t fourth = places[3][c[3]];
    *known &= first & second & third & fourth;
    return first | second | third | fourth;
}

/* The last group: padding counts as zero bits, and what is set beyond the bytes is refused, so that a value has one
 * spelling. */
static bool read_last(const char *from, size_t padding, unsigned char *out)
{
    const char group[4] = {from[0], from[1], padding == 2 ? 'A' : from[2], padding > 0 ? 'A' : from[3]};
    uint32_t known = KNOWN;
    uint32_t bytes = read_group(group, &known);
    for (size_t i = 0; i < 3 - padding; i++)
        out[i] = (unsigned char)(bytes >> 8 * i);
    return known && (bytes & 0xffffffU) >> 8 * (3 - padding) == 0;
}

/* Groups up to the last one; a fourth byte is written and then overwritten. */
static bool read_groups(const char *characters, size_t count, unsigned char *out)
{
    uint32_t known = KNOWN;
    for (size_t group = 0; group < count; group++) {
        uint32_t bytes = read_group(characters + 4 * group, &known);
        memcpy(out + 3 * group, &bytes, group + 1 < count ? 4 : 3);
    }
    return known != 0;
}

bool base64_decode(const char *characters, size_t length, unsigned char *out)
{
    if (length == 0 || length % 4 != 0)
        return length == 0;
    size_t groups = length / 4 - 1;
    return read_groups(characters, groups, out) &&
           read_last(characters + 4 * groups, count_padding(characters, length), out + 3 * groups);
}

size_t base64_find_fault(const char *characters, size_t length)
{
    size_t end = length - count_padding(characters, length);
    for (size_t i = 0; i < end; i++)
        if (places[0][(unsigned char)characters[i]] == 0)
            return i;
    return length % 4 != 0 ? length : end;
}

/* --- encoding --- */

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
