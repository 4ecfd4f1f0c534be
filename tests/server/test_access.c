/* Keys, clients and traces without a process around them. */
#include "server/config/address.h"
#include "server/http/traceparent.h"
#include "server/listen/client_limits.h"
#include "server/service/keys.h"
#include "server/service/page_cache.h"
#include "server/watch/clock.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *access_suite(void);

static char path[64];
static char why[256];

static void write_keys(const char *text)
{
    if (!path[0]) {
        snprintf(path, sizeof path, "/tmp/attentiond-keys-XXXXXX");
        int descriptor = mkstemp(path);
        ck_assert_int_ge(descriptor, 0);
        close(descriptor);
    }
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void forget_keys(void)
{
    unlink(path);
    path[0] = '\0';
}

START_TEST(without_keys_everyone_passes)
{
    struct keys *keys = keys_new();
    ck_assert(keys_check(keys, NULL, NULL));
    ck_assert(keys_check(keys, "Bearer x", "y"));
    keys_free(keys);
}
END_TEST

START_TEST(each_key_passes_and_no_other)
{
    struct keys *keys = keys_new();
    write_keys("# ours\n\nfirst-key\n  second-key  \r\n");
    ck_assert_msg(keys_load(keys, path, why, sizeof why), "%s", why);
    ck_assert(keys_check(keys, "Bearer first-key", NULL));
    ck_assert(keys_check(keys, "bearer  second-key", NULL));
    ck_assert(keys_check(keys, NULL, "second-key"));
    ck_assert(keys_check(keys, "Basic abc", "first-key"));
    ck_assert(!keys_check(keys, NULL, NULL));
    ck_assert(!keys_check(keys, "Bearer", NULL));
    ck_assert(!keys_check(keys, "Bearer ", NULL));
    ck_assert(!keys_check(keys, "Bearer first-ke", NULL));
    ck_assert(!keys_check(keys, "Bearer first-key2", NULL));
    ck_assert(!keys_check(keys, "first-key", NULL));
    ck_assert(!keys_check(keys, "Basic first-key", NULL));
    ck_assert(!keys_check(keys, NULL, "# ours"));
    ck_assert(!keys_check(keys, NULL, ""));
    char longer[600];
    memset(longer, 'k', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    ck_assert(!keys_check(keys, NULL, longer));
    keys_free(keys);
    forget_keys();
}
END_TEST

START_TEST(bad_file_leaves_the_keys_as_they_were)
{
    char longer[400];
    struct keys *keys = keys_new();
    write_keys("good\n");
    ck_assert(keys_load(keys, path, why, sizeof why));
    write_keys("# nothing\n");
    ck_assert(!keys_load(keys, path, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "no key"));
    memset(longer, 'k', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    write_keys(longer);
    ck_assert(!keys_load(keys, path, why, sizeof why));
    ck_assert(!keys_load(keys, "/nonexistent/keys", why, sizeof why));
    ck_assert(keys_check(keys, "Bearer good", NULL));
    keys_free(keys);
    forget_keys();
}
END_TEST

/* A remark of any length opens nothing, nor does half of what was meant as a key. */
START_TEST(only_whole_lines_are_keys)
{
    static const char *const bad[] = {"my key\n", "key # of ours\n", "schl\xc3\xbcssel\n", "\xef\xbb\xbfkey\n",
                                      "ke\ty\n"};
    char remark[2000] = "#";
    struct keys *keys = keys_new();
    for (size_t i = 1; i < sizeof remark - 8; i++)
        remark[i] = " word"[i % 5];
    strcpy(remark + sizeof remark - 8, "\ngood\n");
    write_keys(remark);
    ck_assert_msg(keys_load(keys, path, why, sizeof why), "%s", why);
    ck_assert(keys_check(keys, "Bearer good", NULL));
    ck_assert(!keys_check(keys, "Bearer word", NULL));
    ck_assert(!keys_check(keys, "Bearer ord", NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_keys(bad[i]);
        ck_assert_msg(!keys_load(keys, path, why, sizeof why), "%s", bad[i]);
        ck_assert_ptr_nonnull(strstr(why, "visible ASCII"));
    }
    ck_assert(keys_check(keys, "Bearer good", NULL));
    keys_free(keys);
    forget_keys();
}
END_TEST

static struct client *open_v4(struct client_limits *clients, const char *address)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    ck_assert_int_eq(inet_pton(AF_INET, address, &v4.sin_addr), 1);
    struct address found = address_of((const struct sockaddr *)&v4);
    return client_limits_open(clients, &found);
}

static struct client *open_v6(struct client_limits *clients, const char *address)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    ck_assert_int_eq(inet_pton(AF_INET6, address, &v6.sin6_addr), 1);
    struct address found = address_of((const struct sockaddr *)&v6);
    return client_limits_open(clients, &found);
}

START_TEST(connections_are_counted_by_address)
{
    struct client_limits *clients = client_limits_new(0, 1);
    struct client *one = open_v4(clients, "10.0.0.1");
    ck_assert_ptr_eq(open_v4(clients, "10.0.0.1"), one);
    ck_assert_ptr_eq(open_v6(clients, "::ffff:10.0.0.1"), one);
    ck_assert_uint_eq(client_limits_connections(one), 3);
    struct client *two = open_v4(clients, "10.0.0.2");
    ck_assert_ptr_ne(two, one);
    struct client *six = open_v6(clients, "2001:db8:1:2::1");
    ck_assert_ptr_eq(open_v6(clients, "2001:db8:1:2:ffff::9"), six);
    ck_assert_ptr_ne(open_v6(clients, "2001:db8:1:3::1"), six);
    ck_assert_ptr_ne(open_v6(clients, "a00:1::"), one);
    client_limits_close(clients, one);
    client_limits_close(clients, one);
    ck_assert_uint_eq(client_limits_connections(one), 1);
    client_limits_close(clients, one);
    ck_assert_uint_eq(client_limits_connections(open_v4(clients, "10.0.0.1")), 1);
    const struct address none = {.family = ADDRESS_UNIX};
    ck_assert_ptr_null(client_limits_open(clients, &none));
    client_limits_close(clients, NULL);
    client_limits_free(clients);
}
END_TEST

START_TEST(requests_are_counted_by_time)
{
    struct client_limits *clients = client_limits_new(10, 3);
    struct client *client = open_v4(clients, "10.0.0.1");
    int64_t now = clock_now() + CLOCK_SECOND;
    for (size_t i = 0; i < 3; i++)
        ck_assert_double_eq(client_limits_delay(clients, client, now), 0);
    ck_assert_double_eq_tol(client_limits_delay(clients, client, now), 0.1, 1e-9);
    ck_assert_double_eq_tol(client_limits_delay(clients, client, now + CLOCK_SECOND / 20), 0.05, 1e-6);
    ck_assert_double_eq(client_limits_delay(clients, client, now + CLOCK_SECOND / 5), 0);
    struct client *other = open_v4(clients, "10.0.0.2");
    ck_assert_double_eq(client_limits_delay(clients, other, now), 0);
    client_limits_close(clients, client);
    ck_assert_ptr_eq(open_v4(clients, "10.0.0.1"), client);
    ck_assert_double_eq(client_limits_delay(clients, NULL, now), 0);
    client_limits_free(clients);
}
END_TEST

static struct client *open_number(struct client_limits *clients, uint32_t number)
{
    struct address address = {.family = ADDRESS_V4};
    memcpy(address.bytes, &number, sizeof number);
    return client_limits_open(clients, &address);
}

/* More clients than can be told apart are limited all the same: together. */
START_TEST(clients_past_the_most_share_their_limits)
{
    struct client_limits *clients = client_limits_new(0.001, 2);
    int64_t now = clock_now() + CLOCK_SECOND;
    for (uint32_t i = 1; i <= CLIENT_LIMITS_MAX; i++)
        ck_assert_double_eq(client_limits_delay(clients, open_number(clients, i), now), 0);
    struct client *one = open_number(clients, CLIENT_LIMITS_MAX + 1);
    struct client *two = open_number(clients, CLIENT_LIMITS_MAX + 2);
    ck_assert_uint_eq(client_limits_connections(open_number(clients, 1)), 2);
    ck_assert_ptr_eq(one, two);
    ck_assert_uint_eq(client_limits_connections(two), 2);
    ck_assert_double_eq(client_limits_delay(clients, one, now), 0);
    ck_assert_double_eq(client_limits_delay(clients, two, now), 0);
    ck_assert_double_gt(client_limits_delay(clients, one, now), 0);
    client_limits_close(clients, one);
    client_limits_close(clients, two);
    ck_assert_ptr_eq(open_number(clients, CLIENT_LIMITS_MAX + 1), one);
    client_limits_free(clients);
}
END_TEST

/* Twice as many clients as can be told apart, one after the other: those that are gone make room. */
START_TEST(clients_that_are_gone_are_forgotten)
{
    struct client_limits *clients = client_limits_new(1e6, 1);
    for (uint32_t i = 1; i <= 2 * CLIENT_LIMITS_MAX; i++) {
        struct client *client = open_number(clients, i);
        client_limits_delay(clients, client, clock_now());
        client_limits_close(clients, client);
    }
    struct client *last = open_number(clients, 2 * CLIENT_LIMITS_MAX + 1);
    ck_assert_uint_eq(client_limits_connections(last), 1);
    ck_assert_ptr_ne(open_number(clients, 2 * CLIENT_LIMITS_MAX + 2), last);
    client_limits_free(clients);
}
END_TEST

START_TEST(traces_are_read)
{
    static const char *const bad[] = {"",
                                      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
                                      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
                                      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                                      "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                                      "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                                      "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                                      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
                                      "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
                                      "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"};
    char trace[TRACEPARENT_SIZE];
    ck_assert(traceparent_read(trace, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
    ck_assert_str_eq(trace, "4bf92f3577b34da6a3ce929d0e0e4736");
    ck_assert(traceparent_read(trace, "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"));
    ck_assert(!traceparent_read(trace, NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(!traceparent_read(trace, bad[i]), "%s", bad[i]);
        ck_assert_str_eq(trace, "");
    }
}
END_TEST

START_TEST(etags_are_matched)
{
    ck_assert(page_cache_matches("\"a\"", "\"a\""));
    ck_assert(page_cache_matches("\"b\", W/\"a\"", "\"a\""));
    ck_assert(page_cache_matches("*", "\"a\""));
    ck_assert(!page_cache_matches(NULL, "\"a\""));
    ck_assert(!page_cache_matches("", "\"a\""));
    ck_assert(!page_cache_matches("\"ab\"", "\"a\""));
    ck_assert(!page_cache_matches("a", "\"a\""));
}
END_TEST

Suite *access_suite(void)
{
    Suite *suite = suite_create("access");
    TCase *tests = tcase_create("access");
    tcase_add_test(tests, without_keys_everyone_passes);
    tcase_add_test(tests, each_key_passes_and_no_other);
    tcase_add_test(tests, bad_file_leaves_the_keys_as_they_were);
    tcase_add_test(tests, only_whole_lines_are_keys);
    tcase_add_test(tests, connections_are_counted_by_address);
    tcase_add_test(tests, requests_are_counted_by_time);
    tcase_add_test(tests, clients_past_the_most_share_their_limits);
    tcase_add_test(tests, clients_that_are_gone_are_forgotten);
    tcase_add_test(tests, traces_are_read);
    tcase_add_test(tests, etags_are_matched);
    suite_add_tcase(suite, tests);
    return suite;
}
