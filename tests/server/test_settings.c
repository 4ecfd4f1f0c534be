/* Settings without a process around them. */
#include "server/config/settings.h"

#include <check.h>
#include <string.h>

Suite *settings_suite(void);

#define ARGUMENTS_MAX 8

static struct settings settings;
static char why[256];

static bool read_all(const char *const *flags, const char *const *variables)
{
    char *arguments[ARGUMENTS_MAX + 1] = {(char *)(size_t) "attentiond"};
    char *environment[ARGUMENTS_MAX + 1] = {NULL};
    int count = 1;
    for (; flags && flags[count - 1]; count++)
        arguments[count] = (char *)(size_t)flags[count - 1];
    for (size_t i = 0; variables && variables[i]; i++)
        environment[i] = (char *)(size_t)variables[i];
    why[0] = '\0';
    return settings_read(&settings, count, arguments, environment, why, sizeof why);
}

#define FLAGS(...) ((const char *const[]){__VA_ARGS__, NULL})

START_TEST(defaults_are_inside_their_ranges)
{
    ck_assert_msg(read_all(NULL, NULL), "%s", why);
    ck_assert_str_eq(settings.listen, "127.0.0.1");
    ck_assert_uint_eq(settings.port, 8080);
    ck_assert_uint_eq(settings.max_body, 64u << 20);
    ck_assert_double_eq(settings.deadline, 30);
    ck_assert(!settings.allow_vulnerable_libmicrohttpd);
    ck_assert_int_eq(settings.action, SETTINGS_SERVE);
    ck_assert_int_eq(settings.port_source, SETTINGS_FROM_DEFAULT);
}
END_TEST

START_TEST(every_default_reads_back_as_printed)
{
    char text[128];
    char flag[256];
    const struct setting *row = NULL;
    ck_assert(read_all(NULL, NULL));
    for (size_t i = 0; (row = settings_row(i)) != NULL; i++) {
        struct settings before = settings;
        snprintf(flag, sizeof flag, "--%s=%s", row->flag, settings_value(&before, row, text, sizeof text));
        ck_assert_msg(read_all(FLAGS(flag), NULL), "%s: %s", flag, why);
        char again[128];
        ck_assert_str_eq(settings_value(&settings, row, again, sizeof again), text);
        ck_assert(read_all(NULL, NULL));
    }
}
END_TEST

START_TEST(flag_beats_variable)
{
    const char *const variables[] = {"ATTND_PORT=81", "ATTND_QUEUE=9", "PORT=82", "ATTENTION_PORT=83", NULL};
    ck_assert(read_all(FLAGS("--port", "80"), variables));
    ck_assert_uint_eq(settings.port, 80);
    ck_assert_uint_eq(settings.queue, 9);
    ck_assert_int_eq(settings.port_source, SETTINGS_FROM_FLAG);
    ck_assert_int_eq(settings.queue_source, SETTINGS_FROM_ENVIRONMENT);
    ck_assert_int_eq(settings.listen_source, SETTINGS_FROM_DEFAULT);
}
END_TEST

START_TEST(sizes_take_units)
{
    static const struct {
        const char *text;
        size_t bytes;
    } rows[] = {{"1", 1},           {"1K", 1024},       {"1k", 1024}, {"3M", 3u << 20},
                {"2G", 2ull << 30}, {"0.5M", 1u << 19}, {"1e3", 1000}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(read_all(FLAGS("--max-body", rows[i].text), NULL), "%s", why);
        ck_assert_uint_eq(settings.max_body, rows[i].bytes);
    }
}
END_TEST

START_TEST(switches_take_words_and_none)
{
    ck_assert(read_all(FLAGS("--allow-vulnerable-libmicrohttpd"), NULL));
    ck_assert(settings.allow_vulnerable_libmicrohttpd);
    ck_assert(read_all(FLAGS("--allow-vulnerable-libmicrohttpd=off"), NULL));
    ck_assert(!settings.allow_vulnerable_libmicrohttpd);
    ck_assert(read_all(NULL, FLAGS("ATTND_ALLOW_VULNERABLE_LIBMICROHTTPD=TRUE")));
    ck_assert(settings.allow_vulnerable_libmicrohttpd);
}
END_TEST

