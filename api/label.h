/* Names of queries and keys in text for people. */
#ifndef API_LABEL_H
#define API_LABEL_H

#include "api/options.h"

#include <stddef.h>

#define LABEL_TEXT 64    /* bytes, with the end */
#define LABEL_COLUMNS 12 /* on a terminal, at most */

/* The token, or "q0", "k0" where there is none. Tokens are data: what a terminal could take for a command (control
 * characters, marks of direction) is shown as U+FFFD, and what is too long ends in an ellipsis. */
char *label_query(const struct options *options, size_t i, char out[LABEL_TEXT]);
char *label_key(const struct options *options, size_t j, char out[LABEL_TEXT]);

/* A client's string whole, made safe in the same way. */
void label_append(struct text *out, const char *string);

/* Columns that UTF-8 text takes on a terminal. */
size_t label_width(const char *text);

#endif
