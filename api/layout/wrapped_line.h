/* A line of text that goes on, indented, where it would pass the width of a terminal. */
#ifndef API_LAYOUT_WRAPPED_LINE_H
#define API_LAYOUT_WRAPPED_LINE_H

#include "api/numbers/buffer.h"

#include <stddef.h>

struct wrapped_line {
    struct buffer *out;
    size_t column; /* where the next piece begins */
    size_t indent; /* of the lines that follow */
};

/* Appends a piece, which stays whole. */
void wrapped_line_put(struct wrapped_line *line, const char *piece);

#endif
