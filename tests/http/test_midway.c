/* Refusals in the middle of a chunked body: written without libmicrohttpd, and with all that their status demands. */
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

Suite *midway_suite(void);

#define PATIENCE 30.0
#define CHUNK 0x21000 /* more than --max-body and what is read beyond it */

#define ATTENTION "POST /v1/attention HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"

static char keys[64];

static void make_keys(void)
{
    snprintf(keys, sizeof keys, "/tmp/attentiond-keys-XXXXXX");
    int descriptor = mkstemp(keys);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, "secret\n", 7), 7);
    close(descriptor);
}

static void remove_keys(void)
{
    unlink(keys);
}

static const struct {
    const char *head;
    int status;
    const char *field; /* of the reply */
    const char *flags[5];
} rows[] = {
    {ATTENTION, 413, "Connection: close\r\n", {NULL}},
    {"POST /v1/info HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n",
     405,
     "Allow: GET, HEAD, OPTIONS\r\n",
     {NULL}},
    {ATTENTION "Content-Type: multipart/form-data\r\n", 415, "Accept-Post: application/json\r\n", {NULL}},
    {ATTENTION "Content-Encoding: br\r\n", 415, "Accept-Encoding: zstd, gzip, deflate\r\n", {NULL}},
    {ATTENTION, 401, "WWW-Authenticate: Bearer realm=", {"--api-key-file", keys, NULL}},
    {ATTENTION, 429, "Retry-After: ", {"--rate-limit", "0.001", "--rate-burst", "1", NULL}},
    {ATTENTION, 503, "Retry-After: ", {"--max-client-connections", "1", NULL}},
    {ATTENTION "Origin: http://a.example\r\n", 413, "Access-Control-Allow-Origin: *\r\n", {NULL}},
};

static struct service start(int row)
{
    const char *flags[8] = {"--max-body", "64K"};
    for (size_t i = 0; rows[row].flags[i]; i++)
        flags[i + 2] = rows[row].flags[i];
    return service_start(flags);
}

static void send_much(struct wire *wire, const char *head)
{
    static char chunk[CHUNK + 16];
    int start = snprintf(chunk, sizeof chunk, "%x\r\n", CHUNK + 1);
    memset(chunk + start, ' ', CHUNK);
    ck_assert(wire_send(wire, head));
    ck_assert(wire_send(wire, "\r\n"));
    ck_assert(wire_send_bytes(wire, chunk, (size_t)start + CHUNK));
}

/* RFC 9110 section 6.6.1: a server with a clock sends the time with every reply like this. */
static void check_date(const char *head)
{
    struct tm then = {0};
    const char *date = strstr(head, "\r\nDate: ");
    ck_assert_ptr_nonnull(date);
    const char *end = strptime(date + 8, "%a, %d %b %Y %H:%M:%S GMT", &then);
    ck_assert_ptr_nonnull(end);
    ck_assert_int_eq(strncmp(end, "\r\n", 2), 0);
    ck_assert_double_lt(difftime(time(NULL), timegm(&then)), PATIENCE);
}

static void check_place(const char *body, const char *head)
{
    char path[64];
    json_t *problem = json_loads(body, 0, NULL);
    ck_assert_ptr_nonnull(problem);
    ck_assert_int_eq(sscanf(head, "POST %63s", path), 1);
    ck_assert_str_eq(json_string_value(json_object_get(problem, "instance")), path);
    json_decref(problem);
}

START_TEST(refusals_carry_what_their_status_demands)
{
    struct service service = start(_i);
    struct wire first = wire_open(&service); /* what the limits of clients allow */
    char *body = NULL;
    ck_assert(wire_send(&first, "GET /v1/info HTTP/1.1\r\nHost: x\r\nX-API-Key: secret\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&first, NULL, PATIENCE), 200);
    struct wire wire = wire_open(&service);
    send_much(&wire, rows[_i].head);
    ck_assert_int_eq(wire_receive(&wire, &body, PATIENCE), rows[_i].status);
    wire_check_problem(&wire, body);
    ck_assert_msg(strstr(wire.head, rows[_i].field) != NULL, "%s", wire.head);
    check_date(wire.head);
    check_place(body, rows[_i].head);
    free(body);
    wire_close(&wire);
    wire_close(&first);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* The refusal was sent; neither the end of the body, nor that it takes too long, is told as well. */
START_TEST(there_is_one_reply_to_a_request)
{
    struct service service =
        service_start((const char *const[]){"--max-body", "64K", "--body-timeout", "0.5", "--log-level", "info", NULL});
    struct wire wire = wire_open(&service);
    send_much(&wire, ATTENTION);
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 413);
    if (_i == 0)
        wire_send(&wire, " \r\n0\r\n\r\n");
    char *rest = NULL;
    ck_assert_int_eq(wire_receive(&wire, &rest, PATIENCE), 0);
    ck_assert(service_logged(&service, "\"status\":413", 1, PATIENCE));
    wire_close(&wire);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

Suite *midway_suite(void)
{
    Suite *suite = suite_create("midway");
    TCase *tests = tcase_create("midway");
    tcase_add_checked_fixture(tests, make_keys, remove_keys);
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, refusals_carry_what_their_status_demands, 0, sizeof rows / sizeof *rows);
    tcase_add_loop_test(tests, there_is_one_reply_to_a_request, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
