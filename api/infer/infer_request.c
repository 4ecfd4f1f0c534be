/* Parameters, inputs, outputs. */
#include "api/infer/infer_request.h"

#include "api/infer/infer_names.h"
#include "api/infer/infer_tensor.h"
#include "api/raw/raw_request.h"
#include "api/request/json_path.h"

#include <stdio.h>
#include <string.h>

struct reading {
    const struct document *document; /* what was sent */
    struct document *contract;       /* what it means */
    struct infer_bytes bytes;
    size_t used; /* of the bytes */
    struct arena *arena;
    struct infer_request *request;
    bool binary;                  /* outputs that do not say otherwise */
    bool typed;                   /* request->datatype is known: */
    char type_of[INFER_NAME_MAX]; /* from this input */
    struct error *err;
};

static bool refuse(const struct reading *r, const char *text)
{
    return error_set(r->err, ERROR_INVALID, "", "%s", text);
}

/* --- strings --- */

/* The string of a member, or NULL after a fault; `where` is whose it is. */
static const char *take_string(const struct reading *r, const json_t *object, const char *member, const char *where)
{
    const json_t *value = json_object_get(object, member);
    const char *text = json_string_value(value);
    if (text && strlen(text) == json_string_length(value))
        return text;
    error_set(r->err, ERROR_INVALID, "", "%s needs \"%s\", a string.", where, member);
    return NULL;
}

/* `names` has a blank around each, `where` says whose members they are. */
static bool check_members(const struct reading *r, const json_t *object, const char *names, const char *where)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value)
    {
        char shown[JSON_PATH_SHOWN];
        char marked[JSON_PATH_SHOWN + 2];
        (void)value;
        snprintf(marked, sizeof marked, " %s ", json_path_show(name, shown));
        if (!strstr(names, marked))
            return error_set(r->err, ERROR_INVALID, "", "%s has no member \"%s\"; its members are%s.", where, shown,
                             names);
    }
    return true;
}

static bool refuse_name(const struct reading *r, const char *what, const char *name, const char *suggestion)
{
    char shown[JSON_PATH_SHOWN];
    json_path_show(name, shown);
    if (suggestion[0])
        return error_set(r->err, ERROR_INVALID, "", "There is no %s \"%s\"; did you mean \"%s\"?", what, shown,
                         suggestion);
    return error_set(r->err, ERROR_INVALID, "", "There is no %s \"%s\"; GET /v2/models/attention lists what there is.",
                     what, shown);
}

/* --- parameters --- */

/* What clients and servers of this protocol say to each other, and means nothing here. */
static bool is_reserved(const char *name)
{
    static const char *const names[] = {"sequence_id", "sequence_start", "sequence_end", "priority",
                                        "timeout",     "headers",        "content_type"};
    for (size_t x = 0; x < sizeof names / sizeof *names; x++)
        if (strcmp(name, names[x]) == 0)
            return true;
    return strncmp(name, "triton_", strlen("triton_")) == 0;
}

static bool read_switch(const struct reading *r, const json_t *value, const char *name, bool *out)
{
    if (!json_is_boolean(value))
        return error_set(r->err, ERROR_INVALID, "", "Parameter \"%s\" must be true or false.", name);
    *out = json_is_true(value);
    return true;
}

static bool read_parameter(struct reading *r, const char *name, json_t *value)
{
    struct infer_name found;
    char suggestion[INFER_NAME_MAX];
    if (is_reserved(name))
        return true;
    if (strcmp(name, "binary_data_output") == 0)
        return read_switch(r, value, name, &r->binary);
    if (!infer_names_find(name, INFER_PARAMETER, &found, suggestion))
        return refuse_name(r, "parameter", name, suggestion);
    if (json_is_array(value) || json_is_object(value))
        return error_set(r->err, ERROR_INVALID, "",
                         "Parameter \"%s\" is %s; parameters are numbers, booleans or strings.", found.name,
                         json_is_array(value) ? "a list" : "an object");
    return raw_request_put_value(r->contract, found.path, json_incref(value), r->err);
}

