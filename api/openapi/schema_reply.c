/* Schemas of replies. */
#include "api/openapi/schema_reply.h"

#include "api/openapi/schema_reference.h"
#include "api/reply/reply_document.h"
#include "api/reply/section.h"

#include <string.h>

static void begin_object(struct writer *w, const char *name, const char *meaning)
{
    writer_key(w, name);
    writer_object_begin(w);
    writer_member_string(w, "description", meaning);
    writer_member_string(w, "type", "object");
    writer_member_bool(w, "additionalProperties", false);
    writer_key(w, "properties");
    writer_object_begin(w);
}

static void end_object(struct writer *w)
{
    writer_object_end(w);
    writer_object_end(w);
}

static void write_raw(struct writer *w, const char *name, const char *schema)
{
    writer_key(w, name);
    writer_raw(w, schema, strlen(schema));
}

static void write_result(struct writer *w, const char *name, const char *meaning)
{
    writer_key(w, name);
    writer_object_begin(w);
    schema_reference_member(w, "BiasTensor");
    writer_member_string(w, "description", meaning);
    writer_object_end(w);
}

/* Figures, which have no formula in one line. */
static const struct {
    const char *name, *meaning;
} figures[] = {
    {"bits_per_number", "codes, scales and exact tokens, over all numbers"},
    {"bytes", "of the cache as it would be kept"},
    {"ratio", "how often it fits into the same cache at 16 bits a number"},
    {"max", "the largest difference from the exact result"},
    {"rms", "square root of the mean of squared differences"},
    {"argmax_changed", "rows whose largest weight is at another key"},
    {"kl_bits", "of each row: how many bits are lost by taking these weights for the exact ones"},
    {"cosine", "of each row: 1 where the direction is that of the exact row"},
    {"saturated", "numbers that became the largest finite one, or infinity"},
    {"zeroed", "numbers other than 0 that became 0"},
};

static const char *find_figure(const char *name)
{
    for (size_t x = 0; x < sizeof figures / sizeof *figures; x++)
        if (strcmp(figures[x].name, name) == 0)
            return figures[x].meaning;
    return NULL;
}

/* The meaning of the member inside its part: its formula, where it has one. */
static const char *find_meaning(const struct result *result)
{
    const char *figure = find_figure(result->name);
    if (!part_is_group(result->part) || result->part == PART_UPDATED)
        return part_meaning(result->part);
    if (result->part == PART_GRADIENTS)
        return gradient_formula(result->gradient);
    if (result->quantity != QUANTITY_COUNT)
        return quantity_formula(result->quantity);
    if (result->title)
        return result->title;
    return figure ? figure : part_meaning(result->part);
}

/* One scale for all may be a plain number. */
static void write_shaped(struct writer *w, const struct result *result)
{
    static const char number[] = "{\"type\":\"number\"}";
    writer_key(w, "anyOf");
    writer_array_begin(w);
    schema_reference(w, result->plain ? "Numbers" : "Tensor");
    writer_raw(w, number, strlen(number));
    writer_array_end(w);
}

static void write_tensor_schema(struct writer *w, enum result_id id)
{
    const struct result *result = result_row(id);
    writer_object_begin(w);
    if (result->quantity != QUANTITY_COUNT && quantity_is(result->quantity, IS_BOOLEAN))
        schema_reference_member(w, "Booleans");
    else if (result_brings_shape(id))
        write_shaped(w, result);
    else
        schema_reference_member(w, result->plain ? "NumbersOrHidden" : "BiasTensor");
    writer_member_string(w, "description", find_meaning(result));
    writer_object_end(w);
}

/* The schema is an object: its description goes in first. */
static void write_document_schema(struct writer *w, enum result_id id)
{
    struct buffer text = buffer_new(BUFFER_PAGE);
    struct writer description = {.out = &text};
    writer_object_begin(&description);
    writer_member_string(&description, "description", find_meaning(result_row(id)));
    buffer_format(&text, ",%s", reply_document(id)->schema() + 1);
    writer_raw(w, text.data ? text.data : "{}", text.data ? text.length : 2);
    buffer_free(&text);
}

static void write_result_schema(struct writer *w, enum result_id id)
{
    writer_key(w, result_row(id)->name);
    if (result_row(id)->document)
        write_document_schema(w, id);
    else
        write_tensor_schema(w, id);
}

struct part_schema {
    struct writer *w;
    const char *object; /* that is open, or NULL */
};

static void close_object(struct part_schema *p)
{
    if (p->object)
        end_object(p->w);
    p->object = NULL;
}

static void write_member_schema(void *context, enum result_id id)
{
    struct part_schema *p = context;
    const char *object = result_row(id)->object;
    if (p->object && (!object || strcmp(object, p->object) != 0))
        close_object(p);
    if (object && !p->object)
        begin_object(p->w, object, part_meaning(result_row(id)->part));
    p->object = object;
    write_result_schema(p->w, id);
}

