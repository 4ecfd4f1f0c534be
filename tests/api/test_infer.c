/* The Open Inference Protocol: the same numbers as /v1/attention, in JSON, in binary and in both; what is refused. */
#include "tests/api/exchange.h"

#include "api/infer/infer_names.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *infer_suite(void);

/* A reply, taken apart. */
struct answer {
    struct error err;
    struct buffer bytes;
    json_t *json; /* NULL: it was refused */
    size_t json_length;
    size_t blocks;
};

/* `json_length` 0: all is JSON. */
static struct answer ask(const char *body, size_t length, size_t json_length, size_t whole)
{
    const struct request_limits limits = {
        .elements = 1 << 22, .reply_elements = 1 << 22, .memory = 1 << 28, .whole_elements = whole};
    const struct job_order order = {.kind = JOB_INFER, .split = json_length > 0, .json_length = json_length};
    struct answer a = {.bytes = buffer_new((size_t)1 << 26)};
    struct buffer copy = buffer_new((size_t)1 << 26);
    buffer_append(&copy, body, length);
    struct job *job = job_new(&limits, &order, &copy, (struct read_context){0}, &a.err);
    if (job && job_run(job, NULL, NULL, &a.err)) {
        a.blocks = job_blocks(job);
        for (size_t x = 0; x < a.blocks; x++) {
            struct buffer block = buffer_new(a.blocks == 1 ? job_text_room(job) : job_block_room(job));
            size_t lying = 0;
            ck_assert(job_block(job, x, &block));
            const char *view = job_view(job, x, &lying);
            ck_assert(!view || (lying == block.length && memcmp(view, block.data, lying) == 0));
            buffer_append(&a.bytes, block.data, block.length);
            buffer_free(&block);
        }
        a.json_length = job_json_length(job) ? job_json_length(job) : a.bytes.length;
        ck_assert(job_length(job) == 0 || job_length(job) == a.bytes.length);
        ck_assert_str_eq(job_media_type(job), job_json_length(job) ? "application/octet-stream" : "application/json");
        a.json = json_loadb(a.bytes.data, a.json_length, JSON_DECODE_INT_AS_REAL, NULL);
        ck_assert_msg(a.json, "%.*s", (int)a.json_length, a.bytes.data);
    }
    job_free(job);
    return a;
}

static struct answer ask_json(const char *body)
{
    return ask(body, strlen(body), 0, 0);
}

static void end(struct answer *a)
{
    json_decref(a->json);
    buffer_free(&a->bytes);
}

/* Output `index` as doubles; how many. */
static size_t numbers_of(const struct answer *a, size_t index, double *out)
{
    const json_t *outputs = json_object_get(a->json, "outputs");
    size_t at = a->json_length;
    size_t count = 1;
    enum dtype dtype;
    json_t *size;
    size_t x;
    for (x = 0; x < index; x++)
        at += (size_t)json_number_value(
            json_object_get(json_object_get(json_array_get(outputs, x), "parameters"), "binary_data_size"));
    const json_t *output = json_array_get(outputs, index);
    json_array_foreach(json_object_get(output, "shape"), x, size) count *= (size_t)json_number_value(size);
    const json_t *data = json_object_get(output, "data");
    ck_assert(infer_names_find_datatype(json_string_value(json_object_get(output, "datatype")), &dtype));
    ck_assert(!data || json_array_size(data) == count);
    double *room = malloc(count * sizeof *room);
    ck_assert_ptr_nonnull(room);
    if (!data)
        memcpy(room, a->bytes.data + at, count * dtype_size(dtype));
    for (x = 0; data && x < count; x++) {
        const json_t *cell = json_array_get(data, x);
        dtype_set(dtype, room, x, json_is_string(cell) ? -HUGE_VAL : json_number_value(cell));
    }
    for (x = 0; x < count; x++)
        out[x] = dtype_get(dtype, room, x);
    free(room);
    return count;
}

