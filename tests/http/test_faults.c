/* Memory that runs out at each place where it can: every allocation of a request fails once, alone and with all that
 * come after it. The reply is right or a 503, or the connection is closed; the next request is answered as ever; and
 * under a sanitizer nothing leaks. */
#include "tests/fault/fault.h"
#include "tests/http/client.h"
#include "tests/http/sample.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

Suite *faults_suite(void);

#define ALLOCATIONS_MAX 2000 /* of one request, or of a start; more means that the count never ends */
#define PATIENCE 60.0

static struct fault_page *page;
static char path[64];
static char *usual; /* the program of the other suites */
static struct service service;

/* The page, and the program that looks at it in place of the usual one. */
static void open_page(void)
{
    const char *program = getenv("ATTENTIOND_FAULTS");
    ck_assert_msg(program != NULL, "ATTENTIOND_FAULTS names the program whose allocations fail on demand");
    free(usual);
    usual = strdup(getenv("ATTENTIOND"));
    ck_assert_int_eq(setenv("ATTENTIOND", program, 1), 0);
    snprintf(path, sizeof path, "/tmp/attentiond-fault-XXXXXX");
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(ftruncate(descriptor, sizeof *page), 0);
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    ck_assert(page != MAP_FAILED);
    close(descriptor);
    atomic_store(&page->left, -1);
    ck_assert_int_eq(setenv(FAULT_FILE, path, 1), 0);
}

static void close_page(void)
{
    if (usual)
        setenv("ATTENTIOND", usual, 1);
    munmap(page, sizeof *page);
    unlink(path);
}

static void start(void)
{
    open_page();
    service = service_start(NULL);
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
    close_page();
}

static const struct client_request requests[] = {
    {.path = "/"},
    {.path = "/livez"},
    {.path = "/readyz"},
    {.path = "/metrics"},
    {.path = "/v1/info"},
    {.path = "/openapi.json"},
    {.path = "/problems"},
    {.path = "/problems/timeout"},
    {.path = "/v1/examples"},
    {.path = "/v1/examples/the-cat"},
    {.path = "/nope"},
    {.path = "/v1/info", .headers = {"Accept-Encoding: gzip"}},
    {.method = "OPTIONS", .path = "/v1/attention"},
    {.path = "/v1/attention", .body = SAMPLE_CAT},
    {.path = "/v1/attention", .body = SAMPLE_CAT, .chunked = true},
    {.path = "/v1/attention", .body = SAMPLE_CAT, .headers = {"Accept-Encoding: gzip"}},
    {.path = "/v1/attention", .body = SAMPLE_CAT, .headers = {"Accept: text/plain"}},
    {.path = "/v1/attention", .body = "{\"q\":[[1,2],[3]]}"},
    {.path = "/v1/attention", .body = "{\"q\":[[1,2"},
    {.path = "/v1/attention",
     .body = "{\"x\":[[1,2]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]],\"mask\":"
             "{\"causal\":true,\"alibi\":true},\"include\":[\"steps\",\"stats\",\"cost\"]}"},
    {.path = "/v1/attention/merge", .body = "{\"parts\":[{\"output\":[[1,2]],\"log_sum_exp\":[0.5]}]}"},
    {.path = "/v1/attention/explain",
     .body = "{\"cell\":{\"query\":1,\"key\":0},\"q\":[[1,0],[0,2]],\"k\":[[1,0]],\"v\":[[1,2]]}"},
};

#define REQUESTS ((int)(sizeof requests / sizeof *requests))

static int send_one(const struct client_request *request)
{
    struct client_reply reply = client_send(&service, request);
    int status = reply.failure ? 0 : (int)reply.status;
    client_free(&reply);
    return status;
}

/* The allocation after `left` more fails. Whether there was one. */
static bool send_failing(const struct client_request *request, long left, int lasts, int good)
{
    long before = atomic_load(&page->count);
    atomic_store(&page->lasts, lasts);
    atomic_store(&page->left, left);
    int status = send_one(request);
    atomic_store(&page->left, -1);
    bool failed = atomic_load(&page->count) > before;
    ck_assert_msg(status == good || status == 503 || status == 0, "%s, allocation %ld: status %d", request->path, left,
                  status);
    ck_assert_msg(failed || status == good, "%s: status %d, and nothing had failed", request->path, status);
    return failed;
}

static void fail_each(const struct client_request *request, int lasts)
{
    atomic_store(&page->left, -1); /* whatever the last test left */
    int good = send_one(request);
    long left = 0;
    ck_assert_int_ge(good, 200);
    while (send_failing(request, left, lasts, good) && left < ALLOCATIONS_MAX) {
        ck_assert_msg(send_one(request) == good, "%s, after allocation %ld failed", request->path, left);
        left++;
    }
    ck_assert_int_gt(left, 0);
    ck_assert_int_lt(left, ALLOCATIONS_MAX);
}

START_TEST(each_allocation_of_a_request_may_fail)
{
    fail_each(&requests[_i / 2], _i % 2);
}
END_TEST

/* What the request itself takes: its body, its arena, the texts around the numbers, the reply. The rest is the
 * connection's and the log's. */
