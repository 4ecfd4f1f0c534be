/* What no library client would send: each row is one request as bytes, and the replies it may get. Every row is sent
 * whole, a byte at a time, and behind a good request; afterwards the service must still answer. */
#include "tests/http/client.h"
#include "tests/http/wire.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *gate_suite(void);

#define PATIENCE 30.0

static struct service service;

static void start(void)
{
    service = service_start((const char *const[]){"--header-timeout", "20", NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
}

#define POST "POST /v1/attention HTTP/1.1\r\nHost: x\r\n"
#define GET "GET /livez HTTP/1.1\r\nHost: x\r\n"

/* What stands before and after the row may differ between versions of libmicrohttpd; what may never happen is a 200, or
 * a second reply to bytes that were a body. */
static const struct {
    const char *name;
    const char *request;
    int status[3];
} rows[] = {
    {"plain", GET "\r\n", {200, 200, 200}},
    {"two lengths", POST "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}}", {400}},
    {"two equal lengths", POST "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", {400}},
    {"length and chunked", POST "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}},
    {"chunked and length", POST "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n", {400}},
    {"two codings", POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}},
    {"gzip coding", POST "Transfer-Encoding: gzip\r\n\r\n", {501, 400}},
    {"gzip, chunked", POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", {501, 400}},
    {"identity coding", POST "Transfer-Encoding: identity\r\n\r\n", {501, 400}},
    {"chunked with 1.0", "POST /v1/attention HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}},
    {"negative length", POST "Content-Length: -1\r\n\r\n", {400}},
    {"signed length", POST "Content-Length: +2\r\n\r\n{}", {400}},
    {"length with letters", POST "Content-Length: 2x\r\n\r\n{}", {400}},
    {"hexadecimal length", POST "Content-Length: 0x2\r\n\r\n{}", {400}},
    {"length list", POST "Content-Length: 2, 2\r\n\r\n{}", {400}},
    {"empty length", POST "Content-Length:\r\n\r\n", {400, 411}},
    {"length of 19 digits", POST "Content-Length: 9999999999999999999\r\n\r\n", {400, 413}},
    {"length of 30 digits", POST "Content-Length: 999999999999999999999999999999\r\n\r\n", {400, 413}},
    {"space before colon", POST "Content-Length : 2\r\n\r\n{}", {400}},
    {"no host", "GET /livez HTTP/1.1\r\n\r\n", {400}},
    {"two hosts", "GET /livez HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", {400}},
    {"two types", POST "Content-Type: a/b\r\nContent-Type: c/d\r\nContent-Length: 2\r\n\r\n{}", {400}},
    {"blank in name", GET "A B: x\r\n\r\n", {400}},
    {"odd byte in name", GET "A(B: x\r\n\r\n", {400}},
    {"no colon", GET "Nonsense\r\n\r\n", {400}},
    {"no path", "GET\r\n\r\n", {400}},
    {"no version", "GET /livez\r\nHost: x\r\n\r\n", {400, 505}},
    {"version 2.0", "GET /livez HTTP/2.0\r\nHost: x\r\n\r\n", {505, 400}},
    {"version 0.9", "GET /livez HTTP/0.9\r\nHost: x\r\n\r\n", {505, 400}},
    {"version 1.2", "GET /livez HTTP/1.2\r\nHost: x\r\n\r\n", {200, 200, 200}},
    {"high byte in target", "GET /livez\xff HTTP/1.1\r\nHost: x\r\n\r\n", {400}},
    {"escaped NUL in target", "GET /livez%00 HTTP/1.1\r\nHost: x\r\n\r\n", {400}},
    {"CONNECT", "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", {404, 405}},
    {"TLS hello", "\x16\x03\x01\x02\x01\x01\x01\xfc\x03\x03\r\n\r\n", {400}},
    {"bad chunk size", POST "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", {400}},
    {"negative chunk size", POST "Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n", {400}},
    {"underscore in chunk size", POST "Transfer-Encoding: chunked\r\n\r\n0_2\r\n{}\r\n0\r\n\r\n", {400}},
    {"huge chunk size", POST "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", {400, 413}},
    {"length with a plus inside", POST "Content-Length: 1+1\r\n\r\n{}", {400}},
    {"length with a leading zero", POST "Content-Length: 010\r\n\r\n", {400, 408}},
    {"length with a comma", POST "Content-Length: 2,\r\n\r\n{}", {400}},
    {"length in quotes", POST "Content-Length: \"2\"\r\n\r\n{}", {400}},
    {"length with a vertical tab", POST "Content-Length: \v2\r\n\r\n{}", {400}},
    {"length of another script", POST "Content-Length: \xd9\xa2\r\n\r\n{}", {400}},
    {"two lengths, other case", POST "Content-Length: 2\r\ncontent-LENGTH: 3\r\n\r\n{}}", {400}},
    {"length after a fold", POST "A: b\r\n Content-Length: 2\r\n\r\n{}", {400}},
    {"coding with a leading comma", POST "Transfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n", {501, 400}},
    {"coding twice in a list", POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", {501, 400}},
    {"coding with a blank behind it", /* what libmicrohttpd does not take for chunked must not be taken by us */
     POST "Connection: close\r\nTransfer-Encoding: chunked \r\n\r\n0\r\n\r\n",
     {501, 400}},
    {"coding in quotes", POST "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", {501, 400}},
    {"coding with a parameter", POST "Transfer-Encoding: chunked;a=b\r\n\r\n0\r\n\r\n", {501, 400}},
    {"coding with a vertical tab", POST "Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n", {501, 400}},
    {"coding with a space before the colon", POST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", {400}},
    {"chunk size of another script", POST "Transfer-Encoding: chunked\r\n\r\n\xd9\xa2\r\n{}\r\n0\r\n\r\n", {400}},
    {"chunk size with 0x", POST "Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n", {400}},
    {"chunk size with a plus", POST "Transfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n", {400}},
    {"chunk without its end", POST "Transfer-Encoding: chunked\r\n\r\n2\r\n{}xx\r\n0\r\n\r\n", {400}},
    {"empty chunk size", POST "Transfer-Encoding: chunked\r\n\r\n\r\n{}\r\n0\r\n\r\n", {400}},
    {"host in the target only", "GET http://x/livez HTTP/1.1\r\n\r\n", {400}},
    {"two hosts, other case", "GET /livez HTTP/1.1\r\nHost: x\r\nhOST: y\r\n\r\n", {400}},
    {"two keys", GET "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n", {400}},
    {"two expectations", POST "Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}", {400}},
    {"name with a high byte", GET "A\xe9: x\r\n\r\n", {400}},
    {"name with a slash", GET "A/B: x\r\n\r\n", {400}},
    {"lower-case version", "GET /livez http/1.1\r\nHost: x\r\n\r\n", {400, 505}},
    {"version with a third number", "GET /livez HTTP/1.1.1\r\nHost: x\r\n\r\n", {400, 505}},
    {"version 1.10", "GET /livez HTTP/1.10\r\nHost: x\r\n\r\n", {400, 505}},
    {"preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {505, 400}},
    {"space in target", "GET /li vez HTTP/1.1\r\nHost: x\r\n\r\n", {400, 301}},
    {"tab in target", "GET /li\tvez HTTP/1.1\r\nHost: x\r\n\r\n", {400}},
    {"control byte in target", "GET /livez\x01 HTTP/1.1\r\nHost: x\r\n\r\n", {400}},
    {"escaped slash in target", "GET /v1%2finfo HTTP/1.1\r\nHost: x\r\n\r\n", {404, 404, 404}},
    {"path and no value, 1.0", "GET /x?b HTTP/1.0\r\n\r\n", {404, 404, 404}},
};

#define ROWS ((int)(sizeof rows / sizeof *rows))

static void check_alive(void)
{
    struct client_reply reply = client_get(&service, "/livez");
    ck_assert_int_eq(reply.status, 200);
    client_free(&reply);
}

static bool is_allowed(int row, int status)
{
    return rows[row].status[0] == status || rows[row].status[1] == status || rows[row].status[2] == status;
}

enum manner { WHOLE, SLOWLY, PIPELINED };

static void send_row(struct wire *wire, int row, enum manner manner)
{
    char both[512];
    snprintf(both, sizeof both, GET "\r\n%s", rows[row].request);
    if (manner == SLOWLY)
        (void)wire_send_slowly(wire, rows[row].request);
    else
        (void)wire_send(wire, manner == PIPELINED ? both : rows[row].request);
    if (manner == PIPELINED)
        ck_assert_int_eq(wire_receive(wire, NULL, PATIENCE), 200);
}

static void check_row(int row, enum manner manner)
{
    struct wire wire = wire_open(&service);
    send_row(&wire, row, manner);
    int status = wire_receive(&wire, NULL, 2);
    if (status == -1)
        wire_abort(&wire); /* it waits for more, as for a body that was announced: no reply is no wrong reply */
    else
        ck_assert_msg(is_allowed(row, status), "%s: status %d", rows[row].name, status);
    if (status >= 400 && status != 404 && status != 405)
        ck_assert_msg(wire_closed(&wire, PATIENCE), "%s: the connection was kept", rows[row].name);
    if (status != -1)
        wire_close(&wire);
    check_alive();
}

START_TEST(row_sent_whole)
{
    check_row(_i, WHOLE);
}
END_TEST

START_TEST(row_sent_a_byte_at_a_time)
{
    check_row(_i, SLOWLY);
}
END_TEST

START_TEST(row_sent_with_another_before_it)
{
    check_row(_i, PIPELINED);
}
END_TEST

/* Smuggling: the bytes after the first request's doubtful body must never be answered as a second request. */
START_TEST(doubtful_bodies_never_become_requests)
{
    static const char *const heads[] = {
        POST "Content-Length: 0\r\nContent-Length: 4\r\n\r\n",
        POST "Content-Length : 36\r\n\r\n",
        POST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
        POST "Transfer-Encoding: xchunked\r\n\r\n",
        POST "Transfer-Encoding: chunked, identity\r\n\r\n",
        POST "Content-Length: 3\r\nContent-Length: 30\r\n\r\nabc",
    };
    struct wire wire = wire_open(&service);
    (void)wire_send(&wire, heads[_i]);
    (void)wire_send(&wire, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    for (int status = 1; status > 0;) {
        status = wire_receive(&wire, NULL, 3);
        ck_assert_msg(status != 200, "a body was taken for a request");
    }
    wire_close(&wire);
    check_alive();
}
END_TEST

/* The number after "0." or "1.0." in libmicrohttpd's version; -1 when it begins otherwise. */
static int find_version(const char *start)
{
    struct client_reply reply = client_get(&service, "/v1/info");
    json_t *root = client_json(&reply);
    const char *version = json_string_value(json_object_get(json_object_get(root, "libraries"), "libmicrohttpd"));
    ck_assert_ptr_nonnull(version);
    int number = strncmp(version, start, strlen(start)) == 0 ? (int)strtol(version + strlen(start), NULL, 10) : -1;
    json_decref(root);
    client_free(&reply);
    return number;
}

static bool is_vulnerable(void)
{
    int patch = find_version("1.0.");
    return patch >= 0 && patch < 10;
}

#define ROW(text) text, sizeof(text) - 1

/* What 0.9 hides from everything behind it, so that the README and a warning at start name it: with 0.9 the replies are
 * these, one after the other, with later versions it is one refusal. */
static const struct {
    const char *name;
    const char *request;
    size_t length;
    size_t filling; /* bytes behind it */
    const char *end;
    int lenient[2], strict[2];
} faults[] = {
    {"a field without a name ends the head", ROW(GET ": x\r\nGET /nope HTTP/1.1\r\nHost: x\r\n\r\n"),
     .lenient = {200, 404}, .strict = {400}},
    {"a folded length vanishes", ROW(POST "Content-Length:\r\n 34\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n"),
     .lenient = {400, 200}, .strict = {400}},
    {"a NUL cuts a value", ROW(GET "X-Request-Id: b\0c\r\n\r\n"), .lenient = {200}, .strict = {400}},
    {"a chunk extension fills its buffer", ROW(POST "Transfer-Encoding: chunked\r\n\r\n2;a="), .filling = 70000,
     .end = "\r\n{}\r\n0\r\n\r\n", .lenient = {500}, .strict = {413, 400}},
};

static void send_fault(struct wire *wire, int row)
{
    char *filling = calloc(1, faults[row].filling + 1);
    ck_assert_ptr_nonnull(filling);
    memset(filling, 'x', faults[row].filling);
    (void)(wire_send_bytes(wire, faults[row].request, faults[row].length) && wire_send(wire, filling) &&
           wire_send(wire, faults[row].end ? faults[row].end : ""));
    free(filling);
}

START_TEST(known_faults_are_those_of_old_versions)
{
    bool lenient = find_version("0.") >= 0;
    struct wire wire = wire_open(&service);
    send_fault(&wire, _i);
    int status = wire_receive(&wire, NULL, PATIENCE);
    if (lenient) {
        ck_assert_msg(status == faults[_i].lenient[0], "%s: status %d", faults[_i].name, status);
        for (int i = 1; i < 2 && faults[_i].lenient[i]; i++)
            ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), faults[_i].lenient[i]);
    } else if (faults[_i].filling && is_vulnerable()) {
        /* These versions may make no reply, nor end the connection: then the time limit of the body does. */
        ck_assert_msg(status <= 0 || status >= 400, "%s: status %d", faults[_i].name, status);
        ck_assert(wire_closed(&wire, PATIENCE));
    } else {
        ck_assert_msg(status == faults[_i].strict[0] || status == faults[_i].strict[1], "%s: status %d",
                      faults[_i].name, status);
        ck_assert(wire_closed(&wire, PATIENCE));
    }
    wire_close(&wire);
    check_alive();
}
END_TEST

/* Such a request ends libmicrohttpd 1.0.0 to 1.0.9 before any code of ours runs, which is why the program then refuses
 * to serve other machines; the image must not have one of those. */
START_TEST(long_target_without_value_does_not_crash)
{
    if (is_vulnerable())
        return;
    for (size_t length = 15000; length < 32500; length += 250) {
        static char target[33000];
        memset(target, 'x', length);
        target[0] = '/';
        target[length] = '\0';
        struct wire wire = wire_open(&service);
        (void)(wire_send(&wire, "GET ") && wire_send(&wire, target) && wire_send(&wire, "?b HTTP/1.0\r\n\r\n"));
        ck_assert_int_ne(wire_receive(&wire, NULL, PATIENCE), 200);
        wire_close(&wire);
    }
    check_alive();
}
END_TEST

Suite *gate_suite(void)
{
    Suite *suite = suite_create("gate");
    TCase *tests = tcase_create("one service");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, row_sent_whole, 0, ROWS);
    tcase_add_loop_test(tests, row_sent_a_byte_at_a_time, 0, ROWS);
    tcase_add_loop_test(tests, row_sent_with_another_before_it, 0, ROWS);
    tcase_add_loop_test(tests, doubtful_bodies_never_become_requests, 0, 6);
    tcase_add_loop_test(tests, known_faults_are_those_of_old_versions, 0, (int)(sizeof faults / sizeof *faults));
    tcase_add_test(tests, long_target_without_value_does_not_crash);
    suite_add_tcase(suite, tests);
    return suite;
}
