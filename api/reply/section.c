/* Planning a reply: which sections, the axes of each, its blocks. */
#include "api/reply/section.h"

#include "api/reply/reply_document.h"
#include "api/writing/array.h"

#include <string.h>

#define NUMBERS_PER_BLOCK 16384
#define NUMBERS_MOST ((size_t)1 << 18) /* of a block: longer rows, and terms of longer queries, are cut */

/* --- the plan --- */

static enum section_source find_source(const struct result *result)
{
    if (result->document)
        return SECTION_NONE;
    if (result->part == PART_GRADIENTS && gradient_kind(result->gradient) == GRADIENT_PAIR)
        return SECTION_BACK_BLOCKS;
    if (result->part == PART_GRADIENTS && gradient_kind(result->gradient) == GRADIENT_TERM)
        return SECTION_BACK_TERMS;
    if (result->quantity == QUANTITY_COUNT || !quantity_has_axis(result->quantity, AXIS_KEY))
        return SECTION_VIEW;
    return quantity_is(result->quantity, IS_TERMS) ? SECTION_TERMS : SECTION_BLOCKS;
}

/* Which axes the scales of a quantised side have depends on what shares them. */
static enum axis resolve(const struct attention *a, const struct result *result, enum axis axis)
{
    const struct quantized *side = result->object && result->object[0] == 'v' ? &a->quantized_v : &a->quantized_k;
    if (axis == AXIS_SHARED_ROW && side->axis == QUANTIZE_TOKEN)
        return AXIS_KEY;
    return axis == AXIS_SHARED_COLUMN && side->axis == QUANTIZE_CHANNEL ? AXIS_FEATURE_K : axis;
}

/* The same for a tensor that knows its shape. */
static void take_shape(struct section *s, const struct attention *a)
{
    struct tensor t = result_tensor(a, s->id);
    size_t rank = 0;
    for (size_t x = 0; x < t.rank; x++) {
        if (!attention_has_axis(a, s->result->axes[x]))
            continue;
        s->axes[rank] = resolve(a, s->result, s->result->axes[x]);
        s->t.shape[rank++] = t.shape[x];
    }
    s->t = tensor_dense(t.dtype, rank, s->t.shape, NULL);
}

/* The tensor without the axes that the reply has not. */
static void set_shape(struct section *s, const struct attention *a)
{
    const struct result *result = s->result;
    enum dtype dtype = result->quantity == QUANTITY_COUNT ? a->dtype : attention_dtype(a, result->quantity);
    size_t rank = 0;
    for (size_t x = 0; x < AXES_MAX && result->axes[x] != AXIS_NONE; x++) {
        if (!attention_has_axis(a, result->axes[x]))
            continue;
        s->axes[rank] = result->axes[x];
        s->t.shape[rank++] = attention_extent(a, result->axes[x]);
    }
    s->t = tensor_dense(dtype, rank, s->t.shape, NULL);
}

/* Gradients have the shape of what they belong to. */
static void set_gradient_shape(struct section *s, const struct attention *a)
{
    s->t = gradient_shape(a, s->result->gradient);
    gradient_axes(a, s->result->gradient, s->axes);
}

static size_t count_numbers(struct tensor t)
{
    size_t numbers = 1;
    for (size_t axis = 0; axis < t.rank; axis++)
        if (!size_multiply(numbers, t.shape[axis], &numbers))
            return (size_t)-1;
    return numbers;
}

static void add(struct section_list *list, enum result_id id, const struct options *o, const struct attention *a)
{
    struct section *s = &list->at[list->count++];
    s->id = id;
    s->result = result_row(id);
    s->group = part_is_group(s->result->part) ? part_name(s->result->part) : NULL;
    s->source = find_source(s->result);
    if (s->result->document) {
        s->numbers = reply_document(id)->numbers(o, a);
    } else {
        if (result_brings_shape(id))
            take_shape(s, a);
        else if (s->result->gradient == GRADIENT_COUNT)
            set_shape(s, a);
        else
            set_gradient_shape(s, a);
        s->numbers = count_numbers(s->t);
    }
    list->numbers = s->numbers > (size_t)-1 - list->numbers ? (size_t)-1 : list->numbers + s->numbers;
}

