/* Counts of values by size, and their sum: a histogram as Prometheus wants it. */
#ifndef SERVER_WATCH_HISTOGRAM_H
#define SERVER_WATCH_HISTOGRAM_H

#include "api/numbers/buffer.h"

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BOUNDS_MAX 20

/* Zero-initialise. */
struct histogram {
    uint64_t
        counts[HISTOGRAM_BOUNDS_MAX + 1]; /* of values up to the bound of the same index; the last: of larger ones */
    double sum;
};

/* Rising upper bounds. */
struct histogram_bounds {
    size_t count;
    double bounds[HISTOGRAM_BOUNDS_MAX];
};

const struct histogram_bounds *histogram_seconds(void); /* 50 us to 10 s */
const struct histogram_bounds *histogram_bytes(void);   /* 256 bytes to 256 MiB */

void histogram_add(struct histogram *histogram, const struct histogram_bounds *bounds, double value);
uint64_t histogram_count(const struct histogram *histogram);

/* Appends the samples of `name`; `label` is "" or like `route="/x"`. */
void histogram_write(const struct histogram *histogram, const struct histogram_bounds *bounds, const char *name,
                     const char *label, struct buffer *out);

#endif
