/* One request from body to reply: decode, compute, encode. No HTTP here; the server calls these in this order. */
#ifndef API_JOB_H
#define API_JOB_H

#include "api/json/read_context.h"
#include "api/numbers/buffer.h"
#include "api/openapi/endpoint.h"
#include "api/request/limits.h"
#include "core/tensor/error.h"
#include "core/tensor/pool.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* JOB_ATTENTION, JOB_EXPLAIN, ..: one for each path that computes. */
enum job_kind {
#define JOB_KIND(kind, functions, path, id, link, summary, traits, reply, table) JOB_##kind,
    ENDPOINT_JOBS(JOB_KIND)
#undef JOB_KIND
        JOB_KINDS
};

enum job_format {
    JOB_JSON,
    JOB_TEXT,    /* text/plain for people; JOB_MERGE has none and gives JSON */
    JOB_SHADED,  /* the same with cells in 256 colours, of JOB_ATTENTION; of JOB_EXPLAIN it is JOB_TEXT */
    JOB_PICTURE, /* image/svg+xml, of JOB_ATTENTION; others give JSON */
    JOB_FORMATS
};

struct job;

/* What a thread that reads many small requests keeps of the last one; NULL when there is no memory. */
struct document_memory *job_memory_new(void);
void job_memory_free(struct document_memory *memory); /* NULL is fine */

/* The defaults of a request, for all threads; NULL when there is no memory. */
struct options *job_defaults_new(void);
void job_defaults_free(struct options *defaults); /* NULL is fine */

/* What a body is, and what its reply has to be. */
struct job_order {
    enum job_kind kind;
    enum job_format format;
    bool split;         /* bytes may follow the JSON, of a kind that takes them: */
    size_t json_length; /* what the client says of it; (size_t)-1: nothing that is a number */
    size_t lead;        /* blanks that stand before what the client sent */
};

/* Whether reading the text may take longer than its length says: it may name a tensor of seeded numbers. */
bool job_may_draw(const struct buffer *body);

/* Decodes and checks a body: everything that can be refused without computing is refused here. The text is taken over:
 * freed and zeroed as soon as it is decoded (also on failure), or kept when bytes follow the JSON, which are used where
 * they lie. NULL and an error. Runs on the calling thread. */
struct job *job_new(const struct request_limits *limits, const struct job_order *order, struct buffer *body,
                    struct read_context context, struct error *err);

/* Roughly how much there is to do, in floating-point operations, numbers to print included: decides whether a thread
 * hop pays. */
double job_work(const struct job *job);

/* At most how many bytes it takes: never more than limits->memory. */
double job_room(const struct job *job);

/* At least how many bytes it will hold when job_run has ended; asked before. */
double job_lasting(const struct job *job);

/* How many numbers the reply has. */
size_t job_numbers(const struct job *job);

/* Bytes that it holds now; they change only while job_new and job_run work on it. */
size_t job_held(const struct job *job);

/* Computes. `pool` may be NULL (the calling thread alone, as for tiny jobs). Stops at the next block when *cancel
 * becomes true. After it has returned true nothing can fail but memory. */
bool job_run(struct job *job, struct pool *pool, const atomic_bool *cancel, struct error *err);

/* The reply is a sequence of blocks (how many is known before job_run); each is encoded by a call of its own, in any
 * order, on any thread, also at the same time. One block: the reply is small and complete in it. */
size_t job_blocks(const struct job *job);
/* At most how many bytes a block has, and what is computed again for it; of a reply that has several. Known before
 * job_run but for the text around the numbers. */
size_t job_block_room(const struct job *job);
bool job_block(const struct job *job, size_t index, struct buffer *out);

/* Bytes that a reply in one block may take, of what the request may hold. Asked after job_run. */
size_t job_text_room(const struct job *job);

/* The *length bytes of a block that lie in memory already, as long as the job does, or NULL: job_block writes it. */
const void *job_view(const struct job *job, size_t index, size_t *length);

/* After job_run: bytes of the whole reply, and of the JSON that bytes follow; 0: not known, and there is no such. */
size_t job_length(const struct job *job);
size_t job_json_length(const struct job *job);

/* Media type of the reply. */
const char *job_media_type(const struct job *job);

/* Seconds spent in job_new and job_run. */
double job_parse_seconds(const struct job *job);
double job_compute_seconds(const struct job *job);

void job_free(struct job *job); /* NULL is fine */

#endif
