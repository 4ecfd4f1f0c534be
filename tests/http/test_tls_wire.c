/* HTTPS byte by byte: handshakes that are not finished, requests that are refused in the middle. */
#include "tests/http/certificate.h"
#include "tests/http/client.h"
#include "tests/http/client_hello.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

Suite *tls_wire_suite(void);

#define PATIENCE 60.0

static char folder[64];
static char certificate[96], key[96];

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void make_files(void)
{
    snprintf(folder, sizeof folder, "/tmp/attentiond-tls-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(certificate, sizeof certificate, "%s/certificate", folder);
    snprintf(key, sizeof key, "%s/key", folder);
    write_file(certificate, CERTIFICATE);
    write_file(key, CERTIFICATE_KEY);
}

static void remove_files(void)
{
    unlink(certificate);
    unlink(key);
    rmdir(folder);
}

/* With two more flags. */
static struct service start(const char *flag, const char *value)
{
    return service_start((const char *const[]){"--tls-cert", certificate, "--tls-key", key, flag, value, NULL});
}

static double find_processor_seconds(const struct service *service)
{
    clockid_t clock;
    struct timespec used;
    ck_assert_int_eq(clock_getcpuclockid(service->pid, &clock), 0);
    ck_assert_int_eq(clock_gettime(clock, &used), 0);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* Waits until what was sent has been worked off: a tenth of a second in which next to nothing is computed. */
static void wait_for_quiet(const struct service *service)
{
    double end = service_now() + PATIENCE;
    double before;
    do {
        before = find_processor_seconds(service);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    } while (find_processor_seconds(service) - before > 0.001 && service_now() < end);
}

static void check_alive(const struct service *service)
{
    struct client_reply reply =
        client_send(service, &(struct client_request){.path = "/livez", .authority = CERTIFICATE});
    ck_assert_int_eq(reply.status, 200);
    client_free(&reply);
}

/* A third of them have sent one byte, a third half a hello, a third have had the answer and say no more. Nothing
 * happens then, so nothing may be computed; as much as idle connections cost is allowed. */
START_TEST(unfinished_handshakes_cost_nothing)
{
    enum { COUNT = 300, SECONDS = 3 };
    static const size_t lengths[] = {1, sizeof CLIENT_HELLO / 2, sizeof CLIENT_HELLO - 1};
    static struct wire wires[COUNT];
    struct service service = start("--header-timeout", "600");
    for (size_t i = 0; i < COUNT; i++) {
        wires[i] = wire_open(&service);
        ck_assert(wire_send_bytes(&wires[i], CLIENT_HELLO, lengths[i % 3]));
    }
    for (size_t i = 2; i < COUNT; i += 3) {
        ck_assert_uint_ge(wire_take(&wires[i], 6, PATIENCE), 6);
    }
    check_alive(&service);
    wait_for_quiet(&service);
    double before = find_processor_seconds(&service);
    double end = service_now() + SECONDS;
    while (service_now() < end)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    double used = find_processor_seconds(&service) - before;
    ck_assert_msg(used < 0.02 * SECONDS, "%g s in %d s", used, SECONDS);
    for (size_t i = 0; i < COUNT; i++)
        wire_close(&wires[i]);
    check_alive(&service);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(unfinished_handshakes_are_cut)
{
    struct service service = start("--header-timeout", "0.4");
    struct wire silent = wire_open(&service);
    struct wire begun = wire_open(&service);
    ck_assert(wire_send_bytes(&begun, CLIENT_HELLO, sizeof CLIENT_HELLO - 1));
    ck_assert(wire_closed(&silent, PATIENCE));
    ck_assert(wire_closed(&begun, PATIENCE));
    wire_close(&silent);
    wire_close(&begun);
    check_alive(&service);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* A client whose handshake is done, to send by and receive from. */
static CURL *open_session(const struct service *service)
{
    char url[64];
    struct curl_blob authority = {
        .data = (void *)(size_t)CERTIFICATE, .len = strlen(CERTIFICATE), .flags = CURL_BLOB_COPY};
    CURL *session = curl_easy_init();
    ck_assert_ptr_nonnull(session);
    snprintf(url, sizeof url, "https://127.0.0.1:%u/", service->port);
    curl_easy_setopt(session, CURLOPT_URL, url);
    curl_easy_setopt(session, CURLOPT_PROXY, "");
    curl_easy_setopt(session, CURLOPT_CAINFO_BLOB, &authority);
    curl_easy_setopt(session, CURLOPT_CONNECT_ONLY, 1L);
    ck_assert_int_eq(curl_easy_perform(session), CURLE_OK);
    return session;
}

static void await(CURL *session, short events)
{
    curl_socket_t descriptor = CURL_SOCKET_BAD;
    curl_easy_getinfo(session, CURLINFO_ACTIVESOCKET, &descriptor);
    struct pollfd poller = {.fd = descriptor, .events = events};
    ck_assert_int_eq(poll(&poller, 1, (int)(PATIENCE * 1e3)), 1);
}

static bool send_text(CURL *session, const char *text, size_t length)
{
    while (length > 0) {
        size_t sent = 0;
        CURLcode code = curl_easy_send(session, text, length, &sent);
        if (code == CURLE_AGAIN)
            await(session, POLLIN | POLLOUT);
        else if (code != CURLE_OK)
            return false;
        text += sent;
        length -= sent;
    }
    return true;
}

/* What comes until `end` has come, or the other side closes; to be freed. */
static char *receive(CURL *session, const char *end)
{
    size_t length = 0;
    char *text = calloc(1, 65536);
    ck_assert_ptr_nonnull(text);
    while (!strstr(text, end) && length < 65535) {
        size_t got = 0;
        CURLcode code = curl_easy_recv(session, text + length, 65535 - length, &got);
        if (code == CURLE_AGAIN)
            await(session, POLLIN);
        else if (code != CURLE_OK || got == 0)
            break;
        length += got;
    }
    return text;
}

START_TEST(half_a_request_gets_408)
{
    static const char *const halves[] = {"GET /livez HTTP/1.1\r\nHost",
                                         "POST /v1/attention HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"};
    struct service service = start(_i ? "--body-timeout" : "--header-timeout", "2");
    CURL *session = open_session(&service);
    ck_assert(send_text(session, halves[_i], strlen(halves[_i])));
    char *reply = receive(session, "\r\n\r\n");
    ck_assert_msg(strncmp(reply, "HTTP/1.1 408 ", 13) == 0, "%s", reply);
    free(reply);
    curl_easy_cleanup(session);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* Refused while it is sent, and read on, or the client would lose the reply. */
START_TEST(endless_body_gets_413)
{
    static const char head[] = "POST /v1/attention HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    static char chunk[7 + 65536 + 3];
    struct service service = start("--max-body", "100K");
    CURL *session = open_session(&service);
    snprintf(chunk, sizeof chunk, "%05x\r\n%65536s\r\n", 65536, "");
    ck_assert(send_text(session, head, strlen(head)));
    for (int i = 0; i < 3; i++)
        ck_assert(send_text(session, chunk, sizeof chunk - 1));
    char *reply = receive(session, "}");
    ck_assert_msg(strncmp(reply, "HTTP/1.1 413 ", 13) == 0, "%s", reply);
    ck_assert_ptr_nonnull(strstr(reply, "\"limit_bytes\":102400"));
    free(reply);
    curl_easy_cleanup(session);
    check_alive(&service);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* What came of a handshake by TLS 1.2 with this cipher. */
static CURLcode offer(const struct service *service, const char *cipher)
{
    char url[64];
    CURL *client = curl_easy_init();
    ck_assert_ptr_nonnull(client);
    snprintf(url, sizeof url, "https://127.0.0.1:%u/livez", service->port);
    curl_easy_setopt(client, CURLOPT_URL, url);
    curl_easy_setopt(client, CURLOPT_PROXY, "");
    curl_easy_setopt(client, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(client, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(client, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_2);
    curl_easy_setopt(client, CURLOPT_SSL_CIPHER_LIST, cipher);
    CURLcode code = curl_easy_perform(client);
    curl_easy_cleanup(client);
    return code;
}

/* Without forward secrecy, by a key that could do without, and with what is not authenticated encryption: the last one
 * of each certificate is the one that must do. */
static const struct {
    const char *certificate, *key, *cipher;
    CURLcode code;
} offers[] = {
    {RSA_CERTIFICATE, RSA_KEY, "AES128-GCM-SHA256", CURLE_SSL_CONNECT_ERROR},
    {RSA_CERTIFICATE, RSA_KEY, "AES128-SHA", CURLE_SSL_CONNECT_ERROR},
    {RSA_CERTIFICATE, RSA_KEY, "ECDHE-RSA-AES128-SHA", CURLE_SSL_CONNECT_ERROR},
    {RSA_CERTIFICATE, RSA_KEY, "ECDHE-RSA-AES256-SHA384", CURLE_SSL_CONNECT_ERROR},
    {RSA_CERTIFICATE, RSA_KEY, "ECDHE-RSA-AES128-GCM-SHA256", CURLE_OK},
    {CERTIFICATE, CERTIFICATE_KEY, "ECDHE-ECDSA-AES128-SHA", CURLE_SSL_CONNECT_ERROR},
    {CERTIFICATE, CERTIFICATE_KEY, "ECDHE-ECDSA-AES256-SHA384", CURLE_SSL_CONNECT_ERROR},
    {CERTIFICATE, CERTIFICATE_KEY, "ECDHE-ECDSA-AES128-GCM-SHA256", CURLE_OK},
};

START_TEST(weak_ciphers_are_refused)
{
    write_file(certificate, offers[_i].certificate);
    write_file(key, offers[_i].key);
    struct service service = start("--workers", "1");
    CURLcode code = offer(&service, offers[_i].cipher);
    ck_assert_msg(code == offers[_i].code, "%s: %s", offers[_i].cipher, curl_easy_strerror(code));
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* The group of the key share in a ServerHello (RFC 8446 4.1.3), 0 without one. */
static unsigned find_group(const unsigned char *record, size_t length)
{
    size_t at = 5 + 4 + 2 + 32;               /* record, handshake, version, random */
    at += 1 + (size_t)record[at] + 2 + 1 + 2; /* session, cipher, compression, length of the extensions */
    while (at + 6 <= length) {
        unsigned type = record[at] * 256U + record[at + 1];
        if (type == 0x33)
            return record[at + 4] * 256U + record[at + 5];
        at += 4 + record[at + 2] * 256U + record[at + 3];
    }
    return 0;
}

/* A client that has a key for X25519 and names P-256 first gets X25519, without a second round. */
START_TEST(x25519_is_preferred)
{
    unsigned char record[5 + 90];
    struct service service = start("--workers", "1");
    struct wire wire = wire_open(&service);
    ck_assert(wire_send_bytes(&wire, CLIENT_HELLO_P256_FIRST, sizeof CLIENT_HELLO_P256_FIRST - 1));
    ck_assert_int_eq(recv(wire.descriptor, record, sizeof record, MSG_WAITALL), sizeof record);
    ck_assert_int_eq(record[0], 0x16); /* a handshake, */
    ck_assert_int_eq(record[5], 2);    /* ServerHello, which in place of a second round has a random of its own */
    ck_assert_int_ne(memcmp(record + 11, "\xcf\x21\xad\x74", 4), 0);
    ck_assert_uint_eq(find_group(record, sizeof record), 0x1d);
    wire_close(&wire);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

#ifdef SYS_pidfd_getfd
/* The service's own descriptor, or -1. */
static int borrow(int process, int descriptor)
{
    return (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
}

/* 1 or 0 as the socket sends small segments at once or not; -1: it is no connection by TCP. */
static int sends_at_once(int descriptor)
{
    int at_once = -1;
    struct sockaddr_in peer;
    socklen_t length = sizeof peer;
    if (getpeername(descriptor, (struct sockaddr *)&peer, &length) != 0 || peer.sin_family != AF_INET)
        return -1;
    length = sizeof at_once;
    return getsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &at_once, &length) == 0 ? at_once != 0 : -1;
}

/* Where the kernel lets nobody look at another process's sockets this tells nothing. */
START_TEST(segments_are_not_held_back)
{
    struct service service = start("--workers", "1");
    CURL *session = open_session(&service);
    int process = (int)syscall(SYS_pidfd_open, service.pid, 0);
    size_t connections = 0;
    bool denied = process < 0;
    for (int at = 0; at < 256 && !denied; at++) {
        int borrowed = borrow(process, at);
        int at_once = borrowed < 0 ? -1 : sends_at_once(borrowed);
        denied = borrowed < 0 && errno != EBADF;
        ck_assert_msg(at_once != 0, "descriptor %d", at);
        connections += at_once == 1;
        if (borrowed >= 0)
            close(borrowed);
    }
    ck_assert(denied || connections == 1);
    if (process >= 0)
        close(process);
    curl_easy_cleanup(session);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST
#endif

/* The work of a client that is gone is given up. */
START_TEST(client_that_went_away_frees_its_worker)
{
    char *slow = sample_request(sample_slow(60000));
    struct service service = start("--deadline", "600");
    CURL *session = open_session(&service);
    ck_assert(send_text(session, slow, strlen(slow)));
    curl_easy_cleanup(session);
    ck_assert(service_logged(&service, "\"msg\":\"request aborted\"", 1, PATIENCE));
    check_alive(&service);
    free(slow);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* The request that is half sent when the end begins is answered, by TLS as without. */
START_TEST(drain_answers_what_is_half_sent)
{
    static const char halves[2][128] = {
        "POST /v1/attention HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 37\r\n\r\n",
        "{\"q\":[[1,0]],\"k\":[[1,0]],\"v\":[[1,2]]}"};
    struct service service = start("--workers", "1");
    CURL *session = open_session(&service);
    CURL *idle = open_session(&service);
    ck_assert(send_text(session, halves[0], strlen(halves[0])));
    char *reply = receive(session, "100 Continue\r\n\r\n");
    ck_assert_ptr_nonnull(strstr(reply, "100 Continue"));
    free(reply);
    service_signal(&service, SIGTERM);
    ck_assert(service_logged(&service, "draining", 1, PATIENCE));
    ck_assert(send_text(session, halves[1], strlen(halves[1])));
    reply = receive(session, "}");
    ck_assert_msg(strncmp(reply, "HTTP/1.1 200 ", 13) == 0, "%s", reply);
    free(reply);
    curl_easy_cleanup(session);
    ck_assert_int_eq(service_wait(&service, PATIENCE), 0);
    curl_easy_cleanup(idle);
    service_clean(&service);
}
END_TEST

Suite *tls_wire_suite(void)
{
    Suite *suite = suite_create("tls wire");
    TCase *tests = tcase_create("a service each");
    tcase_add_checked_fixture(tests, make_files, remove_files);
    tcase_set_timeout(tests, 180);
    tcase_add_test(tests, unfinished_handshakes_cost_nothing);
    tcase_add_test(tests, unfinished_handshakes_are_cut);
    tcase_add_loop_test(tests, half_a_request_gets_408, 0, 2);
    tcase_add_test(tests, endless_body_gets_413);
    tcase_add_loop_test(tests, weak_ciphers_are_refused, 0, sizeof offers / sizeof *offers);
    tcase_add_test(tests, x25519_is_preferred);
#ifdef SYS_pidfd_getfd
    tcase_add_test(tests, segments_are_not_held_back);
#endif
    tcase_add_test(tests, client_that_went_away_frees_its_worker);
    tcase_add_test(tests, drain_answers_what_is_half_sent);
    suite_add_tcase(suite, tests);
    return suite;
}
