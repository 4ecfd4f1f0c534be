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

#endif

Suite *kernel_suite(void);

Suite *kernel_suite(void)
{
    Suite *suite = suite_create("kernel");
    TCase *tests = tcase_create("all");
#ifdef __x86_64__
    tcase_add_test(tests, what_the_operator_sets_stays);
    tcase_add_test(tests, a_processor_with_avx2_gets_a_kernel_that_uses_it);
#endif
    suite_add_tcase(suite, tests);
    return suite;
}
