/* Pricing and computing. */
#include "api/reply/reply.h"

#include <stdint.h>
#include <string.h>

/* --- price --- */

/* What brings a section: an item of `include`, or the name of a part that a member of the request always brings. */
static const char *name_item(const struct reply *r, const struct section *s)
{
    return section_member(r->options, s->result->part) ? part_name(s->result->part)
                                                       : include_name(&r->options->include, s->id);
}

/* Numbers that an item asks for in all: "steps" is many arrays. */
static size_t count_item(const struct reply *r, const char *item)
{
    size_t sum = 0;
    for (size_t s = 1; s < r->sections.count; s++) {
        const struct section *section = &r->sections.at[s];
        if (strcmp(name_item(r, section), item) == 0)
            sum = section->numbers > SIZE_MAX - sum ? SIZE_MAX : sum + section->numbers;
    }
    return sum;
}

/* A section of the item that asks for the most numbers. */
static const struct section *find_largest(const struct reply *r, size_t *largest)
{
    const struct section *found = &r->sections.at[0];
    *largest = 0;
    for (size_t s = 1; s < r->sections.count; s++) {
        size_t numbers = count_item(r, name_item(r, &r->sections.at[s]));
        if (numbers <= *largest)
            continue;
        *largest = numbers;
        found = &r->sections.at[s];
    }
    return found;
}

static bool check_reply_size(const struct reply *r, const struct request_limits *limits, struct error *err)
{
    size_t largest;
    if (r->sections.numbers <= limits->reply_elements)
        return true;
    const struct section *s = find_largest(r, &largest);
    const char *member = section_member(r->options, s->result->part);
    if (member)
        return error_set(err, ERROR_TOO_LARGE, member,
                         "The reply would hold %zu numbers; the limit is %zu (--max-reply-elements). %s always brings "
                         "%s, which has %zu: leave %s out, or send fewer tokens.",
                         r->sections.numbers, limits->reply_elements, member, part_name(s->result->part), largest,
                         member);
    return error_set(
        err, ERROR_TOO_LARGE, "include",
        "The reply would hold %zu numbers; the limit is %zu (--max-reply-elements). Leave %s out of include: it "
        "has %zu.",
        r->sections.numbers, limits->reply_elements, name_item(r, s), largest);
}

static bool is_rounded(const struct attention *a)
{
    return a->request->quantize.on || a->precision.on;
}

/* What stays in memory while the reply is made, counted in double: no product of sizes overflows it. */
static bool check_computed_size(const struct reply *r, const struct request_limits *limits, struct error *err)
{
    const struct attention *a = r->a;
    double rows = (double)a->batch * (double)a->queries;
    double keys = (double)a->batch * (double)a->kv_heads * (double)a->keys;
    double numbers = rows * (double)a->heads * (double)a->d_v;
    if (a->request->w_o.data)
        numbers += rows * (double)a->d_out;
    if (a->request->x.data || a->request->rope.on)
        numbers += rows * (double)a->heads * (double)a->d_k;
    if (a->request->x.data || a->request->rope.on || a->past > 0)
        numbers += keys * (double)(a->d_k + a->d_v);
    numbers += way_back_numbers(a, &r->sections);
    if (is_rounded(a))
        numbers += quantize_numbers(&a->quantized_k) + quantize_numbers(&a->quantized_v) +
                   2 * rows * (double)a->heads * (double)a->d_v;
    if (a->request->latent.on)
        numbers += latent_numbers(a);
    return numbers <= (double)limits->elements ||
           error_set(
               err, ERROR_TOO_LARGE, "",
               "The output and what it is computed from would hold %.0f numbers; the limit is %zu (--max-elements).",
               numbers, limits->elements);
}

/* The same of what is only compared; its rows need no blocks. */
static void gather_checked(struct reply *r, size_t whole_max)
{
    for (size_t x = 1; x < r->checked.count; x++)
        if (r->checked.at[x].source == SECTION_BLOCKS && r->whole && r->checked.numbers <= whole_max)
            r->checked.at[x].source = SECTION_VIEW;
}

/* Of a small reply everything is computed at once. */
static void cut(struct reply *r)
{
    for (size_t x = 0; x < r->sections.count; x++) {
        struct section *s = &r->sections.at[x];
        if (s->source == SECTION_BLOCKS && r->whole && s->result->part != PART_EXACT)
            s->source = SECTION_VIEW;
        section_cut(s, r->a, &r->options->style, r->blocks);
        r->blocks += s->block_count;
    }
    if (r->whole)
        r->blocks = 1;
}

