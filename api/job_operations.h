/* What every job has, and the row of functions that a kind of job is. For the files of this folder alone. */
#ifndef API_JOB_OPERATIONS_H
#define API_JOB_OPERATIONS_H

#include "api/infer/infer_request.h"
#include "api/job.h"
#include "api/json/document.h"
#include "api/price.h"
#include "api/request/option.h"
#include "core/tensor/arena.h"

struct job_operations;

struct job {
    const struct job_operations *operations;
    struct request_limits limits;
    enum job_format format;
    struct arena *arena;            /* which holds the job too */
    const struct options *defaults; /* while it is decoded; may be NULL */
    struct buffer text;             /* of a reply that is written while it is computed */
    struct infer_bytes beside;      /* what follows the JSON of the body, in the arena's keeping */
    double parse_seconds, compute_seconds;
    _Alignas(max_align_t) unsigned char state[]; /* operations->size bytes, the first `cleared` zero at first */
};

struct job_operations {
    size_t size;
    size_t cleared; /* what follows is written whole by decode and check */
    bool splits;    /* bytes may follow the JSON of the body */

    /* From a document, which ends after this call, to the state. */
    bool (*decode)(struct job *job, const struct document *document, struct error *err);

    /* Refuses whatever can be refused without computing, and plans the reply. */
    bool (*check)(struct job *job, struct error *err);

    double (*flops)(const struct job *job);
    size_t (*numbers)(const struct job *job); /* in the reply */
    struct price (*price)(const struct job *job);
    bool (*run)(struct job *job, struct pool *pool, const atomic_bool *cancel, struct error *err);
    size_t (*blocks)(const struct job *job);
    bool (*block)(const struct job *job, size_t index, struct buffer *out);
    size_t (*block_room)(const struct job *job); /* bytes of a block at most; NULL: there is one, and it is small */
    const char *(*media_type)(const struct job *job);
    const void *(*view)(const struct job *job, size_t index, size_t *length); /* NULL: none lies in memory */
    size_t (*length)(const struct job *job);                                  /* NULL: not known */
    size_t (*json_length)(const struct job *job);                             /* NULL: nothing but JSON */
};

/* job_attention, job_explain, ..: the row of each kind. */
#define JOB_FUNCTION(kind, functions, path, id, link, summary, traits, reply, table) \
    const struct job_operations *job_##functions(void);
ENDPOINT_JOBS(JOB_FUNCTION)
#undef JOB_FUNCTION

/* Reads the document as an object of the table into a struct that holds the defaults. `dtype` is a member of it. */
bool job_decode(struct job *job, const struct document *document, const struct option_table *table,
                const enum dtype *dtype, void *into, struct error *err);

/* A block of such a reply, which has one. */
bool job_text_block(const struct job *job, size_t index, struct buffer *out);

/* Of a reply in one piece, and of JSON. */
size_t job_one_block(const struct job *job);
const char *job_json_type(const struct job *job);

/* Lets job->text grow by what the arena does not hold. */
void job_text_begin(struct job *job);

/* ERROR_TOO_LARGE when it takes more operations than the limit. */
bool job_check_flops(const struct job *job, struct error *err);

#endif
