/* Documents: as jansson reads them, over random texts and the JSON test suite. */
#include "tests/api/document_trial.h"
#include "tests/api/number_check.h"

#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What of jansson's tree stands behind `ours`; matrices are compared value by value. */
static bool same_tree(const json_t *ours, const json_t *theirs);

static bool same_leaves(const json_t *theirs, const struct matrix *m, size_t *at)
{
    size_t i;
    json_t *element;
    if (json_is_array(theirs)) {
        json_array_foreach(theirs, i, element) if (!same_leaves(element, m, at)) return false;
        return true;
    }
    double value = json_is_number(theirs)  ? json_number_value(theirs)
                   : json_is_true(theirs)  ? 1
                   : json_is_false(theirs) ? 0
                                           : -HUGE_VAL;
    return *at < m->count && memcmp(&m->values[(*at)++], &value, sizeof value) == 0;
}

static bool same_array(const json_t *ours, const json_t *theirs)
{
    const struct matrix *m = document_matrix(&trial_now()->document, ours);
    size_t at = 0;
    if (m && m->fault != MATRIX_GOOD)
        return true;
    if (m)
        return same_leaves(theirs, m, &at) && at == m->count;
    if (json_array_size(ours) != json_array_size(theirs))
        return false;
    for (size_t i = 0; i < json_array_size(ours); i++)
        if (!same_tree(json_array_get(ours, i), json_array_get(theirs, i)))
            return false;
    return true;
}

static bool same_tree(const json_t *ours, const json_t *theirs)
{
    const char *name;
    json_t *value;
    if (json_typeof(ours) != json_typeof(theirs))
        return false;
    if (json_is_array(ours))
        return same_array(ours, theirs);
    if (!json_is_object(ours))
        return json_equal(ours, theirs);
    if (json_object_size(ours) != json_object_size(theirs))
        return false;
    json_object_foreach((json_t *)(uintptr_t)ours, name,
                        value) if (!json_object_get(theirs, name) ||
                                   !same_tree(value, json_object_get(theirs, name))) return false;
    return true;
}

static size_t draw_value(uint64_t *state, char *out, size_t room, size_t depth);

static const char *draw_space(uint64_t *state)
{
    static const char *spaces[] = {"", "", "", "", " ", "\n", " \t", "\r\n"};
    return spaces[number_check_random(state) % 8];
}

static size_t draw_array(uint64_t *state, char *out, size_t room, size_t depth)
{
    size_t count = number_check_random(state) % 4;
    size_t used = (size_t)sprintf(out, "[%s", draw_space(state));
    for (size_t i = 0; i < count && used < room / 2; i++) {
        used += (size_t)sprintf(out + used, "%s%s", i ? "," : "", draw_space(state));
        used += draw_value(state, out + used, room - used, depth + 1);
        used += (size_t)sprintf(out + used, "%s", draw_space(state));
    }
    return used + (size_t)sprintf(out + used, "]");
}

static size_t draw_object(uint64_t *state, char *out, size_t room, size_t depth)
{
    size_t count = number_check_random(state) % 4;
    size_t used = (size_t)sprintf(out, "{%s", draw_space(state));
    for (size_t i = 0; i < count && used < room / 2; i++) {
        used += (size_t)sprintf(out + used, "%s%s\"%c%zu\"%s:%s", i ? "," : "", draw_space(state),
                                'a' + (char)(number_check_random(state) % 26), (size_t)(number_check_random(state) % 4),
                                draw_space(state), draw_space(state));
        used += draw_value(state, out + used, room - used, depth + 1);
    }
    return used + (size_t)sprintf(out + used, "%s}", draw_space(state));
}

static size_t draw_matrix(uint64_t *state, char *out, size_t room)
{
    uint64_t bits = number_check_random(state);
    size_t rows = 1 + bits % 3;
    size_t columns = 1 + (bits >> 8) % 3;
    size_t used = (size_t)sprintf(out, "[");
    for (size_t i = 0; i < rows && used < room / 2; i++)
        for (size_t j = 0; j < columns; j++)
            used += (size_t)sprintf(out + used, "%s%s%.*g%s",
                                    j   ? ","
                                    : i ? ",["
                                        : "[",
                                    draw_space(state), 1 + (int)(bits >> 16 & 15), number_check_draw_float64(state),
                                    j + 1 == columns ? "]" : "");
    return used + (size_t)sprintf(out + used, "]");
}

