/* What must hold of attention whatever the numbers: each test has its mathematics above it. */
#include "core/attention.h"
#include "core/tensor/blas.h"
#include "tests/core/trial.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SEEDS 60

static void start(void)
{
    struct error err = {0};
    ck_assert_msg(blas_start(&err), "%s", err.faults[0].text);
}

/* Even seeds are float64, odd ones float32. */
static enum dtype dtype_of(uint64_t seed)
{
    return seed % 2 == 0 ? DTYPE_FLOAT64 : DTYPE_FLOAT32;
}

static struct trial_shape plain_random(struct draw *draw, enum dtype dtype)
{
    size_t n = draw_size(draw, 1, 40), m = draw_size(draw, 2, 70), d = draw_size(draw, 1, 33);
    return trial_shape_plain(dtype, n, m, d, draw_size(draw, 1, 20));
}

static void assert_near(double found, double expected, double room, uint64_t seed, const char *what)
{
    if (!(fabs(found - expected) <= room))
        ck_abort_msg("seed %" PRIu64 ": %s is %.17g, not %.17g (may be off by %g)", seed, what, found, expected, room);
}

/* A tensor with its rows (of the last axis) in another order: row r of the copy is row order[r] of t, within each
 * matrix. */
static struct tensor reordered(struct trial *trial, struct tensor t, const size_t *order)
{
    struct draw draw = {0};
    struct tensor copy = trial_tensor(trial, t.rank, t.shape, &draw);
    size_t rows = t.shape[t.rank - 2], width = t.shape[t.rank - 1];
    for (size_t at = 0; at < tensor_count(t); at++) {
        size_t r = at / width % rows, matrix = at / width / rows;
        trial_set(copy, at, reference_element(t, (matrix * rows + order[r]) * width + at % width));
    }
    return copy;
}

static void shuffle(size_t *order, size_t count, struct draw *draw)
{
    for (size_t at = 0; at < count; at++)
        order[at] = at;
    for (size_t at = count - 1; at > 0; at--) {
        size_t other = draw_size(draw, 0, at), kept = order[at];
        order[at] = order[other];
        order[other] = kept;
    }
}

static void assert_permuted(uint64_t seed)
{
    struct draw draw = {seed};
    struct trial whole, shuffled;
    size_t queries[40], keys[70];
    struct trial_shape shape = plain_random(&draw, dtype_of(seed));
    trial_start(&whole, shape, &draw);
    shuffled = whole;
    shuffle(queries, shape.queries, &draw);
    shuffle(keys, shape.keys, &draw);
    shuffled.request.q = reordered(&whole, whole.request.q, queries);
    shuffled.request.k = reordered(&whole, whole.request.k, keys);
    shuffled.request.v = reordered(&whole, whole.request.v, keys);
    trial_run(&whole, NULL);
    trial_run(&shuffled, NULL);
    double room = 2 * trial_tolerance(&whole) * trial_largest_value(&whole);
    for (size_t at = 0; at < shape.queries * shape.d_v; at++) {
        size_t from = queries[at / shape.d_v] * shape.d_v + at % shape.d_v;
        assert_near(trial_value(&shuffled, QUANTITY_OUTPUT, at), trial_value(&whole, QUANTITY_OUTPUT, from), room, seed,
                    "output");
    }
    trial_end(&whole);
}

/* A(PQ, RK, RV) = P A(Q, K, V) for permutations P of the queries and R of the keys. */
START_TEST(permuted_rows_permute_the_output)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        assert_permuted(seed);
}
END_TEST

/* softmax(s + c) = softmax(s) for any c of a row; log_sum_exp moves by c. */
START_TEST(softmax_does_not_see_a_shift)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draw draw = {seed};
        struct trial plain, moved;
        struct trial_shape shape = plain_random(&draw, dtype_of(seed));
        trial_start(&plain, shape, &draw);
        moved = plain;
        moved.request.mask.bias = trial_tensor(&plain, 2, (const size_t[]){shape.queries, 1}, &draw);
        trial_run(&plain, NULL);
        trial_run(&moved, NULL);
        double room = 4 * trial_tolerance(&plain);
        for (size_t at = 0; at < shape.queries * shape.keys; at++)
            assert_near(trial_value(&moved, QUANTITY_WEIGHTS, at), trial_value(&plain, QUANTITY_WEIGHTS, at), room,
                        seed, "weight");
        for (size_t i = 0; i < shape.queries; i++)
            assert_near(trial_value(&moved, QUANTITY_LOG_SUM_EXP, i),
                        trial_value(&plain, QUANTITY_LOG_SUM_EXP, i) + reference_element(moved.request.mask.bias, i),
                        room * 10, seed, "log_sum_exp");
        trial_end(&plain);
    }
}
END_TEST

