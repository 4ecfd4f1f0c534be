/* Escapes. */
#include "server/watch/printable.h"

#include <stdbool.h>
#include <string.h>

#define DIGITS "0123456789abcdef"

/* Well-formed UTF-8 (Unicode, table 3-7) by its first two bytes, without control characters. */
static const struct {
    unsigned char least, most;               /* the first byte */
    unsigned char second_least, second_most; /* the second, where there is one */
    size_t length;
} forms[] = {
    {0x20, 0x7e, 0, 0, 1},       {0xc2, 0xc2, 0xa0, 0xbf, 2}, {0xc3, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
    {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static bool is_between(unsigned char c, unsigned char least, unsigned char most)
{
    return c >= least && c <= most;
}

/* Bytes of the character at `c`, a visible one; 0: it is a control character, or none. */
static size_t measure_visible(const unsigned char *c)
{
    size_t i = 0;
    while (i < sizeof forms / sizeof *forms && !is_between(*c, forms[i].least, forms[i].most))
        i++;
    if (i == sizeof forms / sizeof *forms)
        return 0;
    if (forms[i].length > 1 && !is_between(c[1], forms[i].second_least, forms[i].second_most))
        return 0;
    for (size_t rest = 2; rest < forms[i].length; rest++)
        if (!is_between(c[rest], 0x80, 0xbf))
            return 0;
    return forms[i].length;
}

void printable_text(char *out, size_t size, const char *text)
{
    size_t used = 0;
    while (*text) {
        const unsigned char *c = (const unsigned char *)text;
        size_t length = measure_visible(c);
        const char escape[] = {'\\', 'x', DIGITS[*c >> 4], DIGITS[*c & 15]};
        const char *piece = length > 0 ? text : escape;
        size_t bytes = length > 0 ? length : sizeof escape;
        if (used + bytes >= size)
            break;
        memcpy(out + used, piece, bytes);
        used += bytes;
        text += length > 0 ? length : 1;
    }
    out[used] = '\0';
}

static bool is_plain(unsigned char c)
{
    return c > 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void printable_path(char *out, size_t size, const char *path)
{
    static const char cut[] = "...";
    size_t used = 0;
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        const char escape[] = {'%', DIGITS[c >> 4], DIGITS[c & 15]};
        if (used + sizeof escape + sizeof cut > size) {
            memcpy(out + used, cut, sizeof cut);
            return;
        }
        memcpy(out + used, is_plain(c) ? path : escape, is_plain(c) ? 1 : sizeof escape);
        used += is_plain(c) ? 1 : sizeof escape;
    }
    out[used] = '\0';
}
