/* The options of POST /v1/attention, and of explain: one line each. */
#include "api/request/options.h"

#include "core/forward/rows.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define AT(field) .offset = offsetof(struct options, field)
#define GIVEN(field) .present = offsetof(struct options, field)
#define CHOICES(...) \
    .choices = (const char *const[]) \
    { \
        __VA_ARGS__, NULL \
    }
#define INNER(name, rows) \
    .inner = &(const struct option_table) \
    { \
        name, rows, COUNT(rows), NULL, NULL \
    }
#define AS_TEXT(number) #number
#define TEXT_OF(macro) AS_TEXT(macro)
#define SMALL_TERMS TEXT_OF(ROWS_SMALL_TERMS)
#define FROM(least) .minimum = least, .maximum = HUGE_VAL

_Static_assert(sizeof(enum dtype) == sizeof(unsigned) && sizeof(enum variant) == sizeof(unsigned) &&
                   sizeof(enum quantize_method) == sizeof(unsigned) && sizeof(enum quantize_axis) == sizeof(unsigned) &&
                   sizeof(enum quantize_rotation) == sizeof(unsigned) && sizeof(enum format) == sizeof(unsigned) &&
                   sizeof(enum precision_profile) == sizeof(unsigned),
               "OPTION_CHOICE stores an unsigned");

/* clang-format off */

static const struct option window[] = {
    {"left", OPTION_SIDE, "null", AT(attention.mask.left), .meaning = "keys before the query's own place; null = unlimited", .example = "\"mask\":{\"window\":{\"left\":1}}"},
    {"right", OPTION_SIDE, "null", AT(attention.mask.right), .meaning = "keys after the query's own place; null = unlimited", .example = "\"mask\":{\"window\":{\"right\":0}}"},
};

static const struct option documents[] = {
    {"query", OPTION_INTEGERS, "", .required = true, AT(attention.mask.query_documents), .shape = "[n]", .meaning = "the document of each query", .example = "\"mask\":{\"documents\":{\"query\":[1,2],\"key\":[1,1,2]}}"},
    {"key", OPTION_INTEGERS, "", .required = true, AT(attention.mask.key_documents), .shape = "[m]", .meaning = "the document of each key, the past included", .example = "\"mask\":{\"documents\":{\"query\":[1,2],\"key\":[1,1,2]}}"},
};

static const struct option mask[] = {
    {"causal", OPTION_BOOLEAN, "false", AT(attention.mask.causal), .meaning = "key j is visible to query i when j <= i + offset", .example = "\"mask\":{\"causal\":true}"},
    {"query_offset", OPTION_OFFSETS, "the length of the past", AT(attention.mask.query_offset), .shape = "[b]", .meaning = "position of query 0 among the keys", .example = "\"mask\":{\"causal\":true,\"query_offset\":1}"},
    {"align", OPTION_SWITCH, "\"start\"", CHOICES("start", "end"), AT(attention.mask.align_end), .meaning = "\"end\" sets the offset to m - n; not together with query_offset", .example = "\"mask\":{\"causal\":true,\"align\":\"end\"}"},
    {"window", OPTION_OBJECT, "", INNER("Window", window), GIVEN(attention.mask.has_window), .meaning = "i + offset - left <= j <= i + offset + right, both ends included", .example = "\"mask\":{\"window\":{\"left\":1,\"right\":0}}"},
    {"prefix", OPTION_INTEGER, "", FROM(0), AT(attention.mask.prefix), GIVEN(attention.mask.has_prefix), .meaning = "the first so many keys are visible to every query; with causal", .example = "\"mask\":{\"causal\":true,\"prefix\":2}"},
    {"documents", OPTION_PAIR, "", INNER("Documents", documents), .shape = "[n]", .meaning = "a query sees only keys with its own id; positions (causal, window, prefix, align, alibi) count inside each document", .example = "\"mask\":{\"documents\":{\"query\":[1,2],\"key\":[1,1,2]}}"},
    {"key_lengths", OPTION_INTEGERS, "", FROM(0), AT(attention.mask.key_lengths), .shape = "[b]", .meaning = "keys at or past the length are hidden", .example = "\"mask\":{\"key_lengths\":[2]}"},
    {"allow", OPTION_ALLOW, "", AT(attention.mask.allow), .shape = "[n][m], [h][n][m] or [b][h][n][m]", .meaning = "true = may attend; an axis of size 1 repeats; packed as \"uint8\", 1 or 0", .example = "\"mask\":{\"allow\":[[true,false,true]]}"},
    {"bias", OPTION_BIAS, "", AT(attention.mask.bias), .shape = "[n][m], [h][n][m] or [b][h][n][m]", .meaning = "added to the scaled scores; null or \"-Infinity\" hides; an axis of size 1 repeats", .example = "\"mask\":{\"bias\":[[0,-1,null]]}"},
    {"alibi", OPTION_SLOPES, "false", AT(attention.mask.alibi_slopes), GIVEN(attention.mask.alibi), .shape = "[h]", .meaning = "adds -slope * abs(i + offset - j); true takes the standard slopes", .example = "\"mask\":{\"alibi\":true}"},
    {"empty_rows", OPTION_SWITCH, "\"error\"", CHOICES("error", "zero"), AT(attention.mask.empty_rows_zero), .meaning = "a query that may see no key: 422 that lists the rows, or weights and output 0", .example = "\"mask\":{\"key_lengths\":[0],\"empty_rows\":\"zero\"}"},
};

static const struct option dropout[] = {
    {"p", OPTION_NUMBER, "", .required = true, .minimum = 0, .maximum = 1, .below = true, AT(attention.dropout_p), .meaning = "the share of weights that become 0; the others are scaled by 1 / (1 - p)", .example = "\"dropout\":{\"p\":0.5}"},
    {"seed", OPTION_INTEGER, "0", AT(attention.dropout_seed), .meaning = "the same seed drops the same weights", .example = "\"dropout\":{\"p\":0.5,\"seed\":7}"},
};

