/* Schemas of infer. */
#include "api/openapi/schema_infer.h"

#include "api/infer/infer_metadata.h"
#include "api/infer/infer_names.h"
#include "api/openapi/schema_type.h"

#include <string.h>

#define DATA \
    "{\"anyOf\":[{\"$ref\":\"#/components/schemas/NumbersOrHidden\"},{\"$ref\":\"#/components/schemas/Booleans\"}]," \
    "\"description\":\"flat or nested, row by row; \\\"-Infinity\\\" hides in bias and is a hidden cell in outputs\"}"
#define SHAPE \
    "{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"integer\",\"minimum\":1}," \
    "\"description\":\"rows last but one, columns last\"}"
#define SIZE \
    "{\"type\":\"integer\",\"minimum\":0,\"description\":\"bytes of the tensor behind the JSON, little-endian\"}"

#define SIZED \
    "{\"type\":\"object\",\"description\":\"in place of data\",\"properties\":{\"binary_data_size\":" SIZE "}}"
#define ID "{\"type\":\"string\",\"description\":\"echoed\"}"

static void begin(struct writer *w, const char *name)
{
    writer_key(w, name);
    writer_object_begin(w);
}

static void raw(struct writer *w, const char *name, const char *json)
{
    writer_key(w, name);
    writer_raw(w, json, strlen(json));
}

/* `strict`: it has no members but those that follow. */
static void begin_object(struct writer *w, const char *required, bool strict)
{
    writer_member_string(w, "type", "object");
    raw(w, "required", required);
    if (strict)
        writer_member_bool(w, "additionalProperties", false);
    begin(w, "properties");
}

static void end(struct writer *w, size_t levels)
{
    while (levels-- > 0)
        writer_object_end(w);
}

static void write_names(struct writer *w, bool inputs)
{
    begin(w, "name");
    writer_key(w, "enum");
    infer_metadata_names(w, inputs);
    writer_member_string(w, "description",
                         inputs ? "the member of /v1/attention that it is" : "the result of /v1/attention that it is");
    end(w, 1);
}

static void write_parameter(void *context, const struct infer_name *n)
{
    struct writer *w = context;
    if (n->kind != INFER_PARAMETER)
        return;
    begin(w, n->name);
    raw(w, "type", "[\"string\",\"number\",\"boolean\",\"null\"]");
    writer_member_string(w, "description", n->option->meaning);
    end(w, 1);
}

/* Clients add parameters of their own, which mean nothing here. */
static void write_parameters(struct writer *w)
{
    begin(w, "parameters");
    writer_member_string(w, "description", "the options of /v1/attention that are scalars");
    begin_object(w, "[]", false);
    raw(w, "binary_data_output", "{\"type\":\"boolean\",\"description\":\"outputs that do not say otherwise\"}");
    infer_names_each(write_parameter, w);
    end(w, 2);
}

static void write_input(struct writer *w)
{
    begin_object(w, "[\"name\",\"shape\",\"datatype\"]", true);
    write_names(w, true);
    raw(w, "shape", SHAPE);
    raw(w, "datatype",
        "{\"enum\":[\"FP32\",\"FP64\",\"FP16\",\"BF16\",\"BOOL\",\"INT64\"],"
        "\"description\":\"FP16 and BF16 as binary alone; the arithmetic is FP64, or else FP32\"}");
    raw(w, "parameters", SIZED);
    raw(w, "data", DATA);
    end(w, 1);
}

static void write_request(struct writer *w)
{
    begin(w, "InferRequest");
    begin_object(w, "[\"inputs\"]", true);
    raw(w, "id", ID);
    write_parameters(w);
    begin(w, "inputs");
    writer_member_string(w, "description", "tensors; q, k and v, or what they are made of, are needed");
    writer_member_string(w, "type", "array");
    writer_member_integer(w, "minItems", 1);
    begin(w, "items");
    write_input(w);
    end(w, 2);
    begin(w, "outputs");
    writer_member_string(w, "description", "none: output alone");
    writer_member_string(w, "type", "array");
    begin(w, "items");
    begin_object(w, "[\"name\"]", true);
    write_names(w, false);
    raw(w, "parameters",
        "{\"type\":\"object\",\"description\":\"how it comes "
        "back\",\"properties\":{\"binary_data\":{\"type\":\"boolean\","
        "\"description\":\"as bytes behind the JSON\"}}}");
    end(w, 5);
}

static void write_reply(struct writer *w)
{
    begin(w, "InferReply");
    begin_object(w, "[\"model_name\",\"model_version\",\"outputs\"]", true);
    raw(w, "model_name", "{\"enum\":[\"" INFER_MODEL "\"],\"description\":\"the one there is\"}");
    raw(w, "model_version", "{\"enum\":[\"" INFER_VERSION "\"],\"description\":\"the one there is\"}");
    raw(w, "id", ID);
    begin(w, "outputs");
    writer_member_string(w, "description", "in the order of the request");
    writer_member_string(w, "type", "array");
    begin(w, "items");
    begin_object(w, "[\"name\",\"datatype\",\"shape\"]", true);
    write_names(w, false);
    raw(w, "datatype",
        "{\"enum\":[\"FP32\",\"FP64\",\"FP16\",\"BF16\",\"BOOL\",\"INT16\"],"
        "\"description\":\"of the numbers\"}");
    raw(w, "shape", SHAPE);
    raw(w, "parameters", SIZED);
    raw(w, "data", DATA);
    end(w, 5);
}

void schema_infer(struct writer *w)
{
    write_request(w);
    write_reply(w);
    raw(w, "InferError",
        "{\"type\":\"object\",\"required\":[\"error\"],\"additionalProperties\":false,\"properties\":{\"error\":"
        "{\"type\":\"string\",\"description\":\"one sentence\"}}}");
}

void schema_infer_examples(struct writer *w)
{
    begin(w, "causal");
    writer_member_string(w, "summary", "two queries, three keys, causal from the end");
    raw(w, "value",
        "{\"parameters\":{\"causal\":true,\"align\":\"end\"},\"inputs\":["
        "{\"name\":\"q\",\"datatype\":\"FP32\",\"shape\":[2,2],\"data\":[1,0,0,2]},"
        "{\"name\":\"k\",\"datatype\":\"FP32\",\"shape\":[3,2],\"data\":[1,0,0,1,1,1]},"
        "{\"name\":\"v\",\"datatype\":\"FP32\",\"shape\":[3,2],\"data\":[1,2,3,4,5,6]}],"
        "\"outputs\":[{\"name\":\"output\"},{\"name\":\"masked\"}]}");
    end(w, 1);
}