#define Q "{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[2,2],\"data\":[1,0,0,2]}"
#define K "{\"name\":\"k\",\"datatype\":\"FP32\",\"shape\":[3,2],\"data\":[[1,0],[0,1],[1,1]]}"
#define V "{\"name\":\"v\",\"datatype\":\"FP32\",\"shape\":[3,2],\"data\":[1,2,3,4,5,6]}"
#define V1 "\"dtype\":\"float32\",\"q\":[[1,0],[0,2]],\"k\":[[1,0],[0,1],[1,1]],\"v\":[[1,2],[3,4],[5,6]]"

/* Parameters and inputs here, and the same there. */
static const struct {
    const char *parameters, *inputs, *output, *members, *include, *path;
} same[] = {
    {"", "", "output", "", "output", "output"},
    {"\"causal\":true,\"align\":\"end\"", "", "weights", "\"mask\":{\"causal\":true,\"align\":\"end\"}", "weights",
     "weights"},
    {"\"causal\":true,\"query_offset\":1", "", "masked", "\"mask\":{\"causal\":true,\"query_offset\":1}",
     "steps.masked", "steps.masked"},
    {"\"window_left\":1,\"window_right\":0", "", "shifted", "\"mask\":{\"window\":{\"left\":1,\"right\":0}}",
     "steps.shifted", "steps.shifted"},
    {"\"causal\":true,\"prefix\":2", "", "row_sum", "\"mask\":{\"causal\":true,\"prefix\":2}", "steps.row_sum",
     "steps.row_sum"},
    {"\"scale\":2,\"softcap\":3", "", "capped", "\"scale\":2,\"softcap\":3", "steps.capped", "steps.capped"},
    {"\"heads\":2", "", "present_v", "\"heads\":2", "present", "present.v"},
    {"\"alibi\":true", "", "biased", "\"mask\":{\"alibi\":true}", "steps.biased", "steps.biased"},
    {"\"variant\":\"linear\"", "", "output", "\"variant\":\"linear\"", "output", "output"},
    {"\"dropout_p\":0.5,\"dropout_seed\":3", "", "dropped", "\"dropout\":{\"p\":0.5,\"seed\":3}", "steps.dropped",
     "steps.dropped"},
    {"\"rope_theta\":100", "", "inputs_q", "\"rope\":{\"theta\":100}", "inputs", "inputs.q"},
    {"\"tiles_keys\":2", "", "running_max", "\"tiles\":{\"keys\":2}", "steps.running_max", "steps.running_max"},
    {"\"empty_rows\":\"zero\"", ",{\"name\":\"key_lengths\",\"datatype\":\"INT64\",\"shape\":[1],\"data\":[0]}",
     "log_sum_exp", "\"mask\":{\"empty_rows\":\"zero\",\"key_lengths\":[0]}", "log_sum_exp", "log_sum_exp"},
    {"", ",{\"name\":\"allow\",\"datatype\":\"BOOL\",\"shape\":[1,3],\"data\":[true,false,true]}", "exp",
     "\"mask\":{\"allow\":[[true,false,true]]}", "steps.exp", "steps.exp"},
    {"", ",{\"name\":\"bias\",\"datatype\":\"FP64\",\"shape\":[1,3],\"data\":[\"-Infinity\",1,0.5]}", "biased",
     "\"mask\":{\"bias\":[[null,1,0.5]]}", "steps.biased", "steps.biased"},
    {"", ",{\"name\":\"sinks\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[0.5]}", "row_max", "\"sinks\":[0.5]",
     "steps.row_max", "steps.row_max"},
    {"", ",{\"name\":\"alibi_slopes\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[0.5]}", "biased",
     "\"mask\":{\"alibi\":[0.5]}", "steps.biased", "steps.biased"},
    {"",
     ",{\"name\":\"past_k\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[3,4]},"
     "{\"name\":\"past_v\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[5,6]}",
     "present_k", "\"past\":{\"k\":[[3,4]],\"v\":[[5,6]]}", "present", "present.k"},
    {"\"backward_cell_query\":0,\"backward_cell_feature\":1", "", "gradients_q",
     "\"backward\":{\"cell\":{\"query\":0,\"feature\":1}}", "gradients.q", "gradients.q"},
    {"\"sequence_id\":7,\"priority\":1,\"timeout\":5,\"triton_enable_empty_final_response\":true,\"headers\":\"x\"", "",
     "scores", "", "steps.scores", "steps.scores"},
};

