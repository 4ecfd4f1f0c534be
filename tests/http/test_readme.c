/* The documents, executed: each "$ command" of their console blocks runs, and must print what stands below it. */
#include "tests/http/service.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define README_ADDRESS "localhost:8080"
#define README_PROGRAM "build/release/attentiond"

static struct service service;

static void start(void)
{
    service = service_start((const char *const[]){NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
}

static char *read_all(FILE *file)
{
    size_t room = 1 << 16;
    size_t length = 0;
    char *text = malloc(room);
    ck_assert_ptr_nonnull(text);
    for (size_t got; (got = fread(text + length, 1, room - length - 1, file)) > 0;) {
        length += got;
        if (length + 1 == room)
            text = realloc(text, room *= 2);
        ck_assert_ptr_nonnull(text);
    }
    text[length] = '\0';
    return text;
}

/* Appends `line` to `text` (heap, may be NULL). */
static char *append(char *text, const char *line, size_t length)
{
    size_t before = text ? strlen(text) : 0;
    text = realloc(text, before + length + 1);
    ck_assert_ptr_nonnull(text);
    memcpy(text + before, line, length);
    text[before + length] = '\0';
    return text;
}

/* `text` (heap, used up) with every `old` replaced. */
static char *replace(char *text, const char *old, const char *with)
{
    char *out = append(NULL, "", 0);
    const char *at = text;
    for (const char *found; (found = strstr(at, old)); at = found + strlen(old)) {
        out = append(out, at, (size_t)(found - at));
        out = append(out, with, strlen(with));
    }
    out = append(out, at, strlen(at));
    free(text);
    return out;
}

/* The command with the program and the port of the service under test. */
static char *redirect(const char *command)
{
    char address[64];
    snprintf(address, sizeof address, "localhost:%u", service.port);
    char *here = replace(append(NULL, command, strlen(command)), README_ADDRESS, address);
    return replace(here, README_PROGRAM, "\"$ATTENTIOND\"");
}

/* `found` is `expected`, where "..." stands for anything. */
static bool matches(const char *found, const char *expected)
{
    const char *gap = strstr(expected, "...");
    if (!gap)
        return strcmp(found, expected) == 0;
    if (strncmp(found, expected, (size_t)(gap - expected)) != 0)
        return false;
    for (const char *rest = found + (gap - expected);; rest++) {
        if (matches(rest, gap + 3))
            return true;
        if (*rest == '\0')
            return false;
    }
}

static void run(const char *command, char *expected)
{
    char *here = redirect(command);
    FILE *pipe = popen(here, "r");
    ck_assert_ptr_nonnull(pipe);
    char *found = read_all(pipe);
    pclose(pipe);
    for (char *text = found; text; text = text == found ? expected : NULL) /* a reply may end without a line feed */
        for (size_t length = strlen(text); length > 0 && text[length - 1] == '\n'; length--)
            text[length - 1] = '\0';
    ck_assert_msg(matches(found, expected), "$ %s\nprints:   %s\nexpected: %s", command, found, expected);
    free(found);
    free(here);
}

/* Runs the commands of one block, whose text is [at, end). */
static size_t run_block(const char *at, const char *end)
{
    char *command = NULL;
    char *expected = append(NULL, "", 0);
    size_t count = 0;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const char *next = line_end ? line_end + 1 : end;
        size_t length = (size_t)(next - at);
        if (strncmp(at, "$ ", 2) == 0) {
            if (command)
                run(command, expected);
            free(command);
            command = append(NULL, at + 2, length - 2);
            *expected = '\0';
            count++;
        } else if (command && strncmp(at, "> ", 2) == 0) {
            command = append(command, at + 2, length - 2);
        } else {
            expected = append(expected, at, length);
        }
        at = next;
    }
    if (command)
        run(command, expected);
    free(command);
    free(expected);
    return count;
}

static const char *const documents[] = {
    "README.md", "api/README.md", "core/README.md", "server/README.md", "server/architecture.md", "tests/README.md",
};

static size_t run_document(const char *name)
{
    FILE *file = fopen(name, "r");
    ck_assert_msg(file != NULL, "run from the top of the tree: %s is not here", name);
    char *text = read_all(file);
    fclose(file);
    size_t commands = 0;
    for (const char *at = text; (at = strstr(at, "```console\n"));) {
        at += strlen("```console\n");
        const char *end = strstr(at, "```");
        ck_assert_ptr_nonnull(end);
        commands += run_block(at, end);
        at = end + 3;
    }
    free(text);
    return commands;
}

START_TEST(commands_print_what_the_documents_say)
{
    size_t commands = 0;
    for (size_t x = 0; x < sizeof documents / sizeof *documents; x++)
        commands += run_document(documents[x]);
    ck_assert_uint_gt(commands, 5);
}
END_TEST

Suite *readme_suite(void);

Suite *readme_suite(void)
{
    Suite *suite = suite_create("readme");
    TCase *tests = tcase_create("commands");
    tcase_add_checked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, commands_print_what_the_documents_say);
    suite_add_tcase(suite, tests);
    return suite;
}