/* The object `parameters` of an object, or NULL: none. False: it is something else. */
static bool find_parameters(const struct reading *r, const json_t *object, const char *where, json_t **parameters)
{
    *parameters = json_object_get(object, "parameters");
    return !*parameters || json_is_object(*parameters) ||
           error_set(r->err, ERROR_INVALID, "", "The parameters of %s must be an object.", where);
}

static bool read_parameters(struct reading *r)
{
    json_t *parameters;
    const char *name;
    json_t *value;
    if (!find_parameters(r, r->document->root, "the request", &parameters))
        return false;
    json_object_foreach(parameters, name, value) if (!read_parameter(r, name, value)) return false;
    return true;
}

/* --- inputs --- */

/* Tensors that are computed with have one datatype; it decides the dtype of the arithmetic. */
static bool take_datatype(struct reading *r, const struct infer_tensor *input)
{
    if (input->name.option->kind != OPTION_TENSOR)
        return true;
    if (!r->typed) {
        r->typed = true;
        r->request->datatype = input->t.dtype;
        memcpy(r->type_of, input->name.name, sizeof r->type_of);
        return true;
    }
    return r->request->datatype == input->t.dtype ||
           error_set(r->err, ERROR_INVALID, "", "Input \"%s\" is of %s, \"%s\" of %s: they must be the same.",
                     input->name.name, infer_names_datatype(input->t.dtype), r->type_of,
                     infer_names_datatype(r->request->datatype));
}

/* The bytes that belong to it. */
static bool take_bytes(struct reading *r, struct infer_tensor *input)
{
    size_t left = r->bytes.length - r->used;
    if (input->bytes > left)
        return error_set(r->err, ERROR_INVALID, "",
                         "Input \"%s\" has %zu bytes; %zu are left of the %zu behind the JSON, so %zu are missing.%s",
                         input->name.name, input->bytes, left, r->bytes.length, input->bytes - left,
                         r->bytes.length == 0 ? " Inference-Header-Content-Length says where the JSON ends." : "");
    input->t.data = r->bytes.data + r->used;
    r->used += input->bytes;
    return true;
}

static bool read_input(struct reading *r, const json_t *object)
{
    struct infer_tensor input = {.document = r->contract, .arena = r->arena, .err = r->err};
    char suggestion[INFER_NAME_MAX];
    json_t *parameters;
    if (!json_is_object(object))
        return refuse(r, "Each of the inputs must be an object with name, shape, datatype and data.");
    if (!check_members(r, object, " name shape datatype parameters data ", "An input"))
        return false;
    const char *name = take_string(r, object, "name", "Each input");
    const char *datatype = name ? take_string(r, object, "datatype", "Each input") : NULL;
    if (!datatype || !find_parameters(r, object, "an input", &parameters))
        return false;
    if (!infer_names_find(name, INFER_INPUT, &input.name, suggestion))
        return refuse_name(r, "input", name, suggestion);
    if (!infer_tensor_describe(&input, datatype, json_object_get(object, "shape"),
                               json_object_get(parameters, "binary_data_size"), json_object_get(object, "data")) ||
        !take_datatype(r, &input))
        return false;
    if (input.binary)
        return take_bytes(r, &input) && raw_request_put(r->contract, input.name.path, input.t, r->arena, r->err);
    json_t *value = infer_tensor_data(&input, json_object_get(object, "data"));
    return value && raw_request_put_value(r->contract, input.name.path, value, r->err);
}

/* A list of objects; matrices and empty lists are none. */
static bool is_list(const struct reading *r, const json_t *value)
{
    return json_is_array(value) && !document_matrix(r->document, value) && json_array_size(value) > 0;
}

static bool read_inputs(struct reading *r)
{
    const json_t *inputs = json_object_get(r->document->root, "inputs");
    size_t index;
    json_t *input;
    if (!is_list(r, inputs))
        return refuse(r, "The request needs \"inputs\", a list of tensors: q, k and v at least.");
    json_array_foreach((json_t *)inputs, index, input) if (!read_input(r, input)) return false;
    if (r->used == r->bytes.length)
        return true;
    return error_set(r->err, ERROR_INVALID, "",
                     "%zu bytes are left over behind the %zu of the inputs that have a binary_data_size.",
                     r->bytes.length - r->used, r->used);
}