static size_t flatten(const json_t *value, double *out, size_t at)
{
    size_t index;
    json_t *entry;
    if (!json_is_array(value)) {
        out[at] = json_is_null(value) ? -HUGE_VAL : json_number_value(value);
        return at + 1;
    }
    json_array_foreach((json_t *)value, index, entry) at = flatten(entry, out, at);
    return at;
}

START_TEST(parameters_and_inputs_are_members_of_the_contract)
{
    struct buffer here = buffer_new((size_t)1 << 26);
    struct buffer there = buffer_new((size_t)1 << 26);
    double mine[64];
    double theirs[64];
    buffer_format(&here, "{\"parameters\":{%s},\"inputs\":[" Q "," K "," V "%s],\"outputs\":[{\"name\":\"%s\"}]}",
                  same[_i].parameters, same[_i].inputs, same[_i].output);
    buffer_format(&there, "{" V1 ",%s%s\"include\":[\"%s\"]}", same[_i].members, same[_i].members[0] ? "," : "",
                  same[_i].include);
    buffer_append(&there, "", 1);
    struct answer a = ask(here.data, here.length, 0, 0);
    ck_assert_msg(a.json, "%s", a.err.faults[0].text);
    json_t *reply = exchange_reply(there.data);
    size_t count = numbers_of(&a, 0, mine);
    ck_assert_uint_eq(flatten(exchange_at(reply, same[_i].path), theirs, 0), count);
    for (size_t x = 0; x < count; x++)
        ck_assert_msg(mine[x] == (double)(float)theirs[x], "%zu: %.17g is not %.17g", x, mine[x], theirs[x]);
    json_decref(reply);
    end(&a);
    buffer_free(&here);
    buffer_free(&there);
}
END_TEST

/* --- binary --- */

struct body {
    struct buffer json, bytes;
};

static double number(size_t x)
{
    return (double)((int)(x * 7 % 23) - 11) / 8; /* exact in every datatype */
}

static void add_input(struct body *b, const char *name, enum dtype dtype, size_t rows, size_t columns, bool binary)
{
    size_t count = rows * columns;
    buffer_format(&b->json, "%s{\"name\":\"%s\",\"datatype\":\"%s\",\"shape\":[%zu,%zu],", name[0] == 'q' ? "" : ",",
                  name, infer_names_datatype(dtype), rows, columns);
    if (binary)
        buffer_format(&b->json, "\"parameters\":{\"binary_data_size\":%zu}}", count * dtype_size(dtype));
    else
        buffer_string(&b->json, "\"data\":[");
    for (size_t x = 0; x < count; x++) {
        _Alignas(double) char room[sizeof(double)];
        dtype_set(dtype, room, 0, number(x));
        if (binary)
            buffer_append(&b->bytes, room, dtype_size(dtype));
        else
            buffer_format(&b->json, "%s%g", x ? "," : "", number(x));
    }
    if (!binary)
        buffer_string(&b->json, "]}");
}

/* Bits of `binary`: q, k, v; of `outputs`: weights, output, log_sum_exp. */
static struct answer ask_mixture(enum dtype dtype, unsigned binary, unsigned outputs, size_t n, size_t whole)
{
    static const char *const names[] = {"weights", "output", "log_sum_exp"};
    struct body b = {buffer_new((size_t)1 << 24), buffer_new((size_t)1 << 24)};
    buffer_string(&b.json, "{\"id\":\"a\\\"b\",\"inputs\":[");
    for (unsigned x = 0; x < 3; x++)
        add_input(&b, (const char *const[]){"q", "k", "v"}[x], dtype, n, 3, binary >> x & 1U);
    buffer_string(&b.json, "],\"outputs\":[");
    for (unsigned x = 0; x < 3; x++)
        buffer_format(&b.json, "%s{\"name\":\"%s\",\"parameters\":{\"binary_data\":%s,\"classification\":1}}",
                      x ? "," : "", names[x], outputs >> x & 1U ? "true" : "false");
    buffer_string(&b.json, "]}");
    size_t json_length = b.json.length;
    buffer_append(&b.json, b.bytes.data, b.bytes.length);
    struct answer a = ask(b.json.data, b.json.length, json_length, whole);
    buffer_free(&b.json);
    buffer_free(&b.bytes);
    return a;
}