static const struct option rope[] = {
    {"theta", OPTION_NUMBER, "10000", FROM(0), .above = true, AT(attention.rope.theta), .meaning = "pair t of r/2 turns by p * theta^(-2t/r) at position p", .example = "\"rope\":{\"theta\":500000}"},
    {"dims", OPTION_COUNT, "d_k", AT(attention.rope.dims), .meaning = "how many features turn; even", .example = "\"rope\":{\"dims\":2}"},
    {"interleaved", OPTION_BOOLEAN, "false, with latent true", AT(attention.rope.interleaved), GIVEN(attention.rope.has_interleaved), .meaning = "pairs (2t, 2t+1) instead of (t, t + r/2)", .example = "\"rope\":{\"interleaved\":true}"},
    {"query_positions", OPTION_POSITIONS, "0, 1, .. after the past", AT(attention.rope.query_positions), .shape = "[n] or [b][n]", .meaning = "position of each query", .example = "\"rope\":{\"query_positions\":[3,4]}"},
    {"key_positions", OPTION_POSITIONS, "0, 1, .. after the past", AT(attention.rope.key_positions), .shape = "[new keys] or [b][new keys]", .meaning = "position of each new key", .example = "\"rope\":{\"key_positions\":[0,2,4]}"},
};

static const struct option latent[] = {
    {"w_dkv", OPTION_TENSOR, "", .required = true, AT(attention.latent.w_dkv), .shape = "[d_model][d_c]", .meaning = "c = x w_dkv, the latent vector of a key: what the cache keeps", .example = "\"x\":[[1,2],[0,1]],\"latent\":{\"w_dkv\":[[1],[0]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_q\":[[1,0,0],[0,1,0]]}"},
    {"w_kr", OPTION_TENSOR, "", .required = true, AT(attention.latent.w_kr), .shape = "[d_model][d_r]", .meaning = "the rotated key that all heads share; d_r is even", .example = "\"x\":[[1,2],[0,1]],\"latent\":{\"w_dkv\":[[1],[0]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_q\":[[1,0,0],[0,1,0]]}"},
    {"w_uk", OPTION_TENSOR, "", .required = true, AT(attention.latent.w_uk), .shape = "[d_c][h d_n]", .meaning = "keys of the heads from latent vectors, without a position", .example = "\"x\":[[1,2],[0,1]],\"latent\":{\"w_dkv\":[[1],[0]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_q\":[[1,0,0],[0,1,0]]}"},
    {"w_uv", OPTION_TENSOR, "", .required = true, AT(attention.latent.w_uv), .shape = "[d_c][h e]", .meaning = "values of the heads from latent vectors", .example = "\"x\":[[1,2],[0,1]],\"latent\":{\"w_dkv\":[[1],[0]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_q\":[[1,0,0],[0,1,0]]}"},
    {"w_q", OPTION_TENSOR, "", AT(attention.latent.w_q), .shape = "[d_model][h (d_n + d_r)]", .meaning = "queries; the last d_r features of a head are rotated", .example = "\"x\":[[1,2],[0,1]],\"latent\":{\"w_dkv\":[[1],[0]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_q\":[[1,0,0],[0,1,0]]}"},
    {"w_dq", OPTION_TENSOR, "", AT(attention.latent.w_dq), .shape = "[d_model][d_cq]", .meaning = "in place of w_q: the latent vector of a query", .example = "\"x\":[[1,2],[0,1]],\"latent\":{\"w_dkv\":[[1],[0]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_dq\":[[1],[0]],\"w_uq\":[[1,0,1]]}"},
    {"w_uq", OPTION_TENSOR, "", AT(attention.latent.w_uq), .shape = "[d_cq][h (d_n + d_r)]", .meaning = "queries from their latent vectors", .example = "\"x\":[[1,2],[0,1]],\"latent\":{\"w_dkv\":[[1],[0]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_dq\":[[1],[0]],\"w_uq\":[[1,0,1]]}"},
    {"norm", OPTION_SWITCH, "\"none\"", CHOICES("none", "rms"), AT(attention.latent.rms), .meaning = "\"rms\" divides latent vectors by sqrt(mean of their squares + 1e-6)", .example = "\"x\":[[1,2],[0,1]],\"latent\":{\"w_dkv\":[[1],[0]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_q\":[[1,0,0],[0,1,0]],\"norm\":\"rms\"}"},
    {"gain_q", OPTION_TENSOR, "", AT(attention.latent.gain_q), .shape = "[d_cq]", .meaning = "multiplies latent vectors of queries after the norm", .example = "\"x\":[[1,2],[0,1]],\"latent\":{\"w_dkv\":[[1],[0]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_dq\":[[1],[0]],\"w_uq\":[[1,0,1]],\"norm\":\"rms\",\"gain_q\":[2]}"},
    {"gain_kv", OPTION_TENSOR, "", AT(attention.latent.gain_kv), .shape = "[d_c]", .meaning = "multiplies latent vectors of keys after the norm", .example = "\"x\":[[1,2],[0,1]],\"latent\":{\"w_dkv\":[[1],[0]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_q\":[[1,0,0],[0,1,0]],\"norm\":\"rms\",\"gain_kv\":[2]}"},
    {"form", OPTION_SWITCH, "\"expanded\"", CHOICES("expanded", "absorbed"), AT(attention.latent.absorbed), .meaning = "the same numbers by another order of products: \"absorbed\" never makes keys and values of heads", .example = "\"x\":[[1,2],[0,1]],\"latent\":{\"w_dkv\":[[1],[0]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_q\":[[1,0,0],[0,1,0]],\"form\":\"absorbed\"}"},
};

static const struct option_form latent_forms[] = {{"Plain", "w_q", "w_dq w_uq gain_q"}, {"Compressed", "w_dq w_uq", "w_q"}, {NULL, NULL, NULL}};
static const struct option_table latent_table = {"Latent", latent, COUNT(latent), NULL, latent_forms};

