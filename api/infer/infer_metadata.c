/* Walking the names for who asks. */
#include "api/infer/infer_metadata.h"

#include "api/infer/infer_names.h"

#include <string.h>

void infer_metadata_server(struct writer *w, const char *version)
{
    static const char *const extensions[] = {"binary_tensor_data", "model_configuration", "model_repository",
                                             "statistics"};
    writer_object_begin(w);
    writer_member_string(w, "name", "attentiond");
    writer_member_string(w, "version", version);
    writer_key(w, "extensions");
    writer_array_begin(w);
    for (size_t x = 0; x < sizeof extensions / sizeof *extensions; x++)
        writer_string(w, extensions[x]);
    writer_array_end(w);
    writer_object_end(w);
}

/* --- tensors of the model --- */

/* How a list of tensors calls things: metadata and config have words of their own. */
struct listing {
    struct writer *w;
    const char *datatype, *shape, *prefix;
};

static const struct listing metadata = {NULL, "datatype", "shape", ""};
static const struct listing config = {NULL, "data_type", "dims", "TYPE_"};

static void write_tensor(const struct listing *l, const char *name, const char *datatype, size_t rank)
{
    char type[16] = {0};
    strncat(strncat(type, l->prefix, 8), datatype, 7);
    writer_member_string(l->w, "name", name);
    writer_member_string(l->w, l->datatype, type);
    writer_key(l->w, l->shape);
    writer_array_begin(l->w);
    for (size_t axis = 0; axis < rank; axis++)
        writer_integer(l->w, -1);
    writer_array_end(l->w);
}

static const char *find_datatype(const struct option *o)
{
    switch (o->kind) {
    case OPTION_ALLOW:
        return "BOOL";
    case OPTION_INTEGERS:
    case OPTION_OFFSETS:
    case OPTION_POSITIONS:
        return "INT64";
    default:
        return "FP32";
    }
}

static bool is_needed(const char *name)
{
    return strlen(name) == 1 && strchr("qkv", name[0]);
}

/* Without a head axis, as the plainest request has them: one with axes for batch and heads has a longer shape. */
static size_t find_rank(const struct option *o)
{
    bool list =
        o->kind != OPTION_TENSOR && o->kind != OPTION_BIAS && o->kind != OPTION_ALLOW && o->kind != OPTION_ROTATION;
    const char *shape = o->shape ? strchr(o->shape, '[') : NULL;
    size_t rank = 0;
    for (const char *c = shape; c && *c == '['; c = strchr(c, ']') + 1)
        rank++;
    return list ? 1 : rank == 0 ? 2 : rank;
}

static void write_input(void *context, const struct infer_name *n)
{
    const struct listing *l = context;
    if (n->kind != INFER_INPUT)
        return;
    writer_object_begin(l->w);
    write_tensor(l, n->name, find_datatype(n->option), find_rank(n->option));
    if (l->prefix[0] && !is_needed(n->name))
        writer_member_bool(l->w, "optional", true);
    writer_object_end(l->w);
}

static size_t count_axes(const struct result *result)
{
    size_t rank = 0;
    for (size_t x = 0; x < AXES_MAX && result->axes[x] != AXIS_NONE; x++)
        rank += result->axes[x] != AXIS_BATCH && strcmp(axis_name(result->axes[x]), "head") != 0;
    return rank == 0 ? 2 : rank;
}

static const char *result_datatype(enum result_id id)
{
    return id == RESULT_MASK_ALLOWED ? "BOOL" : "FP32";
}

static void write_outputs(struct listing *l)
{
    char name[INFER_NAME_MAX];
    for (size_t r = 0; r < RESULT_COUNT; r++) {
        enum result_id id = (enum result_id)r;
        if (!infer_names_output(id, name))
            continue;
        writer_object_begin(l->w);
        write_tensor(l, name, result_datatype(id), count_axes(result_row(id)));
        writer_object_end(l->w);
    }
}

