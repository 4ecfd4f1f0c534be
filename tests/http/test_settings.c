/* Flags, environment variables and what the program prints instead of serving. */
#include "tests/http/client.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *settings_suite(void);

struct run {
    int status;
    char *out, *err;
};

static struct run run(const char *const *flags, const char *const *environment)
{
    struct run result = {0};
    result.status = service_run(flags, environment, &result.out, &result.err);
    return result;
}

static void end(struct run *run)
{
    free(run->out);
    free(run->err);
}

START_TEST(help_names_every_setting_with_its_variable)
{
    static const char *const names[] = {"--listen",        "ATTND_LISTEN",        "--port ",     "ATTND_PORT]",
                                        "--max-body",      "ATTND_MAX_BODY",      "--workers",   "ATTND_WORKERS",
                                        "--log-format",    "ATTND_LOG_FORMAT",    "--queue",     "ATTND_QUEUE",
                                        "--drain-timeout", "ATTND_DRAIN_TIMEOUT", "--port-file", "[default: 64M]",
                                        "--healthcheck",   "--version",           "--log-level", "--help"};
    struct run help = run((const char *const[]){"--help", NULL}, NULL);
    ck_assert_int_eq(help.status, 0);
    ck_assert_str_eq(help.err, "");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(strstr(help.out, names[i]) != NULL, "%s", names[i]);
    ck_assert_ptr_null(strstr(help.out, "null)"));
    end(&help);
}
END_TEST

START_TEST(version_names_what_it_is_made_of)
{
    struct run version = run((const char *const[]){"--version", NULL}, NULL);
    ck_assert_int_eq(version.status, 0);
    ck_assert_int_eq(strncmp(version.out, "attentiond ", 11), 0);
    ck_assert_ptr_nonnull(strstr(version.out, "libmicrohttpd "));
    ck_assert_ptr_nonnull(strstr(version.out, "jansson "));
    ck_assert_ptr_nonnull(strstr(version.out, "OpenBLAS "));
    ck_assert_ptr_nonnull(strstr(version.out, "compiler "));
    end(&version);
}
END_TEST