/* numbers_of counts the bytes of the outputs before: those in JSON have none. */
static void check_mixture(enum dtype dtype, size_t n, size_t whole, unsigned step)
{
    double *expected = malloc((n + 3) * n * sizeof *expected);
    double *found = malloc((n + 3) * n * sizeof *found);
    struct answer plain = ask_mixture(dtype, 0, 0, n, 0);
    ck_assert(expected && found && plain.json);
    for (unsigned mixture = 0; mixture < 64; mixture += step) {
        struct answer a = ask_mixture(dtype, mixture & 7U, mixture >> 3, n, whole);
        ck_assert_msg(a.json, "%s", a.err.faults[0].text);
        ck_assert((n > 2) == (a.blocks >= 3));
        ck_assert_str_eq(json_string_value(json_object_get(a.json, "id")), "a\"b");
        for (size_t x = 0; x < 3; x++) {
            size_t count = numbers_of(&plain, x, expected);
            ck_assert_uint_eq(numbers_of(&a, x, found), count);
            ck_assert(memcmp(expected, found, count * sizeof *found) == 0);
        }
        end(&a);
    }
    end(&plain);
    free(expected);
    free(found);
}

START_TEST(binary_and_json_mix_freely)
{
    static const struct {
        size_t n, whole;
        unsigned step;
    } ways[] = {{2, 0, 1}, {20, 100, 1}, {150, 0, 21}};
    check_mixture(_i % 2 ? DTYPE_FLOAT64 : DTYPE_FLOAT32, ways[_i / 2].n, ways[_i / 2].whole, ways[_i / 2].step);
}
END_TEST

/* From halves come halves, where they are a mix of what came; what they were computed from is float32. */
START_TEST(halves_come_back_as_halves)
{
    enum dtype dtype = _i % 2 ? DTYPE_FLOAT16 : DTYPE_BFLOAT16;
    double halves[64];
    double floats[64];
    struct answer exact = ask_mixture(DTYPE_FLOAT32, 7, 7, 4, 0);
    struct answer a = ask_mixture(dtype, 7, 3, 4, _i < 2 ? 0 : 1);
    ck_assert_msg(a.json, "%s", a.err.faults[0].text);
    for (size_t x = 0; x < 3; x++) {
        size_t count = numbers_of(&exact, x, floats);
        ck_assert_uint_eq(numbers_of(&a, x, halves), count);
        for (size_t i = 0; i < count; i++) {
            _Alignas(double) char rounded[sizeof(double)];
            dtype_set(x < 2 ? dtype : DTYPE_FLOAT32, rounded, 0, floats[i]);
            ck_assert_msg(halves[i] == dtype_get(x < 2 ? dtype : DTYPE_FLOAT32, rounded, 0), "%zu %zu: %.17g %.17g", x,
                          i, halves[i], floats[i]);
        }
    }
    end(&exact);
    end(&a);
    a = ask_mixture(dtype, 7, 0, 4, 0);
    ck_assert(!a.json && strstr(a.err.faults[0].text, "has no form in JSON: ask for it as binary"));
    end(&a);
}
END_TEST

