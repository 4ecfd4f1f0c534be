/* What all requests share. The service's life (server/run) fills it before the first request and empties it after the
 * last; in between the pointers stay as they are, and what they point to is safe for the threads that use it. */
#ifndef SERVER_SERVICE_SERVICE_H
#define SERVER_SERVICE_SERVICE_H

#include "api/request/limits.h"
#include "core/tensor/pool.h"
#include "server/config/proxies.h"
#include "server/config/settings.h"
#include "server/watch/budget.h"
#include "server/watch/log.h"

#include <microhttpd.h>
#include <stdatomic.h>

struct block_queue;
struct client_limits;
struct connections;
struct document_memory;
struct keys;
struct metrics;
struct options;
struct page_cache;

enum service_phase {
    SERVICE_STARTING, /* answers, but is not ready */
    SERVICE_READY,
    SERVICE_DRAINING, /* answers, closes every connection after its reply */
};

struct service {
    struct settings settings;
    struct request_limits limits;
    struct document_memory *memory; /* the event thread's */
    struct options *defaults;       /* of requests */
    struct log *log;
    struct pool *pool;
    struct block_queue *blocks;
    atomic_size_t waiting; /* requests that are in the queue of the pool */
    struct proxies proxies;
    struct connections *connections;
    struct client_limits *clients;
    struct keys *keys;
    struct metrics *metrics;
    struct page_cache *pages;
    struct MHD_Response *spent; /* the 503 that needs no memory */
    struct budget held;         /* bytes of bodies and of replies under way */
    _Atomic enum service_phase phase;
    atomic_size_t requests; /* between head and end */
};

#endif