/* --- outputs --- */

static bool is_wished(const struct infer_request *request, enum result_id id)
{
    for (size_t x = 0; x < request->wish_count; x++)
        if (request->wishes[x].id == id)
            return true;
    return false;
}

static bool read_output(struct reading *r, const json_t *object)
{
    char suggestion[INFER_NAME_MAX];
    json_t *parameters;
    struct infer_wish wish = {.binary = r->binary};
    if (!json_is_object(object))
        return refuse(r, "Each of the outputs must be an object with a name.");
    if (!check_members(r, object, " name parameters ", "An output"))
        return false;
    const char *name = take_string(r, object, "name", "Each output");
    if (!name || !find_parameters(r, object, "an output", &parameters))
        return false;
    wish.id = infer_names_find_output(name, suggestion);
    if (wish.id == RESULT_COUNT)
        return refuse_name(r, "output", name, suggestion);
    if (is_wished(r->request, wish.id))
        return error_set(r->err, ERROR_INVALID, "", "Output \"%s\" is asked for twice.", name);
    const json_t *binary = json_object_get(parameters, "binary_data");
    if (binary && !read_switch(r, binary, "binary_data", &wish.binary))
        return false;
    if (json_object_get(parameters, "shared_memory_region"))
        return error_set(r->err, ERROR_INVALID, "",
                         "Output \"%s\" asks for shared memory, which there is none of here.", name);
    r->request->wishes[r->request->wish_count++] = wish;
    return true;
}

static bool read_outputs(struct reading *r)
{
    const json_t *outputs = json_object_get(r->document->root, "outputs");
    const struct matrix *m = document_matrix(r->document, outputs);
    bool none = !outputs || (m && m->fault == MATRIX_EMPTY && m->index_rank == 0);
    size_t count = none ? 1 : json_array_size(outputs);
    size_t index;
    json_t *output;
    if (!none && !is_list(r, outputs))
        return refuse(r, "The outputs must be a list of objects.");
    r->request->wishes = arena_calloc(r->arena, count, sizeof *r->request->wishes, r->err);
    if (!r->request->wishes)
        return false;
    if (none) {
        r->request->wishes[r->request->wish_count++] = (struct infer_wish){RESULT_OUTPUT, r->binary};
        return true;
    }
    json_array_foreach((json_t *)outputs, index, output) if (!read_output(r, output)) return false;
    return true;
}

/* --- the whole --- */

static bool read_id(const struct reading *r)
{
    const json_t *id = json_object_get(r->document->root, "id");
    if (!id)
        return true;
    if (!json_is_string(id))
        return refuse(r, "The id must be a string.");
    char *copy = arena_alloc(r->arena, json_string_length(id) + 1, r->err);
    if (!copy)
        return false;
    r->request->id = memcpy(copy, json_string_value(id), json_string_length(id));
    r->request->id_length = json_string_length(id);
    return true;
}

/* Everything but float64 is computed in float32. */
static bool put_dtype(struct reading *r)
{
    bool wide = !r->typed || r->request->datatype == DTYPE_FLOAT64;
    if (!r->typed)
        r->request->datatype = DTYPE_FLOAT64;
    return raw_request_put_value(r->contract, "dtype", json_string(wide ? "float64" : "float32"), r->err);
}

bool infer_request_read(const struct document *document, struct infer_bytes bytes, struct arena *arena,
                        struct document *contract, struct infer_request *request, struct error *err)
{
    struct reading r = {
        .document = document, .contract = contract, .bytes = bytes, .arena = arena, .request = request, .err = err};
    *contract = *document;
    contract->root = json_object();
    if (!contract->root)
        return error_set(err, ERROR_MEMORY, "", "There is no memory for the members of the request.");
    if (!json_is_object(document->root))
        return refuse(&r, "The request must be a JSON object.");
    return check_members(&r, document->root, " id parameters inputs outputs ", "The request") && read_id(&r) &&
           read_parameters(&r) && read_inputs(&r) && read_outputs(&r) && put_dtype(&r);
}