bool reply_plan(struct reply *r, const struct options *options, const struct attention *a,
                const struct request_limits *limits, struct arena *arena, struct error *err)
{
    size_t whole_max = limits->whole_elements ? limits->whole_elements : REPLY_WHOLE_MAX;
    r->options = options;
    r->a = a;
    if (!section_plan(&r->sections, options, a, arena, err) ||
        !section_plan_expected(&r->checked, options, a, arena, err))
        return false;
    r->whole = r->sections.numbers <= whole_max;
    if (!check_reply_size(r, limits, err) || !check_computed_size(r, limits, err))
        return false;
    cut(r);
    gather_checked(r, whole_max);
    return true;
}

/* --- compute --- */

static bool make_room(struct reply *r, enum quantity quantity, struct arena *arena, struct error *err)
{
    size_t size = dtype_size(attention_dtype(r->a, quantity));
    if (!r->results.of[quantity])
        r->results.of[quantity] = arena_calloc(arena, attention_count(r->a, quantity), size, err);
    return r->results.of[quantity] != NULL;
}

static enum quantity terms_weights(const struct attention *a)
{
    return attention_lacks(a, QUANTITY_DROPPED) ? QUANTITY_WEIGHTS : QUANTITY_DROPPED;
}

static bool make_rooms_of(struct reply *r, const struct section_list *list, struct arena *arena, struct error *err)
{
    bool good = true;
    for (size_t x = 1; good && x < list->count; x++) {
        const struct section *s = &list->at[x];
        enum quantity quantity = s->result->quantity;
        if (quantity == QUANTITY_COUNT || s->result->part == PART_EXACT)
            continue;
        if (s->source == SECTION_VIEW)
            good = make_room(r, quantity, arena, err);
        if (quantity == QUANTITY_CONTRIBUTIONS && r->whole)
            good = make_room(r, terms_weights(r->a), arena, err);
    }
    return good;
}

static bool make_rooms(struct reply *r, struct arena *arena, struct error *err)
{
    return make_room(r, QUANTITY_OUTPUT, arena, err) && make_rooms_of(r, &r->sections, arena, err) &&
           make_rooms_of(r, &r->checked, arena, err);
}

/* The output as returned, from that of the heads. */
static bool project(const struct attention *a, void *merged, void **output, struct pool *pool, struct arena *arena,
                    struct error *err)
{
    *output = merged;
    if (!a->request->w_o.data)
        return true;
    *output = arena_calloc(arena, a->batch * a->queries * a->d_out, dtype_size(a->dtype), err);
    return *output && attention_project_output(a, merged, *output, pool, err);
}

/* The same without the quantised cache or emulated precision, and what lies between the two. */
static bool compare(struct reply *r, struct pool *pool, const atomic_bool *cancel, struct arena *arena,
                    struct error *err)
{
    struct attention_results results = {.of = {NULL}};
    r->exact = arena_calloc(arena, 1, sizeof *r->exact, err);
    if (!r->exact || !compare_exact(r->a, r->exact, arena, pool, err))
        return false;
    size_t count = attention_count(r->exact, QUANTITY_OUTPUT);
    void *merged = arena_calloc(arena, count, dtype_size(r->exact->dtype), err);
    results.of[QUANTITY_OUTPUT] = merged;
    return merged && attention_run(r->exact, &results, pool, cancel, arena, err) &&
           project(r->exact, merged, &r->exact_output, pool, arena, err) &&
           compare_run(r->a, r->exact, r->output, r->exact_output, &r->comparison, pool, cancel, arena, err) &&
           (!r->a->precision.on || precision_count(r->a, &r->tally, arena, err));
}

static struct tensor view_rows_after(struct tensor t, size_t first)
{
    t.data = (char *)t.data + first * t.stride[2] * dtype_size(t.dtype);
    return t;
}

static struct tensor view_of(const struct reply *r, enum result_id id)
{
    const struct attention *a = r->a;
    const size_t by_head[4] = {a->batch, a->heads, a->queries, a->d_out};
    const size_t by_query[3] = {a->batch, a->queries, a->d_model};
    switch (id) {
    case RESULT_PRESENT_NEW_K:
        return view_rows_after(result_tensor(a, RESULT_PRESENT_K), a->past);
    case RESULT_PRESENT_NEW_V:
        return view_rows_after(result_tensor(a, RESULT_PRESENT_V), a->past);
    case RESULT_PRESENT_NEW_LATENT:
        return view_rows_after(result_tensor(a, RESULT_PRESENT_LATENT), a->past);
    case RESULT_PRESENT_NEW_ROPE_KEY:
        return view_rows_after(result_tensor(a, RESULT_PRESENT_ROPE_KEY), a->past);
    case RESULT_STEPS_EMBEDDED:
        return tensor_dense(a->dtype, 3, by_query, a->request->x.data);
    case RESULT_STEPS_HEAD_OUTPUTS:
        return tensor_dense(a->dtype, 4, by_head, r->head_outputs);
#define ERROR_VIEW(which, object, name, tensor, axes, title) \
    case RESULT_ERROR_##which: \
        return r->comparison.tensor;
        ERROR_TENSORS(ERROR_VIEW)
#undef ERROR_VIEW
    default:
        return result_tensor(r->a, id);
    }
}

