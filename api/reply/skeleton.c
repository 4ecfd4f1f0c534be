/* Head members, names, brackets. */
#include "api/reply/skeleton.h"

#include "api/reply/reply_document.h"
#include "api/writing/array.h"
#include "api/writing/writer.h"

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

/* A list of axes that stands in the text. */
struct axes_text {
    const struct section *of; /* NULL: none yet */
    size_t start, length;
};

static bool has_axes_of(const struct section *a, const struct section *b)
{
    return a->t.rank == b->t.rank && memcmp(a->axes, b->axes, a->t.rank * sizeof *a->axes) == 0;
}

static void append_again(struct buffer *out, struct axes_text text)
{
    if (!buffer_reserve(out, text.length))
        return;
    memcpy(out->data + out->length, out->data + text.start, text.length);
    out->length += text.length;
}

/* Most sections have the axes of the one before. */
static void write_axes_of(struct writer *w, const struct section *s, struct axes_text *last)
{
    writer_key(w, s->result->name);
    if (last->of && has_axes_of(last->of, s)) {
        append_again(w->out, *last);
        w->comma = true;
        return;
    }
    *last = (struct axes_text){.of = s, .start = w->out->length};
    writer_array_begin(w);
    for (size_t axis = 0; axis < s->t.rank; axis++)
        writer_string(w, axis_name(s->axes[axis]));
    writer_array_end(w);
    last->length = w->out->length - last->start;
}

/* --- groups --- */

/* The objects around a section, outermost first: NULL ends them. */
struct groups {
    const char *at[3];
};

static struct groups groups_at(const struct section_list *list, size_t x)
{
    struct groups g = {{NULL}};
    if (x >= list->count || !list->at[x].result)
        return g;
    g.at[0] = list->at[x].group;
    g.at[1] = list->at[x].result->object;
    return g;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* How many objects both are in. */
static size_t count_shared(const struct groups *a, const struct groups *b)
{
    size_t shared = 0;
    while (a->at[shared] && b->at[shared] && is_same(a->at[shared], b->at[shared]))
        shared++;
    return shared;
}

static size_t depth_of(const struct groups *g)
{
    return g->at[0] == NULL ? 0 : g->at[1] == NULL ? 1 : 2;
}

static void open_groups(struct writer *w, const struct groups *from, const struct groups *to)
{
    for (size_t level = count_shared(from, to); level < depth_of(to); level++) {
        writer_key(w, to->at[level]);
        writer_object_begin(w);
    }
}

static size_t count_closing(const struct groups *from, const struct groups *to)
{
    return depth_of(from) - count_shared(from, to);
}

/* Every tensor has axes, and so has a gradient that is one number: none. */
static bool has_axes(const struct section *s)
{
    return s->result && (s->source != SECTION_NONE || s->result->part == PART_GRADIENTS);
}

/* As the reply is built: a group of tensors is an object of lists. */
static void write_axes(struct writer *w, const struct section_list *list)
{
    struct groups last = {{NULL}};
    struct axes_text text = {0};
    writer_key(w, "axes");
    writer_object_begin(w);
    for (size_t x = 0; x < list->count; x++) {
        const struct groups own = groups_at(list, x);
        if (!has_axes(&list->at[x]))
            continue;
        for (size_t level = count_closing(&last, &own); level > 0; level--)
            writer_object_end(w);
        open_groups(w, &last, &own);
        last = own;
        write_axes_of(w, &list->at[x], &text);
    }
    for (size_t level = depth_of(&last); level > 0; level--)
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
    const struct reply *reply;
    const struct section_list *list;
    struct buffer *out;
    struct groups last, own, next; /* around the section before, this one and the next */
};

/* The object stays open; the comma that separates members comes with the next one. */
static void write_before(const struct frame *f, size_t x)
{
    struct writer w = {.out = f->out, .comma = true};
    const struct section *s = &f->list->at[x];
    if (!s->result) {
        write_head(f->out, f->list, f->reply->options, f->reply->a);
        return;
    }
    open_groups(&w, &f->last, &f->own);
    writer_key(&w, s->result->name);
    if (s->result->document)
        reply_document(s->id)->write(&w, f->reply);
    if (section_is_packed(s, &f->reply->options->style))
        array_packed(f->out, s->t);
}

static void write_after(const struct frame *f, size_t x)
{
    if (section_is_packed(&f->list->at[x], &f->reply->options->style))
        buffer_string(f->out, "\"}");
    for (size_t level = count_closing(&f->own, &f->next); level > 0; level--)
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

bool skeleton_write(struct reply *r, struct arena *arena, struct error *err)
{
    struct skeleton *skeleton = &r->skeleton;
    const struct section_list *list = &r->sections;
    struct buffer all = buffer_new(arena_room(arena));
    struct frame frame = {.reply = r, .list = list, .out = &all};
    skeleton->at = arena_alloc(arena, list->count * sizeof *skeleton->at, err);
    if (!skeleton->at)
        return false;
    buffer_reserve(&all, USUAL_BYTES);
    for (size_t x = 0; x < list->count; x++) {
        size_t start = all.length;
        frame.next = groups_at(list, x + 1);
        write_before(&frame, x);
        skeleton->at[x].before_length = all.length - start;
        write_after(&frame, x);
        skeleton->at[x].after_length = all.length - start - skeleton->at[x].before_length;
        frame.last = frame.own;
        frame.own = frame.next;
    }
    bool good = hand_out(skeleton, list->count, &all, arena, err);
    buffer_free(&all);
    return good;
}
