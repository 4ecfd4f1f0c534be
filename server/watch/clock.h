/* Time: nanoseconds of a clock that only goes forward. */
#ifndef SERVER_WATCH_CLOCK_H
#define SERVER_WATCH_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_SECOND INT64_C(1000000000)

static inline int64_t clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * CLOCK_SECOND + now.tv_nsec;
}

static inline int64_t clock_from_seconds(double seconds)
{
    return (int64_t)(seconds * 1e9);
}

#endif
