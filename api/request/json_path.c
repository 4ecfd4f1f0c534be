/* Names of places: dotted for programs, with brackets for people. */
#include "api/request/json_path.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_MAX (JSON_PATH_SHOWN - 4) /* bytes of a client's name that are echoed */

static size_t append_piece(char *out, size_t used, const char *format, const char *separator, size_t index)
{
    int length = snprintf(out + used, JSON_PATH_TEXT - used, format, separator, index);
    return used + (size_t)length < JSON_PATH_TEXT ? used + (size_t)length : JSON_PATH_TEXT - 1;
}

/* How steps of a path stand one after the other. */
enum spelling {
    SPELL_DOTS,
    SPELL_BRACKETS,
    SPELL_POINTER, /* for names that have dots themselves */
};

static size_t append_place(const struct json_path *at, enum spelling spelling, char *out)
{
    if (!at)
        return 0;
    size_t used = append_place(at->parent, spelling, out);
    const char *dot = spelling == SPELL_POINTER ? "/" : used > 0 ? "." : "";
    if (at->name) {
        int length = snprintf(out + used, JSON_PATH_TEXT - used, "%s%s", dot, at->name);
        return used + (size_t)length < JSON_PATH_TEXT ? used + (size_t)length : JSON_PATH_TEXT - 1;
    }
    for (size_t level = 0; level < at->rank; level++) {
        used = append_piece(out, used, spelling == SPELL_BRACKETS ? "%.0s[%zu]" : "%s%zu", dot, at->index[level]);
        dot = spelling == SPELL_POINTER ? "/" : ".";
    }
    return used;
}

static bool has_dots(const struct json_path *at)
{
    return at && ((at->name && strchr(at->name, '.')) || has_dots(at->parent));
}

char *json_path_name(const struct json_path *at, char out[JSON_PATH_TEXT])
{
    out[append_place(at, has_dots(at) ? SPELL_POINTER : SPELL_DOTS, out)] = '\0';
    return out;
}

char *json_path_words(const struct json_path *at, char out[JSON_PATH_TEXT])
{
    out[append_place(at, SPELL_BRACKETS, out)] = '\0';
    if (out[0] == '\0')
        memcpy(out, "The request", sizeof "The request");
    return out;
}

bool json_path_fault(struct error *err, const struct json_path *at, const char *format, ...)
{
    char name[JSON_PATH_TEXT];
    char words[JSON_PATH_TEXT];
    char rest[400];
    va_list values;
    va_start(values, format);
    vsnprintf(rest, sizeof rest, format, values);
    va_end(values);
    return error_set(err, ERROR_INVALID, json_path_name(at, name), "%s %s", json_path_words(at, words), rest);
}

/* The client's bytes, cut between characters, with a '?' for everything that is not plain ASCII. */
char *json_path_show(const char *member, char out[JSON_PATH_SHOWN])
{
    size_t used = 0;
    for (; *member && used < SHOWN_MAX; member++) {
        unsigned char c = (unsigned char)*member;
        if ((c & 0xc0) == 0x80)
            continue; /* one mark per character, not per byte */
        out[used++] = c >= 0x20 && c < 0x7f && c != '"' && c != '\\' ? (char)c : '?';
    }
    memcpy(out + used, "...", 4);
    if (!*member)
        out[used] = '\0';
    return out;
}

/* A ready JSON Pointer (RFC 6901): the member's own dots are no separators. */
static void make_pointer(const struct json_path *object, const char *shown, char out[2 * JSON_PATH_TEXT])
{
    char name[JSON_PATH_TEXT];
    size_t used = 0;
    bool ready = json_path_name(object, name)[0] == '/';
    for (const char *c = name; *c && used < JSON_PATH_TEXT; c++) {
        if (used == 0 && !ready)
            out[used++] = '/';
        out[used++] = *c == '.' && !ready ? '/' : *c;
    }
    out[used++] = '/';
    for (; *shown; shown++) {
        out[used++] = *shown == '~' || *shown == '/' ? '~' : *shown;
        if (*shown == '~' || *shown == '/')
            out[used++] = *shown == '~' ? '0' : '1';
    }
    out[used] = '\0';
}

bool json_path_unknown(struct error *err, const struct json_path *object, const char *member, const char *suggestion)
{
    char shown[JSON_PATH_SHOWN];
    char pointer[2 * JSON_PATH_TEXT];
    char words[JSON_PATH_TEXT];
    json_path_show(member, shown);
    make_pointer(object, shown, pointer);
    json_path_words(object, words);
    if (suggestion)
        return error_set(err, ERROR_INVALID, pointer, "%s has no member \"%s\"; did you mean \"%s\"?", words, shown,
                         suggestion);
    return error_set(err, ERROR_INVALID, pointer, "%s has no member \"%s\".", words, shown);
}

bool json_path_foreign(struct error *err, const struct json_path *object, const char *member, const char *here)
{
    char pointer[2 * JSON_PATH_TEXT];
    char words[JSON_PATH_TEXT];
    make_pointer(object, member, pointer);
    json_path_words(object, words);
    return error_set(err, ERROR_INVALID, pointer, "%s has no member \"%s\"; here it is %s.", words, member, here);
}