/* The view without the axes that the reply has not. */
static void bind_operand(const struct reply *r, struct section *s)
{
    const struct attention *a = r->a;
    struct tensor view = view_of(r, s->id);
    size_t at = 0;
    for (size_t axis = 0; axis < view.rank; axis++)
        if (attention_has_axis(a, s->result->axes[axis]))
            s->t.stride[at++] = view.stride[axis];
    s->t.data = view.data;
}

static void bind(const struct reply *r, struct section *s)
{
    if (s->source != SECTION_VIEW)
        return;
    if (s->result->gradient != GRADIENT_COUNT) {
        s->t.data = way_back_data(&r->back, s->result);
        return;
    }
    if (s->id == RESULT_OUTPUT || s->id == RESULT_EXACT_OUTPUT)
        s->t.data = s->id == RESULT_OUTPUT ? r->output : r->exact_output;
    else if (s->result->quantity != QUANTITY_COUNT)
        s->t.data = r->results.of[s->result->quantity];
    else
        bind_operand(r, s);
}

static void bind_all(struct reply *r)
{
    for (size_t x = 0; x < r->sections.count; x++)
        bind(r, &r->sections.at[x]);
    for (size_t x = 1; x < r->checked.count; x++)
        bind(r, &r->checked.at[x]);
}

static bool make_log_sums(struct reply *r, struct arena *arena, struct error *err)
{
    const struct attention *a = r->a;
    if (a->request->backward)
        r->results.log_sums = arena_calloc(arena, a->batch * a->heads * a->queries, sizeof(double), err);
    return !a->request->backward || r->results.log_sums;
}

static bool go_back(struct reply *r, struct pool *pool, const atomic_bool *cancel, struct arena *arena,
                    struct error *err)
{
    return !r->a->request->backward ||
           (way_back_want(&r->back, r->a, &r->checked, arena, err) &&
            way_back_run(&r->back, r->options, r->a, &r->sections, r->output, r->results.of[QUANTITY_OUTPUT],
                         r->results.log_sums, pool, cancel, arena, err));
}

static bool make_views(struct reply *r, struct arena *arena, struct error *err)
{
    const struct attention *a = r->a;
    if (!reply_needs(r, RESULT_STEPS_HEAD_OUTPUTS))
        return true;
    size_t count = a->batch * a->heads * a->queries * a->d_out;
    r->head_outputs = arena_calloc(arena, count, dtype_size(a->dtype), err);
    if (r->head_outputs)
        attention_head_outputs(a, r->results.of[QUANTITY_OUTPUT], r->head_outputs);
    return r->head_outputs != NULL;
}

bool reply_compute(struct reply *r, struct pool *pool, const atomic_bool *cancel, struct arena *arena,
                   struct error *err)
{
    if (!make_rooms(r, arena, err) || !make_log_sums(r, arena, err) ||
        !attention_run(r->a, &r->results, pool, cancel, arena, err) ||
        !project(r->a, r->results.of[QUANTITY_OUTPUT], &r->output, pool, arena, err) ||
        (is_rounded(r->a) && !compare(r, pool, cancel, arena, err)) || !make_views(r, arena, err) ||
        !go_back(r, pool, cancel, arena, err))
        return false;
    bind_all(r);
    if (!checks_run(r, cancel, arena, err))
        return false;
    return !r->options->readout_tokens.values || readout_compute(&r->readout, r->options, r->a, r->output, arena, err);
}

bool reply_needs(const struct reply *r, enum result_id id)
{
    return section_find(&r->sections, id) || section_find(&r->checked, id);
}

bool reply_shows_keys(const struct reply *r)
{
    return reply_needs(r, RESULT_INPUTS_K) || reply_needs(r, RESULT_INPUTS_V) ||
           reply_needs(r, RESULT_STEPS_CONTRIBUTIONS) || r->options->attention.backward;
}

const struct section *reply_section(const struct reply *r, size_t index)
{
    const struct section *s = r->sections.at;
    while (index >= s->first_block + s->block_count)
        s++;
    return s;
}

const void *reply_weights(const struct reply *r)
{
    return r->results.of[terms_weights(r->a)];
}

const struct attention *reply_attention(const struct reply *r, const struct section *s)
{
    return s->result && s->result->part == PART_EXACT ? r->exact : r->a;
}