START_TEST(outputs_default_to_output_in_the_form_of_the_request)
{
    static const char *const bodies[] = {
        "{\"inputs\":[" Q "," K "," V "]}",
        "{\"inputs\":[" Q "," K "," V "],\"outputs\":[]}",
        "{\"parameters\":{\"binary_data_output\":true},\"inputs\":[" Q "," K "," V "]}",
        "{\"parameters\":{\"binary_data_output\":true},\"inputs\":[" Q "," K "," V "],"
        "\"outputs\":[{\"name\":\"output\",\"parameters\":{\"binary_data\":false}}]}",
    };
    struct answer a = ask_json(bodies[_i]);
    ck_assert_uint_eq(json_array_size(json_object_get(a.json, "outputs")), 1);
    ck_assert_str_eq(json_string_value(exchange_at(a.json, "outputs.0.name")), "output");
    ck_assert_str_eq(json_string_value(json_object_get(a.json, "model_name")), "attention");
    ck_assert_str_eq(json_string_value(json_object_get(a.json, "model_version")), "1");
    ck_assert_int_eq(a.json_length < a.bytes.length, _i == 2);
    end(&a);
}
END_TEST

/* --- names --- */

static void find_again(void *context, const struct infer_name *n)
{
    struct infer_name found;
    char suggestion[INFER_NAME_MAX];
    ck_assert_msg(infer_names_find(n->name, n->kind, &found, suggestion), "%s", n->name);
    ck_assert_str_eq(found.path, n->path);
    ck_assert_ptr_eq(found.option, n->option);
    ++*(size_t *)context;
}

START_TEST(each_name_is_found_again)
{
    char name[INFER_NAME_MAX];
    char suggestion[INFER_NAME_MAX];
    size_t count = 0;
    infer_names_each(find_again, &count);
    ck_assert_uint_gt(count, 60);
    for (size_t r = 0; r < RESULT_COUNT; r++)
        if (infer_names_output((enum result_id)r, name))
            ck_assert_uint_eq(infer_names_find_output(name, suggestion), r);
}
END_TEST

/* --- refusals --- */

