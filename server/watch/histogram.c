/* Histograms. */
#include "server/watch/histogram.h"

#include <inttypes.h>

static const struct histogram_bounds seconds = {
    18, {5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 0.5, 1, 2.5, 5, 7.5, 10}};
static const struct histogram_bounds bytes = {
    11, {256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864, 268435456}};

const struct histogram_bounds *histogram_seconds(void)
{
    return &seconds;
}

const struct histogram_bounds *histogram_bytes(void)
{
    return &bytes;
}

void histogram_add(struct histogram *histogram, const struct histogram_bounds *bounds, double value)
{
    size_t i = 0;
    while (i < bounds->count && value > bounds->bounds[i])
        i++;
    histogram->counts[i]++;
    histogram->sum += value;
}

uint64_t histogram_count(const struct histogram *histogram)
{
    uint64_t count = 0;
    for (size_t i = 0; i <= HISTOGRAM_BOUNDS_MAX; i++)
        count += histogram->counts[i];
    return count;
}

void histogram_write(const struct histogram *histogram, const struct histogram_bounds *bounds, const char *name,
                     const char *label, struct buffer *out)
{
    uint64_t count = 0;
    const char *comma = *label ? "," : "";
    for (size_t i = 0; i < bounds->count; i++) {
        count += histogram->counts[i];
        buffer_format(out, "%s_bucket{%s%sle=\"%.10g\"} %" PRIu64 "\n", name, label, comma, bounds->bounds[i], count);
    }
    count += histogram->counts[bounds->count];
    buffer_format(out, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", name, label, comma, count);
    const char *open = *label ? "{" : "";
    const char *close = *label ? "}" : "";
    buffer_format(out, "%s_sum%s%s%s %.9g\n", name, open, label, close, histogram->sum);
    buffer_format(out, "%s_count%s%s%s %" PRIu64 "\n", name, open, label, close, count);
}
