/* What /metrics says. Failures are failures of the running test. */
#ifndef TESTS_HTTP_GAUGE_H
#define TESTS_HTTP_GAUGE_H

#include "tests/http/client.h"

/* The value behind `name`, which begins with a line break and ends with a blank. */
double gauge_read(const struct service *service, const char *name);

/* Waits until the metrics have this line, line breaks included. */
void gauge_await(const struct service *service, const char *line);

/* Waits until the value behind `name` is less than `limit`. */
void gauge_await_below(const struct service *service, const char *name, double limit);

/* Bytes of memory that it has had at most at one time (VmHWM). */
size_t gauge_most_resident(const struct service *service);

#endif
