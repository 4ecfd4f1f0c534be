/* JSON text made easy to read. */
#ifndef API_WRITING_INDENT_H
#define API_WRITING_INDENT_H

#include "api/numbers/buffer.h"

/* Appends `text`, which is JSON, with a line for each member and element and two blanks a level; an array of numbers,
 * strings or words stays on one line. */
void indent_json(const struct buffer *text, struct buffer *out);

#endif
