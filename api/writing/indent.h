/* JSON text made easy to read. */
#ifndef API_WRITING_INDENT_H
#define API_WRITING_INDENT_H

#include "api/numbers/buffer.h"

/* A maximum for the indented text: what it takes where each value stands on a line of its own, within reason. */
size_t indent_most(const struct buffer *text);

/* Appends `text`, which is JSON, with a line for each member and element and two blanks a level; an array of numbers,
 * strings or words stays on one line. */
void indent_json(const struct buffer *text, struct buffer *out);

#endif