#define QK "{\"inputs\":[" Q "," K ","
static const struct {
    const char *body, *part;
} refused[] = {
    {"[1]", "must be a JSON object"},
    {"{}", "needs \"inputs\""},
    {"{\"inputs\":[]}", "needs \"inputs\""},
    {"{\"inputs\":[1,2]}", "needs \"inputs\""},
    {"{\"inputs\":[\"q\"]}", "must be an object with name"},
    {"{\"inputs\":[" Q "," K "," V "],\"output\":[]}", "no member \"output\""},
    {"{\"inputs\":[{\"datatype\":\"FP32\"}]}", "needs \"name\""},
    {"{\"inputs\":[{\"name\":\"q\"}]}", "needs \"datatype\""},
    {"{\"inputs\":[{\"name\":\"querys\",\"datatype\":\"FP32\"}]}", "no input \"querys\""},
    {"{\"inputs\":[{\"name\":\"past_q\",\"datatype\":\"FP32\"}]}", "did you mean \"past_k\""},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"INT8\",\"shape\":[1]}]}",
     "Input \"q\" is of datatype \"INT8\"; it takes FP32"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP3\",\"shape\":[1]}]}", "\"FP3\""},
    {"{\"inputs\":[{\"name\":\"allow\",\"datatype\":\"FP32\",\"shape\":[1]}]}",
     "Input \"allow\" is of datatype \"FP32\"; it takes BOOL"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\"}]}", "Input \"q\" needs \"shape\""},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[]}]}", "needs \"shape\""},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[0,2]}]}", "has 0 as size 0"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[2,-1]}]}", "has -1 as size 1"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[2,1.5]}]}", "has 1.5 as size 1"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[1,1,1,1,1,1]}]}", "6 sizes"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[4294967296,4294967296]}]}",
     "more numbers than can be counted"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[1,2]}]}", "Input \"q\" needs data"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2,3]}]}",
     "Input \"q\" has 3 numbers in data; its shape [1][2] takes 2"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[[1],[2,3]]}]}",
     "Input \"q\" needs data as a list of numbers"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":\"AAAA\"}]}",
     "needs data as a list of numbers"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP16\",\"shape\":[1,2],\"data\":[1,2]}]}",
     "no form in JSON: send it as binary"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2],\"parameters\":{\"binary_data_"
     "size\":8}}]}",
     "both data and"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[1,2],\"parameters\":{\"binary_data_size\":7}}]}",
     "Input \"q\" of shape [1][2] and datatype FP32 takes 8 bytes; its binary_data_size is 7"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[1,2],\"parameters\":{\"binary_data_size\":\"8\"}}]"
     "}",
     "no number of bytes"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[1,2],\"parameters\":{\"binary_data_size\":8}}]}",
     "so 8 are missing. Inference-Header-Content-Length says"},
    {"{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[1,2],\"parameters\":3}]}",
     "parameters of an input must be an object"},
    {QK "{\"name\":\"v\",\"datatype\":\"FP64\",\"shape\":[3,1],\"data\":[1,2,3]}]}",
     "Input \"v\" is of FP64, \"q\" of FP32"},
    {QK Q "]}", "\"q\" is given twice"},
    {QK "{\"name\":\"v\",\"datatype\":\"FP32\",\"shape\":[2,1],\"data\":[1,2]}]}", "v"},
    {"{\"inputs\":[" Q "," K "]}", "v"},
    {QK V ",{\"name\":\"allow\",\"datatype\":\"BOOL\",\"shape\":[1,3],\"data\":[1,0,1]}]}", "mask.allow"},
    {QK V ",{\"name\":\"key_lengths\",\"datatype\":\"INT64\",\"shape\":[1],\"data\":[1.5]}]}", "key_lengths"},
    {QK V ",{\"name\":\"bias\",\"datatype\":\"FP32\",\"shape\":[1,3],\"data\":[\"-Infinity\",1,\"x\"]}]}",
     "Input \"bias\" has an entry 2"},
    {QK V ",{\"name\":\"bias\",\"datatype\":\"FP32\",\"shape\":[1,3],\"data\":[\"-Infinity\",1]}]}", "has 2 numbers"},
    {"{\"parameters\":[],\"inputs\":[" Q "]}", "parameters of the request must be an object"},
    {"{\"parameters\":{\"causl\":true},\"inputs\":[" Q "]}", "no parameter \"causl\"; did you mean \"causal\""},
    {"{\"parameters\":{\"scale\":[1]},\"inputs\":[" Q "]}", "Parameter \"scale\" is a list"},
    {"{\"parameters\":{\"scale\":{}},\"inputs\":[" Q "]}", "Parameter \"scale\" is an object"},
    {"{\"parameters\":{\"mask\":\"causal\"},\"inputs\":[" Q "]}", "no parameter \"mask\""},
    {"{\"parameters\":{\"dtype\":\"float64\"},\"inputs\":[" Q "]}", "no parameter \"dtype\""},
    {"{\"parameters\":{\"binary_data_output\":1},\"inputs\":[" Q "]}", "\"binary_data_output\" must be true or false"},
    {"{\"parameters\":{\"causal\":1},\"inputs\":[" Q "," K "," V "]}", "mask.causal is a number"},
    {"{\"parameters\":{\"align\":\"middle\"},\"inputs\":[" Q "," K "," V "]}", "align"},
    {QK V "],\"outputs\":{}}", "outputs must be a list"},
    {QK V "],\"outputs\":[3]}", "outputs must be a list"},
    {QK V "],\"outputs\":[\"output\"]}", "must be an object with a name"},
    {QK V "],\"outputs\":[{\"name\":\"outputs\"}]}", "no output \"outputs\"; did you mean \"output\""},
    {QK V "],\"outputs\":[{\"name\":\"output\"},{\"name\":\"output\"}]}", "asked for twice"},
    {QK V "],\"outputs\":[{\"name\":\"capped\"}]}", "no steps.capped"},
    {QK V "],\"outputs\":[{\"name\":\"present_latent\"}]}", "no output \"present_latent\""},
    {QK V "],\"outputs\":[{\"name\":\"updated_q\"}]}", "no output \"updated_q\""},
    {QK V "],\"outputs\":[{\"name\":\"output\",\"parameters\":{\"binary_data\":\"yes\"}}]}", "true or false"},
    {QK V "],\"outputs\":[{\"name\":\"output\",\"parameters\":{\"shared_memory_region\":\"x\"}}]}", "shared memory"},
    {QK V "],\"outputs\":[{\"name\":\"output\",\"parametrs\":{}}]}", "An output has no member \"parametrs\""},
    {"{\"inputs\":[{\"name\":\"q\",\"dtype\":\"FP32\"}]}", "An input has no member \"dtype\""},
    {"{\"id\":7,\"inputs\":[" Q "]}", "id must be a string"},
    {QK "{\"name\":\"v\",\"datatype\":\"FP32\",\"shape\":[1,1],\"data\":[-Infinity]}]}", "the string \"-Infinity\""},
    {QK "{\"name\":\"v\",\"datatype\":\"FP32\",\"shape\":[1,1],\"data\":[NaN]}]}", "in binary"},
};

