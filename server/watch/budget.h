/* A number of bytes that all requests together may hold. */
#ifndef SERVER_WATCH_BUDGET_H
#define SERVER_WATCH_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct budget {
    size_t limit;
    atomic_size_t held;
};

/* false when the limit would be passed; nothing is taken then. */
bool budget_take(struct budget *budget, size_t bytes);
void budget_give(struct budget *budget, size_t bytes);

/* Whether `bytes` would fit now. */
bool budget_has(struct budget *budget, size_t bytes);

#endif
