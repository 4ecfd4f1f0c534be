/* Clients behind trusted proxies: whose limits count, who is in the log. */
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *proxies_suite(void);

#define PATIENCE 30.0

/* Asserts that the log names this client for a request with these fields. */
static void check_client(const struct service *service, const char *const *fields, const char *client)
{
    static int count;
    char id[64];
    char wanted[160];
    snprintf(id, sizeof id, "X-Request-Id: %d", ++count);
    struct client_request request = {.path = "/v1/info", .headers = {id}};
    for (size_t i = 0; fields && fields[i]; i++)
        request.headers[i + 1] = fields[i];
    struct client_reply reply = client_send(service, &request);
    ck_assert_int_eq(reply.status, 200);
    client_free(&reply);
    snprintf(wanted, sizeof wanted, "\"request_id\":\"%d\",\"client\":\"%s\",", count, client);
    if (service_logged(service, wanted, 1, PATIENCE))
        return;
    char *log = service_log(service);
    ck_abort_msg("%s is not in %s", wanted, log);
}

START_TEST(who_is_not_trusted_is_not_believed)
{
    struct service service = service_start((const char *const[]){"--trusted-proxy", "10.0.0.0/8", NULL});
    check_client(&service, NULL, "127.0.0.1");
    check_client(&service, (const char *const[]){"X-Forwarded-For: 192.0.2.1", NULL}, "127.0.0.1");
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(the_last_address_that_is_no_proxy_is_the_client)
{
    struct service service = service_start(
        (const char *const[]){"--trusted-proxy", "127.0.0.1", "--trusted-proxy", "10.0.0.0/8,2001:db8::/32", NULL});
    static const struct {
        const char *fields[4];
        const char *client;
    } rows[] = {
        {{NULL}, "127.0.0.1"},
        {{"X-Forwarded-For: 192.0.2.1"}, "192.0.2.1"},
        {{"x-forwarded-for:192.0.2.1:4711"}, "192.0.2.1"},
        {{"X-Forwarded-For: 198.51.100.7, 192.0.2.1"}, "192.0.2.1"},
        {{"X-Forwarded-For: 198.51.100.7, 192.0.2.1 , 10.1.1.1,10.2.2.2"}, "192.0.2.1"},
        {{"X-Forwarded-For: 198.51.100.7", "X-Forwarded-For: 192.0.2.1"}, "192.0.2.1"},
        {{"X-Forwarded-For: 198.51.100.7, 192.0.2.1", "X-Forwarded-For: 10.1.1.1"}, "192.0.2.1"},
        {{"X-Forwarded-For: 10.3.3.3, 10.1.1.1"}, "10.3.3.3"},
        {{"X-Forwarded-For: [2001:db8::1]:99, [2001:db9::1]:99"}, "2001:db9::1"},
        {{"X-Forwarded-For: 2001:db9::2, 2001:db8::1"}, "2001:db9::2"},
        {{"X-Forwarded-For: 192.0.2.1, unknown, 10.1.1.1"}, "10.1.1.1"},
        {{"X-Forwarded-For: unknown"}, "127.0.0.1"},
        {{"X-Forwarded-For: , ,"}, "127.0.0.1"},
        {{"X-Forwarded-For;"}, "127.0.0.1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_client(&service, rows[i].fields, rows[i].client);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

static int ask_for(const struct service *service, const char *client)
{
    char field[64];
    snprintf(field, sizeof field, "X-Forwarded-For: %s", client);
    struct client_reply reply =
        client_send(service, &(struct client_request){.path = "/v1/attention", .headers = {field}, .body = SAMPLE_CAT});
    int status = (int)reply.status;
    client_free(&reply);
    return status;
}

START_TEST(each_client_has_a_rate_of_its_own)
{
    struct service service = service_start(
        (const char *const[]){"--trusted-proxy", "127.0.0.0/8", "--rate-limit", "0.001", "--rate-burst", "2", NULL});
    ck_assert_int_eq(ask_for(&service, "192.0.2.1"), 200);
    ck_assert_int_eq(ask_for(&service, "192.0.2.1"), 200);
    ck_assert_int_eq(ask_for(&service, "192.0.2.1"), 429);
    ck_assert_int_eq(ask_for(&service, "192.0.2.2"), 200);
    ck_assert_int_eq(ask_for(&service, "2001:db8::1"), 200);
    ck_assert_int_eq(ask_for(&service, "192.0.2.1"), 429);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* A proxy's own connections are many; what counts is how many requests of one client are under way. */
START_TEST(a_proxy_may_have_many_connections)
{
    struct wire wires[4];
    struct service service =
        service_start((const char *const[]){"--trusted-proxy", "127.0.0.1", "--max-client-connections", "1", NULL});
    for (size_t i = 0; i < 4; i++) {
        char request[128];
        snprintf(request, sizeof request, "GET /v1/info HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.%zu\r\n\r\n",
                 i);
        wires[i] = wire_open(&service);
        ck_assert(wire_send(&wires[i], request));
        ck_assert_int_eq(wire_receive(&wires[i], NULL, PATIENCE), 200);
    }
    ck_assert(wire_send(&wires[0], "POST /v1/attention HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.9\r\n"
                                   "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n"));
    ck_assert(wire_receive_text(&wires[0], "100 Continue", PATIENCE));
    ck_assert(wire_send(&wires[1], "GET /v1/info HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.9\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&wires[1], NULL, PATIENCE), 503);
    for (size_t i = 0; i < 4; i++)
        wire_close(&wires[i]);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(a_bad_network_is_an_error)
{
    char *out = NULL;
    char *err = NULL;
    ck_assert_int_eq(service_run((const char *const[]){"--trusted-proxy", "10.0.0.1/8", NULL}, NULL, &out, &err), 2);
    ck_assert_ptr_nonnull(strstr(err, "--trusted-proxy: \"10.0.0.1/8\" is not"));
    free(out);
    free(err);
}
END_TEST

Suite *proxies_suite(void)
{
    Suite *suite = suite_create("proxies");
    TCase *tests = tcase_create("a service each");
    tcase_set_timeout(tests, 90);
    tcase_add_test(tests, who_is_not_trusted_is_not_believed);
    tcase_add_test(tests, the_last_address_that_is_no_proxy_is_the_client);
    tcase_add_test(tests, each_client_has_a_rate_of_its_own);
    tcase_add_test(tests, a_proxy_may_have_many_connections);
    tcase_add_test(tests, a_bad_network_is_an_error);
    suite_add_tcase(suite, tests);
    return suite;
}
