/* What each example teaches; its body is a file of examples/. */
#include "api/openapi/examples.h"

#include "api/writing/writer.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */

static const struct example table[] = {
    {"the-cat", "The cat looks back",
     "Causal attention over two tokens, every number of it small enough for paper.",
     "The second query gives 0.7201 of its attention to itself and 0.2799 to \"the\"; the first can only see itself."},

    {"one-query", "One query, three keys",
     "Equal keys get equal weight, whatever their values are.",
     "Keys 0 and 2 are the same and weigh 0.4011 each; key 1 has score 0 and still weighs 0.1978."},

    {"one-query-hidden", "The same, position 3 hidden",
     "A mask hides before the softmax: the other weights share what the hidden key had.",
     "The weights are 0.6698 and 0.3302, in the same proportion as before, and they sum to 1."},

    {"mask-after-softmax", "Zeroing after the softmax, the wrong way",
     "A weight that is zeroed after the softmax has already taken its share from the others.",
     "The weights are 0.4011 and 0.1978 and sum to 0.5989 only; row_sum still counts the hidden key."},

    {"no-scale", "Without the scale the softmax collapses",
     "Dot products grow with the width; without 1 / sqrt(d_k) the softmax picks one key.",
     "With scale 1 the first key weighs 0.9817; leave scale out (0.25 here) and it weighs 0.6439."},

    {"causal", "Four tokens that see only what came before",
     "The causal mask is a triangle: token i sees the tokens 0 to i.",
     "masked is null above the diagonal, and row i of the weights has i + 1 numbers that are not 0."},

    {"cross-attention", "Three queries, five keys",
     "Queries and keys may come from different texts: the weights are then no square.",
     "weights has 3 rows of 5; the labels name rows and columns apart."},

    {"multi-head", "Two heads that disagree",
     "Heads stand side by side in the columns and each attends on its own.",
     "Head 0 looks at the query's own token, head 1 at the other one; output has both results side by side."},

    {"grouped-query", "Four query heads on two key heads",
     "Grouped-query attention lets neighbouring query heads share keys and values, and so halves the cache here.",
     "Heads 0 and 1 read the first key head, heads 2 and 3 the second; cost has the cache of each layout."},

    {"multi-query", "Four query heads on one key head",
     "Multi-query attention keeps one key and one value per token for all heads.",
     "shape has heads 4 and kv_heads 1; the cache per token is a quarter of that of multi_head in cost."},

    {"window", "A sliding window",
     "A window of left 1, right 0 shows each token itself and the one before.",
     "mask.allowed is a band of width 2; with equal scores its weights are halves, but for the first token, which sees "
     "itself alone."},

    {"alibi", "Near tokens first",
     "ALiBi subtracts slope times distance from each score: no positions are learned, near tokens simply win.",
     "All scores are 0, so the weights fall off by e^-1 per step in head 0 and by e^-0.25 in head 1."},

    {"sink", "A place to look at nothing",
     "A sink joins only the denominator: a query that matches no key may keep its attention to itself.",
     "The weights of the second query sum to 0.1192 only: the rest went to the sink."},

    {"past", "One step of decoding",
     "Keys and values of earlier tokens are kept: the next token needs one new row of each.",
     "The output is the second row of the-cat to the last digit; present is the past of the next step."},

    {"rotary", "Only the distance counts",
     "Rotary embedding turns q and k by their positions: where they stand enters their product as the distance alone.",
     "All tokens are the same, and the scores are equal along each diagonal."},

    {"linear", "The softmax removed",
     "Without the softmax the product can be taken the other way round, Q (K^T V), and the cost no longer grows with n m.",
     "weights are the scaled scores: they may be negative and do not sum to 1."},

    {"permutation", "Order does not matter without positions",
     "Without a mask and positions attention is blind to order: rows in another order give the same rows, to rounding, in "
     "that order.",
     "Batch 1 has the tokens of batch 0 as c, a, b; its output has the rows of batch 0 as 2, 0, 1."},

    {"empty-row", "A query that may see nothing",
     "A row without a visible key has no softmax; it is an error unless zeros are asked for.",
     "Row 0 of weights and output is 0 and its log_sum_exp is null; leave empty_rows out and the reply is a 422."},

    {"projections", "From x to output",
     "In a layer q, k and v are projections of the same x, and the heads are mixed by w_o.",
     "inputs has q, k and v as they come out of the projections; output has the two columns of w_o."},

    {"readout", "Which word comes next",
     "The last output row, times one column per word, gives a logit for each word, and their softmax the probabilities.",
     "readout lists the words, the most probable first: sat takes 55 %."},

    {"cache-multi-head", "What a cache costs: four heads",
     "Multi-head attention keeps a key and a value of every head for each token.",
     "cost.request has 16 numbers a token; in 32 layers with 4096 tokens 238 sequences fit into a gigabyte."},

    {"cache-grouped", "What a cache costs: four heads on two",
     "The same four tokens with grouped keys and values: half the heads, half the cache.",
     "cost.request has 8 numbers a token, and 476 sequences fit."},

    {"cache-multi-query", "What a cache costs: four heads on one",
     "The same four tokens with one key and one value for all heads.",
     "cost.request has 4 numbers a token, and 953 sequences fit."},

    {"cache-latent", "What a cache costs: one latent vector",
     "The same four tokens with multi-head latent attention: all heads make their keys and values of one short "
     "vector.",
     "cost.request has 5 numbers a token, 3 of the vector and 2 of the rotated key, and 762 sequences fit; four "
     "heads stay four."},

    {"cache-eight-bits", "A cache in eight bits",
     "Rounded to eight bits, keys and values lose almost nothing.",
     "error.weights.max is 0.0029: no weight moved by more. A number takes 12 bits, since scales are kept as well."},

    {"cache-four-bits", "A cache in four bits",
     "Four bits are what many services use.",
     "error.weights.max is 0.0307, ten times that of eight bits; in one row another key has become the largest."},

    {"cache-three-bits", "A cache in three bits",
     "Each bit less doubles the step between two levels, and about doubles the error.",
     "error.weights.max is 0.0622 and error.output.max 0.1870."},

    {"cache-two-bits", "A cache in two bits",
     "Four levels are few: the weights begin to look at other tokens.",
     "error.weights.max is 0.1193, and error.weights.kl_bits has rows of 0.1 bits."},

    {"cache-turboquant", "Rounded directions",
     "TurboQuant turns every key at random, and rounds its direction to levels made for it.",
     "With three bits error.scores.rms is 0.5031, and error.weights.max 0.2051."},

    {"cache-sketch", "Unbiased scores, worse weights",
     "One of the three bits goes to a random sketch of what rounding lost: scores are right on average over seeds, "
     "yet each is further off, and the softmax makes more of that.",
     "error.scores.rms is 1.1622 and error.weights.max 0.4857, more than twice as much as in cache-turboquant."},

    {"keys-by-channel", "Keys: a scale for each feature",
     "Keys have features that are large in every token (here the first): with a scale of its own such a feature "
     "harms no other.",
     "With three bits error.scores.max is 0.3457."},

    {"keys-by-token", "Keys: a scale for each token",
     "The same keys with a scale for each token: the large feature makes the step coarse for all others. Values "
     "have no such feature, so theirs is a scale for each token.",
     "With three bits error.scores.max is 1.3200, four times that of keys-by-channel."},

    {"the-cat-bfloat", "The cat, as kernels compute it",
     "Inputs, weights and output are rounded to bfloat16, sums run in float32.",
     "The weights are 0.2793 and 0.7188: three digits are left, and they sum to 0.9980."},

    {"the-cat-float-eight", "The cat in float8",
     "With float8 inputs and weights there are eight steps between 1 and 2.",
     "The weights are 0.2813 and 0.7500 in place of 0.2799 and 0.7201, and sum to 1.0313."},

    {"edge-of-float16", "float16 ends at 65504",
     "Large scores in float16: near its end it knows every 32nd number only, and beyond it none.",
     "255 * 256 + 15 = 65295 became 65280. With 257 for 256 that score overflows float16, and the request is refused."},

    {"collapsed", "A collapsed softmax lets no gradient through",
     "Where one weight is nearly 1, w (1 - w) is nearly 0: the query cannot learn from its own mistake.",
     "gradients.masked and gradients.q are below a millionth, as jacobian_trace in stats says."},

    {"value-or-key", "What a value does, what a key does",
     "A value's gradient is its weight; a key moves its own weight, and through the sum those of all the others.",
     "gradients.v repeats the weights; gradients.masked has no zero and sums to 0."},

    {"hidden-gradient", "A hidden key gets no gradient",
     "What the mask hides has no part in the output, so nothing flows back to it.",
     "gradients.masked[0][1] is exactly 0, and so are gradients.k[1] and gradients.v[1]."},

    {"wrong-mask-gradient", "The wrong mask teaches hidden keys",
     "Zeroing weights after the softmax leaves the hidden key in the sum, and so in the way back: the future leaks.",
     "gradients.masked[0][1] is not 0, though weights[0][1] is."},

    {"copy-head", "One head learns to copy",
     "Every row should predict its own token; each request takes one step, and updated is what to send next.",
     "loss: fifty requests, each with the last reply's updated, bring it down."},

    {"tiles", "FlashAttention on four tokens",
     "A softmax needs no whole row: a running maximum and sum, rescaled tile by tile, come to the same.",
     "The last accumulator over the last running_sum is the output; rescale is 0 at first and 1 where no larger maximum came."},
};