/* y_i depends on k_j, v_j with j <= i alone: bit for bit when later ones change. */
START_TEST(causal_rows_ignore_later_keys)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draw draw = {seed};
        struct trial before, after;
        struct trial_shape shape = plain_random(&draw, dtype_of(seed));
        trial_start(&before, shape, &draw);
        before.request.mask.causal = true;
        after = before;
        trial_run(&before, NULL);
        size_t from = draw_size(&draw, 1, shape.keys - 1); /* keys from here on change; rows before here may not */
        for (size_t at = from * shape.d_k; at < shape.keys * shape.d_k; at++)
            trial_set(after.request.k, at, 3 * draw_real(&draw));
        for (size_t at = from * shape.d_v; at < shape.keys * shape.d_v; at++)
            trial_set(after.request.v, at, 3 * draw_real(&draw));
        trial_run(&after, NULL);
        size_t rows = from < shape.queries ? from : shape.queries;
        ck_assert_msg(memcmp(before.results.of[QUANTITY_OUTPUT], after.results.of[QUANTITY_OUTPUT],
                             rows * shape.d_v * dtype_size(shape.dtype)) == 0,
                      "seed %" PRIu64, seed);
        trial_end(&before);
    }
}
END_TEST

/* Rows [first, first + count) of a matrix, as a view. */
static struct tensor rows_of(struct tensor t, size_t first, size_t count)
{
    t.data = (char *)t.data + first * t.stride[0] * dtype_size(t.dtype);
    t.shape[0] = count;
    return t;
}

static void assert_merged(uint64_t seed)
{
    struct draw draw = {seed};
    struct trial whole, left, right;
    struct trial_shape shape = plain_random(&draw, dtype_of(seed));
    trial_start(&whole, shape, &draw);
    left = right = whole;
    size_t cut = draw_size(&draw, 1, shape.keys - 1);
    left.request.k = rows_of(whole.request.k, 0, cut);
    left.request.v = rows_of(whole.request.v, 0, cut);
    right.request.k = rows_of(whole.request.k, cut, shape.keys - cut);
    right.request.v = rows_of(whole.request.v, cut, shape.keys - cut);
    if (draw_chance(&draw, 50)) /* only one part may hold the sink */
        whole.request.sinks = left.request.sinks = trial_reals(&whole, 1, &draw);
    trial_run(&whole, NULL);
    trial_run(&left, NULL);
    trial_run(&right, NULL);
    double room = 4 * trial_tolerance(&whole) * fmax(1, trial_largest_value(&whole));
    for (size_t i = 0; i < shape.queries; i++) {
        double l_a = trial_value(&left, QUANTITY_LOG_SUM_EXP, i), l_b = trial_value(&right, QUANTITY_LOG_SUM_EXP, i);
        double top = fmax(l_a, l_b), a = exp(l_a - top), b = exp(l_b - top);
        assert_near(trial_value(&whole, QUANTITY_LOG_SUM_EXP, i), top + log(a + b), room * 4, seed, "log_sum_exp");
        for (size_t t = i * shape.d_v; t < (i + 1) * shape.d_v; t++) {
            double y = a * trial_value(&left, QUANTITY_OUTPUT, t) + b * trial_value(&right, QUANTITY_OUTPUT, t);
            assert_near(trial_value(&whole, QUANTITY_OUTPUT, t), y / (a + b), room, seed, "output");
        }
    }
    trial_end(&whole);
}

/* M = max(l_a, l_b); y = (e^(l_a-M) y_a + e^(l_b-M) y_b) / (e^(l_a-M) + e^(l_b-M)); l = M + ln(e^(l_a-M) + e^(l_b-M)).
 */
START_TEST(merged_parts_equal_the_whole)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        assert_merged(seed);
}
END_TEST

