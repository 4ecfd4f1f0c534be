/* Memory: what is spent is refused, what is used comes back. */
#include "tests/http/client.h"
#include "tests/http/gauge.h"
#include "tests/http/packed.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Eight steps whose keys grow: some 70 MB of JSON in one piece, more than sockets keep. */
static char *write_steps(void)
{
    char *step = sample_square(300, 2, "\"include\":[\"weights\"]");
    size_t length = strlen(step);
    char *body = malloc(8 * (length + 1) + 32);
    ck_assert_ptr_nonnull(body);
    char *out = stpcpy(body, "{\"steps\":[");
    for (size_t x = 0; x < 8; x++)
        out = stpcpy(stpcpy(out, x == 0 ? "" : ","), step);
    stpcpy(out, "]}");
    free(step);
    return body;
}

/* A reply in one piece is charged while it is sent: who stops reading takes room from the next, and gives it back. */
START_TEST(replies_that_nobody_reads_are_charged)
{
    enum { COUNT = 5 };
    static struct wire wires[COUNT];
    char *body = write_steps();
    char head[120];
    size_t refused = 0;
    struct service small =
        service_start((const char *const[]){"--memory", "200M", "--request-memory", "1G", "--workers", "2", NULL});
    snprintf(head, sizeof head, "POST /v1/decode HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", strlen(body));
    for (size_t i = 0; i < COUNT; i++) {
        wires[i] = wire_open_narrow(&small);
        ck_assert(wire_send(&wires[i], head) && wire_send(&wires[i], body));
        ck_assert(wire_receive_text(&wires[i], "\r\n\r\n", 60));
        refused += strncmp(wires[i].data, "HTTP/1.1 503", 12) == 0;
    }
    ck_assert_uint_ge(refused, 1);
    ck_assert_uint_lt(refused, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        wire_close(&wires[i]);
    gauge_await(&small, "\nattnd_bytes_held 0\n");
    free(body);
    ck_assert_int_eq(service_stop(&small), 0);
}
END_TEST

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

#define MIB ((size_t)1 << 20)

/* Bodies of the largest size that are all text: copies of it, and the parser's, are the request's. */
static const struct {
    const char *before, *again, *after;
} texts[] = {
    {"{\"q\":\"", "abcdefghij", "\"}"},
    {"{\"tokens\":[\"\"", ",\"abcdefghijklmnop\"", "]}"},
    {"{\"q\":[[\"a\"]", ",[[\"a\"]]", "]}"},
    {"{\"q\":[\"a\"", ",{}", "]}"},
};

#define TEXT_BYTES ((size_t)40 * 1000 * 1000)

static struct bytes write_text(int row)
{
    size_t piece = strlen(texts[row].again);
    char *body = malloc(TEXT_BYTES + 64);
    ck_assert_ptr_nonnull(body);
    char *at = stpcpy(body, texts[row].before);
    while ((size_t)(at - body) + piece < TEXT_BYTES)
        at = mempcpy(at, texts[row].again, piece);
    at = stpcpy(at, texts[row].after);
    return (struct bytes){.data = (unsigned char *)body, .length = (size_t)(at - body)};
}

START_TEST(text_stays_within_the_settings)
{
    struct service service =
        service_start((const char *const[]){"--workers", "1", "--memory", "64M", "--request-memory", "16M", NULL});
    size_t idle = gauge_most_resident(&service);
    struct bytes body = write_text(_i);
    struct client_request request = {.path = "/v1/attention", .body = (const char *)body.data, .length = body.length};
    struct client_reply reply = client_send(&service, &request);
    ck_assert_msg(reply.status == 413, "%d: status %ld %.300s", _i, reply.status, reply.body);
    ck_assert_msg(strstr(reply.body, "request-memory"), "%.400s", reply.body);
    client_free(&reply);
    size_t most = gauge_most_resident(&service);
    ck_assert_msg(most <= idle + (64 + 16 + 24) * MIB, "%d: %zu bytes, idle %zu", _i, most, idle);
    free(body.data);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

#define CLIENTS 8
/* What two workers hold beside the settings: brief work between the tasks of a request, buffers of OpenBLAS (24 MiB
 * each as server/machine/fit.c counts it), and what the allocator has not given back. */
#define BESIDE (64 * MIB)

/* Requests that take much more to answer than their bodies say. */
struct demand {
    const char *request_memory; /* the setting */
    size_t limit;               /* the same in MiB */
    size_t n, m, width;         /* 0: the packed one */
    const char *rest;           /* members */
    int status;                 /* of one alone */
};

static const struct demand demands[] = {
    {"32M", 32, 2, 200000, 1, "\"include\":[\"weights\"]", 200},
    {"16M", 16, 2, 200000, 1, "\"include\":[\"weights\",\"steps\"],\"dtype\":\"float32\"", 200},
    {"32M", 32, 2, 40000, 8, "\"include\":[\"steps.products\"]", 200},
    {"32M", 32, 16, 4096, 8, "\"include\":[\"steps.contributions\"]", 200},
    {"32M", 32, 700, 700, 2, "\"include\":[\"steps\"]", 200},
    {"32M", 32, 0, 0, 0, "", 413},
    {"448M", 448, 0, 0, 0, "", 413},
    {"448M", 448, 0, 0, 0, ",\"include\":[\"output\"]", 200},
};

static void write_ones(char **at, size_t count)
{
    for (size_t i = 0; i < count; i++, *at += 4)
        memcpy(*at, i == 0 ? "[[1]" : ",[1]", 4);
}

/* 23 KB on the wire, 24 MB of text, 48 MB of numbers. */
static struct bytes pack_long_context(const char *rest)
{
    enum { ROWS = 32, CONTEXT = 6000000 };
    char *text = malloc((size_t)4 * (ROWS + CONTEXT) + 256);
    ck_assert_ptr_nonnull(text);
    char *at = text;
    at += sprintf(at, "{\"w_q\":[[1]],\"w_k\":[[1]],\"w_v\":[[1]],\"variant\":\"linear\",\"x\":");
    write_ones(&at, ROWS);
    at += sprintf(at, "],\"context\":");
    write_ones(&at, CONTEXT);
    at += sprintf(at, "]%s}", rest);
    struct bytes packed = packed_make(text, (size_t)(at - text), PACKED_GZIP);
    free(text);
    return packed;
}

static struct bytes write_demand(const struct demand *demand)
{
    if (demand->n == 0)
        return pack_long_context(demand->rest);
    char *body = sample_rows(demand->n, demand->m, demand->width, demand->rest);
    return (struct bytes){.data = (unsigned char *)body, .length = strlen(body)};
}

struct asker {
    const struct service *service;
    struct client_request request;
    long status;
    pthread_t thread;
};

static void *ask_at_once(void *context)
{
    struct asker *asker = context;
    struct client_reply reply = client_send(asker->service, &asker->request);
    asker->status = reply.status;
    client_free(&reply);
    return NULL;
}

static void check_crowd(const struct service *service, const struct client_request *request, bool refused)
{
    struct asker askers[CLIENTS];
    for (size_t i = 0; i < CLIENTS; i++) {
        askers[i] = (struct asker){.service = service, .request = *request};
        ck_assert_int_eq(pthread_create(&askers[i].thread, NULL, ask_at_once, &askers[i]), 0);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        pthread_join(askers[i].thread, NULL);
        long status = askers[i].status;
        ck_assert_msg(status == (refused ? 413 : 200) || status == 503, "status %ld", status);
    }
}

/* One alone, then many at once: answers or refusals, and never more memory than the settings add up to. */
START_TEST(demands_stay_within_the_settings)
{
    const struct demand *demand = &demands[_i];
    struct service service = service_start(
        (const char *const[]){"--workers", "2", "--memory", "64M", "--request-memory", demand->request_memory, NULL});
    size_t idle = gauge_most_resident(&service);
    struct bytes body = write_demand(demand);
    struct client_request request = {
        .path = "/v1/attention", .body = (const char *)body.data, .length = body.length, .headers = {NULL}};
    if (demand->n == 0)
        request.headers[0] = "Content-Encoding: gzip";
    struct client_reply reply = client_send(&service, &request);
    ck_assert_msg(reply.status == demand->status, "%d: status %ld %.300s", _i, reply.status, reply.body);
    client_free(&reply);
    size_t alone = gauge_most_resident(&service);
    check_crowd(&service, &request, demand->status == 413);
    size_t most = gauge_most_resident(&service);
    size_t beside = idle + 64 * MIB + BESIDE;
    ck_assert_msg(alone <= beside + demand->limit * MIB, "%d: %zu bytes for one, idle %zu", _i, alone, idle);
    ck_assert_msg(most <= beside + 2 * demand->limit * MIB, "%d: %zu bytes, idle %zu", _i, most, idle);
    gauge_await(&service, "\nattnd_bytes_held 0\n");
    free(body.data);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST
#endif

Suite *memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("a service each");
    tcase_set_timeout(tests, 180);
    tcase_add_test(tests, replies_that_nobody_reads_are_charged);
    tcase_add_test(tests, spent_memory_is_503);
    tcase_add_test(tests, body_beyond_all_memory_is_413);
    tcase_add_test(tests, nothing_grows_with_requests);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tcase_add_test(tests, large_document_goes_back_to_the_system);
    tcase_add_loop_test(tests, text_stays_within_the_settings, 0, sizeof texts / sizeof *texts);
    tcase_add_loop_test(tests, demands_stay_within_the_settings, 0, sizeof demands / sizeof *demands);
#endif
    suite_add_tcase(suite, tests);
    return suite;
}