/* clang-format on */

/* The files of api/openapi/examples: their names and bytes. */
static const struct {
    const char *name;
    const unsigned char *bytes;
    size_t size;
} files[] = {
#include "api/openapi/examples.inc"
};

_Static_assert(sizeof files / sizeof *files == sizeof table / sizeof *table, "every example has a file, and is listed");

const struct example *examples_at(size_t index)
{
    return index < sizeof table / sizeof *table ? &table[index] : NULL;
}

const char *examples_body(const struct example *example)
{
    char name[80];
    snprintf(name, sizeof name, "%s.json", example->name);
    for (size_t x = 0; x < sizeof files / sizeof *files; x++)
        if (strcmp(files[x].name, name) == 0)
            return (const char *)files[x].bytes;
    return NULL;
}

const struct example *examples_find(const char *name)
{
    for (size_t x = 0; x < sizeof table / sizeof *table; x++)
        if (strcmp(table[x].name, name) == 0)
            return &table[x];
    return NULL;
}

bool examples_list(struct buffer *out)
{
    struct writer w = {.out = out};
    char path[80];
    writer_object_begin(&w);
    writer_key(&w, "examples");
    writer_array_begin(&w);
    for (size_t x = 0; x < sizeof table / sizeof *table; x++) {
        snprintf(path, sizeof path, "/v1/examples/%s", table[x].name);
        writer_object_begin(&w);
        writer_member_string(&w, "name", table[x].name);
        writer_member_string(&w, "title", table[x].title);
        writer_member_string(&w, "teaches", table[x].teaches);
        writer_member_string(&w, "look", table[x].look);
        writer_member_string(&w, "href", path);
        writer_object_end(&w);
    }
    writer_array_end(&w);
    writer_object_end(&w);
    buffer_string(out, "\n");
    return !out->failed;
}