START_TEST(bad_value_names_flag_value_and_range)
{
    ck_assert(!read_all(FLAGS("--queue", "many"), NULL));
    ck_assert_str_eq(why, "--queue: \"many\" is not a whole number from 1 to 65536.");
    ck_assert(!read_all(NULL, FLAGS("ATTND_QUEUE=many")));
    ck_assert_str_eq(why, "ATTND_QUEUE: \"many\" is not a whole number from 1 to 65536.");
    ck_assert(!read_all(FLAGS("--deadline", "inf"), NULL));
    ck_assert(!read_all(FLAGS("--deadline", "1s"), NULL));
}
END_TEST

/* As templates and env files leave a setting out. */
START_TEST(empty_variable_counts_as_unset)
{
    char entry[64];
    char name[64];
    const char *const variables[] = {entry, NULL};
    const struct setting *row = NULL;
    ck_assert(read_all(NULL, NULL));
    const struct settings initial = settings;
    for (size_t i = 0; (row = settings_row(i)) != NULL; i++) {
        char before[128];
        char after[128];
        snprintf(entry, sizeof entry, "%s=", settings_variable(row, name, sizeof name));
        ck_assert_msg(read_all(NULL, variables), "%s", why);
        ck_assert_str_eq(settings_value(&settings, row, after, sizeof after),
                         settings_value(&initial, row, before, sizeof before));
        ck_assert_int_eq(*(const enum settings_source *)(const void *)((const char *)&settings + row->source_offset),
                         SETTINGS_FROM_DEFAULT);
    }
    ck_assert(!read_all(FLAGS("--listen="), NULL)); /* a flag is written by hand */
    ck_assert(!read_all(FLAGS("--port="), NULL));
    ck_assert(read_all(FLAGS("--api-key-file="), FLAGS("ATTND_API_KEY_FILE=/keys")));
    ck_assert_str_eq(settings.api_key_file, "");
}
END_TEST

START_TEST(unknown_names_lead_to_known_ones)
{
    static const struct {
        const char *word, *why;
    } rows[] = {
        {"--prot", "--prot: there is no such flag; did you mean --port? --help lists them."},
        {"--max_body=3M", "--max_body: there is no such flag; did you mean --max-body? --help lists them."},
        {"-port", "-port: there is no such flag; did you mean --port? --help lists them."},
        {"--hlep", "--hlep: there is no such flag; did you mean --help? --help lists them."},
        {"--nonsense", "--nonsense: there is no such flag; --help lists them."},
        {"ATTND_PROT=80", "ATTND_PROT: there is no such variable; did you mean ATTND_PORT? --help lists them."},
        {"ATTND_MAXBODY=1",
         "ATTND_MAXBODY: there is no such variable; did you mean ATTND_MAX_BODY? --help lists them."},
        {"ATTND_HELP=1", "ATTND_HELP: there is no such variable; --help lists them."},
        {"ATTND_=1", "ATTND_: there is no such variable; --help lists them."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool flag = rows[i].word[0] == '-';
        ck_assert(!read_all(flag ? FLAGS(rows[i].word) : NULL, flag ? NULL : FLAGS(rows[i].word)));
        ck_assert_str_eq(why, rows[i].why);
    }
    ck_assert(read_all(FLAGS("--help"), FLAGS("ATTND_PROT=80")));
    ck_assert_int_eq(settings.action, SETTINGS_HELP);
}
END_TEST

Suite *settings_suite(void)
{
    Suite *suite = suite_create("settings");
    TCase *tests = tcase_create("reading");
    tcase_add_test(tests, defaults_are_inside_their_ranges);
    tcase_add_test(tests, every_default_reads_back_as_printed);
    tcase_add_test(tests, flag_beats_variable);
    tcase_add_test(tests, sizes_take_units);
    tcase_add_test(tests, switches_take_words_and_none);
    tcase_add_test(tests, bad_value_names_flag_value_and_range);
    tcase_add_test(tests, empty_variable_counts_as_unset);
    tcase_add_test(tests, unknown_names_lead_to_known_ones);
    suite_add_tcase(suite, tests);
    return suite;
}
