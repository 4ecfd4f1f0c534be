/* What was expected, in text: a line per result. */
#ifndef API_TEXT_CHECK_LINES_H
#define API_TEXT_CHECK_LINES_H

#include "api/reply/reply.h"

/* Nothing when nothing is expected. */
void check_lines_write(struct buffer *out, const struct reply *reply);

#endif
