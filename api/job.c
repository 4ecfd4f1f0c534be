/* One request from body to reply. */
#include "api/job_operations.h"

#include "api/decode/decode.h"
#include "api/request/options.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Printing a number costs about as much as so many multiplications and additions. */
#define FLOPS_PER_NUMBER 50.0
#define BLOCK_BESIDE ((size_t)4096) /* what lending takes, and formats that guess */

static const struct job_operations *find_operations(enum job_kind kind)
{
    static const struct job_operations *(*const rows[JOB_KINDS])(void) = {
#define JOB_ROW(kind, functions, path, id, link, summary, traits, reply, table) [JOB_##kind] = job_##functions,
        ENDPOINT_JOBS(JOB_ROW)
#undef JOB_ROW
    };
    return rows[kind]();
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct document_memory *job_memory_new(void)
{
    return calloc(1, sizeof(struct document_memory));
}

void job_memory_free(struct document_memory *memory)
{
    if (memory)
        document_forget(memory);
    free(memory);
}

struct options *job_defaults_new(void)
{
    struct options *defaults = malloc(sizeof *defaults);
    if (defaults)
        options_default(defaults);
    return defaults;
}

void job_defaults_free(struct options *defaults)
{
    free(defaults);
}

/* --- decoding --- */

bool job_decode(struct job *job, const struct document *document, const struct option_table *table,
                const enum dtype *dtype, void *into, struct error *err)
{
    struct decoder d = {
        .document = document, .arena = job->arena, .dtype = dtype, .elements_max = job->limits.elements, .err = err};
    if (!json_is_object(document->root))
        return error_set(err, ERROR_INVALID, "", "The request must be a JSON object.");
    decode_object(&d, table, document->root, NULL, into);
    return err->code == ERROR_NONE;
}

bool job_check_flops(const struct job *job, struct error *err)
{
    double flops = job->operations->flops(job);
    return job->limits.flops == 0 || flops <= job->limits.flops ||
           error_set(err, ERROR_TOO_LARGE, "",
                     "This takes %.0f floating-point operations; the limit is %.0f (--max-flops).", flops,
                     job->limits.flops);
}

/* Where the JSON ends, and what follows it: that is kept, with all of the body. */
static bool split(struct job *job, const struct job_order *order, struct buffer *body, size_t *length,
                  struct error *err)
{
    *length = body->length;
    if (!order->split || !job->operations->splits)
        return true;
    if (order->json_length == (size_t)-1)
        return error_set(err, ERROR_SYNTAX, "", "Inference-Header-Content-Length must be a number of bytes.");
    if (order->json_length > body->length - order->lead)
        return error_set(err, ERROR_SYNTAX, "", "Inference-Header-Content-Length is %zu; the body has %zu bytes.",
                         order->json_length, body->length - order->lead);
    *length = order->lead + order->json_length;
    job->beside = (struct infer_bytes){(unsigned char *)body->data + *length, body->length - *length};
    return job->beside.length == 0 || arena_adopt(job->arena, body->data, body->capacity, err);
}

/* Positions are those of what was sent. */
static bool place_fault(struct error *err, size_t lead)
{
    if (err->placed && err->line == 1)
        err->column -= lead;
    if (err->placed)
        err->byte -= lead;
    return false;
}

/* The text goes as soon as its numbers are out, the document as soon as its options are. */
static bool decode(struct job *job, const struct job_order *order, struct buffer *body, struct read_context context,
                   struct error *err)
{
    struct document document = {0};
    size_t length;
    bool good = split(job, order, body, &length, err);
    bool kept = good && job->beside.length > 0;
    good = good && (document_read(&document, body->data ? body->data : "", length, context, job->arena, err) ||
                    place_fault(err, order->lead));
    if (kept)
        *body = (struct buffer){0};
    else
        buffer_free(body);
    if (good) {
        good = job->operations->decode(job, &document, err);
        document_free(&document);
    }
    return good && job->operations->check(job, err) &&
           price_check(job->operations->price(job), job_held(job), job->limits.memory, err);
}

/* Its arena is its only allocation, and holds the job itself. */
static struct job *make(const struct request_limits *limits, const struct job_order *order, struct error *err)
{
    const struct job_operations *operations = find_operations(order->kind);
    struct arena *arena = arena_new(limits->memory);
    if (!arena) {
        error_set(err, ERROR_MEMORY, "", "No memory for a request.");
        return NULL;
    }
    struct job *job = arena_alloc(arena, sizeof *job + operations->size, err);
    if (!job) {
        arena_free(arena);
        return NULL;
    }
    memset(job, 0, sizeof *job + operations->cleared);
    job->operations = operations;
    job->limits = *limits;
    job->format = order->format;
    job->arena = arena;
    return job;
}

/* An escape may hide the name. */
bool job_may_draw(const struct buffer *body)
{
    static const char name[] = "\"normal\"";
    return body->length > 0 &&
           (memmem(body->data, body->length, name, sizeof name - 1) || memchr(body->data, '\\', body->length));
}

struct job *job_new(const struct request_limits *limits, const struct job_order *order, struct buffer *body,
                    struct read_context context, struct error *err)
{
    double start = now();
    struct job *job = make(limits, order, err);
    if (!job) {
        buffer_free(body);
        return NULL;
    }
    job->defaults = context.defaults;
    if (!decode(job, order, body, context, err)) {
        job_free(job);
        return NULL;
    }
    job->parse_seconds = now() - start;
    return job;
}

void job_free(struct job *job)
{
    if (!job)
        return;
    buffer_free(&job->text);
    arena_free(job->arena);
}

/* --- computing and encoding --- */

bool job_run(struct job *job, struct pool *pool, const atomic_bool *cancel, struct error *err)
{
    double start = now();
    bool good = job->operations->run(job, pool, cancel, err);
    job->compute_seconds = now() - start;
    return good;
}

size_t job_blocks(const struct job *job)
{
    return job->operations->blocks(job);
}

size_t job_block_room(const struct job *job)
{
    return job->operations->block_room ? BLOCK_BESIDE + job->operations->block_room(job) : 0;
}

bool job_block(const struct job *job, size_t index, struct buffer *out)
{
    return job->operations->block(job, index, out);
}

size_t job_text_room(const struct job *job)
{
    size_t room = arena_room(job->arena);
    return room > job->text.capacity ? room - job->text.capacity : 0;
}

void job_text_begin(struct job *job)
{
    job->text.most = job->text.capacity + job_text_room(job);
}

bool job_text_block(const struct job *job, size_t index, struct buffer *out)
{
    (void)index;
    buffer_append(out, job->text.data, job->text.length);
    return !out->failed;
}

size_t job_one_block(const struct job *job)
{
    (void)job;
    return 1;
}

const char *job_json_type(const struct job *job)
{
    (void)job;
    return "application/json";
}

const void *job_view(const struct job *job, size_t index, size_t *length)
{
    return job->operations->view ? job->operations->view(job, index, length) : NULL;
}

size_t job_length(const struct job *job)
{
    return job->operations->length ? job->operations->length(job) : 0;
}

size_t job_json_length(const struct job *job)
{
    return job->operations->json_length ? job->operations->json_length(job) : 0;
}

const char *job_media_type(const struct job *job)
{
    return job->operations->media_type(job);
}

/* --- what it takes --- */

double job_work(const struct job *job)
{
    return job->operations->flops(job) + FLOPS_PER_NUMBER * (double)job_numbers(job);
}

double job_room(const struct job *job)
{
    return (double)job_held(job) + price_sum(job->operations->price(job));
}

double job_lasting(const struct job *job)
{
    return (double)job_held(job) + job->operations->price(job).lasting;
}

size_t job_numbers(const struct job *job)
{
    return job->operations->numbers(job);
}

size_t job_held(const struct job *job)
{
    return arena_held(job->arena);
}

double job_parse_seconds(const struct job *job)
{
    return job->parse_seconds;
}

double job_compute_seconds(const struct job *job)
{
    return job->compute_seconds;
}
