/* The log: its lines, and what becomes of those that cannot be written at once. */
#include "server/watch/log.h"
#include "server/watch/printable.h"

#include <check.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

Suite *log_suite(void);

static char *log_to_text(enum log_format format, void (*fill)(struct log *))
{
    int ends[2];
    static char text[1 << 16];
    ck_assert_int_eq(pipe(ends), 0);
    struct log *log = log_start(ends[1], format, LOG_INFO);
    ck_assert_ptr_nonnull(log);
    fill(log);
    log_stop(log);
    close(ends[1]);
    size_t length = 0;
    ssize_t got = 0;
    while ((got = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    close(ends[0]);
    text[length] = '\0';
    return text;
}

static void say_odd_things(struct log *log)
{
    log_event(log, LOG_WARN, "quotes \" and \\ and \n and %d", 7);
    log_event(log, LOG_DEBUG, "not wanted");
    log_request(
        log, LOG_INFO,
        &(struct log_request){
            .message = "request", .id = "i", .client = "192.0.2.1", .method = "GET", .route = "/", .status = 200});
}

START_TEST(log_lines_are_json)
{
    char *text = log_to_text(LOG_JSON, say_odd_things);
    size_t lines = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        json_t *root = json_loads(line, 0, NULL);
        ck_assert_msg(root != NULL, "%s", line);
        if (lines == 0)
            ck_assert_str_eq(json_string_value(json_object_get(root, "msg")), "quotes \" and \\ and \\x0a and 7");
        json_decref(root);
    }
    ck_assert_uint_eq(lines, 2);
}
END_TEST

START_TEST(log_text_is_one_line_a_request)
{
    const char *text = log_to_text(LOG_TEXT, say_odd_things);
    ck_assert_ptr_nonnull(strstr(text, "info 200 GET / "));
    ck_assert_ptr_null(strstr(text, "not wanted"));
}
END_TEST

/* A pipe nobody reads takes 64 KiB: the rest is held, then dropped and counted, and nobody waits. */
START_TEST(log_without_a_reader_drops_and_counts)
{
    int ends[2];
    size_t length = 0;
    ssize_t got = 0;
    char chunk[65536];
    signal(SIGPIPE, SIG_IGN);
    ck_assert_int_eq(pipe(ends), 0);
    struct log *log = log_start(ends[1], LOG_JSON, LOG_INFO);
    for (size_t i = 0; i < 40000; i++)
        log_event(log, LOG_INFO, "a line that is long enough to fill what there is, number %zu", i);
    char *text = calloc(1, 1 << 23);
    ck_assert_ptr_nonnull(text);
    while (!strstr(text, "log lines were dropped") && (got = read(ends[0], chunk, sizeof chunk)) > 0) {
        memcpy(text + length, chunk, (size_t)got);
        length += (size_t)got;
    }
    ck_assert_ptr_nonnull(strstr(text, "log lines were dropped"));
    free(text);
    close(ends[0]); /* what is still held is lost, and nobody waits for it */
    log_stop(log);
    close(ends[1]);
}
END_TEST

#define LINES 3000

/* Takes what comes, after a while: until then the pipe is full. */
static void *read_late(void *context)
{
    static char text[1 << 20];
    const int *end = context;
    size_t length = 0;
    ssize_t got = 0;
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    while ((got = read(*end, text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = '\0';
    return text;
}

START_TEST(log_waits_for_a_descriptor_that_does_not_block)
{
    int ends[2];
    pthread_t reader;
    void *text = NULL;
    char last[32];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    ck_assert_int_eq(pthread_create(&reader, NULL, read_late, &ends[0]), 0);
    struct log *log = log_start(ends[1], LOG_TEXT, LOG_INFO);
    for (size_t i = 0; i < LINES; i++)
        log_event(log, LOG_INFO, "a line that is long enough to fill what a pipe takes, number %zu", i);
    log_stop(log);
    close(ends[1]);
    ck_assert_int_eq(pthread_join(reader, &text), 0);
    close(ends[0]);
    snprintf(last, sizeof last, "number %d\n", LINES - 1);
    ck_assert_ptr_nonnull(strstr(text, last));
    size_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    ck_assert_uint_eq(lines, LINES);
}
END_TEST

/* A reader that is gone, and another in its place. */
START_TEST(log_counts_what_a_descriptor_refuses)
{
    int ends[2];
    char text[1024];
    signal(SIGPIPE, SIG_IGN);
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    int good[2];
    ck_assert_int_eq(pipe(good), 0);
    struct log *log = log_start(ends[1], LOG_TEXT, LOG_INFO);
    log_event(log, LOG_INFO, "nobody reads this");
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL); /* written alone, and refused */
    ck_assert_int_eq(dup2(good[1], ends[1]), ends[1]);
    log_event(log, LOG_INFO, "but this");
    log_stop(log);
    ssize_t got = read(good[0], text, sizeof text - 1);
    ck_assert_int_gt(got, 0);
    text[got] = '\0';
    ck_assert_ptr_null(strstr(text, "nobody reads this"));
    ck_assert_ptr_nonnull(strstr(text, "but this\n"));
    ck_assert_ptr_nonnull(strstr(text, " warn 1 log lines were dropped\n"));
    close(ends[1]);
    close(good[0]);
    close(good[1]);
}
END_TEST

START_TEST(text_from_outside_is_made_printable)
{
    static const struct {
        const char *text, *printed;
    } rows[] = {
        {"plain", "plain"},
        {"a\nb\r\tc\x1b[31m", "a\\x0ab\\x0d\\x09c\\x1b[31m"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x88", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x88"},
        {"\xc2\x9b"
         "31m \x7f \xff\xfe",
         "\\xc2\\x9b31m \\x7f \\xff\\xfe"},
        {"\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82",
         "\\xc0\\xaf \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80 \\xe2\\x82"},
    };
    char out[128];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        printable_text(out, sizeof out, rows[i].text);
        ck_assert_str_eq(out, rows[i].printed);
    }
    printable_text(out, 8, "abc\xe2\x82\xac\xe2\x82\xac");
    ck_assert_str_eq(out, "abc\xe2\x82\xac");
}
END_TEST

START_TEST(paths_are_made_printable)
{
    char out[24];
    printable_path(out, sizeof out, "/a b\"\\\n\xff");
    ck_assert_str_eq(out, "/a%20b%22%5c%0a%ff");
    printable_path(out, sizeof out, "/0123456789012345678901234567890");
    ck_assert_str_eq(out, "/01234567890123456...");
    ck_assert_uint_lt(strlen(out), sizeof out);
}
END_TEST

Suite *log_suite(void)
{
    Suite *suite = suite_create("log");
    TCase *tests = tcase_create("log");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, log_lines_are_json);
    tcase_add_test(tests, log_text_is_one_line_a_request);
    tcase_add_test(tests, log_without_a_reader_drops_and_counts);
    tcase_add_test(tests, log_waits_for_a_descriptor_that_does_not_block);
    tcase_add_test(tests, log_counts_what_a_descriptor_refuses);
    tcase_add_test(tests, text_from_outside_is_made_printable);
    tcase_add_test(tests, paths_are_made_printable);
    suite_add_tcase(suite, tests);
    return suite;
}