#define TINY_ALLOCATIONS_MAX 12

START_TEST(a_tiny_request_takes_few_allocations)
{
    const struct client_request request = {.path = "/v1/attention", .body = SAMPLE_CAT};
    const long plenty = 1000000;
    ck_assert_int_eq(send_one(&request), 200); /* its outline is remembered */
    atomic_store(&page->left, plenty);
    ck_assert_int_eq(send_one(&request), 200);
    long taken = plenty - atomic_exchange(&page->left, -1);
    ck_assert_int_gt(taken, 0);
    ck_assert_int_le(taken, TINY_ALLOCATIONS_MAX);
}
END_TEST

/* A reply in blocks, by way of the workers: what fails after its head has gone can only be told by its end. */
START_TEST(each_allocation_of_a_stream_may_fail)
{
    char *body = sample_square(130, 2, "\"include\":[\"steps\"]");
    fail_each(&(struct client_request){.path = "/v1/attention", .body = body}, _i % 2);
    fail_each(&(struct client_request){.path = "/v1/attention", .body = body, .headers = {"Accept-Encoding: gzip"}},
              _i % 2);
    free(body);
}
END_TEST

/* A run that ends by itself. Whether there was an allocation to fail. */
static bool run_failing(const char *const *flags, int good, long left)
{
    char *out = NULL;
    char *err = NULL;
    long before = atomic_load(&page->count);
    atomic_store(&page->lasts, 0);
    atomic_store(&page->left, left);
    int status = service_run(flags, NULL, &out, &err);
    atomic_store(&page->left, -1);
    bool failed = atomic_load(&page->count) > before;
    ck_assert_msg(status == good || (failed && (status == 1 || status == 2)), "%s, allocation %ld: status %d, %s",
                  flags[0], left, status, err);
    free(out);
    free(err);
    return failed;
}

/* The last one starts everything, and ends when it cannot write the port. */
START_TEST(each_allocation_of_a_start_may_fail)
{
    static const struct {
        const char *flags[8];
        int good;
    } rows[] = {
        {{"--print-openapi"}, 0},
        {{"--check-config"}, 0},
        {{"--port", "0", "--workers", "2", "--port-file", "/nonexistent/port"}, 1},
    };
    long left = 0;
    while (left < ALLOCATIONS_MAX && run_failing(rows[_i].flags, rows[_i].good, left))
        left += left < 100 ? 1 : 7;
    ck_assert_int_lt(left, ALLOCATIONS_MAX);
}
END_TEST

/* The line of a request is made after its reply. */
static void await_failure(long before)
{
    double end = service_now() + 0.2;
    while (atomic_load(&page->count) == before && service_now() < end)
        service_pause();
}

/* One of the first allocations after a request begins is that of its line, unless lines before it have made room. */
START_TEST(the_log_goes_on_after_lines_without_memory)
{
    struct service own = service_start(NULL);
    struct client_reply reply = client_get(&own, "/nope"); /* the first one reads the contract */
    client_free(&reply);
    atomic_store(&page->lasts, 0);
    for (long turn = 0; turn < 400 && !service_logged(&own, "1 log lines were dropped", 1, 0); turn++) {
        long before = atomic_load(&page->count);
        atomic_store(&page->left, turn % 20);
        reply = client_get(&own, "/nope");
        client_free(&reply);
        await_failure(before);
        atomic_store(&page->left, -1);
    }
    reply = client_send(&own, &(struct client_request){.path = "/nope", .headers = {"X-Request-Id: after-it"}});
    client_free(&reply);
    ck_assert(service_logged(&own, "after-it", 1, PATIENCE));
    ck_assert(service_logged(&own, "1 log lines were dropped", 1, PATIENCE));
    ck_assert_int_eq(service_stop(&own), 0);
}
END_TEST

START_TEST(the_end_needs_no_memory)
{
    struct service own = service_start(NULL);
    atomic_store(&page->lasts, 1);
    atomic_store(&page->left, 0);
    ck_assert_int_eq(service_stop(&own), 0);
}
END_TEST

Suite *faults_suite(void)
{
    Suite *suite = suite_create("faults");
    TCase *running = tcase_create("one service");
    tcase_add_unchecked_fixture(running, start, stop);
    tcase_set_timeout(running, 180);
    tcase_add_test(running, a_tiny_request_takes_few_allocations);
    tcase_add_loop_test(running, each_allocation_of_a_request_may_fail, 0, 2 * REQUESTS);
    tcase_add_loop_test(running, each_allocation_of_a_stream_may_fail, 0, 2);
    suite_add_tcase(suite, running);
    TCase *starting = tcase_create("starting");
    tcase_add_checked_fixture(starting, open_page, close_page);
    tcase_set_timeout(starting, 180);
    tcase_add_loop_test(starting, each_allocation_of_a_start_may_fail, 0, 3);
    tcase_add_test(starting, the_log_goes_on_after_lines_without_memory);
    tcase_add_test(starting, the_end_needs_no_memory);
    suite_add_tcase(suite, starting);
    return suite;
}
