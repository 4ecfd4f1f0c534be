/* Outputs in JSON and in bytes. */
#include "api/infer/infer_reply.h"

#include "api/infer/infer_names.h"
#include "api/reply/section_rows.h"
#include "api/request/json_path.h"
#include "api/writing/array.h"
#include "api/writing/writer.h"

#include <stdatomic.h>
#include <string.h>

#define TEXT_ROOM 512 /* bytes around the numbers of an output, without the id */

static const struct style style = {.infinity_text = true};

/* --- the plan --- */

/* By its own name, that of the object that it is in, or that of its part; what is implied needs none. */
static void include(struct include *list, enum result_id id, size_t at)
{
    const struct result *result = result_row(id);
    const char *object = result_object_path(result);
    const char *suggestion = NULL;
    if (!(result->path && include_add(list, result->path, at, &suggestion)) &&
        !(object && include_add(list, object, at, &suggestion)))
        include_add(list, part_name(result->part), at, &suggestion);
}

void infer_reply_include(const struct infer_request *request, struct include *list)
{
    *list = (struct include){0};
    for (size_t x = 0; x < request->wish_count; x++)
        include(list, request->wishes[x].id, x);
}

/* What is a part of the values, or was one of the inputs, comes as they came; all else as it was computed. */
static enum dtype find_dtype(const struct section *s, enum dtype datatype)
{
    enum part part = s->result->part;
    bool kept = part == PART_OUTPUT || part == PART_WEIGHTS || part == PART_PRESENT || part == PART_PRESENT_NEW;
    return kept && s->t.dtype == DTYPE_FLOAT32 ? datatype : s->t.dtype;
}

static bool add_output(struct infer_reply *infer, const struct infer_wish *wish, struct error *err)
{
    char name[INFER_NAME_MAX];
    const struct section *s = section_find(&infer->reply->sections, wish->id);
    infer_names_output(wish->id, name);
    if (!s) {
        const char *lack = result_lacks(wish->id, infer->reply->a);
        return error_set(err, ERROR_INVALID, "", "This request has no output \"%s\"%s%s.", name, lack ? ": " : "",
                         lack ? lack : "");
    }
    enum dtype dtype = find_dtype(s, infer->request->datatype);
    if (!wish->binary && dtype != s->t.dtype)
        return error_set(err, ERROR_INVALID, "",
                         "Output \"%s\" is of %s, which has no form in JSON: ask for it as binary, with binary_data or "
                         "binary_data_output.",
                         name, infer_names_datatype(dtype));
    infer->outputs[infer->count++] = (struct infer_output){s, dtype, wish->binary};
    return true;
}

static size_t count_text_blocks(const struct infer_output *o)
{
    return o->binary ? 1 : o->section->block_count;
}

static size_t count_raw_blocks(const struct infer_output *o)
{
    return o->binary ? raw_reply_blocks(o->section, o->dtype) : 0;
}

static size_t count_blocks(const struct infer_reply *infer)
{
    size_t blocks = 0;
    for (size_t x = 0; x < infer->count; x++)
        blocks += count_text_blocks(&infer->outputs[x]) + count_raw_blocks(&infer->outputs[x]);
    return blocks;
}

bool infer_reply_plan(struct infer_reply *infer, const struct reply *reply, const struct infer_request *request,
                      struct arena *arena, struct error *err)
{
    infer->reply = reply;
    infer->request = request;
    infer->outputs = arena_calloc(arena, request->wish_count, sizeof *infer->outputs, err);
    if (!infer->outputs)
        return false;
    for (size_t x = 0; x < request->wish_count; x++)
        if (!add_output(infer, &request->wishes[x], err))
            return false;
    infer->blocks = reply->whole ? 1 : count_blocks(infer);
    return true;
}

bool infer_reply_is_binary(const struct infer_reply *infer)
{
    for (size_t x = 0; x < infer->count; x++)
        if (infer->outputs[x].binary)
            return true;
    return false;
}

/* --- text --- */

static void write_head(const struct infer_reply *infer, struct writer *w)
{
    writer_object_begin(w);
    writer_member_string(w, "model_name", INFER_MODEL);
    writer_member_string(w, "model_version", INFER_VERSION);
    if (infer->request->id) {
        writer_key(w, "id");
        writer_string_n(w, infer->request->id, infer->request->id_length);
    }
    writer_key(w, "outputs");
    writer_array_begin(w);
}

static void write_shape(struct writer *w, const struct tensor *t)
{
    writer_key(w, "shape");
    writer_array_begin(w);
    for (size_t axis = 0; axis < t->rank; axis++)
        writer_integer(w, (int64_t)t->shape[axis]);
    writer_array_end(w);
}

/* Up to its first number. */
static void write_before(const struct infer_reply *infer, const struct infer_output *o, struct buffer *out)
{
    char name[INFER_NAME_MAX];
    struct writer w = {.out = out};
    if (o == infer->outputs)
        write_head(infer, &w);
    else
        w.comma = true;
    writer_object_begin(&w);
    writer_member_string(&w, "name", infer_names_output(o->section->id, name));
    writer_member_string(&w, "datatype", infer_names_datatype(o->dtype));
    write_shape(&w, &o->section->t);
    if (!o->binary) {
        writer_key(&w, "data");
        writer_array_begin(&w);
        return;
    }
    writer_key(&w, "parameters");
    writer_object_begin(&w);
    writer_member_integer(&w, "binary_data_size", (int64_t)raw_reply_bytes(o->section, o->dtype));
    writer_object_end(&w);
}

