/* A whole reply as bytes, for where libmicrohttpd offers no way to make one: while it still reads the request. */
#ifndef SERVER_NOTICE_H
#define SERVER_NOTICE_H

#include "server/problem.h"

#define NOTICE_MAX 640

struct settings;

/* Writes head and body, with a NUL after them. `reason` follows the status. */
void notice_write(char out[NOTICE_MAX], const struct settings *settings, const char *reason, enum problem_code code,
                  const char *detail);

#endif
