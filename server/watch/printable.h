/* Text from outside, made fit for a log: no control characters, no broken UTF-8. */
#ifndef SERVER_WATCH_PRINTABLE_H
#define SERVER_WATCH_PRINTABLE_H

#include <stddef.h>

#define PRINTABLE_SIZE(bytes) (4 * (bytes)) /* what text of so many bytes, NUL included, may need */

/* Writes `text` with every byte of a control character (C0, DEL, C1) or of no UTF-8 character as "\xNN"; cut at whole
 * characters when it does not fit. */
void printable_text(char *out, size_t size, const char *text);

/* Writes a path as visible ASCII without quotes and backslashes, other bytes as "%NN"; what does not fit ends
 * with "...". size is at least 8. */
void printable_path(char *out, size_t size, const char *path);

#endif