/* k_j = k for all j: s_ij does not depend on j, w_ij = 1/m, y_i = (sum_j v_j) / m; and so it is for scale 0. */
START_TEST(equal_keys_give_the_mean)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draw draw = {seed};
        struct trial trial;
        struct trial_shape shape = plain_random(&draw, dtype_of(seed));
        trial_start(&trial, shape, &draw);
        trial.request.has_scale = seed % 3 == 0;
        for (size_t at = 0; at < shape.keys * shape.d_k && seed % 3 != 0; at++)
            trial_set(trial.request.k, at, reference_element(trial.request.k, at % shape.d_k));
        trial_run(&trial, NULL);
        double room = trial_tolerance(&trial) * trial_largest_value(&trial);
        for (size_t at = 0; at < shape.queries * shape.d_v; at++) {
            double sum = 0;
            for (size_t j = 0; j < shape.keys; j++)
                sum += reference_element(trial.request.v, j * shape.d_v + at % shape.d_v);
            assert_near(trial_value(&trial, QUANTITY_OUTPUT, at), sum / (double)shape.keys, room, seed, "output");
        }
        trial_end(&trial);
    }
}
END_TEST

/* Matrix `index` of a rank-3 tensor. */
static struct tensor matrix_of(struct tensor t, size_t index)
{
    char *data = (char *)t.data + index * t.stride[0] * dtype_size(t.dtype);
    return tensor_dense(t.dtype, 2, t.shape + 1, data);
}

static void assert_heads(uint64_t seed)
{
    struct draw draw = {seed};
    struct trial all, one;
    struct trial_shape shape = plain_random(&draw, dtype_of(seed));
    shape.rank = 3;
    shape.kv_heads = draw_size(&draw, 1, 3);
    shape.heads = shape.kv_heads * draw_size(&draw, 1, 3);
    trial_start(&all, shape, &draw);
    trial_run(&all, NULL);
    double room = 2 * trial_tolerance(&all) * trial_largest_value(&all);
    for (size_t h = 0; h < shape.heads; h++) {
        one = all;
        size_t g = h / (shape.heads / shape.kv_heads);
        one.request.q = matrix_of(all.request.q, h);
        one.request.k = matrix_of(all.request.k, g);
        one.request.v = matrix_of(all.request.v, g);
        trial_run(&one, NULL);
        size_t count = shape.queries * shape.d_v;
        for (size_t at = 0; at < count; at++)
            assert_near(trial_value(&all, QUANTITY_OUTPUT, h * count + at), trial_value(&one, QUANTITY_OUTPUT, at),
                        room, seed, "output");
    }
    trial_end(&all);
}

/* Head h of the whole is attention of q_h over k_g, v_g with g = h / (H/G): blocks, not h mod G. */
START_TEST(heads_are_blocks)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        assert_heads(seed);
}
END_TEST

/* [b][h][rows][width] as [b][rows][h * width]. */
static struct tensor packed(struct trial *trial, struct tensor t)
{
    struct draw draw = {0};
    size_t h = t.shape[1], rows = t.shape[2], width = t.shape[3];
    struct tensor copy = trial_tensor(trial, 3, (const size_t[]){t.shape[0], rows, h * width}, &draw);
    for (size_t at = 0; at < tensor_count(t); at++) {
        size_t c = at % width, r = at / width % rows, head = at / width / rows % h, b = at / width / rows / h;
        trial_set(copy, ((b * rows + r) * h + head) * width + c, reference_element(t, at));
    }
    return copy;
}

/* feature = head * d + t: the packed layout is the same numbers in another order, so it gives the same bits. */
START_TEST(packed_equals_split)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draw draw = {seed};
        struct trial split, joined;
        struct trial_shape shape = plain_random(&draw, dtype_of(seed));
        shape.rank = 4;
        shape.batch = draw_size(&draw, 1, 3);
        shape.kv_heads = draw_size(&draw, 1, 3);
        shape.heads = shape.kv_heads * 2;
        trial_start(&split, shape, &draw);
        joined = split;
        joined.request.q = packed(&split, split.request.q);
        joined.request.k = packed(&split, split.request.k);
        joined.request.v = packed(&split, split.request.v);
        joined.request.heads = shape.heads;
        joined.request.kv_heads = shape.kv_heads;
        trial_run(&split, NULL);
        trial_run(&joined, NULL);
        for (size_t at = 0; at < attention_count(&split.attention, QUANTITY_OUTPUT); at++)
            if (trial_value(&split, QUANTITY_OUTPUT, at) != trial_value(&joined, QUANTITY_OUTPUT, at))
                ck_abort_msg("seed %" PRIu64 ": output at %zu", seed, at);
        trial_end(&split);
    }
}
END_TEST

