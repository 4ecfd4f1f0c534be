/* Head members, names, brackets. */
#include "api/reply/skeleton.h"

#include "api/json/array.h"
#include "api/json/writer.h"
#include "api/reply/cost_json.h"

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

static void write_lead(struct buffer *out, const struct section *s, const char *group_before, const struct style *style)
{
    struct writer w = {.out = out, .comma = true};
    if (s->group && s->group != group_before) {
        writer_key(&w, s->group);
        writer_object_begin(&w);
    }
    writer_key(&w, s->name);
    if (section_is_packed(s, style))
        array_packed(out, s->t);
}

/* `next` is NULL after the last. The comma that separates groups comes with the next lead. */
static void write_trail(struct buffer *out, const struct section *s, const struct section *next,
                        const struct style *style)
{
    if (section_is_packed(s, style))
        buffer_string(out, "\"}");
    if (s->group && (!next || next->group != s->group))
        buffer_string(out, "}");
    if (!next)
        buffer_string(out, "}\n");
}

/* A section without numbers of its own: the head, the bill, the readout. */
static void write_plain(struct buffer *out, const struct section *s, const struct readout *readout,
                        const struct options *o, const struct attention *a)
{
    if (section_is(s, NULL, include_name(INCLUDE_COST)))
        cost_json_write(&(struct writer){.out = out}, a);
    if (section_is(s, NULL, "readout"))
        readout_write(readout, o, a, out);
}

/* The texts stand one behind the other in `all`, in the order lead, trail, lead, ..: once in the arena, they are handed
 * out. */
static bool hand_out(struct buffer *all, struct section_list *list, struct arena *arena, struct error *err)
{
    char *at = all->failed ? NULL : arena_alloc(arena, all->length, err);
    if (all->failed)
        error_set(err, ERROR_MEMORY, "", "No memory for the text of the reply.");
    if (!at || !all->data)
        return false;
    memcpy(at, all->data, all->length);
    for (size_t x = 0; x < list->count; x++) {
        struct section *s = &list->at[x];
        s->lead = at;
        s->trail = at + s->lead_length;
        at += s->lead_length + s->trail_length;
    }
    return true;
}

bool skeleton_write(struct section_list *list, const struct options *o, const struct attention *a,
                    const struct readout *readout, struct arena *arena, struct error *err)
{
    struct buffer all = {0};
    buffer_reserve(&all, USUAL_BYTES);
    for (size_t x = 0; x < list->count; x++) {
        struct section *s = &list->at[x];
        size_t start = all.length;
        if (x == 0)
            write_head(&all, list, o, a);
        else
            write_lead(&all, s, list->at[x - 1].group, &o->style);
        write_plain(&all, s, readout, o, a);
        s->lead_length = all.length - start;
        write_trail(&all, s, x + 1 < list->count ? s + 1 : NULL, &o->style);
        s->trail_length = all.length - start - s->lead_length;
    }
    bool good = hand_out(&all, list, arena, err);
    buffer_free(&all);
    return good;
}
