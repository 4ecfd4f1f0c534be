/* Room that grows as the text promises. */
#include "api/json/matrix_reader.h"

#define FIRST_CAPACITY 512

/* What the rest of the text would hold if it went on like this matrix so far, and a little more. Taking it at once
 * saves moving; pages that are not written to cost nothing, and finish() gives them back. */
static size_t guess_capacity(const struct matrix_reader *r)
{
    double done = (double)(r->at - r->start);
    double rest = (double)(r->end - r->at);
    return r->matrix.count + (size_t)(1.05 * (double)r->matrix.count * rest / done) + FIRST_CAPACITY;
}

static bool grow_to(struct matrix_reader *r, size_t capacity, struct error *err)
{
    struct matrix_buffer *buffer = r->buffer;
    double *values = arena_resize(r->arena, buffer->values, capacity * sizeof *values, err);
    if (!values)
        return false;
    buffer->values = values;
    buffer->capacity = capacity;
    return true;
}

bool matrix_reader_grow(struct matrix_reader *r)
{
    struct error unused = {0};
    size_t twice = r->buffer->capacity ? 2 * r->buffer->capacity : FIRST_CAPACITY;
    size_t guess = r->matrix.count >= MATRIX_SMALL ? guess_capacity(r) : 0;
    return (guess > twice && grow_to(r, guess, &unused)) || grow_to(r, twice, r->err);
}

bool matrix_reader_reserve(struct matrix_reader *r, size_t more)
{
    struct error unused = {0};
    return r->matrix.count + more <= r->buffer->capacity ||
           grow_to(r, r->matrix.count + more + more / 8 + FIRST_CAPACITY, &unused);
}