/* Keys [past; new] with the causal offset p are the same request as all keys at once: the same bits. */
START_TEST(past_and_new_equal_the_whole)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draw draw = {seed};
        struct trial whole, step;
        struct trial_shape shape = plain_random(&draw, dtype_of(seed));
        int64_t past = draw_integer(&draw, 1, (int64_t)shape.keys - 1);
        trial_start(&whole, shape, &draw);
        whole.request.mask.causal = true;
        step = whole;
        whole.request.mask.query_offset = (struct integers){.values = &past, .count = 1};
        size_t p = (size_t)past, rest = shape.keys - p;
        step.request.past_k = rows_of(whole.request.k, 0, p);
        step.request.past_v = rows_of(whole.request.v, 0, p);
        step.request.k = rows_of(whole.request.k, p, rest);
        step.request.v = rows_of(whole.request.v, p, rest);
        trial_run(&whole, NULL);
        trial_run(&step, NULL);
        ck_assert_msg(memcmp(whole.results.of[QUANTITY_OUTPUT], step.results.of[QUANTITY_OUTPUT],
                             shape.queries * shape.d_v * dtype_size(shape.dtype)) == 0,
                      "seed %" PRIu64, seed);
        trial_end(&whole);
    }
}
END_TEST

/* Feeding one row at a time, with what came before as its past, gives the rows of causal attention with rotary
 * positions. */
START_TEST(decoding_equals_the_whole)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct draw draw = {seed};
        struct trial whole;
        size_t n = draw_size(&draw, 2, 20), d = 2 * draw_size(&draw, 1, 8), e = draw_size(&draw, 1, 9);
        trial_start(&whole, trial_shape_plain(dtype_of(seed), n, n, d, e), &draw);
        whole.request.mask.causal = true;
        whole.request.rope = (struct rope_request){.on = true, .theta = 100, .interleaved = seed % 3 == 0};
        trial_run(&whole, NULL);
        double room = 2 * trial_tolerance(&whole) * trial_largest_value(&whole);
        struct tensor rotated = tensor_dense(whole.shape.dtype, 2, (const size_t[]){n, d}, whole.attention.k.data);
        for (size_t i = 0; i < n; i++) {
            struct trial step = whole;
            step.request.q = rows_of(whole.request.q, i, 1);
            step.request.k = rows_of(whole.request.k, i, 1);
            step.request.v = rows_of(whole.request.v, i, 1);
            if (i > 0) {
                step.request.past_k = rows_of(rotated, 0, i);
                step.request.past_v = rows_of(whole.request.v, 0, i);
            }
            trial_run(&step, NULL);
            for (size_t t = 0; t < e; t++)
                assert_near(trial_value(&step, QUANTITY_OUTPUT, t), trial_value(&whole, QUANTITY_OUTPUT, i * e + t),
                            room, seed, "output");
        }
        trial_end(&whole);
    }
}
END_TEST

/* sum_j w_ij = 1 for a row that sees a key and has no sink. */
START_TEST(rows_of_weights_sum_to_one)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draw draw = {seed};
        struct trial trial;
        trial_start(&trial, trial_shape_random(&draw, dtype_of(seed)), &draw);
        trial_mask_random(&trial, &draw);
        trial_run(&trial, NULL);
        const struct attention *a = &trial.attention;
        for (size_t row = 0; row < a->batch * a->heads * a->queries; row++) {
            double sum = 0;
            for (size_t j = 0; j < a->keys; j++)
                sum += trial_value(&trial, QUANTITY_WEIGHTS, row * a->keys + j);
            double expected = isinf(trial_value(&trial, QUANTITY_LOG_SUM_EXP, row)) ? 0 : 1;
            assert_near(sum, expected, trial_tolerance(&trial), seed, "sum of a row");
            assert_near(trial_value(&trial, QUANTITY_WEIGHT_SUM, row), expected, trial_tolerance(&trial), seed,
                        "weight_sum");
        }
        trial_end(&trial);
    }
}
END_TEST

