/* Caches and formats that mean nothing, and where that is said. */
#include "tests/api/cache_bodies.h"
#include "tests/api/exchange.h"

#include <check.h>
#include <stdio.h>

static const struct {
    const char *base, *members, *name, *part;
} refusals[] = {
    {CAT, "\"quantize\":{}", "quantize", "Neither k nor v is given"},
    {CAT, "\"quantize\":{\"keep_first\":1}", "quantize", "Neither k nor v"},
    {CAT, "\"quantize\":{\"k\":{}}", "quantize.k", "lacks its member \"method\""},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"afine\"}}", "quantize.k.method", "did you mean \"affine\"?"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"affine\"}}", "quantize.k.bits", "needs bits, from 1 to 8"},
    {CAT, "\"quantize\":{\"v\":{\"method\":\"affine\",\"bits\":9}}", "quantize.v.bits", "bits is 9"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"float8_e4m3\",\"bits\":8}}", "quantize.k.bits", "leave bits out"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"group\":3}}", "quantize.k.group", "does not divide"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2},\"keep_first\":1,\"keep_last\":1}",
     "quantize.keep_last", "leave none of the 2 tokens"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"residual\":\"qjl\"}}", "quantize.k.residual",
     "Only turboquant"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"rotation\":\"hadamrd\"}}", "quantize.k.rotation",
     "did you mean \"hadamard\"?"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"rotation\":[[1,0],[0,1]]}}", "quantize.k.rotation",
     "a rotation of these rows is [4][4]"},
    {CAUSAL, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"rotation\":\"hadamard\"}}", "quantize.k.rotation",
     "the next one is 4"},
    {CAUSAL, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"rotation\":[[1,0,0],[0,1,0],[0,0.1,1]]}}",
     "quantize.k.rotation", "|R R^T - I| is 0.1"},
    {"\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]",
     "\"variant\":\"linear\",\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}}", "variant", "has none"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}},\"backward\":{\"cell\":{\"query\":0,\"feature\":0}}",
     "backward", "no slope"},
    {LATENT "}", "\"backward\":{\"cell\":{\"query\":0,\"feature\":0}},\"include\":[\"gradients.gain_kv\"]", "include.0",
     "latent with that member"},
    {CAT, "\"precision\":\"bf16\"", "precision", "must be"},
    {CAT, "\"precision\":{\"mix\":\"float8\"}", "precision.mix", "must be"},
    {CAT, "\"precision\":\"fp8\",\"dtype\":\"float32\",\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}}",
     "quantize", "do not go together"},
    {CAT, "\"precision\":{\"mix\":\"float64\"},\"dtype\":\"float32\"", "precision.mix", "wider than dtype float32"},
    {"\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]", "\"variant\":\"linear\",\"precision\":\"fp16\"", "variant", "has none"},
    {LATENT "}", "\"precision\":\"fp16\"", "precision", "does not go with latent"},
    {CAT, "\"precision\":\"fp16\",\"backward\":{\"cell\":{\"query\":0,\"feature\":0}}", "backward", "no slope"},
    {"\"q\":[[300,300]],\"k\":[[300,300]],\"v\":[[1]]", "\"precision\":{\"scores\":\"float16\"}", "",
     "overflows float16 in query 0"},
    {CAT, "\"include\":[\"error\"]", "include", "quantize or precision would bring it"},
    {CAT, "\"include\":[\"exact.output\"]", "include", "quantize or precision would bring it"},
    {CAT, "\"include\":[\"exact\"]", "include.0", "did you mean"},
    {CAT, "\"include\":[\"steps.latent\"]", "include", "latent would bring it"},
    {CAT, "\"past\":{\"latent\":[[1]],\"rope_key\":[[1,2]]}", "past.latent", "the past of latent"},
    {CAT, "\"past\":{}", "past", "lacks its member \"k\""},
    {LATENT "}", "\"q\":[[1]]", "q", "latent projects x"},
    {LATENT "}", "\"w_q\":[[1]]", "w_q", "w_q and latent"},
    {LATENT "}", "\"kv_heads\":1", "kv_heads", "share one latent vector"},
    {LATENT "}", "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}}", "quantize", "quantize and latent"},
    {LATENT "}", "\"rope\":{\"dims\":2}", "rope.dims", "leave dims out"},
    {LATENT "}", "\"past\":{\"k\":[[1]],\"v\":[[1]]}", "past.k", "past of another form"},
    {LATENT ",\"gain_kv\":[1,1,1]}", "\"scale\":1", "latent.gain_kv", "without norm"},
    {LATENT ",\"w_q\":[[1]]}", "\"scale\":1", "latent.w_q", "one or the other"},
    {LATENT ",\"form\":\"absorbed\"}", "\"include\":[\"steps.products\"]", "include", "no keys and values of heads"},
    {LATENT ",\"form\":\"absorbed\"}", "\"include\":[\"steps.contribution_norms\"]", "include", "no keys and values"},
    {LATENT ",\"form\":\"absorbed\"}", "\"tiles\":{\"keys\":1}", "tiles", "never makes"},
    {CAT, "\"precision\":\"fp16\",\"tiles\":{\"keys\":1}", "tiles", "give one of them"},
    {LATENT ",\"form\":\"absorbed\"}", "\"include\":[\"steps.key_nope\"]", "include", "never makes keys of heads"},
    {"\"x\":[[1]]", "\"latent\":{}", "latent", "lacks its member \"w_dkv\""},
};

START_TEST(caches_that_mean_nothing_are_refused)
{
    char body[2400];
    snprintf(body, sizeof body, "{%s,%s}", refusals[_i].base, refusals[_i].members);
    exchange_refused(body, ERROR_INVALID, refusals[_i].name, refusals[_i].part);
}
END_TEST

Suite *cache_refusals_suite(void);

Suite *cache_refusals_suite(void)
{
    Suite *suite = suite_create("cache refusals");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, caches_that_mean_nothing_are_refused, 0, sizeof refusals / sizeof *refusals);
    suite_add_tcase(suite, tests);
    return suite;
}
