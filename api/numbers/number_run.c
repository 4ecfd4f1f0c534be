/* Runs of numbers. */
#include "api/numbers/number_run.h"

#include "api/numbers/number.h"
#include "api/numbers/space.h"

#include <float.h>
#include <math.h>

/* The number after a comma at `at`, or NULL when something else stands there. */
static const char *find_next_number(const char *at, const char *end)
{
    if (at == end || *at != ',')
        return NULL;
    at = space_skip(at + 1, end);
    return at < end && number_run_starts(*at) ? at : NULL;
}

/* Nothing but locals is touched between two numbers. */
size_t number_run(const char **start, const char *end, double *out, size_t most, const char **next, bool *halfway)
{
    const char *at = *start;
    const char *after = at;
    double *first = out;
    double *stop = out + most;
    double value;
    bool any = false;
    for (; at && out < stop; at = find_next_number(after, end)) {
        after = number_read(at, end, &value);
        if (!after || !(fabs(value) <= DBL_MAX)) {
            after = at;
            break;
        }
        any |= number_is_halfway(value);
        *out++ = value;
    }
    *start = after;
    *next = at;
    *halfway |= any;
    return (size_t)(out - first);
}