static const struct option backward_cell[] = {
    {"query", OPTION_INTEGER, "", .required = true, FROM(0), AT(backward.cell.query), .meaning = "which query, from 0", .example = "\"backward\":{\"cell\":{\"query\":0,\"feature\":0}}"},
    {"feature", OPTION_INTEGER, "", .required = true, FROM(0), AT(backward.cell.feature), .meaning = "which number of the output's last axis, from 0", .example = "\"backward\":{\"cell\":{\"query\":0,\"feature\":1}}"},
    {"head", OPTION_INTEGER, "0", FROM(0), AT(backward.cell.head), GIVEN(backward.cell.has_head), .meaning = "which head, where `output` has that axis", .example = "\"q\":[[[1,0]]],\"k\":[[[1,0]]],\"v\":[[[2,3]]],\"backward\":{\"cell\":{\"query\":0,\"feature\":0,\"head\":0}}"},
    {"batch", OPTION_INTEGER, "0", FROM(0), AT(backward.cell.batch), GIVEN(backward.cell.has_batch), .meaning = "which batch, where `output` has that axis", .example = "\"q\":[[[[1,0]]]],\"k\":[[[[1,0]]]],\"v\":[[[[2,3]]]],\"backward\":{\"cell\":{\"query\":0,\"feature\":0,\"batch\":0}}"},
};

static const struct option backward[] = {
    {"output", OPTION_TENSOR, "", AT(backward.output), .shape = "like `output`", .meaning = "dL/d output, any upstream gradient", .example = "\"backward\":{\"output\":[[1,0],[0,1]]}"},
    {"cell", OPTION_OBJECT, "", INNER("OutputCell", backward_cell), GIVEN(backward.has_cell), .meaning = "L is that one number of `output`", .example = "\"backward\":{\"cell\":{\"query\":0,\"feature\":0}}"},
    {"target", OPTION_TARGET, "", AT(backward.target), .shape = "[b]; with readout.rows \"all\" [n] or [b][n]", .meaning = "L = mean of -ln p(target) over the rows that count; the reply gets `loss` and `row_loss`", .example = "\"readout\":{\"w\":[[1,0],[0,1]],\"tokens\":[\"yes\",\"no\"]},\"backward\":{\"target\":\"no\"}"},
};

static const struct option_form backward_forms[] = {{"Output", "output", "cell target"}, {"Cell", "cell", "output target"}, {"Target", "target", "output cell"}, {NULL, NULL, NULL}};
static const struct option_table backward_table = {"Backward", backward, COUNT(backward), NULL, backward_forms};

static const struct option tiles[] = {
    {"keys", OPTION_COUNT, "", .required = true, AT(attention.tile_keys), .meaning = "keys of a tile; the last may have fewer", .example = "\"tiles\":{\"keys\":2}"},
};

static const struct option expect[] = {
    {"tolerance", OPTION_NUMBER, "5e-5", FROM(0), AT(expect.tolerance), .meaning = "the largest difference that is ok", .example = "\"expect\":{\"weights\":[[0.4,0.2,0.4],[0.11,0.445,0.445]],\"tolerance\":0.01}"},
};

static const struct option step[] = {
    {"rate", OPTION_NUMBER, "", .required = true, AT(rate), .meaning = "r of value - r * gradient; any finite number", .example = "\"backward\":{\"cell\":{\"query\":0,\"feature\":0}},\"step\":{\"rate\":0.1}"},
};

static const struct option quantize_k[] = {
    {"method", OPTION_CHOICE, "", .required = true, CHOICES("affine", "symmetric", "float8_e4m3", "float8_e5m2", "turboquant"), AT(attention.quantize.k.method), .meaning = "how numbers become codes", .example = "\"quantize\":{\"k\":{\"method\":\"float8_e4m3\"}}"},
    {"bits", OPTION_COUNT, "", AT(attention.quantize.k.bits), .meaning = "of a code: affine 1 to 8, symmetric 2 to 8, turboquant 1 to 4, float8 none", .example = "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}}"},
    {"axis", OPTION_CHOICE, "\"channel\"", CHOICES("channel", "token", "tensor"), AT(attention.quantize.k.axis), GIVEN(attention.quantize.k.has_axis), .meaning = "which numbers share a scale: a feature over tokens, a token over features, or all of a head", .example = "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"axis\":\"tensor\"}}"},
    {"group", OPTION_COUNT, "the whole axis", AT(attention.quantize.k.group), .meaning = "how many consecutive ones", .example = "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"group\":1}}"},
    {"rotation", OPTION_ROTATION, "\"none\", turboquant \"random\"", CHOICES("none", "hadamard", "random"), AT(attention.quantize.k.rotation), GIVEN(attention.quantize.k.has_rotation), .shape = "[d_k][d_k]", .meaning = "turns every row before it is rounded, and back after", .example = "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"rotation\":[[0,1],[1,0]]}}"},
    {"seed", OPTION_INTEGER, "0", AT(attention.quantize.k.seed), GIVEN(attention.quantize.k.has_seed), .meaning = "of the signs, the random rotation and the sketch", .example = "\"quantize\":{\"k\":{\"method\":\"turboquant\",\"bits\":2,\"seed\":7}}"},
    {"residual", OPTION_SWITCH, "\"none\"", CHOICES("none", "qjl"), AT(attention.quantize.k.qjl), .meaning = "turboquant: one of the bits goes to the signs of a random sketch of what rounding lost, which makes scores right on average", .example = "\"quantize\":{\"k\":{\"method\":\"turboquant\",\"bits\":2,\"residual\":\"qjl\"}}"},
    {"centroids", OPTION_SWITCH, "\"normal\"", CHOICES("normal", "exact"), AT(attention.quantize.k.exact_centroids), .meaning = "turboquant: levels for many features, or for exactly this many (3 at least)", .example = "\"q\":[[1,0,0]],\"k\":[[1,2,3]],\"v\":[[1,2,3]],\"quantize\":{\"k\":{\"method\":\"turboquant\",\"bits\":2,\"centroids\":\"exact\"}}"},
    {"renormalize", OPTION_BOOLEAN, "false", AT(attention.quantize.k.renormalize), .meaning = "turboquant: rounded rows get their length back", .example = "\"quantize\":{\"k\":{\"method\":\"turboquant\",\"bits\":2,\"renormalize\":true}}"},
};

