/* The bill as JSON. */
#include "api/reply/cost_json.h"

#include "core/cost.h"

#include <string.h>

static const struct {
    const char *name;
    double bytes;
} precisions[] = {{"float32", 4}, {"float16", 2}, {"int8", 1}};

static void write_bytes(struct writer *w, const char *name, double numbers)
{
    writer_key(w, name);
    writer_object_begin(w);
    for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++)
        writer_member_real(w, precisions[p].name, numbers * precisions[p].bytes);
    writer_object_end(w);
}

static void write_flops(struct writer *w, const struct cost *cost)
{
    writer_key(w, "flops");
    writer_object_begin(w);
    for (size_t s = 0; s < COST_STEP_COUNT; s++)
        if (cost->flops[s] > 0)
            writer_member_real(w, cost_step_name((enum cost_step)s), cost->flops[s]);
    writer_member_real(w, "total", cost->total);
    writer_object_end(w);
}

static void write_plan(struct writer *w, const struct attention *a, struct cost cost, const struct cost_plan *plan)
{
    struct cost_cache cache = cost_plan_cache(a, cost, plan);
    writer_member_real(w, "bytes_per_token", cache.bytes_per_token);
    writer_member_real(w, "cache_bytes", cache.bytes);
    if (plan->memory_bytes > 0)
        writer_member_real(w, "sequences_that_fit", cache.sequences_that_fit);
}

static void write_layout(struct writer *w, const char *name, const struct attention *a, struct cost_layout layout,
                         const struct cost_plan *plan)
{
    struct cost cost = cost_count(a, layout);
    writer_key(w, name);
    writer_object_begin(w);
    writer_member_integer(w, "heads", layout.single ? 1 : (int64_t)a->heads);
    if (layout.latent) {
        writer_member_integer(w, "latent_width", (int64_t)layout.latent);
        writer_member_integer(w, "rotary_width", (int64_t)layout.rotary);
    } else {
        writer_member_integer(w, "kv_heads", (int64_t)layout.kv_heads);
    }
    writer_member_string(w, "formula", layout.formula);
    writer_member_real(w, "numbers_per_token", cost.cache_per_token);
    write_flops(w, &cost);
    write_bytes(w, "score_bytes", cost.scores);
    write_bytes(w, "cache_bytes_per_token", cost.cache_per_token);
    if (plan->on)
        write_plan(w, a, cost, plan);
    else
        write_bytes(w, "cache_bytes", cost.cache);
    writer_object_end(w);
}

void cost_json_write(struct writer *w, const struct attention *a, const struct cost_plan *plan)
{
    writer_object_begin(w);
    write_layout(w, "request", a, cost_own(a), plan);
    write_layout(w, "multi_head", a, cost_multi_head(a), plan);
    write_layout(w, "grouped_query", a, cost_grouped_query(a), plan);
    write_layout(w, "multi_query", a, cost_multi_query(), plan);
    write_layout(w, "single_head", a, cost_single_head(), plan);
    write_layout(w, "latent", a, cost_latent(a), plan);
    writer_object_end(w);
}

#define TOLD(type, meaning) "{" type ",\"description\":\"" meaning "\"}"
#define INTEGER(meaning) TOLD("\"type\":\"integer\"", meaning)
#define NUMBER(meaning) TOLD("\"type\":\"number\"", meaning)
#define NUMBERS_TYPE "\"type\":\"object\",\"additionalProperties\":{\"type\":\"number\"}"
#define NUMBERS(meaning) TOLD(NUMBERS_TYPE, meaning)

const char *cost_json_schema(void)
{
    return "{\"type\":\"object\","
           "\"additionalProperties\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
           "\"heads\":" INTEGER("of queries") ",\"kv_heads\":" INTEGER(
               "of keys and values") ",\"latent_"
                                     "width\":" INTEGER(
                                         "of "
                                         "the "
                                         "vector"
                                         " that "
                                         "is "
                                         "cached"
                                         " for "
                                         "all "
                                         "heads") ",\"rotary_width\":" INTEGER("of its rotated "
                                                                               "key") ",\"flops\""
                                                                                      ":" NUMBERS(
                                                                                          "op"
                                                                                          "er"
                                                                                          "at"
                                                                                          "io"
                                                                                          "ns"
                                                                                          ", "
                                                                                          "by"
                                                                                          " s"
                                                                                          "te"
                                                                                          "p") ",\"score_"
                                                                                               "bytes\":" NUMBERS("of "
                                                                                                                  "all "
                                                                                                                  "scor"
                                                                                                                  "es, "
                                                                                                                  "and "
                                                                                                                  "of "
                                                                                                                  "what"
                                                                                                                  " a "
                                                                                                                  "kern"
                                                                                                                  "el "
                                                                                                                  "keep"
                                                                                                                  "s "
                                                                                                                  "of "
                                                                                                                  "the"
                                                                                                                  "m") ",\"cache_bytes_per_token\":" NUMBERS("by type of number") ",\"cache_bytes\":" TOLD("\"anyOf\":[{" NUMBERS_TYPE "},{\"type\":\"number\"}]", "of all keys and values; one number where cost says what a number takes") ",\"formula\":" TOLD("\"type\":\"string\"",
                                                                                                                                                                                                                                                                                                                                                                  "numbers per token, as a product") ",\"numbers_per_token\":" NUMBER("that the cache keeps, in all layers") ",\"bytes_per_token\":" NUMBER("of them") ",\"sequences_that_fit\":" NUMBER("into cost.memory_bytes") "}}}";
}
