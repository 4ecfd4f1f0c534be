/* The OpenAPI document: complete, consistent, and true of requests and replies. */
#include "tests/api/exchange.h"
#include "tests/api/validator.h"

#include "api/openapi/openapi.h"
#include "api/request/merge_request.h"
#include "api/request/options.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *document;

static void setup(void)
{
    struct buffer text = buffer_new(SIZE_MAX);
    json_error_t error;
    ck_assert(openapi_text(&text));
    document = json_loadb(text.data, text.length, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(document, "%s at %d", error.text, error.position);
    buffer_free(&text);
}

static void teardown(void)
{
    json_decref(document);
}

static size_t count_references(const json_t *value)
{
    size_t count = 0;
    const char *name;
    size_t index;
    json_t *entry;
    if (json_is_array(value))
        json_array_foreach((json_t *)value, index, entry) count += count_references(entry);
    json_object_foreach((json_t *)value, name, entry)
    {
        count += count_references(entry);
        if (strcmp(name, "$ref") == 0) {
            ck_assert_msg(validator_find(document, json_string_value(entry)), "%s", json_string_value(entry));
            count++;
        }
    }
    return count;
}

START_TEST(references_lead_somewhere)
{
    ck_assert_str_eq(json_string_value(json_object_get(document, "openapi")), "3.1.0");
    ck_assert_uint_gt(count_references(document), 50);
}
END_TEST

static const json_t *find_content(const char *path)
{
    const json_t *post = json_object_get(json_object_get(json_object_get(document, "paths"), path), "post");
    return json_object_get(json_object_get(json_object_get(post, "responses"), "200"), "content");
}

START_TEST(pictures_are_a_form_of_attention)
{
    ck_assert_ptr_nonnull(json_object_get(find_content("/v1/attention"), "image/svg+xml"));
    ck_assert_ptr_nonnull(json_object_get(find_content("/v1/attention/explain"), "text/plain"));
    ck_assert_ptr_null(json_object_get(find_content("/v1/attention/explain"), "image/svg+xml"));
}
END_TEST

static void check_descriptions(const json_t *schema, const char *where)
{
    const char *name;
    json_t *member;
    size_t index;
    json_object_foreach(json_object_get(schema, "properties"), name, member)
    {
        const char *description = json_string_value(json_object_get(member, "description"));
        ck_assert_msg(description && *description, "%s.%s has no description", where, name);
    }
    if (json_is_array(schema))
        json_array_foreach((json_t *)schema, index, member) check_descriptions(member, where);
    json_object_foreach((json_t *)schema, name, member) check_descriptions(member, where);
}

START_TEST(every_member_is_described)
{
    const char *name;
    json_t *schema;
    json_object_foreach(json_object_get(json_object_get(document, "components"), "schemas"), name, schema)
        check_descriptions(schema, name);
}
END_TEST

/* Generators of clients do not follow a schema into itself. */
static bool leads_to(const json_t *schema, const json_t *wanted)
{
    const char *name;
    json_t *each;
    size_t index;
    bool found = schema == wanted;
    if (json_is_array(schema))
        json_array_foreach((json_t *)schema, index, each) found = found || leads_to(each, wanted);
    json_object_foreach((json_t *)schema, name, each)
    {
        const json_t *next = strcmp(name, "$ref") == 0 ? validator_find(document, json_string_value(each)) : each;
        found = found || leads_to(next, wanted);
    }
    return found;
}

START_TEST(no_schema_is_inside_itself)
{
    const char *name;
    json_t *schema;
    json_object_foreach(json_object_get(json_object_get(document, "components"), "schemas"), name, schema)
    {
        const char *inner;
        json_t *each;
        json_object_foreach(schema, inner, each) ck_assert_msg(!leads_to(each, schema), "%s", name);
    }
}
END_TEST

START_TEST(operations_have_names_of_their_own)
{
    char seen[500] = " ";
    const char *path;
    const char *method;
    json_t *operations;
    json_t *operation;
    json_object_foreach(json_object_get(document, "paths"), path, operations)
    {
        ck_assert_int_eq(path[0], '/');
        json_object_foreach(operations, method, operation)
        {
            char name[80];
            snprintf(name, sizeof name, " %s ", json_string_value(json_object_get(operation, "operationId")));
            ck_assert_msg(!strstr(seen, name), "%s twice", name);
            strcat(seen, name + 1);
            ck_assert_ptr_nonnull(json_object_get(json_object_get(operation, "responses"), "200"));
            ck_assert_ptr_nonnull(json_object_get(json_object_get(operation, "responses"), "default"));
        }
    }
}
END_TEST

/* --- examples of the options --- */

static const json_t *examples_of(const char *path)
{
    const json_t *post = json_object_get(json_object_get(json_object_get(document, "paths"), path), "post");
    const json_t *content = json_object_get(json_object_get(post, "requestBody"), "content");
    return json_object_get(json_object_get(content, "application/json"), "examples");
}

static void check_valid(const char *schema, const json_t *value, const char *what)
{
    char reference[100];
    char why[200] = "";
    snprintf(reference, sizeof reference, "#/components/schemas/%s", schema);
    ck_assert_msg(validator_accepts(document, validator_find(document, reference), value, why), "%s: %s", what, why);
}

struct walk {
    const json_t *examples;
    const char *prefix;
    size_t count;
};

static void visit(void *context, const struct option *o)
{
    struct walk *walk = context;
    char name[80];
    snprintf(name, sizeof name, "%s%s", walk->prefix, o->name);
    const json_t *body = json_object_get(json_object_get(walk->examples, name), "value");
    ck_assert_msg(body, "%s has no example", name);
    char member[80];
    strcpy(member, name);
    const json_t *at = body;
    for (char *step = strtok(member, "."); step; step = strtok(NULL, ".")) {
        at = json_object_get(json_is_array(at) ? json_array_get(at, 0) : at, step);
        ck_assert_msg(at, "the example of %s does not use it", name);
    }
    walk->count++;
    if (!o->inner)
        return;
    strcat(name, ".");
    struct walk inner = {walk->examples, name, 0};
    option_each(o->inner, visit, &inner);
    walk->count += inner.count;
}

static void check_examples(const char *path, const struct option_table *table, size_t least)
{
    struct walk walk = {examples_of(path), "", 0};
    option_each(table, visit, &walk);
    ck_assert_uint_eq(walk.count, json_object_size(walk.examples));
    ck_assert_uint_ge(walk.count, least);
}

START_TEST(every_option_has_an_example_that_uses_it)
{
    check_examples("/v1/attention", options_table(), 50);
    check_examples("/v1/attention/explain", options_explain_table(), 55);
    check_examples("/v1/attention/merge", merge_request_table(), 8);
}
END_TEST

static void run_examples(const char *path, enum job_kind kind, const char *request, const char *reply)
{
    const char *name;
    json_t *example;
    json_object_foreach((json_t *)examples_of(path), name, example)
    {
        const json_t *value = json_object_get(example, "value");
        char *body = json_dumps(value, 0);
        struct exchange x = exchange_run(body, (struct exchange_how){.kind = kind});
        ck_assert_msg(x.good && x.reply, "%s: %s\n%s", name, x.err.faults[0].text, body);
        check_valid(request, value, name);
        check_valid(reply, x.reply, name);
        exchange_end(&x);
        free(body);
    }
}

START_TEST(every_example_is_accepted_and_as_described)
{
    run_examples("/v1/attention", JOB_ATTENTION, "AttentionRequest", "AttentionReply");
    run_examples("/v1/attention/explain", JOB_EXPLAIN, "ExplainRequest", "ExplainReply");
    run_examples("/v1/attention/merge", JOB_MERGE, "MergeRequest", "MergeReply");
}
END_TEST

START_TEST(replies_are_as_described)
{
    static const char *const styles[] = {"\"decimals\":2,\"nonfinite\":\"string\"", "\"encoding\":\"base64\"",
                                         "\"dtype\":\"float32\",\"id\":\"x\",\"tokens\":[\"a\",\"b\"]"};
    for (size_t x = 0; x < 3; x++) {
        char body[500];
        snprintf(
            body, sizeof body,
            "{\"q\":[[1],[2]],\"k\":[[1],[2]],\"v\":[[1],[2]],\"mask\":{\"alibi\":true,\"causal\":true},"
            "\"dropout\":{\"p\":0.5},\"softcap\":1,\"readout\":{\"w\":[[1]],\"tokens\":[\"a\"]},"
            "\"include\":[\"output\",\"weights\",\"log_sum_exp\",\"present\",\"inputs\",\"mask\",\"stats\",\"steps\","
            "\"steps.products\",\"steps.contributions\"],%s}",
            styles[x]);
        json_t *reply = exchange_reply(body);
        check_valid("AttentionReply", reply, styles[x]);
        json_decref(reply);
    }
}
END_TEST

/* What the schema must refuse, as the service does; the members of a good request that it lacks are added. */
static const char *const wrong[] = {
    "{\"qq\":[[1]]}",
    "{\"q\":[]}",
    "{\"q\":[[\"a\"]]}",
    "{\"q\":7}",
    "{\"mask\":\"causl\"}",
    "{\"mask\":{\"window\":{\"left\":-1}}}",
    "{\"softcap\":0}",
    "{\"dropout\":{\"p\":1}}",
    "{\"dropout\":{}}",
    "{\"decimals\":18}",
    "{\"heads\":0}",
    "{\"heads\":1.5}",
    "{\"include\":[\"all\"]}",
    "{\"mask\":{\"allow\":[[1]]}}",
    "{\"past\":{\"k\":[[1]]}}",
    "{\"scale\":null}",
    "{\"tokens\":[]}",
    "{\"x\":[[1]],\"w_q\":[[1]]}",
    "{\"positions\":\"sinusoidal\"}",
    "{\"backward\":{}}",
    "{\"backward\":{\"output\":[[1]],\"cell\":{\"query\":0,\"feature\":0}}}",
};

START_TEST(schemas_refuse_what_the_service_refuses)
{
    char why[200] = "";
    json_t *value = json_loads("{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]}", 0, NULL);
    json_t *members = json_loads(wrong[_i], 0, NULL);
    const json_t *schema = validator_find(document, "#/components/schemas/AttentionRequest");
    ck_assert(validator_accepts(document, schema, value, why));
    json_object_update(value, members);
    ck_assert_msg(!validator_accepts(document, schema, value, why), "%s", wrong[_i]);
    char *body = json_dumps(value, 0);
    struct exchange x = exchange_run(body, (struct exchange_how){0});
    ck_assert(!x.good);
    exchange_end(&x);
    free(body);
    json_decref(members);
    json_decref(value);
}
END_TEST

/* --- the manual's table --- */

START_TEST(the_table_of_the_manual_has_a_row_per_option)
{
    struct buffer text = buffer_new(SIZE_MAX);
    size_t rows = 0;
    option_markdown(options_table(), &text);
    buffer_append(&text, "", 1);
    for (const char *at = strchr(text.data, '\n'); at; at = strchr(at + 1, '\n'))
        rows++;
    ck_assert_uint_eq(rows, 2 + json_object_size(examples_of("/v1/attention")));
    ck_assert_ptr_nonnull(
        strstr(text.data, "\n| `mask.window.left` | an integer of at least 0, or null, default null | "));
    ck_assert_ptr_nonnull(strstr(text.data, "\n| `dropout.p` | a number of at least 0 and less than 1, required | "));
    ck_assert_ptr_nonnull(strstr(text.data, "\n| `decimals` | an integer from 0 to 17 | "));
    buffer_free(&text);
}
END_TEST

Suite *openapi_suite(void);

Suite *openapi_suite(void)
{
    Suite *suite = suite_create("openapi");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, references_lead_somewhere);
    tcase_add_test(tests, pictures_are_a_form_of_attention);
    tcase_add_test(tests, every_member_is_described);
    tcase_add_test(tests, no_schema_is_inside_itself);
    tcase_add_test(tests, operations_have_names_of_their_own);
    tcase_add_test(tests, every_option_has_an_example_that_uses_it);
    tcase_add_test(tests, every_example_is_accepted_and_as_described);
    tcase_add_test(tests, replies_are_as_described);
    tcase_add_loop_test(tests, schemas_refuse_what_the_service_refuses, 0, (int)(sizeof wrong / sizeof *wrong));
    tcase_add_test(tests, the_table_of_the_manual_has_a_row_per_option);
    suite_add_tcase(suite, tests);
    return suite;
}
