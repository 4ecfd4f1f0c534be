/* The published vectors of the ONNX operators Attention and RotaryEmbedding, in process. */
#include "exchange.h"
#include "tests/onnx/vector.h"

#include <check.h>
#include <stdlib.h>

static const char *const *files;

static json_t *ask(const json_t *request)
{
    char *body = json_dumps(request, JSON_REAL_PRECISION(17));
    json_t *reply = exchange_reply(body);
    free(body);
    return reply;
}

START_TEST(vector_agrees)
{
    vector_check(files[_i], "float64", ask);
    vector_check(files[_i], "float32", ask);
}
END_TEST

Suite *onnx_suite(void);

Suite *onnx_suite(void)
{
    int count;
    files = vector_find(&count);
    TCase *tests = tcase_create("vectors");
    tcase_add_loop_test(tests, vector_agrees, 0, count);
    Suite *suite = suite_create("onnx");
    suite_add_tcase(suite, tests);
    return suite;
}
