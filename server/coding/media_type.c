/* Media types and codings. */
#include "server/coding/media_type.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define IDENTITY_WEIGHT 1e-6

static bool starts_with(const char *text, size_t length, const char *start)
{
    size_t wanted = strlen(start);
    return length >= wanted && strncasecmp(text, start, wanted) == 0;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t wanted = strlen(end);
    return length >= wanted && strncasecmp(text + length - wanted, end, wanted) == 0;
}

static bool equals(const char *text, size_t length, const char *other)
{
    return strlen(other) == length && strncasecmp(text, other, length) == 0;
}

bool media_type_may_be_json(const char *content_type)
{
    static const char *const families[] = {"multipart/", "image/", "audio/", "video/", "font/", "model/", "message/"};
    static const char *const types[] = {"application/xml",     "application/zip",  "application/gzip",
                                        "application/pdf",     "application/cbor", "text/xml",
                                        "text/html",           "text/csv",         "application/msgpack",
                                        "application/yaml",    "text/css",         "text/javascript",
                                        "application/protobuf"};
    if (!content_type)
        return true;
    content_type += strspn(content_type, " \t");
    size_t length = strcspn(content_type, "; \t");
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (starts_with(content_type, length, families[i]))
            return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (equals(content_type, length, types[i]))
            return false;
    return !ends_with(content_type, length, "+xml");
}

bool media_type_is_plain(const char *content_encoding)
{
    return !content_encoding || !content_encoding[strspn(content_encoding, " \t")] ||
           strcasecmp(content_encoding, "identity") == 0;
}

/* How closely the range fits: 0 not, 1 any type, 2 the family, 3 the type itself. */
static int match_range(const char *range, size_t length, const char *type)
{
    size_t family = strcspn(type, "/");
    if (equals(range, length, type))
        return 3;
    if (length == family + 2 && range[length - 1] == '*' && strncasecmp(range, type, family + 1) == 0)
        return 2;
    return equals(range, length, "*/*") || equals(range, length, "*") ? 1 : 0;
}

static double read_weight(const char *range, size_t length)
{
    for (size_t i = 0; i + 2 < length; i++)
        if (range[i] == ';') {
            size_t at = i + 1 + strspn(range + i + 1, " \t");
            if (at + 1 < length && (range[at] == 'q' || range[at] == 'Q') && range[at + 1] == '=')
                return strtod(range + at + 2, NULL);
        }
    return 1;
}

/* The weight of the range that fits best, and as closely as `least`; `weight` when none does. */
static double find_weight(const char *accept, const char *type, int least, double weight)
{
    int best = least - 1;
    for (const char *at = accept; *at;) {
        at += strspn(at, " \t,");
        size_t length = strcspn(at, ",");
        int fit = match_range(at, strcspn(at, ";, \t"), type);
        if (fit > best) {
            best = fit;
            weight = read_weight(at, length);
        }
        at += length;
    }
    return weight;
}

double media_type_weight(const char *accept, const char *type)
{
    if (!accept || !accept[strspn(accept, " \t,")])
        return 1;
    return find_weight(accept, type, 1, 0);
}

double media_type_coding_weight(const char *accept_encoding, const char *coding)
{
    return find_weight(accept_encoding, coding, 1, strcmp(coding, "identity") == 0 ? IDENTITY_WEIGHT : 0);
}

double media_type_named_weight(const char *accept_encoding, const char *coding)
{
    return find_weight(accept_encoding, coding, 3, 0);
}