START_TEST(what_is_wrong_is_named)
{
    struct answer a = ask_json(refused[_i].body);
    ck_assert_msg(!a.json, "%s", refused[_i].body);
    ck_assert_msg(strstr(a.err.faults[0].text, refused[_i].part), "%s", a.err.faults[0].text);
    end(&a);
}
END_TEST

static const char split_body[] =
    "{\"inputs\":[{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[1,1],\"parameters\":{\"binary_data_size\":4}},"
    "{\"name\":\"k\",\"datatype\":\"FP32\",\"shape\":[1,1],\"parameters\":{\"binary_data_size\":4}},"
    "{\"name\":\"v\",\"datatype\":\"FP32\",\"shape\":[1,1],\"parameters\":{\"binary_data_size\":4}}]}"
    "\0\0\0\0\0\0\0\0\0\0\0\0ABCD";

/* How many bytes there are, and how many are said to be JSON, from the right number on. */
static const struct {
    int more;
    size_t json;
    const char *part;
} cuts[] = {
    {0, 0, NULL},
    {-1, 0, "Input \"v\" has 4 bytes; 3 are left of the 11 behind the JSON, so 1 are missing."},
    {-9, 0, "Input \"q\" has 4 bytes; 3 are left"},
    {4, 0, "4 bytes are left over behind the 12"},
    {0, 1000, "Inference-Header-Content-Length is 1000; the body has"},
    {0, (size_t)-1, "Inference-Header-Content-Length must be a number"},
    {0, 3, "before the document is complete"},
};

START_TEST(sizes_use_up_the_body)
{
    size_t json = strlen(split_body);
    struct answer a = ask(split_body, json + 12 + (size_t)cuts[_i].more, cuts[_i].json ? cuts[_i].json : json, 0);
    ck_assert(!cuts[_i].part == (a.json != NULL));
    ck_assert_msg(!cuts[_i].part || strstr(a.err.faults[0].text, cuts[_i].part), "%s", a.err.faults[0].text);
    end(&a);
}
END_TEST

/* The header may be there though everything is JSON. */
START_TEST(the_length_of_a_body_that_is_all_json_is_fine)
{
    static const char body[] = "{\"inputs\":[" Q "," K "," V "]}";
    struct answer a = ask(body, strlen(body), strlen(body), 0);
    ck_assert_ptr_nonnull(a.json);
    end(&a);
}
END_TEST

Suite *infer_suite(void)
{
    Suite *suite = suite_create("infer");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, parameters_and_inputs_are_members_of_the_contract, 0, sizeof same / sizeof *same);
    tcase_add_loop_test(tests, binary_and_json_mix_freely, 0, 6);
    tcase_add_loop_test(tests, halves_come_back_as_halves, 0, 4);
    tcase_add_loop_test(tests, outputs_default_to_output_in_the_form_of_the_request, 0, 4);
    tcase_add_test(tests, each_name_is_found_again);
    tcase_add_loop_test(tests, what_is_wrong_is_named, 0, sizeof refused / sizeof *refused);
    tcase_add_loop_test(tests, sizes_use_up_the_body, 0, sizeof cuts / sizeof *cuts);
    tcase_add_test(tests, the_length_of_a_body_that_is_all_json_is_fine);
    suite_add_tcase(suite, tests);
    return suite;
}
