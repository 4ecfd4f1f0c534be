/* Every reply against the service's own description of it. */
#ifndef TESTS_HTTP_CONTRACT_H
#define TESTS_HTTP_CONTRACT_H

#include "tests/http/client.h"

/* Fails the running test when the reply to `request` has a status, a media type or a body that /openapi.json does not
 * describe for its path and method. Paths and methods that it has not must get a problem. */
void contract_check(const struct client_request *request, const struct client_reply *reply);

#endif
