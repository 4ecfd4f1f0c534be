/* Which kernel of OpenBLAS runs, and why. */
#include "tests/http/client.h"
#include "tests/http/service.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__

/* What /v1/info says when OPENBLAS_CORETYPE is `core` (NULL: unset); the caller frees it. */
static json_t *read_info(const char *core)
{
    if (core)
        setenv("OPENBLAS_CORETYPE", core, 1);
    else
        unsetenv("OPENBLAS_CORETYPE");
    struct service service = service_start((const char *const[]){NULL});
    struct client_reply reply = client_get(&service, "/v1/info");
    json_t *info = client_json(&reply);
    client_free(&reply);
    ck_assert_int_eq(service_stop(&service), 0);
    return info;
}

static const char *text_of(const json_t *info, const char *name)
{
    return json_string_value(json_object_get(info, name));
}

START_TEST(what_the_operator_sets_stays)
{
    json_t *info = read_info("Prescott");
    ck_assert_str_eq(text_of(info, "blas_kernel"), "Prescott");
    ck_assert_str_eq(text_of(info, "blas_kernel_reason"), "set by OPENBLAS_CORETYPE");
    json_decref(info);
}
END_TEST

/* Whatever OpenBLAS takes by itself here: on a processor with AVX2 it is no old kernel. */
START_TEST(a_processor_with_avx2_gets_a_kernel_that_uses_it)
{
    json_t *info = read_info(NULL);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        ck_assert_str_ne(text_of(info, "blas_kernel"), "Prescott");
    ck_assert(strncmp(text_of(info, "blas_kernel_reason"), "chosen at the start", 19) == 0 ||
              strcmp(text_of(info, "blas_kernel_reason"), "taken by OpenBLAS for this processor") == 0);
    json_decref(info);
}
END_TEST

/* Numbers that overflow float32 in q.k, or nearly: whether BLAS adds scaled parts, and in which order, depends on the
 * kernel; the answer must not. */
static const struct {
    size_t n, m, d;
    const char *q, *k, *members;
    int status;
} heads[] = {
    {8, 16, 512, "1", "8.59e35", "", 422},
    {8, 16, 512, "1", "8.59e35", ",\"include\":[\"log_sum_exp\"]", 422},
    {8, 16, 512, "1", "8.59e35", ",\"include\":[\"steps\"],\"softcap\":30", 422},
    {8, 16, 512, "1", "6.5e35", "", 200},
    {8, 16, 512, "1", "6.5e35", ",\"include\":[\"steps\"]", 200},
    {17, 16, 64, "1e20", "1e20", ",\"scale\":1e-46", 422},
    {17, 16, 8, "1e20", "1e20", ",\"scale\":1e-46,\"include\":[\"output\"]", 422},
    {17, 16, 64, "1e18", "1e18", ",\"scale\":1e-36", 200},
};

#define HEADS (sizeof heads / sizeof *heads)

static void append(char **at, const char *text)
{
    *at = stpcpy(*at, text);
}

static void append_matrix(char **at, const char *name, size_t rows, size_t columns, const char *number)
{
    append(at, name);
    for (size_t x = 0; x < rows * columns; x++) {
        append(at, x % columns > 0 ? "," : x > 0 ? "],[" : "[[");
        append(at, number);
    }
    append(at, "]]");
}

static char *write_head(size_t row)
{
    size_t numbers = heads[row].n * heads[row].d + heads[row].m * (heads[row].d + 1);
    char *body = malloc(numbers * 10 + 256);
    char *at = body;
    ck_assert_ptr_nonnull(body);
    append(&at, "{\"dtype\":\"float32\"");
    append_matrix(&at, ",\"q\":", heads[row].n, heads[row].d, heads[row].q);
    append_matrix(&at, ",\"k\":", heads[row].m, heads[row].d, heads[row].k);
    append_matrix(&at, ",\"v\":", heads[row].m, 1, "1");
    append(&at, heads[row].members);
    append(&at, "}");
    return body;
}

static bool has_kernel(const char *core)
{
    if (strcmp(core, "SkylakeX") == 0)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    return strcmp(core, "Prescott") == 0 || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
}

START_TEST(overflows_are_told_by_every_kernel)
{
    static const char *const cores[] = {"Prescott", "Haswell", "SkylakeX"};
    if (!has_kernel(cores[_i]))
        return;
    setenv("OPENBLAS_CORETYPE", cores[_i], 1);
    struct service service = service_start((const char *const[]){NULL});
    for (size_t row = 0; row < HEADS; row++) {
        char *body = write_head(row);
        struct client_reply reply = client_post(&service, "/v1/attention", body);
        ck_assert_msg(reply.status == heads[row].status, "%s, row %zu: status %ld", cores[_i], row, reply.status);
        ck_assert_msg((strstr(reply.body, "Step scores: a visible q.k") != NULL) == (reply.status == 422), "%s",
                      reply.body);
        ck_assert_ptr_null(strstr(reply.body, "null"));
        client_free(&reply);
        free(body);
    }
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

#endif

Suite *kernel_suite(void);

Suite *kernel_suite(void)
{
    Suite *suite = suite_create("kernel");
    TCase *tests = tcase_create("all");
#ifdef __x86_64__
    tcase_add_test(tests, what_the_operator_sets_stays);
    tcase_add_loop_test(tests, overflows_are_told_by_every_kernel, 0, 3);
    tcase_add_test(tests, a_processor_with_avx2_gets_a_kernel_that_uses_it);
#endif
    suite_add_tcase(suite, tests);
    return suite;
}
