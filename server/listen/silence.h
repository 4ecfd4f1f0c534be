/* When nothing is under way any more, while the service ends. */
#ifndef SERVER_LISTEN_SILENCE_H
#define SERVER_LISTEN_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

struct connections;

/* Whether every connection has been silent since `since`: nothing read, nothing waiting to be read, and every reply has
 * arrived. For who asks again and again: a reply counts from the first call that finds it arrived. */
bool silence_since(struct connections *connections, int64_t since);

#endif
