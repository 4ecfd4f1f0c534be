/* Origins (RFC 6454): where a page comes from. */
#ifndef SERVER_CONFIG_ORIGIN_H
#define SERVER_CONFIG_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `value` lists, with commas between, what a browser can send as Origin ("https://example.org:8443", "null": no
 * path, not even a slash), or "*". */
bool origin_read(const char *value);

struct settings_list;

/* Whether `value`, of at most ORIGIN_FRAMES_MAX bytes, lists origins without "null", "self", "none" or "*". */
bool origin_read_frames(const char *value);

#define ORIGIN_FRAMES_MAX 255

/* Room for a whole list of them, quoted, with the name of the directive. */
#define ORIGIN_FRAMES_TEXT 8192

/* "; frame-ancestors 'self' https://a.example" for a Content-Security-Policy; "" for a list that has "*". */
void origin_write_frames(const struct settings_list *list, char *out, size_t size);

#endif
