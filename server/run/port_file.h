/* The file that tells the port (--port-file). */
#ifndef SERVER_RUN_PORT_FILE_H
#define SERVER_RUN_PORT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the port beside `path`, which must be a regular file or nothing. `path` may be "": there is to be none.
 * false: `why` says what is wrong. */
bool port_file_prepare(const char *path, unsigned port, char *why, size_t size);

/* Puts what was prepared in its place: whoever waits for the file never reads half of it. */
bool port_file_publish(const char *path, char *why, size_t size);

#endif
