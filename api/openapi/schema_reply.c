/* Schemas of replies. */
#include "api/openapi/schema_reply.h"

#include "api/openapi/schema_reference.h"
#include "api/reply/reply_document.h"
#include "api/reply/section.h"

#include <string.h>

static void begin_object(struct writer *w, const char *name)
{
    writer_key(w, name);
    writer_object_begin(w);
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

static void write_result(struct writer *w, const char *name)
{
    writer_key(w, name);
    schema_reference(w, "BiasTensor");
}

/* One scale for all may be a plain number. */
static void write_shaped(struct writer *w, const struct result *result)
{
    writer_object_begin(w);
    writer_key(w, "anyOf");
    writer_array_begin(w);
    schema_reference(w, result->plain ? "Numbers" : "Tensor");
    writer_raw(w, "{\"type\":\"number\"}", strlen("{\"type\":\"number\"}"));
    writer_array_end(w);
    writer_object_end(w);
}

static void write_result_schema(struct writer *w, enum result_id id)
{
    const struct result *result = result_row(id);
    writer_key(w, result->name);
    if (result->document)
        reply_document(id)->schema(w);
    else if (result->quantity != QUANTITY_COUNT && quantity_is(result->quantity, IS_BOOLEAN))
        schema_reference(w, "Booleans");
    else if (result_brings_shape(id))
        write_shaped(w, result);
    else
        schema_reference(w, result->plain ? "NumbersOrHidden" : "BiasTensor");
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
        begin_object(p->w, object);
    p->object = object;
    write_result_schema(p->w, id);
}

static void write_part(struct writer *w, enum part part)
{
    struct part_schema schema = {.w = w};
    if (part_is_group(part))
        begin_object(w, part_name(part));
    section_each(part, write_member_schema, &schema);
    close_object(&schema);
    if (part_is_group(part))
        end_object(w);
}

#define STRINGS "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"
#define COUNT "{\"type\":\"integer\",\"minimum\":1}"

static void write_head(struct writer *w)
{
    write_raw(w, "id", "{\"type\":\"string\"}");
    write_raw(w, "dtype", "{\"type\":\"string\",\"enum\":[\"float64\",\"float32\"]}");
    write_raw(w, "shape",
              "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"batch\",\"heads\",\"kv_heads\","
              "\"queries\",\"keys\",\"d_k\",\"d_v\"],\"properties\":{\"batch\":" COUNT ",\"heads\":" COUNT
              ",\"kv_heads\":" COUNT ",\"queries\":" COUNT ",\"keys\":" COUNT ",\"d_k\":" COUNT ",\"d_v\":" COUNT "}}");
    write_raw(
        w, "axes",
        "{\"type\":\"object\",\"description\":\"names of the axes of every tensor returned, built like the reply\","
        "\"additionalProperties\":{\"anyOf\":[" STRINGS
        ",{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[" STRINGS
        ",{\"type\":\"object\",\"additionalProperties\":" STRINGS "}]}}]}}");
    write_raw(w, "labels",
              "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"query\":" STRINGS
              ",\"key\":" STRINGS "}}");
    write_raw(w, "scale", "{\"type\":\"number\"}");
}

static void write_attention_reply(struct writer *w)
{
    begin_object(w, "AttentionReply");
    write_head(w);
    for (size_t part = 0; part < PART_COUNT; part++)
        write_part(w, (enum part)part);
    writer_object_end(w);
    write_raw(w, "required", "[\"dtype\",\"shape\",\"axes\",\"scale\"]");
    writer_object_end(w);
}

#define VECTOR "{\"type\":\"array\",\"items\":{\"type\":\"number\"}}"
#define NUMBER "{\"type\":\"number\"}"
#define HIDDEN "{\"anyOf\":[{\"type\":[\"number\",\"null\"]},{\"const\":\"-Infinity\"}]}"

static void write_explain_reply(struct writer *w)
{
    static const char *const numbers[] = {"score", "scale", "scaled", "capped", "exp", "row_sum", "weight", "dropped"};
    static const char *const hidden[] = {"bias", "biased", "masked", "row_max", "shifted"};
    begin_object(w, "ExplainReply");
    write_raw(w, "id", "{\"type\":\"string\"}");
    write_raw(w, "dtype", "{\"type\":\"string\",\"enum\":[\"float64\",\"float32\"]}");
    writer_key(w, "cell");
    schema_reference(w, "Cell");
    write_raw(w, "labels", "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}");
    write_raw(
        w, "products",
        "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"feature\","
        "\"q\",\"k\",\"product\"],\"properties\":{\"feature\":{\"type\":\"integer\"},\"q\":" NUMBER ",\"k\":" NUMBER
        ",\"product\":" NUMBER "}}}");
    for (size_t x = 0; x < sizeof numbers / sizeof *numbers; x++)
        write_raw(w, numbers[x], NUMBER);
    for (size_t x = 0; x < sizeof hidden / sizeof *hidden; x++)
        write_raw(w, hidden[x], HIDDEN);
    write_raw(w, "allowed", "{\"type\":\"boolean\"}");
    write_raw(w, "hidden_by", STRINGS);
    write_raw(w, "value", VECTOR);
    write_raw(w, "contribution", VECTOR);
    write_raw(w, "gradient",
              "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"d_weight\":" NUMBER
              ",\"row_dot\":" NUMBER ",\"d_masked\":" NUMBER ",\"d_scaled\":" NUMBER ",\"d_score\":" NUMBER
              ",\"d_q\":" VECTOR ",\"d_k\":" VECTOR "}}");
    write_raw(w, "text", "{\"type\":\"string\",\"description\":\"the same as lines of arithmetic\"}");
    writer_object_end(w);
    write_raw(w, "required",
              "[\"dtype\",\"cell\",\"products\",\"score\",\"scale\",\"scaled\",\"bias\",\"weight\",\"value\","
              "\"contribution\",\"text\"]");
    writer_object_end(w);
}

static void write_merge_reply(struct writer *w)
{
    begin_object(w, "MergeReply");
    write_raw(w, "id", "{\"type\":\"string\"}");
    write_result(w, "output");
    write_result(w, "log_sum_exp");
    writer_object_end(w);
    write_raw(w, "required", "[\"output\",\"log_sum_exp\"]");
    writer_object_end(w);
}

static void write_problem(struct writer *w)
{
    static const char schema[] =
        "{\"type\":\"object\",\"description\":\"RFC 9457\",\"required\":[\"type\",\"title\",\"status\",\"detail\"],"
        "\"properties\":{\"type\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},"
        "\"status\":{\"type\":\"integer\"},\"code\":{\"type\":\"string\"},\"detail\":{\"type\":\"string\"},"
        "\"pointer\":{\"type\":\"string\",\"description\":\"JSON Pointer of the member at fault\"},"
        "\"line\":{\"type\":\"integer\"},\"column\":{\"type\":\"integer\"},\"byte\":{\"type\":\"integer\"},"
        "\"limit_bytes\":{\"type\":\"integer\"},\"instance\":{\"type\":\"string\"},"
        "\"request_id\":{\"type\":\"string\"},\"errors\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
        "\"required\":[\"detail\"],\"properties\":{\"detail\":{\"type\":\"string\"},"
        "\"pointer\":{\"type\":\"string\"}}}}}}";
    write_raw(w, "Problem", schema);
}

void schema_replies(struct writer *w)
{
    write_attention_reply(w);
    write_explain_reply(w);
    write_merge_reply(w);
    write_problem(w);
}
