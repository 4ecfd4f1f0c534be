/* One request for attention, made up at random, and what core makes of it. */
#ifndef TESTS_CORE_TRIAL_H
#define TESTS_CORE_TRIAL_H

#include "core/attention.h"
#include "tests/core/draw.h"
#include "tests/core/reference.h"

/* rank 2, 3 or 4, or packed with rank 2 or 3; batch, heads and kv_heads are 1 where the rank has no such axis. */
struct trial_shape {
    enum dtype dtype;
    size_t rank;
    bool packed;
    size_t batch, heads, kv_heads, queries, keys, past, d_k, d_v; /* keys: new ones, without the past */
};

/* Everything lives in the arena; the request may be changed between trial_start and trial_run. */
struct trial {
    struct trial_shape shape;
    struct attention_request request;
    struct arena *arena;
    struct attention attention;
    struct attention_results results; /* of the last trial_run: every quantity that the request has */
};

/* Any layout with small sizes: 1, odd, n != m, d_k != d_v. */
struct trial_shape trial_shape_random(struct draw *draw, enum dtype dtype);

/* Rank 2. */
struct trial_shape trial_shape_plain(enum dtype dtype, size_t queries, size_t keys, size_t d_k, size_t d_v);

/* q, k, v and the past are filled with random numbers. */
void trial_start(struct trial *trial, struct trial_shape shape, struct draw *draw);
void trial_end(struct trial *trial);

/* A tensor of the trial's dtype, filled with random numbers, and one of booleans, about `percent` of them true. */
struct tensor trial_tensor(struct trial *trial, size_t rank, const size_t *shape, struct draw *draw);
struct tensor trial_booleans(struct trial *trial, size_t rank, const size_t *shape, unsigned percent,
                             struct draw *draw);
struct integers trial_integers(struct trial *trial, size_t count, int64_t low, int64_t high, struct draw *draw);
struct reals trial_reals(struct trial *trial, size_t count, struct draw *draw);

/* Masks of every kind in any combination (empty rows give zeros), and every other option. */
void trial_mask_random(struct trial *trial, struct draw *draw);
void trial_options_random(struct trial *trial, struct draw *draw);

/* Checks, prepares and runs with every quantity wanted, and fails the test when core refuses. trial_try returns core's
 * answer. */
void trial_run(struct trial *trial, struct pool *pool);
bool trial_try(struct trial *trial, struct pool *pool, struct error *err);

/* Room for a quantity of this trial, all bytes 0xA5. */
void *trial_room(struct trial *trial, enum quantity quantity);

/* Sets or reads element `index` of a dense tensor. */
void trial_set(struct tensor t, size_t index, double value);

/* A result in the order [b][h][n][width], whatever the layout; `at` counts elements. */
double trial_value(const struct trial *trial, enum quantity quantity, size_t at);

/* Numbers of a quantity per query. */
size_t trial_width(const struct trial *trial, enum quantity quantity);

/* The largest |v| that a query could see. */
double trial_largest_value(const struct trial *trial);

/* How far core may be from the reference, as a part of the largest number: 1e-13 in float64, 2e-6 in float32. */
double trial_tolerance(const struct trial *trial);

/* Fails the test, naming `seed`, where a quantity is not what the reference says. */
void trial_compare(const struct trial *trial, const struct reference *ref, uint64_t seed);

#endif
