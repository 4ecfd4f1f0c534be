/* Head members, names, brackets. */
#include "api/reply/skeleton.h"

#include "api/json/array.h"
#include "api/json/writer.h"
#include "api/reply/reply_document.h"

#include <string.h>

#define USUAL_BYTES 1024 /* that it takes without growing */

/* --- the head --- */

static void write_shape(struct writer *w, const struct attention *a)
{
    writer_key(w, "shape");
    writer_object_begin(w);
    writer_member_integer(w, "batch", (int64_t)a->batch);
    writer_member_integer(w, "heads", (int64_t)a->heads);
    writer_member_integer(w, "kv_heads", (int64_t)a->kv_heads);
    writer_member_integer(w, "queries", (int64_t)a->queries);
    writer_member_integer(w, "keys", (int64_t)a->keys);
    writer_member_integer(w, "d_k", (int64_t)a->d_k);
    writer_member_integer(w, "d_v", (int64_t)a->d_v);
    writer_object_end(w);
}

static void write_axes_of(struct writer *w, const struct section *s)
{
    writer_key(w, s->result->name);
    writer_array_begin(w);
    for (size_t axis = 0; axis < s->t.rank; axis++)
        writer_string(w, axis_name(s->axes[axis]));
    writer_array_end(w);
}

/* As the reply is built: a group of tensors is an object of lists. */
static void write_axes(struct writer *w, const struct section_list *list)
{
    const char *group = NULL;
    writer_key(w, "axes");
    writer_object_begin(w);
    for (size_t x = 0; x < list->count; x++) {
        const struct section *s = &list->at[x];
        const char *own = section_group(s);
        if (s->source == SECTION_NONE)
            continue;
        if (group && group != own)
            writer_object_end(w);
        if (own && group != own) {
            writer_key(w, own);
            writer_object_begin(w);
        }
        group = own;
        write_axes_of(w, s);
    }
    if (group)
        writer_object_end(w);
    writer_object_end(w);
}

static void write_labels_of(struct writer *w, const char *name, struct strings labels)
{
    writer_key(w, name);
    writer_array_begin(w);
    for (size_t x = 0; x < labels.count; x++)
        writer_string(w, labels.values[x]);
    writer_array_end(w);
}

static void write_labels(struct writer *w, const struct options *o)
{
    if (!o->query_tokens.values)
        return;
    writer_key(w, "labels");
    writer_object_begin(w);
    write_labels_of(w, "query", o->query_tokens);
    write_labels_of(w, "key", o->key_tokens);
    writer_object_end(w);
}

/* The scale as the arithmetic of the dtype has it. */
static void write_scale(struct writer *w, const struct attention *a)
{
    const struct style plain = {0};
    writer_key(w, "scale");
    array_number(w, &plain, a->dtype, a->scale);
}

/* The object stays open. */
static void write_head(struct buffer *out, const struct section_list *list, const struct options *o,
                       const struct attention *a)
{
    struct writer w = {.out = out};
    writer_object_begin(&w);
    if (o->id)
        writer_member_string(&w, "id", o->id);
    writer_member_string(&w, "dtype", dtype_name(a->dtype));
    write_shape(&w, a);
    write_axes(&w, list);
    write_labels(&w, o);
    write_scale(&w, a);
}

/* --- around each section --- */

struct frame {
    const struct section_list *list;
    const struct options *options;
    const struct attention *a;
    const struct readout *readout;
    struct buffer *out;
};

static const char *group_at(const struct frame *f, size_t x)
{
    return x < f->list->count ? section_group(&f->list->at[x]) : NULL;
}

/* The object stays open; the comma that separates members comes with the next one. */
static void write_before(const struct frame *f, size_t x)
{
    struct writer w = {.out = f->out, .comma = true};
    const struct section *s = &f->list->at[x];
    if (!s->result) {
        write_head(f->out, f->list, f->options, f->a);
        return;
    }
    if (group_at(f, x) && group_at(f, x) != group_at(f, x - 1)) {
        writer_key(&w, group_at(f, x));
        writer_object_begin(&w);
    }
    writer_key(&w, s->result->name);
    if (s->result->document)
        reply_document(s->id)->write(&w, f->options, f->a, f->readout);
    if (section_is_packed(s, &f->options->style))
        array_packed(f->out, s->t);
}

static void write_after(const struct frame *f, size_t x)
{
    if (section_is_packed(&f->list->at[x], &f->options->style))
        buffer_string(f->out, "\"}");
    if (group_at(f, x) && group_at(f, x) != group_at(f, x + 1))
        buffer_string(f->out, "}");
    if (x + 1 == f->list->count)
        buffer_string(f->out, "}\n");
}

/* The texts stand one behind the other in `all`, before, after, before, ..: once in the arena, they are handed out. */
static bool hand_out(struct skeleton *skeleton, size_t count, struct buffer *all, struct arena *arena,
                     struct error *err)
{
    char *at = all->failed ? NULL : arena_alloc(arena, all->length, err);
    if (all->failed)
        error_set(err, ERROR_MEMORY, "", "No memory for the text of the reply.");
    if (!at || !all->data)
        return false;
    memcpy(at, all->data, all->length);
    for (size_t x = 0; x < count; x++) {
        skeleton->at[x].before = at;
        skeleton->at[x].after = at + skeleton->at[x].before_length;
        at += skeleton->at[x].before_length + skeleton->at[x].after_length;
    }
    return true;
}

bool skeleton_write(struct skeleton *skeleton, const struct section_list *list, const struct options *o,
                    const struct attention *a, const struct readout *readout, struct arena *arena, struct error *err)
{
    struct buffer all = {0};
    const struct frame frame = {list, o, a, readout, &all};
    buffer_reserve(&all, USUAL_BYTES);
    for (size_t x = 0; x < list->count; x++) {
        size_t start = all.length;
        write_before(&frame, x);
        skeleton->at[x].before_length = all.length - start;
        write_after(&frame, x);
        skeleton->at[x].after_length = all.length - start - skeleton->at[x].before_length;
    }
    bool good = hand_out(skeleton, list->count, &all, arena, err);
    buffer_free(&all);
    return good;
}
