/* Every golden, in both precisions, alone and on a pool: the reply is what NumPy says, and asking for more changes
 * nothing. */
#include "exchange.h"
#include "golden.h"

#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "tests/golden"
#define GOLDENS_MAX 1000

static char *names[GOLDENS_MAX];
static int count;

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void find_goldens(void)
{
    DIR *folder = opendir(FOLDER);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        const char *ending = strrchr(entry->d_name, '.');
        if (ending != NULL && strcmp(ending, ".json") == 0 && count < GOLDENS_MAX)
            names[count++] = strdup(entry->d_name);
    }
    if (folder != NULL)
        closedir(folder);
    qsort(names, (size_t)count, sizeof *names, by_name);
}

static json_t *load_golden(int index)
{
    char path[400];
    json_error_t error;
    snprintf(path, sizeof path, FOLDER "/%s", names[index]);
    json_t *golden = json_load_file(path, 0, &error);
    ck_assert_msg(golden != NULL, "%s: %s", path, error.text);
    return golden;
}

static json_t *run(const char *name, const json_t *request, struct pool *pool)
{
    char *body = json_dumps(request, JSON_REAL_PRECISION(17));
    struct exchange x = exchange_run(body, (struct exchange_how){.pool = pool});
    ck_assert_msg(x.good, "%s: refused: %s: %s", name, x.err.faults[0].name, x.err.faults[0].text);
    ck_assert_msg(x.reply != NULL, "%s: no JSON: %.300s", name, x.text.data);
    json_t *reply = json_incref(x.reply);
    exchange_end(&x);
    free(body);
    return reply;
}

/* Everything that any request has. */
static void ask_for_all(json_t *request)
{
    const char *const all[] = {"output", "weights", "inputs", "steps", "steps.products", "steps.contributions"};
    json_t *include = json_array();
    for (size_t x = 0; x < sizeof all / sizeof *all; x++)
        json_array_append_new(include, json_string(all[x]));
    json_object_set_new(request, "include", include);
}

/* The reply is the golden's, the same on a pool, and its output keeps its bits when everything is asked for. */
static void check_golden(const char *name, const json_t *golden, const char *dtype, double tolerance)
{
    json_t *request = json_deep_copy(json_object_get(golden, "request"));
    json_object_set_new(request, "dtype", json_string(dtype));
    struct pool *pool = pool_start(2, 4);
    ck_assert_ptr_nonnull(pool);
    json_t *alone = run(name, request, NULL), *shared = run(name, request, pool);
    golden_compare(name, alone, json_object_get(golden, "reply"), dtype, tolerance);
    ck_assert_msg(json_equal(alone, shared), "%s: another reply with a pool", name);
    json_object_set_new(request, "include", json_pack("[s]", "output"));
    json_t *little = run(name, request, NULL);
    ask_for_all(request);
    json_t *much = run(name, request, pool);
    ck_assert_msg(json_equal(json_object_get(little, "output"), json_object_get(much, "output")),
                  "%s: another output when more is asked for", name);
    ck_assert_uint_ge(json_object_size(json_object_get(much, "steps")), 3);
    json_decref(alone);
    json_decref(shared);
    json_decref(little);
    json_decref(much);
    json_decref(request);
    pool_stop(pool);
}

START_TEST(golden_agrees)
{
    json_t *golden = load_golden(_i);
    check_golden(names[_i], golden, "float64", 1e-12);
    check_golden(names[_i], golden, "float32", 2e-6);
    json_decref(golden);
}
END_TEST

START_TEST(goldens_are_there)
{
    ck_assert_msg(count >= 100, "%d goldens in " FOLDER ": run from the top of the repository", count);
}
END_TEST

Suite *golden_suite(void);

Suite *golden_suite(void)
{
    find_goldens();
    TCase *tests = tcase_create("goldens");
    tcase_add_test(tests, goldens_are_there);
    tcase_add_loop_test(tests, golden_agrees, 0, count);
    Suite *suite = suite_create("golden");
    suite_add_tcase(suite, tests);
    return suite;
}