static void write_part(struct writer *w, enum part part)
{
    struct part_schema schema = {.w = w};
    if (part_is_group(part))
        begin_object(w, part_name(part), part_meaning(part));
    section_each(part, write_member_schema, &schema);
    close_object(&schema);
    if (part_is_group(part))
        end_object(w);
}

#define TOLD(type, meaning) "{" type ",\"description\":\"" meaning "\"}"
#define STRINGS_TYPE "\"type\":\"array\",\"items\":{\"type\":\"string\"}"
#define STRINGS "{" STRINGS_TYPE "}"
#define COUNT(meaning) TOLD("\"type\":\"integer\",\"minimum\":1", meaning)
#define TEXT(meaning) TOLD("\"type\":\"string\"", meaning)
#define INTEGER(meaning) TOLD("\"type\":\"integer\"", meaning)
#define NUMBER(meaning) TOLD("\"type\":\"number\"", meaning)
#define VECTOR(meaning) TOLD("\"type\":\"array\",\"items\":{\"type\":\"number\"}", meaning)
#define HIDDEN "\"anyOf\":[{\"type\":[\"number\",\"null\"]},{\"type\":\"string\",\"enum\":[\"-Infinity\"]}]"

/* The formatter breaks strings between macros letter by letter. */
/* clang-format off */

static void write_echo(struct writer *w)
{
    write_raw(w, "id", TEXT("that of the request"));
    write_raw(w, "dtype",
              TOLD("\"type\":\"string\",\"enum\":[\"float64\",\"float32\"]", "precision of the arithmetic and of the "
                                                                             "printed numbers"));
}

static void write_head(struct writer *w)
{
    write_echo(w);
    write_raw(w, "shape",
              "{\"type\":\"object\",\"description\":\"sizes, as they were read\",\"additionalProperties\":false,"
              "\"required\":[\"batch\",\"heads\",\"kv_heads\","
              "\"queries\",\"keys\",\"d_k\",\"d_v\"],\"properties\":{\"batch\":" COUNT("1 without one") ",\"heads\":"
              COUNT("of queries") ",\"kv_heads\":" COUNT("of keys and values") ",\"queries\":" COUNT("n")
              ",\"keys\":" COUNT("m, the past included") ",\"d_k\":" COUNT("width of a query and of a key")
              ",\"d_v\":" COUNT("width of a value") "}}");
    write_raw(
        w, "axes",
        "{\"type\":\"object\",\"description\":\"names of the axes of every tensor returned, built like the reply\","
        "\"additionalProperties\":{\"anyOf\":[" STRINGS
        ",{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[" STRINGS
        ",{\"type\":\"object\",\"additionalProperties\":" STRINGS "}]}}]}}");
    write_raw(w, "labels",
              "{\"type\":\"object\",\"description\":\"tokens of the request\",\"additionalProperties\":false,"
              "\"properties\":{\"query\":" TOLD(STRINGS_TYPE, "of the queries") ",\"key\":"
              TOLD(STRINGS_TYPE, "of the keys") "}}");
    write_raw(w, "scale", NUMBER("what scores are multiplied by"));
}

static void write_attention_reply(struct writer *w)
{
    begin_object(w, "AttentionReply", "What was asked for in include");
    write_head(w);
    for (size_t part = 0; part < PART_COUNT; part++)
        write_part(w, (enum part)part);
    writer_object_end(w);
    write_raw(w, "required", "[\"dtype\",\"shape\",\"axes\",\"scale\"]");
    writer_object_end(w);
}

static void write_cell_numbers(struct writer *w)
{
    write_raw(w, "score", NUMBER("sum of the products"));
    write_raw(w, "scale", NUMBER("what the score is multiplied by"));
    write_raw(w, "scaled", NUMBER("score * scale"));
    write_raw(w, "capped", NUMBER("c tanh(scaled / c), with softcap"));
    write_raw(w, "bias", TOLD(HIDDEN, "what is added; null is -infinity"));
    write_raw(w, "biased", TOLD(HIDDEN, "with the bias; null is -infinity"));
    write_raw(w, "masked", TOLD(HIDDEN, "null (-infinity) where the key is hidden"));
    write_raw(w, "row_max", TOLD(HIDDEN, "the largest of the row; null where it may see no key"));
    write_raw(w, "shifted", TOLD(HIDDEN, "masked - row_max; null where the key is hidden"));
    write_raw(w, "exp", NUMBER("e^shifted"));
    write_raw(w, "row_sum", NUMBER("sum of exp over the row"));
    write_raw(w, "weight", NUMBER("exp / row_sum"));
    write_raw(w, "dropped", NUMBER("the weight after dropout"));
}

