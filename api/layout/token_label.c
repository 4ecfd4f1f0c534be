/* Tokens made safe for a terminal. */
#include "api/layout/token_label.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

struct range {
    uint32_t first, last;
};

static bool in_any(uint32_t c, const struct range *ranges, size_t count)
{
    for (size_t x = 0; x < count; x++)
        if (c >= ranges[x].first && c <= ranges[x].last)
            return true;
    return false;
}

#define IN(c, ranges) in_any(c, ranges, sizeof(ranges) / sizeof *(ranges))

/* C0 and C1 controls, line and paragraph separators, marks that turn the direction of text. */
static const struct range unsafe[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},   {0x200e, 0x200f},
                                      {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}};
/* Marks that stand on the character before (the common blocks). */
static const struct range combining[] = {{0x300, 0x36f},   {0x483, 0x489},    {0x591, 0x5bd},   {0x610, 0x61a},
                                         {0x64b, 0x65f},   {0x200b, 0x200d},  {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
                                         {0xfe20, 0xfe2f}, {0x1f3fb, 0x1f3ff}};
/* East Asian wide and emoji. */
static const struct range wide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},  {0xac00, 0xd7a3},
                                    {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6},
                                    {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

/* The code point at `at` (valid UTF-8) and its bytes. */
static uint32_t read_character(const char *at, size_t *bytes)
{
    const unsigned char *c = (const unsigned char *)at;
    *bytes = c[0] < 0x80 ? 1 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    uint32_t value = *bytes == 1 ? c[0] : c[0] & (0x7fu >> *bytes);
    for (size_t x = 1; x < *bytes; x++)
        value = value << 6 | (c[x] & 0x3f);
    return value;
}

static size_t width_of(uint32_t c)
{
    return IN(c, combining) ? 0 : IN(c, wide) ? 2 : 1;
}

size_t token_label_width(const char *text)
{
    size_t width = 0;
    size_t bytes;
    for (; *text; text += bytes)
        width += width_of(read_character(text, &bytes));
    return width;
}

/* Copies whole characters while they fit; the ellipsis has room. */
static char *make_safe(const char *token, char out[TOKEN_LABEL_TEXT])
{
    size_t used = 0;
    size_t columns = 0;
    size_t bytes;
    bool cut = token_label_width(token) > TOKEN_LABEL_COLUMNS;
    for (; *token; token += bytes) {
        uint32_t c = read_character(token, &bytes);
        bool safe = !IN(c, unsafe);
        columns += safe ? width_of(c) : 1;
        if (columns > TOKEN_LABEL_COLUMNS - (cut ? 1 : 0) || used + 8 > TOKEN_LABEL_TEXT)
            break;
        memcpy(out + used, safe ? token : REPLACEMENT, safe ? bytes : 3);
        used += safe ? bytes : 3;
    }
    memcpy(out + used, *token ? "\xe2\x80\xa6" : "", *token ? 4 : 1);
    return out;
}

void token_label_append(struct buffer *out, const char *string)
{
    size_t bytes;
    for (; *string; string += bytes) {
        bool safe = !IN(read_character(string, &bytes), unsafe);
        buffer_append(out, safe ? string : REPLACEMENT, safe ? bytes : 3);
    }
}

static char *write_label(struct strings tokens, char letter, size_t index, char out[TOKEN_LABEL_TEXT])
{
    if (tokens.values && tokens.values[index][0])
        return make_safe(tokens.values[index], out);
    snprintf(out, TOKEN_LABEL_TEXT, tokens.values ? "\"\"" : "%c%zu", letter, index);
    return out;
}

char *token_label_query(const struct options *options, size_t i, char out[TOKEN_LABEL_TEXT])
{
    return write_label(options->query_tokens, 'q', i, out);
}

char *token_label_key(const struct options *options, size_t j, char out[TOKEN_LABEL_TEXT])
{
    return write_label(options->key_tokens, 'k', j, out);
}

char *token_label_value(const struct options *options, size_t j, char out[TOKEN_LABEL_TEXT])
{
    return write_label(options->key_tokens, 'v', j, out);
}
