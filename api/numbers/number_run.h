/* Numbers with commas between them: what most of a request's text is. */
#ifndef API_NUMBERS_NUMBER_RUN_H
#define API_NUMBERS_NUMBER_RUN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a value that begins like this is a number. Signs are as good as random: what is asked is the same for all. */
static inline bool number_run_starts(char c)
{
    return (unsigned char)(c - '-') <= '9' - '-' && c != '.' && c != '/';
}

/* Reads numbers, the first of which starts at *at, into `out`, `most` at most; how many. *at is then behind the last;
 * *next is where one more starts, or NULL. It stops at what is no number that double holds: *next is there.
 * *halfway becomes true when one of them lies halfway between two floats. */
size_t number_run(const char **at, const char *end, double *out, size_t most, const char **next, bool *halfway);

#endif
