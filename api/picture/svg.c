/* Escaping. */
#include "api/picture/svg.h"

#include <string.h>

struct spelling {
    const char *from, *to;
};

#define REPLACEMENT "\xef\xbf\xbd"

static const struct spelling markup[] = {{"&", "&amp;"},
                                         {"<", "&lt;"},
                                         {">", "&gt;"},
                                         {"\"", "&quot;"},
                                         {"'", "&apos;"},
                                         {"\xef\xbf\xbe", REPLACEMENT},
                                         {"\xef\xbf\xbf", REPLACEMENT}};
static const struct spelling print[] = {
    {"-inf", "\xe2\x88\x92\xe2\x88\x9e"}, {" * ", " \xc3\x97 "}, {" . ", " \xc2\xb7 "}, {"-", "\xe2\x88\x92"}};

/* Appends the spelling of what stands at `at` and returns its bytes; 0: it has none. */
static size_t put_spelling(struct buffer *out, const char *at, const struct spelling *rows, size_t count)
{
    for (size_t x = 0; x < count; x++) {
        size_t length = strlen(rows[x].from);
        if (strncmp(at, rows[x].from, length) != 0)
            continue;
        buffer_string(out, rows[x].to);
        return length;
    }
    return 0;
}

static size_t put_character(struct buffer *out, const char *at)
{
    size_t bytes = put_spelling(out, at, markup, sizeof markup / sizeof *markup);
    if (bytes > 0)
        return bytes;
    bool control = (unsigned char)*at < ' ';
    buffer_append(out, control ? REPLACEMENT : at, control ? 3 : 1);
    return 1;
}

void svg_text(struct buffer *out, const char *text)
{
    while (*text)
        text += put_character(out, text);
}

void svg_formula(struct buffer *out, const char *text)
{
    while (*text) {
        size_t bytes = put_spelling(out, text, print, sizeof print / sizeof *print);
        text += bytes > 0 ? bytes : put_character(out, text);
    }
}
