/* What /metrics says. */
#include "tests/http/gauge.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE 90.0

double gauge_read(const struct service *service, const char *name)
{
    struct client_reply reply = client_get(service, "/metrics");
    const char *line = strstr(reply.body, name);
    ck_assert_ptr_nonnull(line);
    double value = strtod(line + strlen(name), NULL);
    client_free(&reply);
    return value;
}

void gauge_await(const struct service *service, const char *line)
{
    bool there = false;
    double end = service_now() + PATIENCE;
    while (!there && service_now() < end) {
        struct client_reply reply = client_get(service, "/metrics");
        there = strstr(reply.body, line) != NULL;
        client_free(&reply);
    }
    ck_assert_msg(there, "%s", line);
}

void gauge_await_below(const struct service *service, const char *name, double limit)
{
    double value = gauge_read(service, name);
    for (double end = service_now() + PATIENCE; value >= limit && service_now() < end;)
        value = gauge_read(service, name);
    ck_assert_double_lt(value, limit);
}

size_t gauge_most_resident(const struct service *service)
{
    char line[256];
    unsigned long kilobytes = 0;
    snprintf(line, sizeof line, "/proc/%d/status", (int)service->pid);
    FILE *file = fopen(line, "re");
    ck_assert_ptr_nonnull(file);
    while (kilobytes == 0 && fgets(line, sizeof line, file))
        sscanf(line, "VmHWM: %lu kB", &kilobytes);
    fclose(file);
    ck_assert_uint_gt(kilobytes, 0);
    return kilobytes * 1024;
}
