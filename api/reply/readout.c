/* Logits, their softmax, their order. */
#include "api/reply/readout.h"

#include "api/writing/array.h"
#include "core/tensor/blas.h"

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

/* The numbers of query i of batch b, heads side by side. */
static void gather_row(const struct scoring *s, const void *output, size_t b, size_t i)
{
    const struct attention *a = s->a;
    size_t size = dtype_size(a->dtype);
    size_t heads = a->packed ? 1 : a->heads;
    size_t width = s->width / heads;
    for (size_t h = 0; h < heads; h++) {
        size_t from = ((b * heads + h) * a->queries + i) * width;
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

/* The first `count` words share the probability; the others get nothing. */
static void share(struct readout_word *word, size_t words, size_t count, enum readout_stage stage)
{
    double sum = 0;
    for (size_t x = 0; x < count; x++)
        sum += word[x].exp;
    for (size_t x = 0; x < words; x++)
        word[x].probability = word[x].after[stage] = x < count ? word[x].exp / sum : 0;
}

/* How many of the likeliest it takes to reach p. */
static size_t count_reaching(const struct readout_word *word, size_t count, double p)
{
    double sum = 0;
    for (size_t x = 0; x < count; x++) {
        sum += word[x].probability;
        if (sum >= p)
            return x + 1;
    }
    return count;
}

/* The words are sorted: the first has the maximum. */
static void run_stages(struct readout_word *word, size_t words, const struct readout_options *r)
{
    size_t count = words;
    for (size_t x = 0; x < words; x++)
        word[x].exp = exp(word[x].logit / r->temperature - word[0].logit / r->temperature);
    share(word, words, count, READOUT_TEMPERATURE);
    if (r->has_top_k && (uint64_t)r->top_k < count)
        count = (size_t)r->top_k;
    share(word, words, count, READOUT_TOP_K);
    if (r->has_top_p)
        count = count_reaching(word, count, r->top_p);
    share(word, words, count, READOUT_TOP_P);
}

static bool make_room(struct scoring *s, struct readout *r, struct arena *arena, struct error *err)
{
    size_t size = dtype_size(s->a->dtype);
    s->row = arena_calloc(arena, s->width, size, err);
    s->logits = s->row ? arena_calloc(arena, s->words, size, err) : NULL;
    r->word = s->logits ? arena_calloc(arena, r->rows * r->words, sizeof *r->word, err) : NULL;
    return r->word != NULL;
}

static size_t rows_per_batch(const struct options *o, const struct attention *a)
{
    return o->readout.all_rows ? a->queries : 1;
}

bool readout_compute(struct readout *r, const struct options *o, const struct attention *a, const void *output,
                     struct arena *arena, struct error *err)
{
    struct scoring s = {.a = a, .words = o->readout_tokens.count, .width = a->request->readout_w.shape[0]};
    size_t rows = rows_per_batch(o, a);
    *r = (struct readout){.rows = a->batch * rows, .words = s.words};
    if (!make_room(&s, r, arena, err))
        return false;
    for (size_t row = 0; row < r->rows; row++) {
        struct readout_word *word = r->word + row * r->words;
        gather_row(&s, output, row / rows, rows == 1 ? a->queries - 1 : row % rows);
        if (!compute_logits(&s, word, err))
            return false;
        qsort(word, r->words, sizeof *word, compare_words);
        run_stages(word, r->words, &o->readout);
    }
    return true;
}

static void write_number(struct writer *w, const char *name, const struct options *o, enum dtype dtype, double value)
{
    writer_key(w, name);
    array_number(w, &o->style, dtype, value);
}

static size_t count_stages(const struct readout_options *r)
{
    return (size_t)r->has_temperature + r->has_top_k + r->has_top_p;
}

static void write_after(struct writer *w, const struct options *o, enum dtype dtype, const struct readout_word *word)
{
    const struct readout_options *r = &o->readout;
    if (count_stages(r) == 0)
        return;
    writer_key(w, "after");
    writer_object_begin(w);
    if (r->has_temperature)
        write_number(w, "temperature", o, dtype, word->after[READOUT_TEMPERATURE]);
    if (r->has_top_k)
        write_number(w, "top_k", o, dtype, word->after[READOUT_TOP_K]);
    if (r->has_top_p)
        write_number(w, "top_p", o, dtype, word->after[READOUT_TOP_P]);
    writer_object_end(w);
}

static void write_words(const struct readout *r, size_t row, const struct options *o, enum dtype dtype,
                        struct writer *w)
{
    writer_array_begin(w);
    for (size_t x = 0; x < r->words; x++) {
        const struct readout_word *word = &r->word[row * r->words + x];
        writer_object_begin(w);
        writer_member_string(w, "token", o->readout_tokens.values[word->index]);
        write_number(w, "logit", o, dtype, word->logit);
        write_number(w, "exp", o, dtype, word->exp);
        write_number(w, "probability", o, dtype, word->probability);
        write_after(w, o, dtype, word);
        writer_object_end(w);
    }
    writer_array_end(w);
}

void readout_write(const struct readout *r, const struct options *o, const struct attention *a, struct writer *w)
{
    size_t rows = rows_per_batch(o, a);
    if (a->has_batch)
        writer_array_begin(w);
    for (size_t row = 0; row < r->rows; row++) {
        if (o->readout.all_rows && row % rows == 0)
            writer_array_begin(w);
        write_words(r, row, o, a->dtype, w);
        if (o->readout.all_rows && (row + 1) % rows == 0)
            writer_array_end(w);
    }
    if (a->has_batch)
        writer_array_end(w);
}

size_t readout_numbers(const struct options *o, const struct attention *a)
{
    size_t numbers;
    return size_multiply(a->batch * rows_per_batch(o, a), o->readout_tokens.count * (3 + count_stages(&o->readout)),
                         &numbers)
               ? numbers
               : (size_t)-1;
}

/* The formatter breaks strings between macros letter by letter. */
/* clang-format off */
#define NUMBER(meaning) "{\"type\":\"number\",\"description\":\"" meaning "\"}"
#define WORDS \
    "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"token\"," \
    "\"logit\",\"exp\",\"probability\"],\"properties\":{\"token\":{\"type\":\"string\",\"description\":\"the " \
    "word\"},\"logit\":" NUMBER("output row . its column of readout.w") ",\"exp\":" NUMBER( \
        "e^(logit / temperature - the largest)") ",\"probability\":" NUMBER("its share") \
    ",\"after\":{\"type\":\"object\",\"description\":\"its probability after each stage that the request has\"," \
    "\"additionalProperties\":false,\"properties\":{\"temperature\":" NUMBER("after the temperature") \
    ",\"top_k\":" NUMBER("after top_k") ",\"top_p\":" NUMBER("after top_p") "}}}}}"
/* clang-format on */
#define LIST_OF(items) "{\"type\":\"array\",\"items\":" items "}"

const char *readout_schema(void)
{
    return "{\"anyOf\":[" WORDS "," LIST_OF(WORDS) "," LIST_OF(LIST_OF(WORDS)) "]}";
}
