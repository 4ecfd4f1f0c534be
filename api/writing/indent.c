/* Line ends and indents for JSON. */
#include "api/writing/indent.h"

#include <stdbool.h>

#define TIMES 4       /* the length of the text; matrices take less than twice */
#define LEVELS_MAX 64 /* deeper ones are indented no further */

struct indenter {
    const char *at, *end;
    struct buffer *out;
    size_t level;
    bool flat; /* inside an array or object that stays on its line */
};

static void begin_line(struct indenter *in)
{
    static const char blanks[2 * LEVELS_MAX] = "                                                                "
                                               "                                                               ";
    size_t level = in->level < LEVELS_MAX ? in->level : LEVELS_MAX - 1;
    buffer_append(in->out, "\n", 1);
    buffer_append(in->out, blanks, 2 * level);
}

/* The end of the string that begins at `at`. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at < end ? at + 1 : end;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Whether what begins at `at` stays on its line: an object with nothing in it, an array with nothing nested in it. */
static bool is_flat(const char *at, const char *end)
{
    bool object = *at == '{';
    for (at++; at < end;) {
        if (*at == '[' || *at == '{' || (object && *at == '"'))
            return false;
        if (*at == ']' || *at == '}')
            return true;
        at = *at == '"' ? skip_string(at, end) : at + 1;
    }
    return true;
}

static void put_open(struct indenter *in)
{
    in->flat = is_flat(in->at, in->end);
    buffer_append(in->out, in->at++, 1);
    in->level++;
    if (!in->flat)
        begin_line(in);
}

static void put_close(struct indenter *in)
{
    in->level -= in->level > 0;
    if (!in->flat)
        begin_line(in);
    in->flat = false;
    buffer_append(in->out, in->at++, 1);
}

static void put_comma(struct indenter *in)
{
    buffer_append(in->out, in->flat ? ", " : ",", in->flat ? 2 : 1);
    if (!in->flat)
        begin_line(in);
    in->at++;
}

/* A string, or a number or word up to what ends it. */
static void put_value(struct indenter *in)
{
    const char *start = in->at;
    if (*start == '"')
        in->at = skip_string(start, in->end);
    else
        while (in->at < in->end && !is_space(*in->at) && !memchr("[]{},:\"", *in->at, 7))
            in->at++;
    buffer_append(in->out, start, (size_t)(in->at - start));
}

static void put_token(struct indenter *in)
{
    switch (*in->at) {
    case '[':
    case '{':
        put_open(in);
        return;
    case ']':
    case '}':
        put_close(in);
        return;
    case ',':
        put_comma(in);
        return;
    case ':':
        buffer_append(in->out, ": ", 2);
        in->at++;
        return;
    default:
        put_value(in);
    }
}

size_t indent_most(const struct buffer *text)
{
    return BUFFER_PAGE + TIMES * text->length;
}

void indent_json(const struct buffer *text, struct buffer *out)
{
    struct indenter in = {.at = text->data, .end = text->data + text->length, .out = out};
    while (in.at < in.end && !out->failed) {
        if (is_space(*in.at))
            in.at++;
        else
            put_token(&in);
    }
    buffer_append(out, "\n", 1);
}
