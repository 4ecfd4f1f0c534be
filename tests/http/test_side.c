/* --metrics-listen: metrics at a place of their own. */
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *side_suite(void);

#define PATIENCE 60.0

/* The same process by its other port, which the log tells. */
static struct service find_side(const struct service *service)
{
    struct service side = *service;
    ck_assert(service_logged(service, "probes and metrics on ", 1, PATIENCE));
    char *log = service_log(service);
    const char *line = strstr(log, "probes and metrics on ");
    ck_assert_ptr_nonnull(line);
    ck_assert_int_eq(sscanf(strstr(line, " port "), " port %u", &side.port), 1);
    free(log);
    return side;
}

static int get(const struct service *service, const char *path)
{
    struct client_reply reply = client_get(service, path);
    int status = (int)reply.status;
    client_free(&reply);
    return status;
}

START_TEST(metrics_are_there_and_nowhere_else)
{
    static const struct {
        const char *path;
        int status, side;
    } rows[] = {
        {"/metrics", 404, 200}, {"/livez", 200, 200},   {"/readyz", 200, 200},       {"/health", 200, 200},
        {"/", 200, 404},        {"/v1/info", 200, 404}, {"/openapi.json", 200, 404}, {"/nothing", 404, 404},
    };
    struct service service = service_start((const char *const[]){"--metrics-listen", "127.0.0.1:0", NULL});
    struct service side = find_side(&service);
    ck_assert_uint_ne(side.port, service.port);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(get(&service, rows[i].path) == rows[i].status, "%s", rows[i].path);
        ck_assert_msg(get(&side, rows[i].path) == rows[i].side, "%s", rows[i].path);
    }
    struct client_reply work = client_post(&side, "/v1/attention", SAMPLE_CAT);
    json_decref(client_problem(&work, 404));
    client_free(&work);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* While the service drains, who watches it must still see it. */
START_TEST(draining_is_seen_there)
{
    int status = 200;
    struct service service = service_start((const char *const[]){"--metrics-listen", "127.0.0.1:0", NULL});
    struct service side = find_side(&service);
    struct wire half = wire_open(&service);
    double end = service_now() + PATIENCE;
    ck_assert(wire_send(&half, "POST /v1/attention HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"
                               "Expect: 100-continue\r\n\r\n"));
    ck_assert(wire_receive_text(&half, "100 Continue", PATIENCE));
    service_signal(&service, SIGTERM);
    while (get(&service, "/livez") == 200 && service_now() < end)
        service_pause();
    while (status == 200 && service_now() < end)
        status = get(&side, "/readyz");
    ck_assert_int_eq(status, 503);
    struct client_reply reply = client_get(&side, "/metrics");
    ck_assert_ptr_nonnull(strstr(reply.body, "\nattnd_draining 1\n"));
    client_free(&reply);
    wire_close(&half);
    ck_assert_int_eq(service_wait(&service, PATIENCE), 0);
    ck_assert_int_eq(get(&side, "/livez"), 0);
    service_clean(&service);
}
END_TEST

START_TEST(bad_places_are_errors)
{
    static const char *const places[] = {"9100",     ":9100", "127.0.0.1:", "127.0.0.1:70000",
                                         "::1:9100", "unix:", "[::1]",      "127.0.0.1:http"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *out = NULL;
        char *err = NULL;
        int status = service_run((const char *const[]){"--metrics-listen", places[i], NULL}, NULL, &out, &err);
        ck_assert_msg(status == 2 && strstr(err, "--metrics-listen: "), "%s: %d %s", places[i], status, err);
        free(out);
        free(err);
    }
}
END_TEST

Suite *side_suite(void)
{
    Suite *suite = suite_create("side");
    TCase *tests = tcase_create("a service each");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, metrics_are_there_and_nowhere_else);
    tcase_add_test(tests, draining_is_seen_there);
    tcase_add_test(tests, bad_places_are_errors);
    suite_add_tcase(suite, tests);
    return suite;
}
