/* Arrays of numbers from text to doubles: an explicit stack of lengths, and one tight loop for a row. */
#include "api/json/matrix.h"

#include "api/json/matrix_floats.h"
#include "api/json/matrix_parallel.h"
#include "api/numbers/number.h"
#include "api/numbers/number_run.h"
#include "api/numbers/space.h"

#include <math.h>
#include <string.h>

static enum matrix_step fail(struct matrix_reader *r, const char *at, const char *why)
{
    r->at = at;
    r->why = at == r->end ? "the text ends inside an array" : why;
    return MATRIX_BROKEN;
}

/* The first fault stays. Its place is the element that `levels` open arrays have reached. */
static void note_fault(struct matrix_reader *r, enum matrix_fault fault, size_t levels)
{
    if (r->matrix.fault != MATRIX_GOOD)
        return;
    r->matrix.fault = fault;
    r->matrix.index_rank = levels;
    for (size_t i = 0; i < levels; i++)
        r->matrix.index[i] = r->length[i + 1];
}

/* Room for one value at count. A matrix at fault keeps none. */
static bool make_room(struct matrix_reader *r)
{
    if (r->matrix.fault != MATRIX_GOOD)
        r->matrix.count = 0;
    return r->matrix.count < r->buffer->capacity || matrix_reader_grow(r);
}

/* Every leaf must stand as deep as the first. */
static void check_leaf(struct matrix_reader *r)
{
    if (r->matrix.rank == 0)
        r->matrix.rank = r->level;
    if (r->matrix.rank != r->level)
        note_fault(r, MATRIX_NESTED, r->level);
}

static void note_first(bool *has, size_t *first, size_t position)
{
    if (!*has)
        *first = position;
    *has = true;
}

/* What stands at r->at looks like a number and is none. */
static enum matrix_step refuse_number(struct matrix_reader *r)
{
    double value;
    bool is_number = number_read(r->at, r->end, &value) != NULL;
    return fail(r, r->at,
                is_number ? "this number is beyond what a 64-bit float holds" : "this is not how JSON writes a number");
}

/* As many numbers as follow one another. */
static enum matrix_step take_numbers(struct matrix_reader *r)
{
    const char *next = r->at;
    check_leaf(r);
    note_first(&r->matrix.has_numbers, &r->matrix.first_number, r->matrix.count);
    while (next) {
        if (!make_room(r))
            return MATRIX_REFUSED;
        r->at = next;
        size_t taken = number_run(&r->at, r->end, r->buffer->values + r->matrix.count,
                                  r->buffer->capacity - r->matrix.count, &next, &r->halfway);
        if (taken == 0)
            return refuse_number(r);
        r->matrix.count += taken;
        r->length[r->level] += taken;
    }
    return MATRIX_ON;
}

static enum matrix_step take_word(struct matrix_reader *r, const char *word, double value, bool *has, size_t *first)
{
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return fail(r, r->at, "a value is expected here");
    check_leaf(r);
    if (!make_room(r))
        return MATRIX_REFUSED;
    note_first(has, first, r->matrix.count);
    r->buffer->values[r->matrix.count++] = value;
    r->length[r->level]++;
    r->at += length;
    return MATRIX_ON;
}

static enum matrix_step take_string(struct matrix_reader *r)
{
    static const char hidden[] = "\"-Infinity\"";
    struct matrix *m = &r->matrix;
    if ((size_t)(r->end - r->at) >= sizeof hidden - 1 && memcmp(r->at, hidden, sizeof hidden - 1) == 0)
        return take_word(r, hidden, -HUGE_VAL, &m->has_hidden, &m->first_hidden);
    note_fault(r, MATRIX_ELEMENT, r->level);
    return MATRIX_OTHER;
}

static void close_array(struct matrix_reader *r)
{
    size_t length = r->length[r->level];
    if (r->level <= TENSOR_RANK_MAX) {
        size_t *shape = &r->matrix.shape[r->level - 1];
        if (*shape == 0)
            *shape = length;
        if (*shape != length && r->matrix.fault == MATRIX_GOOD) {
            note_fault(r, MATRIX_RAGGED, r->level - 1);
            r->matrix.expected = *shape;
            r->matrix.found = length;
        }
    }
    r->level--;
    r->length[r->level]++;
    r->at++;
}

