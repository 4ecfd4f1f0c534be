/* Looking for the first leaf. */
#include "api/json/matrix_start.h"

#include "api/numbers/space.h"

#include <stddef.h>
#include <string.h>

static const char hidden[] = "\"-Infinity\"";

static bool is_word(const char *at, const char *end)
{
    return at < end && *at == '"' &&
           ((size_t)(end - at) < sizeof hidden - 1 || memcmp(at, hidden, sizeof hidden - 1) != 0);
}

/* Nulls among words (backward.target) are no matrix. What was looked through is not looked through again. */
static bool starts_words(const char *at, const char *end, const char **leaf)
{
    for (;;) {
        if (end - at >= 4 && memcmp(at, "null", 4) == 0)
            at += 4;
        else if (at < end && memchr(",[] \t\r\n", *at, 7))
            at++;
        else
            break;
    }
    if (!is_word(at, end))
        return false;
    *leaf = at;
    return true;
}

bool matrix_starts(const char *at, const char *end, const char **leaf)
{
    size_t nested = 0;
    if (at < *leaf)
        return false;
    for (; at < end && *at == '['; at = space_skip(at + 1, end))
        nested++;
    *leaf = at;
    size_t left = (size_t)(end - at);
    if (left == 0)
        return false;
    if (*at == '"')
        return nested >= 2 && left >= sizeof hidden - 1 && memcmp(at, hidden, sizeof hidden - 1) == 0;
    if (*at == 'n')
        return !starts_words(at, end, leaf);
    return memchr("-0123456789tf]", *at, 14) != NULL;
}
