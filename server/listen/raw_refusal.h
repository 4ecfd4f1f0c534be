/* A whole reply as bytes, for where libmicrohttpd offers no way to make one: while it still reads the request. */
#ifndef SERVER_LISTEN_RAW_REFUSAL_H
#define SERVER_LISTEN_RAW_REFUSAL_H

#include "server/http/problem.h"

#include <stdbool.h>

struct settings;

/* What is wrong, and what the reply has of the request; `origin` NULL: none was sent. */
struct raw_refusal {
    const struct problem *problem;
    const char *id;
    const char *origin;
};

/* Sends it, if the socket takes it at once; whether it did. */
bool raw_refusal_send(int descriptor, const struct settings *settings, const struct raw_refusal *notice);

#endif