static void write_explain_reply(struct writer *w)
{
    begin_object(w, "ExplainReply", "One query and one key as arithmetic");
    write_echo(w);
    writer_key(w, "cell");
    writer_object_begin(w);
    schema_reference_member(w, "Cell");
    writer_member_string(w, "description", "that of the request");
    writer_object_end(w);
    write_raw(w, "labels",
              "{\"type\":\"object\",\"description\":\"tokens of the query and of the key\","
              "\"additionalProperties\":{\"type\":\"string\"}}");
    write_raw(w, "products",
              "{\"type\":\"array\",\"description\":\"term by term\",\"items\":{\"type\":\"object\","
              "\"additionalProperties\":false,\"required\":[\"feature\","
              "\"q\",\"k\",\"product\"],\"properties\":{\"feature\":" INTEGER("from 0") ",\"q\":" NUMBER(
                  "of the query") ",\"k\":" NUMBER("of the key") ",\"product\":" NUMBER("q * k") "}}}");
    write_cell_numbers(w);
    write_raw(w, "allowed", TOLD("\"type\":\"boolean\"", "whether the query may see the key"));
    write_raw(w, "hidden_by", TOLD(STRINGS_TYPE, "members of mask that hide the key"));
    write_raw(w, "value", VECTOR("of the key"));
    write_raw(w, "contribution", VECTOR("weight * value"));
    write_raw(w, "gradient",
              "{\"type\":\"object\",\"description\":\"the way back through this cell, with backward\","
              "\"additionalProperties\":false,\"properties\":{\"d_weight\":" NUMBER("by the weight")
              ",\"row_dot\":" NUMBER("sum of weight * d_weight over the row")
              ",\"d_masked\":" NUMBER("weight * (d_weight - row_dot)")
              ",\"d_scaled\":" NUMBER("by scaled") ",\"d_score\":" NUMBER("by the score")
              ",\"d_q\":" VECTOR("what this cell adds to that of the query")
              ",\"d_k\":" VECTOR("what it adds to that of the key") "}}");
    write_raw(w, "text", TEXT("the same as lines of arithmetic"));
    writer_object_end(w);
    write_raw(w, "required",
              "[\"dtype\",\"cell\",\"products\",\"score\",\"scale\",\"scaled\",\"bias\",\"weight\",\"value\","
              "\"contribution\",\"text\"]");
    writer_object_end(w);
}

static void write_merge_reply(struct writer *w)
{
    begin_object(w, "MergeReply", "The result over all keys");
    write_raw(w, "id", TEXT("that of the request"));
    write_result(w, "output", "of all parts together");
    write_result(w, "log_sum_exp", "of all parts together; null where no part may see a key");
    writer_object_end(w);
    write_raw(w, "required", "[\"output\",\"log_sum_exp\"]");
    writer_object_end(w);
}

static void write_decode_reply(struct writer *w)
{
    write_raw(w, "DecodeReply",
              "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"steps\"],\"properties\":{\"steps\":{"
              "\"description\":\"the reply to each "
              "step\",\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/AttentionReply\"}}}}");
}

static void write_problem(struct writer *w)
{
    static const char schema[] =
        "{\"type\":\"object\",\"description\":\"RFC 9457\",\"required\":[\"type\",\"title\",\"status\",\"detail\"],"
        "\"properties\":{\"type\":" TEXT("path of a page that says what to do") ",\"title\":"
        TEXT("the kind of refusal") ",\"status\":" INTEGER("that of HTTP") ",\"code\":"
        TEXT("the stable name, which ends type") ",\"detail\":" TEXT("what is wrong with this request")
        ",\"pointer\":" TEXT("JSON Pointer of the member at fault") ",\"line\":"
        INTEGER("of the body, from 1") ",\"column\":" INTEGER("from 1") ",\"byte\":" INTEGER("from 0")
        ",\"limit_bytes\":" INTEGER("the limit that was passed") ",\"instance\":" TEXT("the path that was asked")
        ",\"request_id\":" TEXT("also in the header X-Request-Id and in the log")
        ",\"errors\":{\"type\":\"array\",\"description\":\"every fault that was found, when there are several\","
        "\"items\":{\"type\":\"object\",\"required\":[\"detail\"],\"properties\":{\"detail\":"
        TEXT("one fault") ",\"pointer\":" TEXT("JSON Pointer of its member") "}}}}}";
    write_raw(w, "Problem", schema);
}

/* clang-format on */

void schema_replies(struct writer *w)
{
    write_attention_reply(w);
    write_explain_reply(w);
    write_merge_reply(w);
    write_decode_reply(w);
    write_problem(w);
}