START_TEST(bad_flags_exit_with_2_and_say_why)
{
    static const struct {
        const char *flags[4];
        const char *said;
    } rows[] = {
        {{"--nonsense"}, "--nonsense"},
        {{"nonsense"}, "nonsense"},
        {{"-p", "1"}, "-p"},
        {{"--port"}, "--port: a value is missing"},
        {{"--port", "65536"}, "0 to 65535"},
        {{"--port", "http"}, "\"http\""},
        {{"--port", "-1"}, "--port"},
        {{"--port", "80x"}, "--port"},
        {{"--port", ""}, "--port"},
        {{"--max-body", "12Q"}, "K, M or G"},
        {{"--max-body=0"}, "--max-body"},
        {{"--max-body", "1e30"}, "--max-body"},
        {{"--queue", "0"}, "1 to 65536"},
        {{"--queue", "1.5"}, "whole number"},
        {{"--queue", "0x10"}, "whole number"},
        {{"--queue", "16.0"}, "whole number"},
        {{"--cors-origin", "https://a.example/"}, "an origin like"},
        {{"--cors-origin", "a.example"}, "an origin like"},
        {{"--cors-origin", "null,"}, "an origin like"},
        {{"--frame-ancestor", "null"}, "self, none"},
        {{"--frame-ancestor", "https://a.example;script-src"}, "self, none"},
        {{"--frame-ancestor", "'self'"}, "self, none"},
        {{"--workers", "65"}, "0 to 64"},
        {{"--deadline", "nan"}, "--deadline"},
        {{"--log-format", "xml"}, "json or text"},
        {{"--log-level", "loud"}, "debug, info, warn or error"},
        {{"--compression", "brotli"}, "all, gzip or none"},
        {{"--allow-vulnerable-libmicrohttpd=maybe"}, "true or false"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run bad = run(rows[i].flags, NULL);
        ck_assert_msg(bad.status == 2, "%s: exit %d", rows[i].flags[0], bad.status);
        ck_assert_msg(strstr(bad.err, rows[i].said) != NULL, "%s: %s", rows[i].flags[0], bad.err);
        ck_assert_str_eq(bad.out, "");
        end(&bad);
    }
}
END_TEST

START_TEST(bad_variable_is_named)
{
    struct run bad = run((const char *const[]){NULL}, (const char *const[]){"ATTND_PORT=tcp://10.0.0.1:80", NULL});
    ck_assert_int_eq(bad.status, 2);
    ck_assert_ptr_nonnull(strstr(bad.err, "ATTND_PORT"));
    ck_assert_ptr_nonnull(strstr(bad.err, "0 to 65535"));
    end(&bad);
}
END_TEST

START_TEST(unknown_variable_stops_the_start)
{
    struct run stopped =
        run((const char *const[]){"--check-config", NULL}, (const char *const[]){"ATTND_PROT=1", NULL});
    ck_assert_int_eq(stopped.status, 2);
    ck_assert_ptr_nonnull(strstr(stopped.err, "did you mean ATTND_PORT?"));
    end(&stopped);
    struct run told = run((const char *const[]){"--help", NULL}, (const char *const[]){"ATTND_PROT=1", NULL});
    ck_assert_int_eq(told.status, 0);
    end(&told);
}
END_TEST

START_TEST(empty_variable_counts_as_unset)
{
    struct run shown = run((const char *const[]){"--print-config", NULL},
                           (const char *const[]){"ATTND_LISTEN=", "ATTND_PORT=", "ATTND_LOG_FORMAT=", NULL});
    ck_assert_int_eq(shown.status, 0);
    ck_assert_ptr_nonnull(strstr(shown.out, "listen = 127.0.0.1  # default\nport = 8080  # default\n"));
    end(&shown);
    struct run served = run((const char *const[]){"--port", "0", "--port-file", "/nonexistent/port", NULL},
                            (const char *const[]){"ATTND_LISTEN=", NULL});
    ck_assert_ptr_null(strstr(served.out, "cannot listen")); /* it ends for want of the file alone */
    end(&served);
}
END_TEST

/* service_run starts the program to its end: here a port that is taken ends it after it has read its settings. */
START_TEST(flag_beats_variable_beats_default)
{
    struct service service = service_start((const char *const[]){"--queue", "7", "--max-body=3K", NULL});
    struct client_reply reply = client_get(&service, "/v1/info");
    json_t *root = client_json(&reply);
    const json_t *limits = json_object_get(root, "limits");
    ck_assert_int_eq(json_integer_value(json_object_get(limits, "queue")), 7);
    ck_assert_int_eq(json_integer_value(json_object_get(limits, "max_body")), 3072);
    ck_assert_int_eq(json_integer_value(json_object_get(limits, "max_connections")), 1000);
    json_decref(root);
    client_free(&reply);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(port_that_is_taken_is_an_error_of_one_line)
{
    char port[16];
    struct service service = service_start(NULL);
    snprintf(port, sizeof port, "%u", service.port);
    struct run second = run((const char *const[]){"--port", port, NULL}, NULL);
    ck_assert_int_eq(second.status, 1);
    ck_assert_ptr_nonnull(strstr(second.out, "cannot listen on 127.0.0.1 port"));
    end(&second);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(address_that_is_none_is_an_error)
{
    struct run bad = run(
        (const char *const[]){"--port", "0", "--listen", "300.1.1.1", "--allow-vulnerable-libmicrohttpd", NULL}, NULL);
    ck_assert_int_eq(bad.status, 1);
    ck_assert_ptr_nonnull(strstr(bad.out, "300.1.1.1"));
    end(&bad);
}
END_TEST

START_TEST(healthcheck_tells_whether_the_service_is_ready)
{
    char port[16];
    char variable[32];
    struct service service = service_start(NULL);
    snprintf(port, sizeof port, "%u", service.port);
    snprintf(variable, sizeof variable, "ATTND_PORT=%u", service.port);
    struct run up = run((const char *const[]){"--healthcheck", "--port", port, NULL}, NULL);
    ck_assert_int_eq(up.status, 0);
    end(&up);
    struct run by_variable = run((const char *const[]){"--healthcheck", NULL},
                                 (const char *const[]){variable, "ATTND_LISTEN=0.0.0.0", NULL});
    ck_assert_int_eq(by_variable.status, 0);
    end(&by_variable);
    ck_assert_int_eq(service_stop(&service), 0);
    struct run down = run((const char *const[]){"--healthcheck", "--port", port, NULL}, NULL);
    ck_assert_int_eq(down.status, 1);
    end(&down);
}
END_TEST

Suite *settings_suite(void)
{
    Suite *suite = suite_create("settings");
    TCase *tests = tcase_create("the program");
    tcase_set_timeout(tests, 90);
    tcase_add_test(tests, help_names_every_setting_with_its_variable);
    tcase_add_test(tests, version_names_what_it_is_made_of);
    tcase_add_test(tests, bad_flags_exit_with_2_and_say_why);
    tcase_add_test(tests, bad_variable_is_named);
    tcase_add_test(tests, unknown_variable_stops_the_start);
    tcase_add_test(tests, empty_variable_counts_as_unset);
    tcase_add_test(tests, flag_beats_variable_beats_default);
    tcase_add_test(tests, port_that_is_taken_is_an_error_of_one_line);
    tcase_add_test(tests, address_that_is_none_is_an_error);
    tcase_add_test(tests, healthcheck_tells_whether_the_service_is_ready);
    suite_add_tcase(suite, tests);
    return suite;
}