const char *section_member(const struct options *o, enum part part)
{
    const struct attention_request *r = &o->attention;
    switch (part) {
    case PART_READOUT:
        return o->readout_tokens.values ? "readout" : NULL;
    case PART_LOSS:
    case PART_ROW_LOSS:
        return o->backward.target.values ? "backward.target" : NULL;
    case PART_UPDATED:
        return o->has_step ? "step" : NULL;
    case PART_QUANTIZATION:
        return r->quantize.on ? "quantize" : NULL;
    case PART_ERROR:
        return r->quantize.on ? "quantize" : r->precision.on ? "precision" : NULL;
    case PART_ULP:
        return r->precision.on ? "precision" : NULL;
    case PART_COST:
        return o->cost.on ? "cost" : NULL;
    case PART_CHECKS:
        return o->expect.count > 0 ? "expect" : NULL;
    default:
        return NULL;
    }
}

/* Where one more belongs in a list of `count`: behind its part, the members of an object together. */
static size_t find_place(const struct result *rows, const enum result_id *list, size_t count, enum result_id id)
{
    size_t place = count;
    while (place > 0 && rows[list[place - 1]].part > rows[id].part)
        place--;
    for (size_t x = place; rows[id].object && x > 0; x--)
        if (result_is_beside(&rows[list[x - 1]], &rows[id]))
            return x;
    return place;
}

static size_t find_wanted(const struct options *o, const struct attention *a, enum result_id wanted[RESULT_COUNT])
{
    const struct result *rows = result_rows();
    size_t count = 0;
    for (size_t r = 0; r < RESULT_COUNT; r++) {
        enum result_id id = (enum result_id)r;
        bool implied = section_member(o, rows[r].part) != NULL;
        if (!implied && !o->include.part[rows[r].part] && !o->include.result[r])
            continue;
        if (!(implied && !result_lacks(id, a)) && !include_wants(&o->include, a, id))
            continue;
        size_t place = find_place(rows, wanted, count, id);
        memmove(&wanted[place + 1], &wanted[place], (count++ - place) * sizeof *wanted);
        wanted[place] = id;
    }
    return count;
}

bool section_plan(struct section_list *list, const struct options *o, const struct attention *a, struct arena *arena,
                  struct error *err)
{
    enum result_id wanted[RESULT_COUNT];
    size_t count = find_wanted(o, a, wanted);
    *list = (struct section_list){.at = arena_calloc(arena, count + 1, sizeof *list->at, err), .count = 1};
    for (size_t x = 0; list->at && x < count; x++)
        add(list, wanted[x], o, a);
    return list->at != NULL;
}

static bool has_shape(const struct section *s, struct tensor value)
{
    bool number = value.rank == 0;
    return s->t.rank == value.rank && s->result->document == number &&
           memcmp(s->t.shape, value.shape, value.rank * sizeof *value.shape) == 0;
}

bool section_plan_expected(struct section_list *list, const struct options *o, const struct attention *a,
                           struct arena *arena, struct error *err)
{
    size_t count = o->expect.count;
    *list = (struct section_list){.at = arena_calloc(arena, count + 1, sizeof *list->at, err), .count = 1};
    for (size_t x = 0; list->at && x < count; x++) {
        size_t numbers = list->numbers;
        add(list, o->expect.items[x].id, o, a);
        if (has_shape(&list->at[list->count - 1], o->expect.items[x].value))
            continue;
        list->at[--list->count] = (struct section){0};
        list->numbers = numbers;
    }
    return list->at != NULL;
}

/* The members of an object inside a part stand together, at the place of its first. */
void section_each(enum part part, section_visit *visit, void *context)
{
    for (size_t r = 0; r < RESULT_COUNT; r++) {
        const struct result *first = result_row((enum result_id)r);
        bool opened = first->part != part;
        for (size_t x = 0; first->object && !opened && x < r; x++)
            opened = result_is_beside(result_row((enum result_id)x), first);
        for (size_t x = r; !opened && x < RESULT_COUNT; x++)
            if (x == r || (first->object && result_is_beside(result_row((enum result_id)x), first)))
                visit(context, (enum result_id)x);
    }
}

