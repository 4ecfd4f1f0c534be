/* Edit distance and the best of many candidates. */
#include "api/request/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define EDITS_MAX 2

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Row i of the table from the two rows above it. */
static void fill_row(size_t i, const char *a, const char *b, const size_t *two_up, const size_t *up, size_t *row)
{
    row[0] = i;
    for (size_t j = 1; b[j - 1]; j++) {
        size_t replaced = up[j - 1] + !same(a[i - 1], b[j - 1]);
        row[j] = least(replaced, least(up[j], row[j - 1]) + 1);
        if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
            row[j] = least(row[j], two_up[j - 2] + 1);
    }
}

size_t suggest_distance(const char *a, const char *b)
{
    size_t rows[3][SUGGEST_NAME_MAX + 1] = {{0}};
    size_t length = strlen(a);
    size_t width = strlen(b);
    if (length > SUGGEST_NAME_MAX || width > SUGGEST_NAME_MAX)
        return (size_t)-1;
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length; i++)
        fill_row(i, a, b, rows[(i + 1) % 3], rows[(i + 2) % 3], rows[i % 3]);
    return rows[length % 3][width];
}

void suggest_consider(struct suggestion *s, const char *candidate)
{
    size_t distance = suggest_distance(s->wanted, candidate);
    size_t longer = strlen(s->wanted) > strlen(candidate) ? strlen(s->wanted) : strlen(candidate);
    if (distance > EDITS_MAX || 2 * distance >= longer || (s->best && s->distance <= distance))
        return;
    s->best = candidate;
    s->distance = distance;
}
