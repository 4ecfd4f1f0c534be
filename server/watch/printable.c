/* Escapes. */
#include "server/watch/printable.h"

#include <stdbool.h>
#include <string.h>

#define DIGITS "0123456789abcdef"

/* Bytes of the character at `c`, a visible one; 0: it is a control character, or none. */
static size_t measure_visible(const unsigned char *c)
{
    size_t length = *c < 0x80 ? 1 : *c >= 0xc2 && *c < 0xe0 ? 2 : *c >= 0xe0 && *c < 0xf0 ? 3 : *c < 0xf5 ? 4 : 0;
    if (*c < 0x20 || *c == 0x7f || (*c >= 0x80 && *c < 0xc2))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    bool control = *c == 0xc2 && c[1] < 0xa0;
    bool overlong = (*c == 0xe0 && c[1] < 0xa0) || (*c == 0xf0 && c[1] < 0x90);
    bool beyond = (*c == 0xed && c[1] >= 0xa0) || (*c == 0xf4 && c[1] >= 0x90); /* surrogates, past U+10FFFF */
    return control || overlong || beyond ? 0 : length;
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