/* --- blocks --- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t section_terms_keys(const struct section *s, const struct attention *a)
{
    size_t most = larger(NUMBERS_MOST / array_width(&s->t), 1);
    return most < a->keys ? most : a->keys;
}

static size_t divide_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

static bool is_of_blocks(const struct section *s)
{
    return s->source == SECTION_BLOCKS || s->source == SECTION_BACK_BLOCKS;
}

/* A query's terms stay together where they are not too many. */
static size_t find_rows(const struct section *s, const struct attention *a)
{
    bool terms = s->source == SECTION_TERMS || s->source == SECTION_BACK_TERMS;
    size_t unit = terms ? section_terms_keys(s, a) : 1;
    return unit < a->keys || !terms ? larger(NUMBERS_PER_BLOCK / array_width(&s->t), unit)
                                    : larger(NUMBERS_PER_BLOCK / array_width(&s->t) / unit, 1) * unit;
}

void section_cut(struct section *s, const struct attention *a, const struct style *style, size_t first)
{
    s->first_block = first;
    s->block_count = 1;
    s->pieces = 1;
    if (s->source == SECTION_NONE)
        return;
    s->pieces = divide_up(array_width(&s->t), NUMBERS_MOST);
    if (s->pieces > 1) {
        s->block_count = array_rows(&s->t) * s->pieces;
    } else if (is_of_blocks(s)) {
        /* three where bytes are grouped by three, so that a group rarely straddles two */
        s->core_blocks = section_is_packed(s, style) ? 3 : 1;
        s->block_count = divide_up(attention_blocks(a), s->core_blocks);
    } else {
        s->rows_per_block = find_rows(s, a);
        s->block_count = divide_up(array_rows(&s->t), s->rows_per_block);
    }
}

static size_t first_row_of_core_block(const struct attention *a, size_t block)
{
    if (block >= attention_blocks(a))
        return a->batch * a->heads * a->queries;
    struct attention_rows at = attention_block(a, block);
    return (at.b * a->heads + at.h) * a->queries + at.first;
}

static size_t first_row(const struct section *s, const struct attention *a, size_t local)
{
    if (s->source == SECTION_NONE)
        return 0;
    if (is_of_blocks(s))
        return first_row_of_core_block(a, local * s->core_blocks);
    size_t row = local * s->rows_per_block;
    return row < array_rows(&s->t) ? row : array_rows(&s->t);
}

/* Of about the same length: none is shorter than a group of base64. */
static struct section_span find_piece(const struct section *s, size_t local)
{
    size_t width = array_width(&s->t);
    size_t piece = local % s->pieces;
    return (struct section_span){local / s->pieces, 1, width * piece / s->pieces, width * (piece + 1) / s->pieces};
}

struct section_span section_block_rows(const struct section *s, const struct attention *a, size_t local)
{
    if (s->pieces > 1)
        return find_piece(s, local);
    size_t first = first_row(s, a, local);
    return (struct section_span){first, first_row(s, a, local + 1) - first, 0,
                                 s->source == SECTION_NONE ? 0 : array_width(&s->t)};
}

/* --- questions --- */

bool section_is_packed(const struct section *s, const struct style *style)
{
    return style->base64 && s->source != SECTION_NONE && !s->result->plain && s->t.rank > 0;
}

const struct section *section_find(const struct section_list *list, enum result_id id)
{
    for (size_t x = 0; x < list->count; x++)
        if (list->at[x].result && list->at[x].id == id)
            return &list->at[x];
    return NULL;
}

bool section_is_share(const struct section *s)
{
    static const enum quantity shares[] = {QUANTITY_WEIGHTS,    QUANTITY_EXP,     QUANTITY_DROPPED,
                                           QUANTITY_ALLOWED,    QUANTITY_RESCALE, QUANTITY_MAX_WEIGHT,
                                           QUANTITY_WEIGHT_SUM, QUANTITY_TILE_EXP};
    for (size_t x = 0; x < sizeof shares / sizeof *shares; x++)
        if (s->result->quantity == shares[x])
            return true;
    return false;
}
