/* Planning a reply: which sections, and the axes of each. */
#include "api/reply/section.h"

#include <stdio.h>
#include <string.h>

struct planner {
    struct section_list *list;
    const struct attention *a;
    const char *group;
};

static struct section *add(struct planner *p, const char *name, enum section_source source, enum quantity quantity)
{
    struct section *s = &p->list->at[p->list->count++];
    s->group = p->group;
    s->name = name;
    s->source = source;
    s->quantity = quantity;
    return s;
}

static void add_axis(struct section *s, const char *name, size_t size)
{
    s->axes[s->t.rank] = name;
    s->t.shape[s->t.rank++] = size;
}

/* Strides of a dense tensor, and the numbers in it. */
static void close_shape(struct planner *p, struct section *s, enum dtype dtype)
{
    struct section_list *list = p->list;
    s->t = tensor_dense(dtype, s->t.rank, s->t.shape, NULL);
    s->numbers = 1;
    for (size_t a = 0; a < s->t.rank; a++)
        if (!size_multiply(s->numbers, s->t.shape[a], &s->numbers))
            s->numbers = (size_t)-1;
    list->numbers = s->numbers > (size_t)-1 - list->numbers ? (size_t)-1 : list->numbers + s->numbers;
}

static void add_outer_axes(struct planner *p, struct section *s, size_t heads)
{
    if (p->a->has_batch)
        add_axis(s, "batch", p->a->batch);
    if (p->a->has_heads && heads > 0)
        add_axis(s, "head", heads);
}

static void add_output(struct planner *p)
{
    const struct attention *a = p->a;
    struct section *s = add(p, "output", SECTION_VIEW, QUANTITY_OUTPUT);
    add_outer_axes(p, s, a->packed ? 0 : a->heads);
    add_axis(s, "query", a->queries);
    add_axis(s, "feature", a->d_out);
    close_shape(p, s, a->dtype);
}

static struct section *add_quantity(struct planner *p, enum quantity quantity)
{
    const struct attention *a = p->a;
    enum quantity_axis axis = quantity_axis(quantity);
    enum section_source source = axis == AXIS_QUERY ? SECTION_VIEW : axis == AXIS_KEY ? SECTION_BLOCKS : SECTION_TERMS;
    struct section *s = add(p, quantity_name(quantity), source, quantity);
    add_outer_axes(p, s, a->heads);
    add_axis(s, "query", a->queries);
    if (axis != AXIS_QUERY)
        add_axis(s, "key", a->keys);
    if (source == SECTION_TERMS)
        add_axis(s, "feature", axis == AXIS_KEY_FEATURE_K ? a->d_k : a->d_v);
    close_shape(p, s, quantity == QUANTITY_ALLOWED ? DTYPE_BOOL : a->dtype);
    return s;
}

static void add_operand(struct planner *p, const char *name, size_t heads, const char *rows_axis, size_t rows,
                        size_t width)
{
    struct section *s = add(p, name, SECTION_VIEW, QUANTITY_COUNT);
    add_outer_axes(p, s, heads);
    add_axis(s, rows_axis, rows);
    add_axis(s, "feature", width);
    close_shape(p, s, p->a->dtype);
}

static void add_keys_and_values(struct planner *p)
{
    const struct attention *a = p->a;
    add_operand(p, "k", a->kv_heads, "key", a->keys, a->d_k);
    add_operand(p, "v", a->kv_heads, "key", a->keys, a->d_v);
}

static void add_mask(struct planner *p)
{
    add_quantity(p, QUANTITY_ALLOWED)->plain = true;
    if (!attention_lacks(p->a, QUANTITY_BIAS))
        add_quantity(p, QUANTITY_BIAS)->plain = true;
}

static void add_stats(struct planner *p)
{
    static const enum quantity stats[] = {QUANTITY_ENTROPY_BITS, QUANTITY_ARGMAX_KEY, QUANTITY_MAX_WEIGHT,
                                          QUANTITY_WEIGHT_SUM};
    for (size_t x = 0; x < sizeof stats / sizeof *stats; x++)
        add_quantity(p, stats[x])->plain = true;
}

static void add_steps(struct planner *p, const struct include *include)
{
    for (size_t s = 0; s < INCLUDE_STEP_COUNT; s++)
        if (include_wants_step(include, p->a, include_step(s)))
            add_quantity(p, include_step(s));
}

static void add_readout(struct planner *p, const struct options *o)
{
    struct section *s = add(p, "readout", SECTION_NONE, QUANTITY_COUNT);
    s->numbers = 2 * p->a->batch * o->readout_tokens.count;
    p->list->numbers += p->list->numbers == (size_t)-1 ? 0 : s->numbers;
}

void section_plan(struct section_list *list, const struct options *o, const struct attention *a)
{
    struct planner p = {list, a, NULL};
    const bool *part = o->include.part;
    add(&p, NULL, SECTION_NONE, QUANTITY_COUNT);
    if (part[INCLUDE_OUTPUT])
        add_output(&p);
    if (part[INCLUDE_WEIGHTS])
        add_quantity(&p, QUANTITY_WEIGHTS);
    if (part[INCLUDE_LOG_SUM_EXP])
        add_quantity(&p, QUANTITY_LOG_SUM_EXP);
    p.group = "present";
    if (part[INCLUDE_PRESENT])
        add_keys_and_values(&p);
    p.group = "inputs";
    if (part[INCLUDE_INPUTS]) {
        add_operand(&p, "q", a->heads, "query", a->queries, a->d_k);
        add_keys_and_values(&p);
    }
    p.group = "mask";
    if (part[INCLUDE_MASK])
        add_mask(&p);
    p.group = "stats";
    if (part[INCLUDE_STATS])
        add_stats(&p);
    p.group = NULL;
    if (part[INCLUDE_COST])
        add(&p, include_name(INCLUDE_COST), SECTION_NONE, QUANTITY_COUNT);
    if (o->readout_tokens.values)
        add_readout(&p, o);
    p.group = "steps";
    add_steps(&p, &o->include);
}

bool section_is_packed(const struct section *s, const struct style *style)
{
    return style->base64 && !s->plain && s->source != SECTION_NONE;
}

bool section_is(const struct section *s, const char *group, const char *name)
{
    bool same_group = group ? s->group && strcmp(s->group, group) == 0 : !s->group;
    return same_group && s->name && strcmp(s->name, name) == 0;
}

const char *section_item(const struct section *s, const struct include *include, char *out, size_t size)
{
    const char *head = s->group ? s->group : s->name;
    bool by_name =
        s->group && strcmp(s->group, "steps") == 0 && (!include->part[INCLUDE_STEPS] || include_is_opt_in(s->quantity));
    snprintf(out, size, by_name ? "%s.%s" : "%s", head, s->name);
    return out;
}