static const struct option quantize_v[] = {
    {"method", OPTION_CHOICE, "", .required = true, CHOICES("affine", "symmetric", "float8_e4m3", "float8_e5m2", "turboquant"), AT(attention.quantize.v.method), .meaning = "how numbers become codes", .example = "\"quantize\":{\"v\":{\"method\":\"float8_e4m3\"}}"},
    {"bits", OPTION_COUNT, "", AT(attention.quantize.v.bits), .meaning = "of a code: affine 1 to 8, symmetric 2 to 8, turboquant 1 to 4, float8 none", .example = "\"quantize\":{\"v\":{\"method\":\"affine\",\"bits\":2}}"},
    {"axis", OPTION_CHOICE, "\"token\"", CHOICES("channel", "token", "tensor"), AT(attention.quantize.v.axis), GIVEN(attention.quantize.v.has_axis), .meaning = "which numbers share a scale: a feature over tokens, a token over features, or all of a head", .example = "\"quantize\":{\"v\":{\"method\":\"affine\",\"bits\":2,\"axis\":\"tensor\"}}"},
    {"group", OPTION_COUNT, "the whole axis", AT(attention.quantize.v.group), .meaning = "how many consecutive ones", .example = "\"quantize\":{\"v\":{\"method\":\"affine\",\"bits\":2,\"group\":1}}"},
    {"rotation", OPTION_ROTATION, "\"none\", turboquant \"random\"", CHOICES("none", "hadamard", "random"), AT(attention.quantize.v.rotation), GIVEN(attention.quantize.v.has_rotation), .shape = "[d_v][d_v]", .meaning = "turns every row before it is rounded, and back after", .example = "\"quantize\":{\"v\":{\"method\":\"affine\",\"bits\":2,\"rotation\":[[0,1],[1,0]]}}"},
    {"seed", OPTION_INTEGER, "0", AT(attention.quantize.v.seed), GIVEN(attention.quantize.v.has_seed), .meaning = "of the signs, the random rotation and the sketch", .example = "\"quantize\":{\"v\":{\"method\":\"turboquant\",\"bits\":2,\"seed\":7}}"},
    {"residual", OPTION_SWITCH, "\"none\"", CHOICES("none", "qjl"), AT(attention.quantize.v.qjl), .meaning = "turboquant: one of the bits goes to the signs of a random sketch of what rounding lost, which makes scores right on average", .example = "\"quantize\":{\"v\":{\"method\":\"turboquant\",\"bits\":2,\"residual\":\"qjl\"}}"},
    {"centroids", OPTION_SWITCH, "\"normal\"", CHOICES("normal", "exact"), AT(attention.quantize.v.exact_centroids), .meaning = "turboquant: levels for many features, or for exactly this many (3 at least)", .example = "\"q\":[[1,0,0]],\"k\":[[1,2,3]],\"v\":[[1,2,3]],\"quantize\":{\"v\":{\"method\":\"turboquant\",\"bits\":2,\"centroids\":\"exact\"}}"},
    {"renormalize", OPTION_BOOLEAN, "false", AT(attention.quantize.v.renormalize), .meaning = "turboquant: rounded rows get their length back", .example = "\"quantize\":{\"v\":{\"method\":\"turboquant\",\"bits\":2,\"renormalize\":true}}"},
};

static const struct option quantize[] = {
    {"k", OPTION_OBJECT, "", INNER("QuantizeKeys", quantize_k), GIVEN(attention.quantize.k.on), .meaning = "keys as they enter the scores; absent: exact", .example = "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}}"},
    {"v", OPTION_OBJECT, "", INNER("QuantizeValues", quantize_v), GIVEN(attention.quantize.v.on), .meaning = "values; absent: exact", .example = "\"quantize\":{\"v\":{\"method\":\"symmetric\",\"bits\":4}}"},
    {"keep_first", OPTION_INTEGER, "0", FROM(0), AT(attention.quantize.keep_first), .meaning = "so many tokens at the start stay exact", .example = "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2},\"keep_first\":1}"},
    {"keep_last", OPTION_INTEGER, "0", FROM(0), AT(attention.quantize.keep_last), .meaning = "and so many at the end", .example = "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2},\"keep_last\":1}"},
};

#define FORMAT_NAME(id, name, bits, least, largest, saturates) name,
#define PROFILES CHOICES("bf16-kernel", "fp16", "bf16-all", "fp8")

