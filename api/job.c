/* One request from body to reply. */
#include "api/job.h"

#include "api/explain/explain.h"
#include "api/json/document.h"
#include "api/reply/reply_json.h"
#include "api/request/decode.h"
#include "api/request/merge_request.h"
#include "api/request/options.h"
#include "api/text/query_steps.h"
#include "api/text/reply_text.h"
#include "core/cost.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Printing a number costs about as much as so many multiplications and additions. */
#define FLOPS_PER_NUMBER 50.0

/* What a number takes in a reply that is made in one piece: itself and its text. */
#define BYTES_PER_NUMBER 32.0

struct job {
    struct request_limits limits;
    enum job_kind kind;
    enum job_format format;
    struct arena *arena;
    struct options options;
    struct attention attention;
    struct reply reply;
    struct merge_request join;
    struct buffer explained; /* the reply to JOB_EXPLAIN */
    double parse_seconds, compute_seconds;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- decoding --- */

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

static bool decode_members(struct job *job, const struct document *document, struct error *err)
{
    bool attention = job->kind != JOB_MERGE;
    struct decoder d = {.document = document,
                        .arena = job->arena,
                        .dtype = attention ? &job->options.attention.dtype : &job->join.dtype,
                        .elements_max = job->limits.elements,
                        .err = err};
    if (!json_is_object(document->root))
        return error_set(err, ERROR_INVALID, "", "The request must be a JSON object.");
    if (attention) {
        job->options = options_default();
        decode_object(&d, job->kind == JOB_EXPLAIN ? options_explain_table() : options_table(), document->root, NULL,
                      &job->options);
    } else {
        decode_object(&d, merge_request_table(), document->root, NULL, &job->join);
    }
    return err->code == ERROR_NONE;
}

/* Whatever is included, explain computes the output alone, and one cell. */
static bool check_explain(struct job *job, struct error *err)
{
    job->options.include = (struct include){0};
    return explain_check(&job->options, &job->attention, err);
}

static double count_flops(const struct job *job)
{
    if (job->kind == JOB_MERGE)
        return merge_request_flops(&job->join);
    return cost_count(&job->attention, cost_own(&job->attention)).total;
}

static bool check_flops(const struct job *job, struct error *err)
{
    double flops = count_flops(job);
    return job->limits.flops == 0 || flops <= job->limits.flops ||
           error_set(err, ERROR_TOO_LARGE, "",
                     "This takes %.0f floating-point operations; the limit is %.0f (--max-flops).", flops,
                     job->limits.flops);
}

static bool check(struct job *job, struct error *err)
{
    bool tables = job->format == JOB_TEXT && job->kind == JOB_ATTENTION;
    if (job->kind == JOB_MERGE)
        return merge_request_check(&job->join, &job->limits, err) && check_flops(job, err);
    if (tables && !options_for_text(&job->options, err))
        return false;
    if (!attention_check(&job->attention, &job->options.attention, err) ||
        !options_check(&job->options, &job->attention, err))
        return false;
    if (job->kind == JOB_EXPLAIN && !check_explain(job, err))
        return false;
    if ((tables || job->kind == JOB_EXPLAIN) && !query_steps_check(&job->attention, job->limits.memory, err))
        return false;
    return check_flops(job, err) && reply_plan(&job->reply, &job->options, &job->attention, &job->limits, err);
}

/* The text goes as soon as its numbers are out, the document as soon as its options are. */
static bool decode(struct job *job, struct buffer *body, struct read_context means, struct error *err)
{
    struct document document = {0};
    bool good = document_read(&document, body->data ? body->data : "", body->length, means, job->arena, err);
    buffer_free(body);
    if (good) {
        good = decode_members(job, &document, err);
        document_free(&document);
    }
    return good && check(job, err);
}

struct job *job_new(const struct request_limits *limits, enum job_kind kind, enum job_format format,
                    struct buffer *body, struct read_context means, struct error *err)
{
    double start = now();
    struct job *job = calloc(1, sizeof *job);
    if (job) { /* no compound literal: most of a job is large, and already zero */
        job->limits = *limits;
        job->kind = kind;
        job->format = format;
        job->arena = arena_new(limits->memory);
    }
    if (!job || !job->arena) {
        error_set(err, ERROR_MEMORY, "", "No memory for a request.");
        buffer_free(body);
        free(job);
        return NULL;
    }
    if (!decode(job, body, means, err)) {
        job_free(job);
        return NULL;
    }
    job->parse_seconds = now() - start;
    return job;
}

/* --- computing and encoding --- */

double job_work(const struct job *job)
{
    return count_flops(job) + FLOPS_PER_NUMBER * (double)job_numbers(job);
}

/* Queries, keys, values and output may all be made of others: projected, turned, joined with the past. */
static double count_rows(const struct attention *a)
{
    double queries = (double)a->heads * (double)a->queries;
    double keys = (double)a->kv_heads * (double)a->keys;
    double width = (double)(a->d_k + a->d_v);
    return (double)a->batch * ((queries + 2 * keys) * width + (double)a->queries * (double)a->d_out);
}

double job_room(const struct job *job)
{
    double room = (double)job_held(job);
    if (job_blocks(job) == 1)
        room += BYTES_PER_NUMBER * (double)job_numbers(job);
    if (job->kind != JOB_MERGE)
        room += (double)dtype_size(job->attention.dtype) * count_rows(&job->attention);
    return room;
}

size_t job_numbers(const struct job *job)
{
    if (job->kind == JOB_MERGE)
        return tensor_count(job->join.output) + tensor_count(job->join.log_sum_exp);
    return job->reply.sections.numbers;
}

size_t job_held(const struct job *job)
{
    return arena_held(job->arena);
}

static bool compute(struct job *job, struct pool *pool, const atomic_bool *cancel, struct error *err)
{
    if (!attention_prepare(&job->attention, job->arena, pool, err) ||
        !reply_compute(&job->reply, pool, cancel, job->arena, err) || !reply_json_prepare(&job->reply, job->arena, err))
        return false;
    return job->kind != JOB_EXPLAIN ||
           explain_write(&job->options, &job->attention, job->format == JOB_TEXT, job->arena, &job->explained, err);
}

bool job_run(struct job *job, struct pool *pool, const atomic_bool *cancel, struct error *err)
{
    double start = now();
    bool good =
        job->kind == JOB_MERGE ? merge_request_run(&job->join, job->arena, err) : compute(job, pool, cancel, err);
    job->compute_seconds = now() - start;
    return good;
}

size_t job_blocks(const struct job *job)
{
    return job->kind != JOB_ATTENTION || job->format == JOB_TEXT ? 1 : job->reply.blocks;
}

bool job_block(const struct job *job, size_t index, struct buffer *out)
{
    if (job->kind == JOB_MERGE)
        return merge_request_reply(&job->join, out);
    if (job->kind == JOB_EXPLAIN) {
        buffer_append(out, job->explained.data, job->explained.length);
        return !out->failed;
    }
    if (job->format == JOB_TEXT)
        return reply_text_write(&job->reply, out);
    return reply_json_block(&job->reply, index, out);
}

const char *job_media_type(const struct job *job)
{
    return job->format == JOB_TEXT && job->kind != JOB_MERGE ? "text/plain; charset=utf-8" : "application/json";
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
    buffer_free(&job->explained);
    arena_free(job->arena);
    free(job);
}
