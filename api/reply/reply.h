/* The reply to POST /v1/attention: planned and priced before anything is computed; writers encode it block by block. */
#ifndef API_REPLY_REPLY_H
#define API_REPLY_REPLY_H

#include "api/reply/checks.h"
#include "api/reply/readout.h"
#include "api/reply/section.h"
#include "api/reply/skeleton.h"
#include "api/reply/way_back.h"
#include "api/request/limits.h"
#include "core/cache/compare.h"
#include "core/tensor/arena.h"

/* Up to so many numbers a reply is computed whole and is one block; beyond, [n][m] quantities are computed again block
 * by block while they are encoded, so that memory does not depend on the size of the reply. */
#define REPLY_WHOLE_MAX 16384

struct reply {
    const struct options *options;
    const struct attention *a;
    struct section_list sections;
    struct section_list checked; /* what `expect` is held against; never written */
    struct result_check *checks; /* of each that is expected */
    bool whole;
    struct attention_results results; /* what is in memory */
    void *output;                     /* as returned: projected where there is a w_o */
    void *head_outputs;               /* [b][h][n][d_out], where they are wanted */
    struct readout readout;
    struct way_back back;
    struct attention *exact; /* with `quantize` or `precision`: the request without, in the arena */
    void *exact_output;
    struct comparison comparison;
    struct precision_tally tally; /* with `precision` */
    size_t blocks;
    struct skeleton skeleton; /* of the JSON writer */
};

/* Fills a zeroed reply: plans the sections, holds them against the limits (ERROR_TOO_LARGE says what to leave out) and
 * cuts them into blocks. */
bool reply_plan(struct reply *reply, const struct options *options, const struct attention *a,
                const struct request_limits *limits, struct arena *arena, struct error *err);

/* Computes what has to be in memory (a is prepared). */
bool reply_compute(struct reply *reply, struct pool *pool, const atomic_bool *cancel, struct arena *arena,
                   struct error *err);

/* Whether a result is computed to be shown or checked. */
bool reply_needs(const struct reply *reply, enum result_id id);

/* Whether it shows, or goes back through, keys and values of the heads: an absorbed request does not make them by
 * itself. */
bool reply_shows_keys(const struct reply *reply);

/* The section that block `index` belongs to. */
const struct section *reply_section(const struct reply *reply, size_t index);

/* Whose rows a section shows: the request's, or those of the exact one. */
const struct attention *reply_attention(const struct reply *reply, const struct section *section);

/* The weights that contributions multiply, when those of the whole request are in memory, or NULL. */
const void *reply_weights(const struct reply *reply);

#endif