static const struct option precision[] = {
    {"profile", OPTION_CHOICE, "", PROFILES, AT(attention.precision.profile), GIVEN(attention.precision.has_profile), .meaning = "formats of all stages, as kernels have them; other members override", .example = "\"precision\":{\"profile\":\"fp8\"}"},
    {"inputs", OPTION_CHOICE, "dtype", .choices = (const char *const[]){FORMATS(FORMAT_NAME) NULL}, AT(attention.precision.stage[PRECISION_INPUTS]), GIVEN(attention.precision.given[PRECISION_INPUTS]), .meaning = "q, k and v as they enter the scores", .example = "\"precision\":{\"inputs\":\"bfloat16\"}"},
    {"products", OPTION_CHOICE, "dtype", .choices = (const char *const[]){FORMATS(FORMAT_NAME) NULL}, AT(attention.precision.stage[PRECISION_PRODUCTS]), GIVEN(attention.precision.given[PRECISION_PRODUCTS]), .meaning = "each q_t * k_t", .example = "\"precision\":{\"products\":\"bfloat16\"}"},
    {"accumulate", OPTION_CHOICE, "dtype", .choices = (const char *const[]){FORMATS(FORMAT_NAME) NULL}, AT(attention.precision.stage[PRECISION_ACCUMULATE]), GIVEN(attention.precision.given[PRECISION_ACCUMULATE]), .meaning = "every partial sum of a dot product", .example = "\"precision\":{\"accumulate\":\"bfloat16\"}"},
    {"scores", OPTION_CHOICE, "dtype", .choices = (const char *const[]){FORMATS(FORMAT_NAME) NULL}, AT(attention.precision.stage[PRECISION_SCORES]), GIVEN(attention.precision.given[PRECISION_SCORES]), .meaning = "the sum, scale * score, the cap, + bias", .example = "\"precision\":{\"scores\":\"bfloat16\"}"},
    {"softmax", OPTION_CHOICE, "dtype", .choices = (const char *const[]){FORMATS(FORMAT_NAME) NULL}, AT(attention.precision.stage[PRECISION_SOFTMAX]), GIVEN(attention.precision.given[PRECISION_SOFTMAX]), .meaning = "s - max, e^ of it, every partial sum, the quotient", .example = "\"precision\":{\"softmax\":\"bfloat16\"}"},
    {"weights", OPTION_CHOICE, "dtype", .choices = (const char *const[]){FORMATS(FORMAT_NAME) NULL}, AT(attention.precision.stage[PRECISION_WEIGHTS]), GIVEN(attention.precision.given[PRECISION_WEIGHTS]), .meaning = "the weights, and again after dropout", .example = "\"precision\":{\"weights\":\"bfloat16\"}"},
    {"mix", OPTION_CHOICE, "dtype", .choices = (const char *const[]){FORMATS(FORMAT_NAME) NULL}, AT(attention.precision.stage[PRECISION_MIX]), GIVEN(attention.precision.given[PRECISION_MIX]), .meaning = "weight * value, and every partial sum", .example = "\"precision\":{\"mix\":\"bfloat16\"}"},
    {"output", OPTION_CHOICE, "dtype", .choices = (const char *const[]){FORMATS(FORMAT_NAME) NULL}, AT(attention.precision.stage[PRECISION_OUTPUT]), GIVEN(attention.precision.given[PRECISION_OUTPUT]), .meaning = "the sum that is returned", .example = "\"precision\":{\"output\":\"bfloat16\"}"},
    {"order", OPTION_SWITCH, "\"sequential\"", CHOICES("sequential", "pairwise"), AT(attention.precision.pairwise), .meaning = "terms of a sum one after another, or neighbours first, an odd last one carried up", .example = "\"precision\":{\"accumulate\":\"float16\",\"order\":\"pairwise\"}"},
};

#undef FORMAT_NAME

static const struct option cost[] = {
    {"layers", OPTION_COUNT, "1", AT(cost.layers), .meaning = "of the model", .example = "\"cost\":{\"layers\":32,\"context\":32768}"},
    {"context", OPTION_COUNT, "the keys of the request", AT(cost.context), .meaning = "tokens of a sequence", .example = "\"cost\":{\"layers\":32,\"context\":32768}"},
    {"sequences", OPTION_COUNT, "1", AT(cost.sequences), .meaning = "at one time", .example = "\"cost\":{\"layers\":32,\"context\":32768,\"sequences\":4}"},
    {"bytes_per_number", OPTION_NUMBER, "2", FROM(0), .above = true, AT(cost.bytes_per_number), .meaning = "of the cache", .example = "\"cost\":{\"layers\":32,\"context\":32768,\"bytes_per_number\":1}"},
    {"memory_bytes", OPTION_NUMBER, "", FROM(0), .above = true, AT(cost.memory_bytes), .meaning = "for the cache: the bill says how many sequences fit", .example = "\"cost\":{\"layers\":32,\"context\":32768,\"memory_bytes\":8e10}"},
};

static const struct option past[] = {
    {"k", OPTION_TENSOR, "", AT(attention.past_k), .shape = "[p][d_k], [h_kv][p][d_k] or [b][h_kv][p][d_k]", .meaning = "earlier keys, already rotated, split by heads", .example = "\"past\":{\"k\":[[1,1]],\"v\":[[7,8]]}"},
    {"v", OPTION_TENSOR, "", AT(attention.past_v), .shape = "[p][d_v], [h_kv][p][d_v] or [b][h_kv][p][d_v]", .meaning = "earlier values, split by heads", .example = "\"past\":{\"k\":[[1,1]],\"v\":[[7,8]]}"},
    {"latent", OPTION_TENSOR, "", AT(attention.past_latent), .shape = "[p][d_c] or [b][p][d_c]", .meaning = "with `latent`: earlier latent vectors", .example = "\"x\":[[1,2]],\"latent\":{\"w_dkv\":[[1],[0]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_q\":[[1,0,0],[0,1,0]]},\"past\":{\"latent\":[[3]],\"rope_key\":[[0.6,0.8]]}"},
    {"rope_key", OPTION_TENSOR, "", AT(attention.past_rope_key), .shape = "[p][d_r] or [b][p][d_r]", .meaning = "with `latent`: earlier rotated keys", .example = "\"x\":[[1,2]],\"latent\":{\"w_dkv\":[[1],[0]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_q\":[[1,0,0],[0,1,0]]},\"past\":{\"latent\":[[3]],\"rope_key\":[[0.6,0.8]]}"},
};

static const struct option_form past_forms[] = {{"Heads", "k v", "latent rope_key"}, {"Latent", "latent rope_key", "k v"}, {NULL, NULL, NULL}};
static const struct option_table past_table = {"Past", past, COUNT(past), NULL, past_forms};

