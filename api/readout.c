/* Logits, their softmax, their order. */
#include "api/readout.h"

#include "api/array.h"
#include "core/blas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct word {
    double logit, probability;
    size_t index;
};

struct readout {
    const struct options *options;
    const struct attention *a;
    size_t width, words;
    void *row, *logits; /* of the dtype */
    struct word *word;
};

static int compare_words(const void *left, const void *right)
{
    const struct word *a = left;
    const struct word *b = right;
    if (a->logit != b->logit)
        return a->logit > b->logit ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* The last query's numbers of batch b, heads side by side. */
static void gather_row(const struct readout *r, const void *output, size_t b)
{
    const struct attention *a = r->a;
    size_t size = dtype_size(a->dtype);
    size_t heads = a->packed ? 1 : a->heads;
    size_t width = r->width / heads;
    for (size_t h = 0; h < heads; h++) {
        size_t from = ((b * heads + h) * a->queries + a->queries - 1) * width;
        memcpy((char *)r->row + h * width * size, (const char *)output + from * size, width * size);
    }
}

static bool compute_logits(const struct readout *r, struct error *err)
{
    enum dtype dtype = r->a->dtype;
    const struct strings *tokens = &r->options->readout_tokens;
    blas_product(dtype, BLAS_PLAIN, 1, r->words, r->width, r->row, r->width, r->a->request->readout_w.data, r->words,
                 r->logits, r->words);
    for (size_t x = 0; x < tokens->count; x++) {
        double logit = dtype == DTYPE_FLOAT64 ? ((const double *)r->logits)[x] : (double)((const float *)r->logits)[x];
        if (!isfinite(logit))
            return error_set(err, ERROR_INVALID, "readout.w", "The logit of column %zu overflows %s.", x,
                             dtype_name(dtype));
        r->word[x] = (struct word){.logit = logit, .index = x};
    }
    return true;
}

/* The words are sorted: the first has the maximum. */
static void share(const struct readout *r)
{
    double sum = 0;
    for (size_t x = 0; x < r->words; x++)
        sum += r->word[x].probability = exp(r->word[x].logit - r->word[0].logit);
    for (size_t x = 0; x < r->words; x++)
        r->word[x].probability /= sum;
}

static void write_words(const struct readout *r, struct writer *w)
{
    const struct style *style = &r->options->style;
    writer_array_begin(w);
    for (size_t x = 0; x < r->words; x++) {
        writer_object_begin(w);
        writer_member_string(w, "token", r->options->readout_tokens.values[r->word[x].index]);
        writer_key(w, "logit");
        array_number(w, style, r->a->dtype, r->word[x].logit);
        writer_key(w, "probability");
        array_number(w, style, r->a->dtype, r->word[x].probability);
        writer_object_end(w);
    }
    writer_array_end(w);
}

static bool make_room(struct readout *r, struct arena *arena, struct error *err)
{
    size_t size = dtype_size(r->a->dtype);
    r->row = arena_calloc(arena, r->width, size, err);
    r->logits = r->row ? arena_calloc(arena, r->words, size, err) : NULL;
    r->word = r->logits ? arena_calloc(arena, r->words, sizeof *r->word, err) : NULL;
    return r->word != NULL;
}

bool readout_write(const struct options *o, const struct attention *a, const void *output, struct arena *arena,
                   struct text *out, struct error *err)
{
    struct readout r = {
        .options = o, .a = a, .words = o->readout_tokens.count, .width = a->request->readout_w.shape[0]};
    struct writer w = {.out = out};
    if (!make_room(&r, arena, err))
        return false;
    if (a->has_batch)
        writer_array_begin(&w);
    for (size_t b = 0; b < a->batch; b++) {
        gather_row(&r, output, b);
        if (!compute_logits(&r, err))
            return false;
        qsort(r.word, r.words, sizeof *r.word, compare_words);
        share(&r);
        write_words(&r, &w);
    }
    if (a->has_batch)
        writer_array_end(&w);
    return true;
}
