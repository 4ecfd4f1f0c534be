/* Rows ahead: cut at brackets, which no number has, into pieces that the workers read side by side. */
#include "api/json/matrix_parallel.h"

#include "api/numbers/number_run.h"
#include "api/numbers/space.h"

#include <string.h>

#define PIECE_BYTES ((size_t)16 * 1024)
#define PIECES_MAX 256

struct piece {
    const char *at; /* the bracket of its first row; later that of the first row it has not read */
    size_t first, rows;
    size_t read;
    bool halfway;
};

struct ahead {
    const char *end;
    const char *stop; /* the bracket of the first row that is in no piece */
    double *values;
    size_t width;
    size_t rows;
    size_t count;
    struct piece pieces[PIECES_MAX];
};

/* From the bracket of a row to that of the next, or NULL when none follows. */
static const char *find_next_row(const char *at, const char *end)
{
    at = memchr(at, ']', (size_t)(end - at));
    at = at ? space_skip(at + 1, end) : end;
    if (at == end || *at != ',')
        return NULL;
    at = space_skip(at + 1, end);
    return at < end && *at == '[' ? at : NULL;
}

/* Up to a row that no other follows. */
static void cut_pieces(struct ahead *ahead, const char *at)
{
    struct piece *piece = ahead->pieces;
    *piece = (struct piece){.at = at};
    for (ahead->stop = at; (at = find_next_row(at, ahead->end)) != NULL; ahead->stop = at) {
        piece->rows++;
        ahead->rows++;
        if ((size_t)(at - piece->at) < PIECE_BYTES)
            continue;
        if (++ahead->count == PIECES_MAX) {
            ahead->stop = at;
            return;
        }
        *++piece = (struct piece){.at = at, .first = ahead->rows};
    }
    ahead->count += piece->rows > 0;
}

/* Behind the row of `width` numbers at `at`, or NULL when it is none. */
static const char *read_row(const char *at, const char *end, double *out, size_t width, bool *halfway)
{
    const char *next;
    at = space_skip(at + 1, end);
    if (at == end || !number_run_starts(*at) || number_run(&at, end, out, width, &next, halfway) != width || next)
        return NULL;
    at = space_skip(at, end);
    return at < end && *at == ']' ? at + 1 : NULL;
}

static void read_piece(void *context, size_t index, size_t slot)
{
    struct ahead *ahead = context;
    struct piece *piece = &ahead->pieces[index];
    (void)slot;
    for (; piece->read < piece->rows; piece->read++) {
        double *out = ahead->values + (piece->first + piece->read) * ahead->width;
        const char *after = read_row(piece->at, ahead->end, out, ahead->width, &piece->halfway);
        if (!after)
            return;
        piece->at = find_next_row(after - 1, ahead->end);
    }
}

/* Rows that were read, from the first one on without a gap; *at is then the bracket behind them. */
static size_t count_read(const struct ahead *ahead, const char **at)
{
    size_t rows = 0;
    for (size_t p = 0; p < ahead->count; p++) {
        rows += ahead->pieces[p].read;
        *at = ahead->pieces[p].at;
        if (ahead->pieces[p].read < ahead->pieces[p].rows)
            break;
    }
    return rows;
}

static bool may_pay(const struct matrix_reader *r)
{
    const struct matrix *m = &r->matrix;
    return r->pool && (!r->alone || r->at >= r->alone) && m->fault == MATRIX_GOOD && m->rank >= 2 &&
           r->level + 1 == m->rank && m->shape[r->level] > 0 && (size_t)(r->end - r->at) >= 2 * PIECE_BYTES;
}

/* Rows as wide as the first one take two bytes for each number at least: no others are made room for. */
static bool can_hold(const struct matrix_reader *r, const struct ahead *ahead)
{
    return ahead->rows <= (size_t)(ahead->stop - r->at) / 2 / ahead->width;
}

static void read_rows(struct matrix_reader *r, struct ahead *ahead)
{
    ahead->values = r->buffer->values + r->matrix.count;
    pool_run(r->pool, ahead->count, read_piece, ahead);
    size_t rows = count_read(ahead, &r->at);
    if (rows < ahead->rows)
        r->alone = r->end;
    for (size_t p = 0; p < ahead->count; p++)
        r->halfway |= ahead->pieces[p].halfway;
    r->matrix.count += rows * ahead->width;
    r->length[r->level] += rows;
}

void matrix_parallel(struct matrix_reader *r)
{
    struct ahead ahead;
    if (!may_pay(r))
        return;
    ahead.end = r->end;
    ahead.width = r->matrix.shape[r->level];
    ahead.rows = 0;
    ahead.count = 0;
    cut_pieces(&ahead, r->at);
    if (ahead.count >= 2 && can_hold(r, &ahead) && matrix_reader_reserve(r, ahead.rows * ahead.width))
        read_rows(r, &ahead);
    else
        r->alone = ahead.stop;
}
