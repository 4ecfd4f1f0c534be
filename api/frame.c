/* Head members, names, brackets. */
#include "api/frame.h"

#include "api/array.h"
#include "api/bill.h"
#include "api/writer.h"

#include <string.h>

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
    writer_key(w, s->name);
    writer_array_begin(w);
    for (size_t axis = 0; axis < s->t.rank; axis++)
        writer_string(w, s->axes[axis]);
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
        if (s->source == SECTION_NONE)
            continue;
        if (group && group != s->group)
            writer_object_end(w);
        if (s->group && group != s->group) {
            writer_key(w, s->group);
            writer_object_begin(w);
        }
        group = s->group;
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
static void write_head(struct text *out, const struct section_list *list, const struct options *o,
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

static void write_lead(struct text *out, const struct section *s, const char *group_before, const struct style *style)
{
    text_string(out, ",");
    if (s->group && s->group != group_before)
        text_format(out, "\"%s\":{", s->group);
    text_format(out, "\"%s\":", s->name);
    if (section_is_packed(s, style))
        array_packed(out, s->t);
}

/* `next` is NULL after the last. The comma that separates groups comes with the next lead. */
static void write_trail(struct text *out, const struct section *s, const struct section *next,
                        const struct style *style)
{
    if (section_is_packed(s, style))
        text_string(out, "\"}");
    if (s->group && (!next || next->group != s->group))
        text_string(out, "}");
    if (!next)
        text_string(out, "}\n");
}

/* Moves the text into the arena. */
static bool keep(struct text *text, struct arena *arena, const char **kept, size_t *length, struct error *err)
{
    char *copy = text->failed ? NULL : arena_alloc(arena, text->length, err);
    if (text->failed)
        error_set(err, ERROR_MEMORY, "", "No memory for the text of the reply.");
    if (copy && text->length > 0)
        memcpy(copy, text->data, text->length);
    *kept = copy;
    *length = text->length;
    text_free(text);
    return copy != NULL;
}

/* A section without numbers of its own: the head, the bill, the readout. */
static void write_plain(struct text *out, const struct section *s, const struct readout *readout,
                        const struct options *o, const struct attention *a)
{
    if (section_is(s, NULL, include_name(INCLUDE_COST)))
        bill_write(&(struct writer){.out = out}, a);
    if (section_is(s, NULL, "readout"))
        readout_write(readout, o, a, out);
}

bool frame_write(struct section_list *list, const struct options *o, const struct attention *a,
                 const struct readout *readout, struct arena *arena, struct error *err)
{
    const char *group = NULL;
    for (size_t x = 0; x < list->count; x++) {
        struct section *s = &list->at[x];
        struct text lead = {0};
        struct text trail = {0};
        if (x == 0)
            write_head(&lead, list, o, a);
        else
            write_lead(&lead, s, group, &o->style);
        write_plain(&lead, s, readout, o, a);
        write_trail(&trail, s, x + 1 < list->count ? s + 1 : NULL, &o->style);
        bool kept = keep(&lead, arena, &s->lead, &s->lead_length, err);
        if (!(keep(&trail, arena, &s->trail, &s->trail_length, err) && kept))
            return false;
        group = s->group;
    }
    return true;
}
