/* The published vectors of the ONNX operators Attention and RotaryEmbedding, over HTTP. */
#include "tests/http/client.h"
#include "tests/onnx/vector.h"

#include <check.h>
#include <stdlib.h>

Suite *onnx_suite(void);

static struct service service;
static const char *const *files;

static void start(void)
{
    service = service_start(NULL);
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
}

static json_t *ask(const json_t *request)
{
    char *body = json_dumps(request, JSON_REAL_PRECISION(17));
    struct client_reply reply = client_post(&service, "/v1/attention", body);
    ck_assert_msg(reply.status == 200, "%ld: %s", reply.status, reply.body);
    json_t *root = client_json(&reply);
    client_free(&reply);
    free(body);
    return root;
}

START_TEST(vector_agrees)
{
    vector_check(files[_i], "float64", ask);
    vector_check(files[_i], "float32", ask);
}
END_TEST

Suite *onnx_suite(void)
{
    int count;
    files = vector_find(&count);
    TCase *tests = tcase_create("vectors");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 30);
    tcase_add_loop_test(tests, vector_agrees, 0, count);
    Suite *suite = suite_create("onnx");
    suite_add_tcase(suite, tests);
    return suite;
}