static const struct option readout[] = {
    {"w", OPTION_TENSOR, "", .required = true, AT(attention.readout_w), .shape = "[d_out][vocabulary]", .meaning = "one column per word", .example = "\"readout\":{\"w\":[[1,0],[0,1]],\"tokens\":[\"yes\",\"no\"]}"},
    {"tokens", OPTION_STRINGS, "", .required = true, AT(readout_tokens), .shape = "[vocabulary]", .meaning = "the words", .example = "\"readout\":{\"w\":[[1,0],[0,1]],\"tokens\":[\"yes\",\"no\"]}"},
    {"rows", OPTION_SWITCH, "\"last\"", CHOICES("last", "all"), AT(readout.all_rows), .meaning = "which output rows are scored: the last query's, or every one", .example = "\"readout\":{\"w\":[[1,0],[0,1]],\"tokens\":[\"yes\",\"no\"],\"rows\":\"all\"}"},
    {"temperature", OPTION_NUMBER, "1", FROM(0), .above = true, AT(readout.temperature), GIVEN(readout.has_temperature), .meaning = "logits are divided by it", .example = "\"readout\":{\"w\":[[1,0],[0,1]],\"tokens\":[\"yes\",\"no\"],\"temperature\":0.5}"},
    {"top_k", OPTION_INTEGER, "", FROM(1), AT(readout.top_k), GIVEN(readout.has_top_k), .meaning = "only so many words stay, the likeliest; at most the vocabulary", .example = "\"readout\":{\"w\":[[1,0],[0,1]],\"tokens\":[\"yes\",\"no\"],\"top_k\":1}"},
    {"top_p", OPTION_NUMBER, "", .minimum = 0, .maximum = 1, .above = true, AT(readout.top_p), GIVEN(readout.has_top_p), .meaning = "only the smallest set of likeliest words whose probabilities reach it stays", .example = "\"readout\":{\"w\":[[1,0],[0,1]],\"tokens\":[\"yes\",\"no\"],\"top_p\":0.9}"},
};

static const struct option tokens[] = {
    {"query", OPTION_STRINGS, "", .required = true, AT(query_tokens), .shape = "[n]", .meaning = "labels of the queries", .example = "\"tokens\":{\"query\":[\"a\",\"b\"],\"key\":[\"c\",\"d\",\"e\"]}"},
    {"key", OPTION_STRINGS, "", .required = true, AT(key_tokens), .shape = "[m]", .meaning = "labels of the keys, the past included", .example = "\"tokens\":{\"query\":[\"a\",\"b\"],\"key\":[\"c\",\"d\",\"e\"]}"},
};

