/* The log line of one request. */
#ifndef SERVER_WATCH_LOG_LINE_H
#define SERVER_WATCH_LOG_LINE_H

#include "server/watch/log.h"

#include <stddef.h>

#define LOG_LINE_MAX_BYTES 1024
#define LOG_PATH_SIZE 132

/* Writes the line, newline included, and returns its length. `stamp` is the time up to the second. What does not fit is
 * cut; all texts but the request's id (128 bytes at most) and path (LOG_PATH_SIZE) are short. */
size_t log_line_write(char out[LOG_LINE_MAX_BYTES], enum log_format format, const char *stamp, unsigned milliseconds,
                      enum log_level level, const struct log_request *request);

#endif