static void write_lists(struct writer *w, const struct listing *words, const char *inputs, const char *outputs)
{
    struct listing l = *words;
    l.w = w;
    writer_key(w, inputs);
    writer_array_begin(w);
    infer_names_each(write_input, &l);
    writer_array_end(w);
    writer_key(w, outputs);
    writer_array_begin(w);
    write_outputs(&l);
    writer_array_end(w);
}

void infer_metadata_model(struct writer *w)
{
    writer_object_begin(w);
    writer_member_string(w, "name", INFER_MODEL);
    writer_key(w, "versions");
    writer_array_begin(w);
    writer_string(w, INFER_VERSION);
    writer_array_end(w);
    writer_member_string(w, "platform", "attentiond");
    write_lists(w, &metadata, "inputs", "outputs");
    writer_object_end(w);
}

/* Parameters of a model are strings there: what each takes and means. */
static void write_parameter(void *context, const struct infer_name *n)
{
    struct writer *w = context;
    if (n->kind != INFER_PARAMETER)
        return;
    writer_key(w, n->name);
    writer_object_begin(w);
    writer_member_string(w, "string_value", n->option->meaning);
    writer_object_end(w);
}

void infer_metadata_config(struct writer *w)
{
    writer_object_begin(w);
    writer_member_string(w, "name", INFER_MODEL);
    writer_member_string(w, "platform", "attentiond");
    writer_member_string(w, "backend", "attentiond");
    writer_member_integer(w, "max_batch_size", 0);
    write_lists(w, &config, "input", "output");
    writer_key(w, "parameters");
    writer_object_begin(w);
    infer_names_each(write_parameter, w);
    writer_object_end(w);
    writer_object_end(w);
}

void infer_metadata_index(struct writer *w, bool ready)
{
    writer_array_begin(w);
    writer_object_begin(w);
    writer_member_string(w, "name", INFER_MODEL);
    writer_member_string(w, "version", INFER_VERSION);
    writer_member_string(w, "state", ready ? "READY" : "UNAVAILABLE");
    writer_member_string(w, "reason", ready ? "" : "The service is starting or shutting down.");
    writer_object_end(w);
    writer_array_end(w);
}

/* --- statistics --- */

static void write_times(struct writer *w, const char *name, struct infer_times times)
{
    writer_key(w, name);
    writer_object_begin(w);
    writer_member_integer(w, "count", (int64_t)times.count);
    writer_member_integer(w, "ns", (int64_t)times.ns);
    writer_object_end(w);
}

void infer_metadata_statistics(struct writer *w, const struct infer_statistics *s)
{
    writer_object_begin(w);
    writer_key(w, "model_stats");
    writer_array_begin(w);
    writer_object_begin(w);
    writer_member_string(w, "name", INFER_MODEL);
    writer_member_string(w, "version", INFER_VERSION);
    writer_member_integer(w, "last_inference", (int64_t)s->last);
    writer_member_integer(w, "inference_count", (int64_t)s->success.count);
    writer_member_integer(w, "execution_count", (int64_t)s->success.count);
    writer_key(w, "inference_stats");
    writer_object_begin(w);
    write_times(w, "success", s->success);
    write_times(w, "fail", s->fail);
    write_times(w, "queue", s->queue);
    write_times(w, "compute_input", s->input);
    write_times(w, "compute_infer", s->compute);
    write_times(w, "compute_output", s->output);
    writer_object_end(w);
    writer_key(w, "batch_stats");
    writer_array_begin(w);
    writer_array_end(w);
    writer_object_end(w);
    writer_array_end(w);
    writer_object_end(w);
}

/* --- the schema --- */

static void write_name(void *context, const struct infer_name *n)
{
    if (n->kind == INFER_INPUT)
        writer_string(context, n->name);
}

void infer_metadata_names(struct writer *w, bool inputs)
{
    char name[INFER_NAME_MAX];
    writer_array_begin(w);
    if (inputs)
        infer_names_each(write_name, w);
    for (size_t r = 0; !inputs && r < RESULT_COUNT; r++)
        if (infer_names_output((enum result_id)r, name))
            writer_string(w, name);
    writer_array_end(w);
}