/* dtype comes first: tensors are read into it. */
static const struct option attention[] = {
    {"dtype", OPTION_CHOICE, "\"float64\"", CHOICES("float64", "float32"), AT(attention.dtype), .meaning = "precision of the arithmetic and of the printed numbers", .hint = "The arithmetic is in one of these two; float16 and bfloat16 are taken as packed tensors", .example = "\"dtype\":\"float32\""},
    {"q", OPTION_TENSOR, "", AT(attention.q), .shape = "[n][d_k], [h][n][d_k], [b][h][n][d_k]; with heads [n][h d_k], [b][n][h d_k]", .meaning = "queries; with k and v", .example = "\"q\":[[1,0],[0,2]]"},
    {"k", OPTION_TENSOR, "", AT(attention.k), .shape = "like q, with m rows and h_kv heads", .meaning = "keys", .example = "\"k\":[[1,0],[0,1],[1,1]]"},
    {"v", OPTION_TENSOR, "", AT(attention.v), .shape = "like k, d_v wide", .meaning = "values", .example = "\"v\":[[1,2],[3,4],[5,6]]"},
    {"x", OPTION_TENSOR, "", AT(attention.x), .shape = "[n][d_model] or [b][n][d_model]", .meaning = "in place of q, k, v: what they are projected from", .example = "\"x\":[[1,2]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]]"},
    {"ids", OPTION_POSITIONS, "", .minimum = 0, .maximum = HUGE_VAL, AT(attention.ids), .shape = "[n] or [b][n]", .meaning = "in place of x: which rows of embedding it is made of", .example = "\"ids\":[1,0],\"embedding\":[[1,2],[3,4]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]]"},
    {"embedding", OPTION_TENSOR, "", AT(attention.embedding), .shape = "[vocabulary][d_model]", .meaning = "one row per id", .example = "\"ids\":[1,0],\"embedding\":[[1,2],[3,4]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]]"},
    {"positions", OPTION_SWITCH, "\"none\"", CHOICES("none", "sinusoidal"), AT(attention.sinusoidal), .meaning = "added to x: sin(p 10000^(-2t/D)) at feature 2t, the cosine at 2t + 1; p starts at the length of the past", .example = "\"x\":[[1,2]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]],\"positions\":\"sinusoidal\""},
    {"context", OPTION_TENSOR, "x", AT(attention.context), .shape = "[m][d_context] or [b][m][d_context]", .meaning = "what keys and values are projected from (cross-attention)", .example = "\"x\":[[1,2]],\"context\":[[3,4,5]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1],[1]],\"w_v\":[[1],[1],[0]]"},
    {"w_q", OPTION_TENSOR, "", AT(attention.w_q), .shape = "[d_model][h d_k]", .meaning = "projection of the queries", .example = "\"x\":[[1,2]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]]"},
    {"w_k", OPTION_TENSOR, "", AT(attention.w_k), .shape = "[d_context][h_kv d_k]", .meaning = "projection of the keys", .example = "\"x\":[[1,2]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]]"},
    {"w_v", OPTION_TENSOR, "", AT(attention.w_v), .shape = "[d_context][h_kv d_v]", .meaning = "projection of the values", .example = "\"x\":[[1,2]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]]"},
    {"b_q", OPTION_TENSOR, "", AT(attention.b_q), .shape = "[h d_k]", .meaning = "added after w_q", .example = "\"x\":[[1,2]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]],\"b_q\":[0.5]"},
    {"b_k", OPTION_TENSOR, "", AT(attention.b_k), .shape = "[h_kv d_k]", .meaning = "added after w_k", .example = "\"x\":[[1,2]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]],\"b_k\":[0.5]"},
    {"b_v", OPTION_TENSOR, "", AT(attention.b_v), .shape = "[h_kv d_v]", .meaning = "added after w_v", .example = "\"x\":[[1,2]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]],\"b_v\":[0.5]"},
    {"w_o", OPTION_TENSOR, "", AT(attention.w_o), .shape = "[h d_v][d_out]", .meaning = "projection of the output, heads side by side", .example = "\"x\":[[1,2]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]],\"w_o\":[[1,-1]]"},
    {"b_o", OPTION_TENSOR, "", AT(attention.b_o), .shape = "[d_out]", .meaning = "added after w_o", .example = "\"x\":[[1,2]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]],\"w_o\":[[1,-1]],\"b_o\":[1,2]"},
    {"latent", OPTION_OBJECT, "", .inner = &latent_table, GIVEN(attention.latent.on), .meaning = "in place of w_q, w_k, w_v: multi-head latent attention, which caches one vector for all heads", .example = "\"x\":[[1,2],[0,1]],\"latent\":{\"w_dkv\":[[1],[0]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_q\":[[1,0,0],[0,1,0]]}"},
    {"heads", OPTION_COUNT, "", AT(attention.heads), .meaning = "how many heads stand side by side in the columns of q, or of w_q", .example = "\"heads\":2"},
    {"kv_heads", OPTION_COUNT, "heads", AT(attention.kv_heads), .meaning = "how many of keys and values; heads is a multiple of it", .example = "\"heads\":2,\"kv_heads\":2"},
    {"mask", OPTION_MODE, "\"none\"", CHOICES("none", "causal"), AT(attention.mask.causal), INNER("Mask", mask), .meaning = "which keys a query may see; all members apply together, biases add", .hint = "A matrix of booleans is {\"allow\":..}, where true = may attend; one of numbers that are added is {\"bias\":..}", .example = "\"mask\":\"causal\""},
    {"scale", OPTION_NUMBER, "1/sqrt(d_k)", AT(attention.scale), GIVEN(attention.has_scale), .meaning = "multiplies q.k; any finite number", .example = "\"scale\":1"},
    {"softcap", OPTION_NUMBER, "", FROM(0), .above = true, AT(attention.softcap), .meaning = "c * tanh(s / c), before bias and masks", .example = "\"softcap\":30"},
    {"sinks", OPTION_REALS, "", AT(attention.sinks), .shape = "[h]", .meaning = "one logit per head that joins only the denominator", .example = "\"sinks\":[0]"},
    {"dropout", OPTION_OBJECT, "", INNER("Dropout", dropout), GIVEN(attention.has_dropout), .meaning = "on the weights, deterministic", .example = "\"dropout\":{\"p\":0.1,\"seed\":1}"},
    {"rope", OPTION_OBJECT, "", INNER("Rope", rope), GIVEN(attention.rope.on), .meaning = "rotary embedding of q and the new k", .example = "\"rope\":{}"},
    {"past", OPTION_OBJECT, "", .inner = &past_table, GIVEN(attention.has_past), .meaning = "earlier keys and values, put before k and v, as `present` returns them", .example = "\"past\":{\"k\":[[1,1]],\"v\":[[7,8]]}"},
    {"quantize", OPTION_OBJECT, "", INNER("Quantize", quantize), GIVEN(attention.quantize.on), .meaning = "keys and values of the cache in few bits; the reply tells what that loses", .example = "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2},\"v\":{\"method\":\"affine\",\"bits\":4}}"},
    {"precision", OPTION_PROFILE, "", PROFILES, INNER("Precision", precision), GIVEN(attention.precision.on), .meaning = "the arithmetic of kernels, emulated in small heads (queries * keys * (d_k + d_v) up to " SMALL_TERMS "); the reply tells how far that is from float64", .example = "\"precision\":\"bf16-kernel\""},
    {"cost", OPTION_OBJECT, "", INNER("Cost", cost), GIVEN(cost.on), .meaning = "a model to make the bill for; brings `cost` into the reply", .example = "\"cost\":{\"layers\":32,\"context\":32768,\"sequences\":1,\"memory_bytes\":8e10}"},
    {"variant", OPTION_CHOICE, "\"softmax\"", CHOICES("softmax", "linear", "mask_after_softmax", "mask_with_zero"), AT(attention.variant), .meaning = "all but the first are counterexamples: Q (K^T V); zeroing weights after softmax; hiding scores with 0", .example = "\"variant\":\"linear\""},
    {"readout", OPTION_OBJECT, "", INNER("Readout", readout), .meaning = "scores the last query's output row against a vocabulary", .example = "\"readout\":{\"w\":[[1,0],[0,1]],\"tokens\":[\"yes\",\"no\"]}"},
    {"backward", OPTION_OBJECT, "", .inner = &backward_table, GIVEN(attention.backward), .meaning = "the way back: gradients of one number L, which exactly one member chooses; without `include` the reply has output, weights and gradients", .example = "\"backward\":{\"cell\":{\"query\":0,\"feature\":0}}"},
    {"step", OPTION_OBJECT, "", INNER("Step", step), GIVEN(has_step), .meaning = "with backward: the reply adds `updated`, what the request's own numbers become", .example = "\"backward\":{\"cell\":{\"query\":0,\"feature\":0}},\"step\":{\"rate\":0.1}"},
    {"tiles", OPTION_OBJECT, "", INNER("Tiles", tiles), .meaning = "the softmax as it runs over tiles of keys, in steps; small heads only (queries * keys * (d_k + d_v) up to " SMALL_TERMS ", `small_head_terms` in `/v1/info`)", .example = "\"tiles\":{\"keys\":2}"},
    {"expect", OPTION_EXPECT, "", INNER("Expect", expect), AT(expect), .meaning = "what results should be, under `output`, `weights`, `log_sum_exp`, `steps.scores`, `gradients.q`, `present.k`, ..; the reply gets `checks`, compared before `decimals`; null is a hidden cell", .example = "\"expect\":{\"steps.scores\":[[1,0,1],[0,2,2]]}"},
    {"include", OPTION_INCLUDE, "[\"output\",\"weights\"]", AT(include), GIVEN(has_include), .meaning = "what comes back", .example = "\"include\":[\"output\",\"steps\"]"},
    {"tokens", OPTION_PAIR, "", INNER("Tokens", tokens), .shape = "[n]", .meaning = "labels, echoed as `labels`; one list when n = m", .example = "\"tokens\":{\"query\":[\"a\",\"b\"],\"key\":[\"c\",\"d\",\"e\"]}"},
    {"decimals", OPTION_INTEGER, "", .minimum = 0, .maximum = 17, AT(style.decimals), GIVEN(style.rounded), .meaning = "places to which printed numbers are rounded, `scale` excepted", .example = "\"decimals\":3"},
    {"nonfinite", OPTION_SWITCH, "\"null\"", CHOICES("null", "string"), AT(style.infinity_text), .meaning = "how -infinity is printed: null, or \"-Infinity\"", .example = "\"nonfinite\":\"string\""},
    {"encoding", OPTION_SWITCH, "\"json\"", CHOICES("json", "base64"), AT(style.base64), .meaning = "tensors of the reply as nested arrays or as packed objects; mask and stats stay JSON", .example = "\"encoding\":\"base64\""},
    {"id", OPTION_STRING, "", .maximum = 128, AT(id), .meaning = "echoed", .example = "\"id\":\"seven\""},
};

