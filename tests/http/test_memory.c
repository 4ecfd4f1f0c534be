/* Memory: what is spent is refused, what is used comes back. */
#include "tests/http/client.h"
#include "tests/http/gauge.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *memory_suite(void);

/* Somebody else's body holds most of the memory. */
START_TEST(spent_memory_is_503)
{
    struct service service = service_start((const char *const[]){"--memory", "64K", NULL});
    char held[50001];
    memset(held, ' ', sizeof held - 1);
    held[sizeof held - 1] = '\0';
    char *body = sample_square(800, 2, "\"include\":[\"output\"]");
    struct wire holder = wire_open(&service);
    ck_assert(wire_send(&holder, "POST /v1/attention HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n"));
    ck_assert(wire_send(&holder, held));
    gauge_await(&service, "\nattnd_bytes_held 50000\n");
    struct client_reply reply = client_post(&service, "/v1/attention", body);
    json_t *problem = client_problem(&reply, 503);
    ck_assert_str_eq(json_string_value(json_object_get(problem, "code")), "no-memory");
    ck_assert_ptr_nonnull(strstr(reply.head, "Retry-After:"));
    json_decref(problem);
    client_free(&reply);
    struct client_reply chunked =
        client_send(&service, &(struct client_request){.path = "/v1/attention", .body = body, .chunked = true});
    json_decref(client_problem(&chunked, 503));
    client_free(&chunked);
    struct client_reply small = client_post(&service, "/v1/attention", SAMPLE_CAT);
    ck_assert_int_eq(small.status, 200);
    client_free(&small);
    wire_abort(&holder);
    gauge_await(&service, "\nattnd_bytes_held 0\n");
    reply = client_post(&service, "/v1/attention", body);
    ck_assert_int_eq(reply.status, 200);
    client_free(&reply);
    free(body);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* Trying again would not help. */
START_TEST(body_beyond_all_memory_is_413)
{
    struct service service = service_start((const char *const[]){"--memory", "64K", "--max-body", "1M", NULL});
    char *body = sample_square(8000, 2, "\"include\":[\"output\"]");
    for (int chunked = 0; chunked < 2; chunked++) {
        struct client_reply reply =
            client_send(&service, &(struct client_request){.path = "/v1/attention", .body = body, .chunked = chunked});
        json_t *problem = client_problem(&reply, 413);
        ck_assert_int_eq(json_integer_value(json_object_get(problem, "limit_bytes")), 65536);
        json_decref(problem);
        client_free(&reply);
    }
    free(body);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

static void send_mixed(const struct service *service, size_t count)
{
    static const struct client_request requests[] = {
        {.path = "/v1/attention", .body = SAMPLE_CAT},
        {.path = "/v1/attention", .body = SAMPLE_CAT, .headers = {"Accept-Encoding: gzip"}},
        {.path = "/v1/attention", .body = "{\"q\":[[1,2],[3]]}"},
        {.path = "/v1/attention", .body = "{", .chunked = true},
        {.path = "/nope"},
        {.path = "/openapi.json", .headers = {"Accept-Encoding: gzip"}},
        {.path = "/v1/attention", .body = SAMPLE_CAT, .headers = {"Content-Type: image/png"}},
    };
    char *large = sample_square(150, 2, "\"include\":[\"steps\"]");
    for (size_t i = 0; i < count; i++) {
        bool stream = i % 25 == 0;
        struct client_reply reply = stream ? client_post(service, "/v1/attention", large)
                                           : client_send(service, &requests[i % (sizeof requests / sizeof *requests)]);
        ck_assert_int_gt(reply.status, 0);
        client_free(&reply);
    }
    free(large);
}

/* After the first thousand requests, the next two thousand need no more descriptors, and memory only as allocators and
 * sanitizers waste it. */
START_TEST(nothing_grows_with_requests)
{
    struct service service = service_start(NULL);
    send_mixed(&service, 1000);
    gauge_await(&service, "\nattnd_connections_open 1\n");
    double files = gauge_read(&service, "\nprocess_open_fds ");
    double bytes = gauge_read(&service, "\nprocess_resident_memory_bytes ");
    send_mixed(&service, 2000);
    gauge_await(&service, "\nattnd_connections_open 1\n");
    ck_assert_double_eq(gauge_read(&service, "\nprocess_open_fds "), files);
    ck_assert_double_lt(gauge_read(&service, "\nprocess_resident_memory_bytes "), bytes + 64e6);
    gauge_await(&service, "\nattnd_bytes_held 0\n");
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which keep what is freed */
/* A tree of many small pieces, which must not stay with the allocator. */
START_TEST(large_document_goes_back_to_the_system)
{
    struct service service = service_start(NULL);
    char *body = sample_members(99000, 400);
    double before = gauge_read(&service, "\nprocess_resident_memory_bytes ");
    struct client_reply reply = client_post(&service, "/v1/attention", body);
    json_decref(client_problem(&reply, 422));
    client_free(&reply);
    gauge_await_below(&service, "\nprocess_resident_memory_bytes ", before + 16e6);
    free(body);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST
#endif

Suite *memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("a service each");
    tcase_set_timeout(tests, 180);
    tcase_add_test(tests, spent_memory_is_503);
    tcase_add_test(tests, body_beyond_all_memory_is_413);
    tcase_add_test(tests, nothing_grows_with_requests);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tcase_add_test(tests, large_document_goes_back_to_the_system);
#endif
    suite_add_tcase(suite, tests);
    return suite;
}
