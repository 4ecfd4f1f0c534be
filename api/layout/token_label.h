/* Names of queries and keys in text for people. */
#ifndef API_LAYOUT_TOKEN_LABEL_H
#define API_LAYOUT_TOKEN_LABEL_H

#include "api/request/options.h"

#include <stddef.h>

#define TOKEN_LABEL_TEXT 64    /* bytes, with the end */
#define TOKEN_LABEL_COLUMNS 12 /* on a terminal, at most */

/* The token, or "q0", "k0", "v0" where there is none. Tokens are data: what a terminal could take for a command
 * (control characters, marks of direction) is shown as U+FFFD, and what is too long ends in an ellipsis. */
char *token_label_query(const struct options *options, size_t i, char out[TOKEN_LABEL_TEXT]);
char *token_label_key(const struct options *options, size_t j, char out[TOKEN_LABEL_TEXT]);
char *token_label_value(const struct options *options, size_t j, char out[TOKEN_LABEL_TEXT]);

/* A client's string whole, made safe in the same way. */
void token_label_append(struct buffer *out, const char *string);

/* Columns that UTF-8 text takes on a terminal. */
size_t token_label_width(const char *text);

#endif
