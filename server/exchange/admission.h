/* Whether a request is taken: everything that its head decides, before a byte of the body is read. */
#ifndef SERVER_EXCHANGE_ADMISSION_H
#define SERVER_EXCHANGE_ADMISSION_H

#include "server/http/problem.h"

#include <stdbool.h>

struct request;
struct service;

/* Load, client, key, path, method, body, what the client accepts. false: *problem says why not. */
bool admission_check(struct service *service, const struct request *request, struct problem *problem);

#endif