static const struct option cell[] = {
    {"query", OPTION_INTEGER, "", .required = true, FROM(0), AT(cell.query), .meaning = "which query, from 0", .example = "\"cell\":{\"query\":0,\"key\":0}"},
    {"key", OPTION_INTEGER, "", .required = true, FROM(0), AT(cell.key), .meaning = "which key, from 0, the past included", .example = "\"cell\":{\"query\":0,\"key\":0}"},
    {"head", OPTION_INTEGER, "0", FROM(0), AT(cell.head), .meaning = "which head, from 0", .example = "\"cell\":{\"query\":0,\"key\":0,\"head\":0}"},
    {"batch", OPTION_INTEGER, "0", FROM(0), AT(cell.batch), .meaning = "which batch, from 0", .example = "\"cell\":{\"query\":0,\"key\":0,\"batch\":0}"},
};

static const struct option explain[] = {
    {"cell", OPTION_OBJECT, "", .required = true, INNER("Cell", cell), .meaning = "the pair of a query and a key that is told; `include`, `expect` and `encoding` choose nothing here", .example = "\"cell\":{\"query\":0,\"key\":0}"},
};

/* clang-format on */

#define NO_WEIGHTS "w_q w_k w_v b_q b_k b_v"
static const struct option_form forms[] = {
    {"Qkv", "q k v", "x ids embedding positions context latent w_o b_o " NO_WEIGHTS},
    {"Weights", "x w_q w_k w_v", "q k v ids embedding latent"},
    {"EmbeddedWeights", "ids embedding w_q w_k w_v", "q k v x latent"},
    {"Latent", "x latent", "q k v ids embedding kv_heads " NO_WEIGHTS},
    {"EmbeddedLatent", "ids embedding latent", "q k v x kv_heads " NO_WEIGHTS},
    {NULL, NULL, NULL},
};

static const struct option_table attention_table = {"AttentionRequest", attention, COUNT(attention), NULL, forms};
static const struct option_table explain_table = {"ExplainRequest", explain, COUNT(explain), &attention_table, forms};

static const struct option steps[] = {
    {.name = "steps",
     .kind = OPTION_REQUESTS,
     .standard = "",
     .required = true,
     .offset = offsetof(struct steps_request, steps),
     .size = sizeof(struct options),
     .inner = &attention_table,
     .meaning = "requests for /v1/attention; all but the first take the present of the one before as their past",
     .example = "\"steps\":[{\"q\":[[1,0]],\"k\":[[1,0]],\"v\":[[1,2]]},{\"q\":[[0,1]],\"k\":[[0,1]],\"v\":[[3,4]]}]"},
};
static const struct option_table steps_table = {"DecodeRequest", steps, COUNT(steps), NULL, NULL};

const struct option_table *options_steps_table(void)
{
    return &steps_table;
}

const struct option_table *options_table(void)
{
    return &attention_table;
}

const struct option_table *options_explain_table(void)
{
    return &explain_table;
}

void options_default(struct options *options)
{
    memset(options, 0, sizeof *options);
    option_defaults(options_table(), options);
    options->include = include_default();
}

static bool begins_with(const char *members, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, "\"%s\":", name);
    return strncmp(members, key, strlen(key)) == 0;
}

static void add_example(const struct option_table *table, const char *name, const char *members, struct buffer *out)
{
    if (!begins_with(members, name))
        buffer_format(out, "%s,", option_find(table, name)->example);
}

void options_example(const struct option_table *table, const struct option *option, struct buffer *out)
{
    bool whole = begins_with(option->example, "x") || begins_with(option->example, "ids") ||
                 (begins_with(option->example, "q") && strstr(option->example, "\"k\":"));
    buffer_string(out, "{");
    for (const char *name = "qkv"; !whole && *name; name++)
        add_example(table, (const char[]){*name, '\0'}, option->example, out);
    if (table == options_explain_table())
        add_example(table, "cell", option->example, out);
    buffer_format(out, "%s}", option->example);
}
