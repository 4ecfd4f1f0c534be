/* A whole reply as bytes, for where libmicrohttpd offers no way to make one: while it still reads the request. */
#ifndef SERVER_LISTEN_RAW_REFUSAL_H
#define SERVER_LISTEN_RAW_REFUSAL_H

#include "server/http/problem.h"
#include "server/http/request_head.h"

#include <stdbool.h>

struct settings;

/* What a refusal repeats of the request; NULL: it is not known or not there. */
struct raw_refusal {
    const char *id; /* never NULL */
    const char *origin;
    const char *instance; /* the path */
    const char *allow;    /* the methods of the path */
    enum method method;
};

/* Sends it, if the socket takes it at once; whether it did. */
bool raw_refusal_send(int descriptor, const struct settings *settings, const struct problem *problem,
                      const struct raw_refusal *of);

#endif