static enum matrix_step open_array(struct matrix_reader *r)
{
    if (r->depth + r->level >= DOCUMENT_DEPTH_MAX)
        return fail(r, r->at, "this is nested deeper than 32 levels");
    if (r->matrix.rank > 0 && r->level >= r->matrix.rank)
        note_fault(r, MATRIX_NESTED, r->level);
    if (r->level == TENSOR_RANK_MAX)
        note_fault(r, MATRIX_RANK, r->level);
    r->length[++r->level] = 0;
    r->at = space_skip(r->at + 1, r->end);
    if (r->at == r->end || *r->at != ']')
        return MATRIX_ON;
    note_fault(r, MATRIX_EMPTY, r->level - 1);
    close_array(r);
    return MATRIX_ON;
}

/* After a value: closing brackets, up to the comma before the next value. */
static enum matrix_step take_separators(struct matrix_reader *r)
{
    while (r->level > 0) {
        r->at = space_skip(r->at, r->end);
        if (r->at == r->end || (*r->at != ',' && *r->at != ']'))
            return fail(r, r->at, "',' or ']' is expected here");
        if (*r->at == ',') {
            r->at = space_skip(r->at + 1, r->end);
            return MATRIX_ON;
        }
        close_array(r);
    }
    return MATRIX_DONE;
}

/* An array that was opened and not closed wants a value next, anything else a separator. */
static enum matrix_step take_array(struct matrix_reader *r)
{
    size_t level = r->level;
    enum matrix_step step = open_array(r);
    return step != MATRIX_ON || r->level > level ? step : take_separators(r);
}

static enum matrix_step take_value(struct matrix_reader *r)
{
    struct matrix *m = &r->matrix;
    if (r->at == r->end)
        return fail(r, r->at, "");
    switch (*r->at) {
    case 't':
        return take_word(r, "true", 1, &m->has_booleans, &m->first_boolean);
    case 'f':
        return take_word(r, "false", 0, &m->has_booleans, &m->first_boolean);
    case 'n':
        return take_word(r, "null", -HUGE_VAL, &m->has_hidden, &m->first_hidden);
    case '"':
        return take_string(r);
    case '{':
        note_fault(r, MATRIX_ELEMENT, r->level);
        return MATRIX_OTHER;
    default:
        return number_run_starts(*r->at) ? take_numbers(r) : fail(r, r->at, "a value is expected here");
    }
}

/* A large matrix takes the buffer with it, a small one copies out of it. */
static enum matrix_step finish(struct matrix_reader *r)
{
    struct matrix *m = &r->matrix;
    if (m->fault != MATRIX_GOOD) {
        m->count = 0;
        return MATRIX_DONE;
    }
    if (r->halfway && !matrix_floats_find(m, r->start, r->at, r->arena, r->err))
        return MATRIX_REFUSED;
    size_t bytes = m->count * sizeof *m->values;
    bool small = m->count <= MATRIX_SMALL;
    m->values = small ? arena_alloc(r->arena, bytes, r->err) : arena_resize(r->arena, r->buffer->values, bytes, r->err);
    if (!m->values)
        return MATRIX_REFUSED;
    if (small)
        memcpy(m->values, r->buffer->values, bytes);
    else
        *r->buffer = (struct matrix_buffer){0};
    return MATRIX_DONE;
}

enum matrix_step matrix_read(struct matrix_reader *r)
{
    enum matrix_step step = MATRIX_ON;
    if (r->level == 0)
        r->start = r->at;
    else { /* behind what is none of a matrix */
        r->length[r->level]++;
        step = take_separators(r);
    }
    while (step == MATRIX_ON) {
        if (r->at < r->end && *r->at == '[') {
            matrix_parallel(r);
            step = take_array(r);
            continue;
        }
        step = take_value(r);
        if (step == MATRIX_ON)
            step = take_separators(r);
    }
    return step == MATRIX_DONE ? finish(r) : step;
}
