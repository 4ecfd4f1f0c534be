/* What is kept of a request that has ended: a line in the log, and its counts. */
#ifndef SERVER_EXCHANGE_RECORD_H
#define SERVER_EXCHANGE_RECORD_H

#include <microhttpd.h>
#include <stddef.h>

struct reply;
struct request;
struct service;
struct work;

/* `received`: bytes of the body; `work` NULL: there was none. */
void record_request(const struct service *service, const struct request *request, size_t received,
                    const struct reply *reply, struct work *work, enum MHD_RequestTerminationCode code);

#endif
