/* HTTPS. */
#include "tests/http/certificate.h"
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *tls_suite(void);

#define PATIENCE 30.0

static char folder[64];
static char certificate[96], key[96];
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
    write_file(key, CERTIFICATE_KEY);
    service = service_start((const char *const[]){"--tls-cert", certificate, "--tls-key", key, "--body-timeout", "0.5",
                                                  "--header-timeout", "1", NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
    unlink(certificate);
    unlink(key);
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
    ck_assert_int_le(wire_receive(&wire, NULL, PATIENCE), 0);
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
    check_bad((const char *const[]){"--port", "0", "--tls-cert", key, "--tls-key", certificate, NULL}, 1,
              "do certificate and key fit");
    check_bad((const char *const[]){"--check-config", "--tls-cert", certificate, "--tls-key", key, NULL}, 0, "good");
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
    suite_add_tcase(suite, tests);
    return suite;
}
