/* Whether a request is taken: everything that its head decides, before a byte of the body is read. */
#ifndef SERVER_EXCHANGE_ADMISSION_H
#define SERVER_EXCHANGE_ADMISSION_H

#include <stdbool.h>

struct exchange;

/* Reads the head into exchange->head. false: it breaks HTTP, the bytes that follow mean nothing, and
 * exchange->refusal says why. */
bool admission_check_http(struct exchange *exchange, const char *method, const char *version);

/* Load, path, method, body, what the client accepts. false: exchange->refusal says why. */
bool admission_check(struct exchange *exchange);

#endif