static void write_after(const struct infer_reply *infer, const struct infer_output *o, struct buffer *out)
{
    buffer_string(out, o->binary ? "}" : "]}");
    if (o + 1 == infer->outputs + infer->count)
        buffer_string(out, infer_reply_is_binary(infer) ? "]}" : "]}\n");
}

static bool write_numbers(const struct infer_reply *infer, const struct infer_output *o, size_t local,
                          struct buffer *out)
{
    const struct reply *r = infer->reply;
    const struct section *s = o->section;
    struct section_rows source = {
        .a = reply_attention(r, s), .section = s, .owner = out, .weights = reply_weights(r), .back = &r->back.core};
    struct section_span span = section_block_rows(s, r->a, local);
    bool good = true;
    for (size_t row = span.first; good && row < span.first + span.count; row++) {
        const char *values = section_rows_row(&source, row);
        good = values != NULL;
        if (row > 0 || span.from > 0)
            buffer_append(out, ",", 1);
        if (good)
            array_numbers(out, &style, s->t.dtype, values + span.from * dtype_size(s->t.dtype), span.to - span.from);
    }
    section_rows_close(&source);
    return good;
}

static bool write_text(const struct infer_reply *infer, const struct infer_output *o, size_t local, struct buffer *out)
{
    if (local == 0)
        write_before(infer, o, out);
    bool good = o->binary || write_numbers(infer, o, local, out);
    if (local + 1 == count_text_blocks(o))
        write_after(infer, o, out);
    return good && !out->failed;
}

/* --- blocks --- */

/* Block `index`: of which output, which of its blocks, of text or of bytes. */
struct place {
    const struct infer_output *output;
    size_t local;
    bool raw;
};

static struct place find_place(const struct infer_reply *infer, size_t index)
{
    for (int raw = 0; raw < 2; raw++)
        for (size_t x = 0; x < infer->count; x++) {
            const struct infer_output *o = &infer->outputs[x];
            size_t blocks = raw ? count_raw_blocks(o) : count_text_blocks(o);
            if (index < blocks)
                return (struct place){o, index, raw};
            index -= blocks;
        }
    return (struct place){infer->outputs, 0, false}; /* there is no such block */
}

static bool write_place(const struct infer_reply *infer, struct place p, struct buffer *out)
{
    return p.raw ? raw_reply_block(infer->reply, p.output->section, p.output->dtype, p.local, out)
                 : write_text(infer, p.output, p.local, out);
}

static bool write_whole(const struct infer_reply *infer, struct buffer *out)
{
    size_t blocks = count_blocks(infer);
    for (size_t index = 0; index < blocks; index++)
        if (!write_place(infer, find_place(infer, index), out))
            return false;
    return true;
}

bool infer_reply_block(const struct infer_reply *infer, size_t index, struct buffer *out)
{
    return infer->blocks == 1 ? write_whole(infer, out) : write_place(infer, find_place(infer, index), out);
}

const void *infer_reply_view(const struct infer_reply *infer, size_t index, size_t *length)
{
    if (infer->blocks == 1)
        return NULL;
    struct place p = find_place(infer, index);
    return p.raw ? raw_reply_view(p.output->section, p.output->dtype, p.local, length) : NULL;
}

static size_t measure_text(const struct infer_reply *infer, const struct infer_output *o)
{
    size_t around = TEXT_ROOM + 6 * infer->request->id_length;
    if (o->binary)
        return around;
    const struct section *s = o->section;
    struct section_span first = section_block_rows(s, infer->reply->a, 0);
    struct section_span last = section_block_rows(s, infer->reply->a, s->block_count - 1);
    return around + first.count * (last.to - last.from) * array_number_room(&style, s->t.dtype);
}

size_t infer_reply_room(const struct infer_reply *infer)
{
    size_t most = 0;
    for (size_t x = 0; x < infer->count; x++) {
        const struct infer_output *o = &infer->outputs[x];
        size_t text = measure_text(infer, o);
        size_t raw = o->binary ? raw_reply_room(infer->reply, o->section, o->dtype) : 0;
        most = text > most ? text : most;
        most = raw > most ? raw : most;
    }
    return most;
}

/* --- the length of the JSON --- */

/* Its blocks are written to be counted: where numbers stand in it, their bytes are not known before. */
struct counting {
    const struct infer_reply *infer;
    size_t room;
    atomic_size_t bytes;
    atomic_bool failed;
};

static void count_block(void *context, size_t index, size_t worker)
{
    struct counting *counting = context;
    struct buffer text = buffer_new(counting->room);
    (void)worker;
    if (!write_place(counting->infer, find_place(counting->infer, index), &text))
        atomic_store(&counting->failed, true);
    atomic_fetch_add(&counting->bytes, text.length);
    buffer_free(&text);
}

bool infer_reply_prepare(struct infer_reply *infer, size_t room, struct pool *pool, struct error *err)
{
    struct counting counting = {.infer = infer, .room = room};
    size_t blocks = 0;
    if (!infer_reply_is_binary(infer))
        return true;
    for (size_t x = 0; x < infer->count; x++)
        blocks += count_text_blocks(&infer->outputs[x]);
    pool_run(pool, blocks, count_block, &counting);
    if (atomic_load(&counting.failed))
        return error_set(err, ERROR_MEMORY, "", "No memory for the text of the reply.");
    infer->json_length = infer->length = atomic_load(&counting.bytes);
    for (size_t x = 0; x < infer->count; x++)
        if (infer->outputs[x].binary)
            infer->length += raw_reply_bytes(infer->outputs[x].section, infer->outputs[x].dtype);
    return true;
}
