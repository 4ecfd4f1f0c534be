/* Logits, their softmax, their order. */
#include "api/reply/readout.h"

#include "api/json/array.h"
#include "core/blas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one row is computed in. */
struct scoring {
    const struct attention *a;
    size_t width, words;
    void *row, *logits; /* of the dtype */
};

static int compare_words(const void *left, const void *right)
{
    const struct readout_word *a = left;
    const struct readout_word *b = right;
    if (a->logit != b->logit)
        return a->logit > b->logit ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* The last query's numbers of batch b, heads side by side. */
static void gather_row(const struct scoring *s, const void *output, size_t b)
{
    const struct attention *a = s->a;
    size_t size = dtype_size(a->dtype);
    size_t heads = a->packed ? 1 : a->heads;
    size_t width = s->width / heads;
    for (size_t h = 0; h < heads; h++) {
        size_t from = ((b * heads + h) * a->queries + a->queries - 1) * width;
        memcpy((char *)s->row + h * width * size, (const char *)output + from * size, width * size);
    }
}

static bool compute_logits(const struct scoring *s, struct readout_word *word, struct error *err)
{
    enum dtype dtype = s->a->dtype;
    blas_product(dtype, BLAS_PLAIN, 1, s->words, s->width, s->row, s->width, s->a->request->readout_w.data, s->words,
                 s->logits, s->words);
    for (size_t x = 0; x < s->words; x++) {
        double logit = dtype_get(dtype, s->logits, x);
        if (!isfinite(logit))
            return error_set(err, ERROR_INVALID, "readout.w", "The logit of column %zu overflows %s.", x,
                             dtype_name(dtype));
        word[x] = (struct readout_word){.logit = logit, .index = x};
    }
    return true;
}

/* The words are sorted: the first has the maximum. */
static void share(struct readout_word *word, size_t words)
{
    double sum = 0;
    for (size_t x = 0; x < words; x++)
        sum += word[x].probability = exp(word[x].logit - word[0].logit);
    for (size_t x = 0; x < words; x++)
        word[x].probability /= sum;
}

static bool make_room(struct scoring *s, struct readout *r, struct arena *arena, struct error *err)
{
    size_t size = dtype_size(s->a->dtype);
    s->row = arena_calloc(arena, s->width, size, err);
    s->logits = s->row ? arena_calloc(arena, s->words, size, err) : NULL;
    r->word = s->logits ? arena_calloc(arena, r->batch * r->words, sizeof *r->word, err) : NULL;
    return r->word != NULL;
}

bool readout_compute(struct readout *r, const struct options *o, const struct attention *a, const void *output,
                     struct arena *arena, struct error *err)
{
    struct scoring s = {.a = a, .words = o->readout_tokens.count, .width = a->request->readout_w.shape[0]};
    *r = (struct readout){.batch = a->batch, .words = s.words};
    if (!make_room(&s, r, arena, err))
        return false;
    for (size_t b = 0; b < a->batch; b++) {
        struct readout_word *word = r->word + b * r->words;
        gather_row(&s, output, b);
        if (!compute_logits(&s, word, err))
            return false;
        qsort(word, r->words, sizeof *word, compare_words);
        share(word, r->words);
    }
    return true;
}

static void write_words(const struct readout *r, size_t b, const struct options *o, enum dtype dtype, struct writer *w)
{
    writer_array_begin(w);
    for (size_t x = 0; x < r->words; x++) {
        const struct readout_word *word = &r->word[b * r->words + x];
        writer_object_begin(w);
        writer_member_string(w, "token", o->readout_tokens.values[word->index]);
        writer_key(w, "logit");
        array_number(w, &o->style, dtype, word->logit);
        writer_key(w, "probability");
        array_number(w, &o->style, dtype, word->probability);
        writer_object_end(w);
    }
    writer_array_end(w);
}

void readout_write(const struct readout *r, const struct options *o, const struct attention *a, struct writer *w)
{
    if (a->has_batch)
        writer_array_begin(w);
    for (size_t b = 0; b < r->batch; b++)
        write_words(r, b, o, a->dtype, w);
    if (a->has_batch)
        writer_array_end(w);
}

size_t readout_numbers(const struct options *o, const struct attention *a)
{
    return 2 * a->batch * o->readout_tokens.count;
}

#define WORDS \
    "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"token\"," \
    "\"logit\"," \
    "\"probability\"],\"properties\":{\"token\":{\"type\":\"string\"},\"logit\":{\"type\":\"number\"}," \
    "\"probability\":{\"type\":\"number\"}}}}"

void readout_schema(struct writer *w)
{
    static const char schema[] = "{\"anyOf\":[" WORDS ",{\"type\":\"array\",\"items\":" WORDS "}]}";
    writer_raw(w, schema, strlen(schema));
}