/* q_i -> R(p_i) q_i, k_j -> R(p_j) k_j leave q . k a function of p_i - p_j: moving all positions changes no score. */
START_TEST(rotation_sees_only_differences)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draw draw = {seed};
        struct trial near, far;
        int64_t queries[40], keys[70];
        struct trial_shape shape = plain_random(&draw, DTYPE_FLOAT64);
        shape.d_k = 2 * draw_size(&draw, 1, 16);
        trial_start(&near, shape, &draw);
        near.request.rope = (struct rope_request){.on = true, .theta = 10000, .interleaved = seed % 2 == 0};
        far = near;
        for (size_t i = 0; i < shape.queries; i++)
            queries[i] = (int64_t)i + 1000;
        for (size_t j = 0; j < shape.keys; j++)
            keys[j] = (int64_t)j + 1000;
        far.request.rope.query_positions = (struct integers){.values = queries, .count = shape.queries};
        far.request.rope.key_positions = (struct integers){.values = keys, .count = shape.keys};
        trial_run(&near, NULL);
        trial_run(&far, NULL);
        for (size_t at = 0; at < shape.queries * shape.keys; at++)
            assert_near(trial_value(&far, QUANTITY_SCORES, at), trial_value(&near, QUANTITY_SCORES, at), 1e-10, seed,
                        "score");
        trial_end(&near);
    }
}
END_TEST

/* A sink is one more key that everyone sees, of that score and the value 0. */
START_TEST(a_sink_is_a_key_of_no_value)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draw draw = {seed};
        struct trial sink, key;
        struct trial_shape shape = plain_random(&draw, dtype_of(seed));
        size_t last = shape.keys - 1;
        trial_start(&key, shape, &draw);
        key.request.mask.bias = trial_tensor(&key, 2, (const size_t[]){1, shape.keys}, &draw);
        sink = key;
        for (size_t t = 0; t < shape.d_k; t++)
            trial_set(key.request.k, last * shape.d_k + t, 0);
        for (size_t t = 0; t < shape.d_v; t++)
            trial_set(key.request.v, last * shape.d_v + t, 0);
        double logit = reference_element(key.request.mask.bias, last);
        sink.request.sinks = (struct reals){&logit, 1};
        sink.request.k = rows_of(key.request.k, 0, last);
        sink.request.v = rows_of(key.request.v, 0, last);
        sink.request.mask.bias = tensor_dense(shape.dtype, 2, (const size_t[]){1, last}, key.request.mask.bias.data);
        trial_run(&key, NULL);
        trial_run(&sink, NULL);
        double room = 2 * trial_tolerance(&key) * trial_largest_value(&key);
        for (size_t at = 0; at < shape.queries * shape.d_v; at++)
            assert_near(trial_value(&sink, QUANTITY_OUTPUT, at), trial_value(&key, QUANTITY_OUTPUT, at), room, seed,
                        "output");
        trial_end(&key);
    }
}
END_TEST

/* sum_t q_it k_jt is the score, sum_j w_ij v_jt the output. */
START_TEST(terms_add_up)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draw draw = {seed};
        struct trial trial;
        struct trial_shape shape = plain_random(&draw, dtype_of(seed));
        trial_start(&trial, shape, &draw);
        trial_run(&trial, NULL);
        double room = 10 * trial_tolerance(&trial) * fmax(1, trial_largest_value(&trial));
        for (size_t at = 0; at < shape.queries * shape.keys; at++) {
            double sum = 0;
            for (size_t t = 0; t < shape.d_k; t++)
                sum += trial_value(&trial, QUANTITY_PRODUCTS, at * shape.d_k + t);
            assert_near(trial_value(&trial, QUANTITY_SCORES, at), sum, room, seed, "score");
        }
        for (size_t at = 0; at < shape.queries * shape.d_v; at++) {
            double sum = 0;
            for (size_t j = 0; j < shape.keys; j++)
                sum += trial_value(&trial, QUANTITY_CONTRIBUTIONS,
                                   (at / shape.d_v * shape.keys + j) * shape.d_v + at % shape.d_v);
            assert_near(trial_value(&trial, QUANTITY_OUTPUT, at), sum, room, seed, "output");
        }
        trial_end(&trial);
    }
}
END_TEST