static size_t draw_value(uint64_t *state, char *out, size_t room, size_t depth)
{
    static const char *leaves[] = {"true",
                                   "false",
                                   "null",
                                   "\"\"",
                                   "\"-Infinity\"",
                                   "\"\\u00e9\\\\\"",
                                   "\"[1,2]\"",
                                   "\"{\\\"\"",
                                   "0",
                                   "-0",
                                   "1",
                                   "2.5",
                                   "-3e-5",
                                   "1e400",
                                   "1e-400",
                                   "12345678901234567890",
                                   "\"\xc3\xa9\"",
                                   "[]",
                                   "{}"};
    uint64_t pick = number_check_random(state) % 12;
    if (depth < 6 && room > 500 && pick < 3)
        return draw_array(state, out, room, depth);
    if (depth < 6 && room > 500 && pick < 6)
        return draw_object(state, out, room, depth);
    if (room > 500 && pick < 8)
        return draw_matrix(state, out, room);
    return (size_t)sprintf(out, "%s", leaves[number_check_random(state) % (sizeof leaves / sizeof leaves[0])]);
}

/* One byte lost, doubled or exchanged for one that matters. */
static size_t damage(uint64_t *state, char *text, size_t length)
{
    static const char bytes[] = "[]{},:\"\\01.-+eE tfn\n\x80\xff";
    uint64_t bits = number_check_random(state);
    size_t at = (size_t)(bits >> 8) % length;
    switch (bits & 3) {
    case 0:
        memmove(text + at, text + at + 1, length - at - 1);
        return length - 1;
    case 1:
        memmove(text + at + 1, text + at, length - at);
        return length + 1;
    default:
        text[at] = bytes[(bits >> 40) % (sizeof bytes - 1)];
        return length;
    }
}

START_TEST(random_documents_agree_with_jansson)
{
    enum { ROOM = 8192 };
    static char text[ROOM + 4096];
    uint64_t state = 11;
    size_t read = 0;
    for (size_t i = 0; i < 60000; i++) {
        size_t length = draw_value(&state, text, ROOM, 0);
        for (size_t damages = i % 3; damages > 0 && length > 1; damages--)
            length = damage(&state, text, length);
        json_t *theirs = json_loadb(
            text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
        bool good = trial_read_bytes(text, length);
        ck_assert_msg(good == (theirs != NULL), "%.*s: %s", (int)length, text, trial_now()->err.faults[0].text);
        ck_assert_msg(!good || same_tree(trial_now()->document.root, theirs), "%.*s", (int)length, text);
        read += good;
        json_decref(theirs);
    }
    ck_assert_uint_gt(read, 15000);
    ck_assert_uint_lt(read, 45000);
}
END_TEST

static char *read_file(const char *folder, const char *name, size_t *length)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    char *bytes = malloc(4 * MIB);
    *length = fread(bytes, 1, 4 * MIB, file);
    fclose(file);
    return bytes;
}

static char *wrap(const char *bytes, size_t length, size_t *wrapped)
{
    char *text = malloc(length + 20);
    memcpy(text, "{\"m\":", 5);
    memcpy(text + 5, bytes, length);
    memcpy(text + 5 + length, "}", 1);
    *wrapped = length + 6;
    return text;
}

static void check_suite_file(const char *folder, const char *name)
{
    size_t length;
    size_t wrapped;
    char *bytes = read_file(folder, name, &length);
    char *member = wrap(bytes, length, &wrapped);
    /* Well formed, yet refused: a repeated member has no one meaning. */
    bool good = name[0] == 'y' && strncmp(name, "y_object_duplicated_key", 23) != 0;
    ck_assert_msg(trial_read_bytes(bytes, length) == good, "%s: %s", name, trial_now()->err.faults[0].text);
    ck_assert(good || trial_now()->err.code == ERROR_SYNTAX);
    /* What is wrong only for its end may be right inside an object, and the other way round: those need not agree. */
    bool tail = strstr(name, "n_structure_object_with_trailing_garbage") != NULL;
    ck_assert_msg(tail || trial_read_bytes(member, wrapped) == good, "%s as a member: %s", name,
                  trial_now()->err.faults[0].text);
    ck_assert(good || tail || trial_now()->err.code == ERROR_SYNTAX);
    free(member);
    free(bytes);
}

START_TEST(the_json_test_suite_is_judged_right)
{
    const char *vectors = getenv("TEST_VECTORS");
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/json-test-suite", vectors ? vectors : "../shared");
    DIR *entries = opendir(folder);
    if (!entries) {
        printf("skipped: no %s (set TEST_VECTORS)\n", folder);
        return;
    }
    size_t files = 0;
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        if (strncmp(entry->d_name, "n_", 2) != 0 && strncmp(entry->d_name, "y_", 2) != 0)
            continue;
        check_suite_file(folder, entry->d_name);
        files++;
    }
    closedir(entries);
    ck_assert_uint_gt(files, 250);
}
END_TEST

Suite *document_agree_suite(void);

Suite *document_agree_suite(void)
{
    Suite *suite = suite_create("document_agree");
    TCase *tests = tcase_create("document_agree");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, trial_setup, trial_teardown);
    tcase_add_test(tests, random_documents_agree_with_jansson);
    tcase_add_test(tests, the_json_test_suite_is_judged_right);
    suite_add_tcase(suite, tests);
    return suite;
}
