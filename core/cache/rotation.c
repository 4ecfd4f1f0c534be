/* Making rotations, and turning vectors. */
#include "core/cache/rotation.h"

#include <math.h>
#include <string.h>

bool rotation_new(struct rotation *r, size_t width, struct arena *arena, struct error *err)
{
    r->width = width;
    r->rows = arena_calloc(arena, width, width * sizeof *r->rows, err);
    r->columns = r->rows ? arena_calloc(arena, width, width * sizeof *r->columns, err) : NULL;
    return r->columns != NULL;
}

static void fill_columns(struct rotation *r)
{
    for (size_t i = 0; i < r->width; i++)
        for (size_t j = 0; j < r->width; j++)
            r->columns[j * r->width + i] = r->rows[i * r->width + j];
}

void rotation_given(struct rotation *r, const double *rows)
{
    memcpy(r->rows, rows, r->width * r->width * sizeof *rows);
    fill_columns(r);
}

void rotation_hadamard(struct rotation *r, struct normal *normal)
{
    size_t d = r->width;
    for (size_t j = 0; j < d; j++) {
        double entry = (normal_bits(normal) >> 63 ? -1.0 : 1.0) / sqrt((double)d);
        for (size_t i = 0; i < d; i++)
            r->rows[i * d + j] = __builtin_popcountll(i & j) % 2 ? -entry : entry;
    }
    fill_columns(r);
}

static bool is_cancelled(const atomic_bool *cancel)
{
    return cancel && atomic_load_explicit(cancel, memory_order_relaxed);
}

/* --- QR --- */

/* The reflection I - 2 w w^T that turns column c of `a`, from its row c on, into a multiple of the first unit vector: w
 * goes to row c of `w`. */
static void find_reflection(const double *a, size_t d, size_t c, double *w)
{
    double norm = 0;
    double length = 0;
    for (size_t i = c; i < d; i++) {
        w[i] = a[i * d + c];
        norm += w[i] * w[i];
    }
    norm = sqrt(norm);
    w[c] += w[c] < 0 ? -norm : norm;
    for (size_t i = c; i < d; i++)
        length += w[i] * w[i];
    length = sqrt(length);
    for (size_t i = c; i < d; i++)
        w[i] = length > 0 ? w[i] / length : 0;
}

/* a = (I - 2 w w^T) a on the rows and columns from c on; `sum` holds d numbers. */
static void reflect(double *a, size_t d, size_t c, const double *w, double *sum)
{
    memset(sum, 0, d * sizeof *sum);
    for (size_t i = c; i < d; i++)
        for (size_t j = c; j < d; j++)
            sum[j] += w[i] * a[i * d + j];
    for (size_t i = c; i < d; i++)
        for (size_t j = c; j < d; j++)
            a[i * d + j] -= 2 * w[i] * sum[j];
}

/* The reflections of G, one after another, leave U; the same ones, backwards, make Q of the identity. Where U has a
 * negative diagonal, that row of U and that column of Q change their signs. */
bool rotation_random(struct rotation *r, struct normal *normal, const atomic_bool *cancel, struct arena *arena,
                     struct error *err)
{
    size_t d = r->width;
    double *u = r->columns;
    double *w = arena_calloc(arena, d + 1, d * sizeof *w, err); /* a reflection a row, then sums */
    if (!w)
        return false;
    normal_fill(normal, u, d * d);
    memset(r->rows, 0, d * d * sizeof *r->rows);
    for (size_t c = 0; c < d && !is_cancelled(cancel); c++) {
        find_reflection(u, d, c, w + c * d);
        reflect(u, d, c, w + c * d, w + d * d);
        r->rows[c * d + c] = 1;
    }
    for (size_t c = d; c-- > 0 && !is_cancelled(cancel);)
        reflect(r->rows, d, c, w + c * d, w + d * d);
    for (size_t c = 0; c < d; c++)
        for (size_t i = 0; u[c * d + c] < 0 && i < d; i++)
            r->rows[i * d + c] = -r->rows[i * d + c];
    arena_drop(arena, w);
    fill_columns(r);
    return true;
}

void rotation_sketch(struct rotation *r, struct normal *normal)
{
    normal_fill(normal, r->rows, r->width * r->width);
    fill_columns(r);
}

double rotation_defect(const struct rotation *r, const atomic_bool *cancel)
{
    size_t d = r->width;
    double worst = 0;
    for (size_t i = 0; i < d && !is_cancelled(cancel); i++)
        for (size_t k = 0; k <= i; k++) {
            double sum = i == k ? -1 : 0;
            for (size_t j = 0; j < d; j++)
                sum += r->rows[i * d + j] * r->rows[k * d + j];
            worst = fmax(worst, fabs(sum));
        }
    return worst;
}

double rotation_norm(const double *x, size_t d)
{
    double sum = 0;
    double largest = 0;
    for (size_t t = 0; t < d; t++) {
        sum += x[t] * x[t];
        largest = fmax(largest, fabs(x[t]));
    }
    if (largest == 0 || (sum > 1e-290 && sum < HUGE_VAL))
        return sqrt(sum);
    sum = 0;
    for (size_t t = 0; t < d; t++)
        sum += (x[t] / largest) * (x[t] / largest);
    return largest * sqrt(sum);
}

static void combine(const double *rows, size_t d, const double *factors, double *out)
{
    memset(out, 0, d * sizeof *out);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            out[j] += rows[i * d + j] * factors[i];
}

void rotation_apply(const struct rotation *r, const double *x, double *y)
{
    combine(r->columns, r->width, x, y);
}

void rotation_undo(const struct rotation *r, const double *y, double *x)
{
    combine(r->rows, r->width, y, x);
}