/* E[dropped_ij] = w_ij: each weight is kept with probability 1 - p and divided by it; p = 0 changes no bit. */
START_TEST(dropout_keeps_its_share)
{
    struct draw draw = {12};
    struct trial trial;
    trial_start(&trial, trial_shape_plain(DTYPE_FLOAT64, 150, 200, 4, 4), &draw);
    trial.request.has_dropout = true;
    trial_run(&trial, NULL);
    for (size_t at = 0; at < 150 * 200; at++)
        if (trial_value(&trial, QUANTITY_DROPPED, at) != trial_value(&trial, QUANTITY_WEIGHTS, at))
            ck_abort_msg("weight %zu changed", at);
    trial.request.dropout_p = 0.3;
    trial_run(&trial, NULL);
    double kept = 0;
    for (size_t at = 0; at < 150 * 200; at++) {
        double weight = trial_value(&trial, QUANTITY_WEIGHTS, at), dropped = trial_value(&trial, QUANTITY_DROPPED, at);
        kept += dropped != 0;
        if (dropped != 0)
            assert_near(dropped, weight / 0.7, 1e-15, 12, "dropped weight");
    }
    ck_assert_double_eq_tol(kept / 30000, 0.7, 0.011); /* four standard deviations */
    trial_end(&trial);
}
END_TEST

/* |c tanh(s/c)| < c or equal to it by rounding; c -> infinity is the identity. */
START_TEST(softcap_bounds_the_scores)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draw draw = {seed};
        struct trial trial;
        struct trial_shape shape = plain_random(&draw, dtype_of(seed));
        trial_start(&trial, shape, &draw);
        trial.request.has_scale = true;
        trial.request.scale = 50;
        trial.request.softcap = 2;
        trial_run(&trial, NULL);
        for (size_t at = 0; at < shape.queries * shape.keys; at++)
            if (!(fabs(trial_value(&trial, QUANTITY_CAPPED, at)) <= 2))
                ck_abort_msg("seed %" PRIu64 ": capped %zu is %g", seed, at, trial_value(&trial, QUANTITY_CAPPED, at));
        trial.request.softcap = 1e8;
        trial_run(&trial, NULL);
        for (size_t at = 0; at < shape.queries * shape.keys; at++) {
            double scaled = trial_value(&trial, QUANTITY_SCALED, at);
            assert_near(trial_value(&trial, QUANTITY_CAPPED, at), scaled, 3e-7 * (1 + fabs(scaled)), seed, "capped");
        }
        trial_end(&trial);
    }
}
END_TEST

/* (Q K^T) V = Q (K^T V): without the softmax the brackets may move. */
START_TEST(linear_attention_is_associative)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct draw draw = {seed};
        struct trial trial;
        size_t n = draw_size(&draw, 1, 20), m = draw_size(&draw, 1, 20), d = draw_size(&draw, 1, 9);
        trial_start(&trial, trial_shape_plain(DTYPE_FLOAT64, n, m, d, 3), &draw);
        trial.request.variant = VARIANT_LINEAR;
        trial_run(&trial, NULL);
        for (size_t at = 0; at < n * 3; at++) {
            double y = 0;
            for (size_t t = 0; t < d; t++) {
                double state = 0; /* K^T V */
                for (size_t j = 0; j < m; j++)
                    state += reference_element(trial.request.k, j * d + t) *
                             reference_element(trial.request.v, j * 3 + at % 3);
                y += reference_element(trial.request.q, at / 3 * d + t) * state / sqrt((double)d);
            }
            assert_near(trial_value(&trial, QUANTITY_OUTPUT, at), y, 1e-11, seed, "output");
        }
        trial_end(&trial);
    }
}
END_TEST

Suite *properties_suite(void);

Suite *properties_suite(void)
{
    TCase *tests = tcase_create("properties");
    tcase_set_timeout(tests, 30);
    tcase_add_checked_fixture(tests, start, NULL);
    tcase_add_test(tests, permuted_rows_permute_the_output);
    tcase_add_test(tests, softmax_does_not_see_a_shift);
    tcase_add_test(tests, causal_rows_ignore_later_keys);
    tcase_add_test(tests, merged_parts_equal_the_whole);
    tcase_add_test(tests, equal_keys_give_the_mean);
    tcase_add_test(tests, heads_are_blocks);
    tcase_add_test(tests, packed_equals_split);
    tcase_add_test(tests, past_and_new_equal_the_whole);
    tcase_add_test(tests, decoding_equals_the_whole);
    tcase_add_test(tests, rows_of_weights_sum_to_one);
    tcase_add_test(tests, rotation_sees_only_differences);
    tcase_add_test(tests, a_sink_is_a_key_of_no_value);
    tcase_add_test(tests, terms_add_up);
    tcase_add_test(tests, dropout_keeps_its_share);
    tcase_add_test(tests, softcap_bounds_the_scores);
    tcase_add_test(tests, linear_attention_is_associative);
    Suite *suite = suite_create("properties");
    suite_add_tcase(suite, tests);
    return suite;
}
