/* A whole reply as bytes, for where libmicrohttpd offers no way to make one: while it still reads the request. */
#ifndef SERVER_NOTICE_H
#define SERVER_NOTICE_H

#include "server/problem.h"

#include <stddef.h>

#define NOTICE_MAX 2048

struct settings;

/* What the reply has of its request; `origin` NULL: none was sent. */
struct notice {
    enum problem_code code; /* TIMEOUT or BAD_REQUEST */
    const char *detail;
    const char *id;
    const char *origin;
};

/* Writes head and body; how many bytes. */
size_t notice_write(char out[NOTICE_MAX], const struct settings *settings, const struct notice *notice);

#endif
