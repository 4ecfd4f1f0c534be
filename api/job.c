/* One request from body to reply. */
#include "api/job.h"

#include "api/decode.h"
#include "api/document.h"
#include "api/options.h"
#include "api/reply.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Printing a number costs about as much as so many multiplications and additions. */
#define FLOPS_PER_NUMBER 50.0

struct job {
    struct job_limits limits;
    enum job_kind kind;
    enum job_format format;
    struct arena *arena;
    struct options options;
    struct attention attention;
    struct reply reply;
    double parse_seconds, compute_seconds;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- decoding --- */

static bool decode_attention(struct job *job, const struct document *document, struct error *err)
{
    struct decoder d = {.document = document,
                        .arena = job->arena,
                        .dtype = &job->options.attention.dtype,
                        .elements_max = job->limits.elements,
                        .err = err};
    job->options = options_default();
    if (!json_is_object(document->root))
        return error_set(err, ERROR_INVALID, "", "The request must be a JSON object with members such as q, k and v.");
    decode_object(&d, options_table(), document->root, NULL, &job->options);
    return err->code == ERROR_NONE;
}

static bool check_attention(struct job *job, struct error *err)
{
    return attention_check(&job->attention, &job->options.attention, err) &&
           options_check(&job->options, &job->attention, err) &&
           reply_plan(&job->reply, &job->options, &job->attention, &job->limits, err);
}

/* The text goes as soon as its numbers are out, the document as soon as its options are. */
static bool decode(struct job *job, struct text *body, struct error *err)
{
    struct document document = {0};
    bool good = document_read(&document, body->data ? body->data : "", body->length, job->arena, err);
    text_free(body);
    if (good) {
        good = decode_attention(job, &document, err);
        document_free(&document);
    }
    return good && check_attention(job, err);
}

struct job *job_new(const struct job_limits *limits, enum job_kind kind, enum job_format format, struct text *body,
                    struct error *err)
{
    double start = now();
    struct job *job = calloc(1, sizeof *job);
    if (job) {
        *job = (struct job){.limits = *limits, .kind = kind, .format = format, .arena = arena_new(limits->memory)};
    }
    if (!job || !job->arena) {
        error_set(err, ERROR_MEMORY, "", "No memory for a request.");
        text_free(body);
        free(job);
        return NULL;
    }
    if (!decode(job, body, err)) {
        job_free(job);
        return NULL;
    }
    job->parse_seconds = now() - start;
    return job;
}

/* --- computing and encoding --- */

double job_work(const struct job *job)
{
    return attention_flops(&job->attention) + FLOPS_PER_NUMBER * (double)job->reply.sections.numbers;
}

bool job_run(struct job *job, struct pool *pool, const atomic_bool *cancel, struct error *err)
{
    double start = now();
    bool good = attention_prepare(&job->attention, job->arena, pool, err) &&
                reply_compute(&job->reply, pool, cancel, job->arena, err);
    job->compute_seconds = now() - start;
    return good;
}

size_t job_blocks(const struct job *job)
{
    return job->reply.blocks;
}

bool job_block(const struct job *job, size_t index, struct text *out)
{
    return reply_block(&job->reply, index, out);
}

const char *job_media_type(const struct job *job)
{
    (void)job;
    return "application/json";
}

double job_parse_seconds(const struct job *job)
{
    return job->parse_seconds;
}

double job_compute_seconds(const struct job *job)
{
    return job->compute_seconds;
}

void job_free(struct job *job)
{
    if (!job)
        return;
    arena_free(job->arena);
    free(job);
}
