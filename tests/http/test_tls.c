/* HTTPS. */
#include "tests/http/certificate.h"
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *tls_suite(void);

#define PATIENCE 30.0

static char folder[64];
static char certificate[96], key[96], other[96]; /* the last: the key of another certificate */
static struct service service;

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void start(void)
{
    snprintf(folder, sizeof folder, "/tmp/attentiond-tls-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(certificate, sizeof certificate, "%s/certificate", folder);
    snprintf(key, sizeof key, "%s/key", folder);
    write_file(certificate, CERTIFICATE);
    snprintf(other, sizeof other, "%s/other", folder);
    write_file(key, CERTIFICATE_KEY);
    write_file(other, RENEWED_KEY);
    service = service_start((const char *const[]){"--tls-cert", certificate, "--tls-key", key, NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
    unlink(certificate);
    unlink(key);
    unlink(other);
    rmdir(folder);
}

START_TEST(requests_are_answered)
{
    static const long versions[] = {CURL_SSLVERSION_DEFAULT, CURL_SSLVERSION_TLSv1_3,
                                    CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_2};
    struct client_reply reply = client_send(&service, &(struct client_request){.path = "/v1/attention",
                                                                               .body = SAMPLE_CAT,
                                                                               .authority = CERTIFICATE,
                                                                               .tls_version = versions[_i]});
    ck_assert_msg(reply.status == 200, "curl %d: %s", reply.failure, reply.body);
    client_free(&reply);
}
END_TEST

START_TEST(old_versions_are_refused)
{
    struct client_reply reply = client_send(
        &service, &(struct client_request){.path = "/livez",
                                           .authority = CERTIFICATE,
                                           .tls_version = CURL_SSLVERSION_TLSv1_0 | CURL_SSLVERSION_MAX_TLSv1_1});
    ck_assert_int_eq(reply.status, 0);
    client_free(&reply);
}
END_TEST

START_TEST(streams_pass)
{
    char *body = sample_square(700, 2, "\"include\":[\"weights\"]");
    struct client_reply reply = client_send(
        &service, &(struct client_request){.path = "/v1/attention", .body = body, .authority = CERTIFICATE});
    ck_assert_int_eq(reply.status, 200);
    json_decref(client_json(&reply));
    ck_assert_uint_gt(reply.length, 1000000);
    client_free(&reply);
    free(body);
}
END_TEST

START_TEST(plain_http_is_not_answered_and_hurts_nobody)
{
    struct wire wire = wire_open(&service);
    (void)wire_send(&wire, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 0);
    wire_close(&wire);
    struct client_reply reply =
        client_send(&service, &(struct client_request){.path = "/livez", .authority = CERTIFICATE});
    ck_assert_int_eq(reply.status, 200);
    client_free(&reply);
}
END_TEST

static void check_bad(const char *const *flags, int status, const char *said)
{
    char *out = NULL;
    char *err = NULL;
    ck_assert_int_eq(service_run(flags, NULL, &out, &err), status);
    ck_assert_msg(strstr(out, said) || strstr(err, said), "%s%s", out, err);
    free(out);
    free(err);
}

START_TEST(bad_files_are_errors)
{
    check_bad((const char *const[]){"--port", "0", "--tls-cert", certificate, NULL}, 1, "go together");
    check_bad((const char *const[]){"--check-config", "--tls-key", key, NULL}, 2, "go together");
    check_bad((const char *const[]){"--check-config", "--tls-cert", "/nonexistent", "--tls-key", key, NULL}, 2,
              "/nonexistent");
    check_bad((const char *const[]){"--port", "0", "--tls-cert", key, "--tls-key", certificate, NULL}, 1, key);
    check_bad((const char *const[]){"--check-config", "--tls-cert", certificate, "--tls-key", other, NULL}, 2,
              "do not fit together");
    check_bad((const char *const[]){"--check-config", "--tls-cert", certificate, "--tls-key", key, NULL}, 0, "good");
}
END_TEST

static int get_live(const struct service *at, const char *authority)
{
    struct client_reply reply = client_send(at, &(struct client_request){.path = "/livez", .authority = authority});
    int status = (int)reply.status;
    client_free(&reply);
    return status;
}

static size_t ignore(char *data, size_t size, size_t count, void *context)
{
    (void)data;
    (void)context;
    return size * count;
}

/* A client that keeps its connection. */
static CURL *open_kept(const struct service *at)
{
    char url[64];
    struct curl_blob authority = {
        .data = (void *)(size_t)CERTIFICATE, .len = strlen(CERTIFICATE), .flags = CURL_BLOB_COPY};
    CURL *kept = curl_easy_init();
    ck_assert_ptr_nonnull(kept);
    snprintf(url, sizeof url, "https://127.0.0.1:%u/livez", at->port);
    curl_easy_setopt(kept, CURLOPT_URL, url);
    curl_easy_setopt(kept, CURLOPT_PROXY, "");
    curl_easy_setopt(kept, CURLOPT_CAINFO_BLOB, &authority);
    curl_easy_setopt(kept, CURLOPT_WRITEFUNCTION, ignore);
    ck_assert_int_eq(curl_easy_perform(kept), CURLE_OK);
    return kept;
}

static void check_kept(CURL *kept)
{
    long connections = 1;
    ck_assert_int_eq(curl_easy_perform(kept), CURLE_OK);
    curl_easy_getinfo(kept, CURLINFO_NUM_CONNECTS, &connections);
    ck_assert_int_eq(connections, 0);
}

static void write_pair(const char *new_certificate, const char *new_key)
{
    write_file(certificate, new_certificate);
    write_file(key, new_key);
}

static void await_authority(const struct service *at, const char *authority)
{
    double end = service_now() + PATIENCE;
    while (get_live(at, authority) != 200 && service_now() < end)
        service_pause();
    ck_assert_int_eq(get_live(at, authority), 200);
}

START_TEST(sighup_brings_the_new_certificate_and_open_connections_stay)
{
    struct service own = service_start((const char *const[]){"--tls-cert", certificate, "--tls-key", key, NULL});
    CURL *kept = open_kept(&own);
    write_pair(RENEWED, RENEWED_KEY);
    ck_assert_int_eq(get_live(&own, CERTIFICATE), 200);
    service_signal(&own, SIGHUP);
    await_authority(&own, RENEWED);
    ck_assert_int_eq(get_live(&own, CERTIFICATE), 0);
    check_kept(kept);
    curl_easy_cleanup(kept);
    write_pair(CERTIFICATE, CERTIFICATE_KEY);
    ck_assert_int_eq(service_stop(&own), 0);
}
END_TEST

/* Garbage, the key of another certificate, no file at all. */
START_TEST(sighup_with_a_bad_pair_keeps_the_old_one)
{
    static const struct {
        const char *certificate, *key, *said;
    } bad[] = {
        {"-----BEGIN CERTIFICATE-----\nzzzz\n-----END CERTIFICATE-----\n", CERTIFICATE_KEY, "/certificate: "},
        {"", CERTIFICATE_KEY, "it is no PEM file"},
        {CERTIFICATE, "no key\n", "/key: "},
        {CERTIFICATE, RENEWED_KEY, "do not fit together"},
    };
    struct service own = service_start((const char *const[]){"--tls-cert", certificate, "--tls-key", key, NULL});
    write_pair(bad[_i].certificate, bad[_i].key);
    service_signal(&own, SIGHUP);
    ck_assert(service_logged(&own, bad[_i].said, 1, PATIENCE));
    ck_assert(service_logged(&own, "\"level\":\"error\"", 1, PATIENCE));
    ck_assert_int_eq(get_live(&own, CERTIFICATE), 200);
    write_pair(RENEWED, RENEWED_KEY);
    service_signal(&own, SIGHUP);
    await_authority(&own, RENEWED);
    write_pair(CERTIFICATE, CERTIFICATE_KEY);
    ck_assert_int_eq(service_stop(&own), 0);
}
END_TEST

START_TEST(healthcheck_asks_by_tls)
{
    char port[16];
    snprintf(port, sizeof port, "%u", service.port);
    check_bad((const char *const[]){"--healthcheck", "--port", port, "--tls-cert", certificate, "--tls-key", key, NULL},
              0, "");
    check_bad((const char *const[]){"--healthcheck", "--port", port, NULL}, 1, "");
    struct service plain = service_start(NULL);
    snprintf(port, sizeof port, "%u", plain.port);
    check_bad((const char *const[]){"--healthcheck", "--port", port, "--tls-cert", certificate, "--tls-key", key, NULL},
              1, "");
    ck_assert_int_eq(service_stop(&plain), 0);
}
END_TEST

Suite *tls_suite(void)
{
    Suite *suite = suite_create("tls");
    TCase *tests = tcase_create("one service");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 90);
    tcase_add_loop_test(tests, requests_are_answered, 0, 3);
    tcase_add_test(tests, old_versions_are_refused);
    tcase_add_test(tests, streams_pass);
    tcase_add_test(tests, plain_http_is_not_answered_and_hurts_nobody);
    tcase_add_test(tests, bad_files_are_errors);
    tcase_add_test(tests, sighup_brings_the_new_certificate_and_open_connections_stay);
    tcase_add_loop_test(tests, sighup_with_a_bad_pair_keeps_the_old_one, 0, 4);
    tcase_add_test(tests, healthcheck_asks_by_tls);
    suite_add_tcase(suite, tests);
    return suite;
}
