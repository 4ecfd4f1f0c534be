/* All places for connections taken: probes are answered all the same, and nobody meets silence. */
#include "tests/http/client.h"
#include "tests/http/gauge.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

Suite *places_suite(void);

#define PATIENCE 60.0
#define NEVER "600" /* seconds: nothing in these tests happens because a timeout passed */

#define LIMIT 20
#define RESERVE 256
#define CROWD (LIMIT + RESERVE + 100)

static struct wire crowd[CROWD];

static void open_crowd(const struct service *service, const char *said)
{
    for (size_t i = 0; i < CROWD; i++) {
        crowd[i] = wire_open(service);
        (void)wire_send(&crowd[i], said); /* it may be cut already */
    }
}

static void close_crowd(void)
{
    for (size_t i = 0; i < CROWD; i++)
        wire_close(&crowd[i]);
}

static long get(const struct service *service, const char *path)
{
    struct client_reply reply = client_get(service, path);
    long status = reply.status;
    client_free(&reply);
    return status;
}

/* Nothing, half a head, a whole probe whose connection is kept. */
static const char *const sayings[] = {"", "GET /livez HTTP/1.1\r\nHost", "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"};

START_TEST(probes_are_answered_among_connections_that_wait)
{
    struct service service = service_start(
        (const char *const[]){"--max-connections", "20", "--header-timeout", NEVER, "--idle-timeout", NEVER, NULL});
    open_crowd(&service, sayings[_i]);
    for (size_t i = 0; i < 20; i++) {
        ck_assert_int_eq(get(&service, "/livez"), 200);
        ck_assert_int_eq(get(&service, "/readyz"), 200);
    }
    close_crowd();
    gauge_await(&service, "\nattnd_connections_open 1\n");
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* Those past the limit give their places to others, and are told why. */
START_TEST(half_a_head_too_many_gets_503)
{
    char *body = NULL;
    struct service service =
        service_start((const char *const[]){"--max-connections", "20", "--header-timeout", NEVER, NULL});
    open_crowd(&service, sayings[1]);
    ck_assert_int_eq(wire_receive(&crowd[LIMIT], &body, PATIENCE), 503);
    ck_assert_ptr_nonnull(strstr(body, "\"code\":\"too-many-connections\""));
    wire_check_problem(&crowd[LIMIT], body);
    free(body);
    ck_assert(wire_send(&crowd[0], ": x\r\n\r\n")); /* the first one was not one too many */
    ck_assert_int_eq(wire_receive(&crowd[0], NULL, PATIENCE), 200);
    close_crowd();
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* Whoever sent nothing goes before whoever sent half a head. */
START_TEST(the_silent_go_first)
{
    struct service service =
        service_start((const char *const[]){"--max-connections", "20", "--header-timeout", NEVER, NULL});
    struct wire half = wire_open(&service);
    ck_assert(wire_send(&half, sayings[1]));
    gauge_await(&service, "\nattnd_connections_open 2\n");
    for (size_t i = 0; i < CROWD; i++)
        crowd[i] = wire_open(&service);
    ck_assert_int_eq(get(&service, "/livez"), 200);
    ck_assert(wire_closed(&crowd[0], PATIENCE));
    ck_assert(wire_send(&half, ": x\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&half, NULL, PATIENCE), 200);
    wire_close(&half);
    close_crowd();
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

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

START_TEST(metrics_have_places_of_their_own)
{
    enum { SIDE = 200 };
    static struct wire silent[SIDE];
    struct service service = service_start((const char *const[]){"--max-connections", "20", "--header-timeout", NEVER,
                                                                 "--metrics-listen", "127.0.0.1:0", NULL});
    struct service side = find_side(&service);
    open_crowd(&service, "");
    for (size_t i = 0; i < SIDE; i++)
        silent[i] = wire_open(&side);
    ck_assert_int_eq(get(&side, "/livez"), 200);
    ck_assert_int_eq(get(&side, "/metrics"), 200);
    ck_assert_int_eq(get(&service, "/livez"), 200);
    for (size_t i = 0; i < SIDE; i++)
        wire_close(&silent[i]);
    close_crowd();
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* Each test is a process of its own: what is lowered here is lowered for it and the service. */
static void lower_files(rlim_t files)
{
    const struct rlimit limit = {files, files};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

START_TEST(few_files_mean_fewer_connections)
{
    enum { COUNT = 80 };
    static struct wire silent[COUNT];
    char wanted[64];
    size_t connections = 0;
    lower_files(100);
    struct service service = service_start((const char *const[]){"--header-timeout", NEVER, NULL});
    ck_assert(service_logged(&service, "the limit of open files is 100", 1, PATIENCE));
    char *log = service_log(&service);
    const char *warning = strstr(log, "\"level\":\"warn\",\"msg\":\"only ");
    ck_assert_ptr_nonnull(warning);
    ck_assert_int_eq(sscanf(strstr(warning, "only "), "only %zu connections", &connections), 1);
    ck_assert_ptr_nonnull(strstr(warning, " instead of 1000: the limit of open files is 100\""));
    ck_assert_uint_gt(connections, 10);
    ck_assert_uint_lt(connections, 100);
    struct client_reply info = client_get(&service, "/v1/info");
    snprintf(wanted, sizeof wanted, "\"max_connections\":%zu,", connections);
    ck_assert_msg(strstr(info.body, wanted) != NULL, "%s in %s", wanted, info.body);
    client_free(&info);
    for (size_t i = 0; i < COUNT; i++)
        silent[i] = wire_open(&service);
    ck_assert_int_eq(get(&service, "/livez"), 200);
    ck_assert_int_eq(get(&service, "/v1/info"), 503);
    ck_assert_double_le(gauge_read(&service, "\nprocess_open_fds "), 100);
    for (size_t i = 0; i < COUNT; i++)
        wire_close(&silent[i]);
    free(log);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(too_few_files_are_an_error)
{
    char *out = NULL;
    char *err = NULL;
    lower_files(50);
    ck_assert_int_eq(service_run((const char *const[]){"--port", "0", NULL}, NULL, &out, &err), 1);
    ck_assert_ptr_nonnull(strstr(out, "the limit of open files is 50: too low for any connection"));
    free(out);
    free(err);
}
END_TEST

Suite *places_suite(void)
{
    Suite *suite = suite_create("places");
    TCase *tests = tcase_create("a service each");
    tcase_set_timeout(tests, 180);
    tcase_add_loop_test(tests, probes_are_answered_among_connections_that_wait, 0, 3);
    tcase_add_test(tests, half_a_head_too_many_gets_503);
    tcase_add_test(tests, the_silent_go_first);
    tcase_add_test(tests, metrics_have_places_of_their_own);
    tcase_add_test(tests, few_files_mean_fewer_connections);
    tcase_add_test(tests, too_few_files_are_an_error);
    suite_add_tcase(suite, tests);
    return suite;
}
