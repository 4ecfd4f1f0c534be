/* What is no valid request: each refusal with its name and the numbers in its sentence. */
#include "tests/api/exchange.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* Whole bodies. */
static const struct {
    const char *body, *name, *part;
} bodies[] = {
    {"[[1,2]]", "", "must be a JSON object"},
    {"3", "", "must be a JSON object"},
    {"{}", "q", "missing"},
    {"{}", "v", "missing"},
    {"{\"q\":[[1]]}", "k", "missing"},
    {"{\"q\":[1,0],\"k\":[[1,0]],\"v\":[[1]]}", "q", "wrap it: [[1,0]]"},
    {"{\"q\":[[1,0],[1]],\"k\":[[1,0]],\"v\":[[1]]}", "q.1", "q[1] has length 1; its first sibling has length 2"},
    {"{\"q\":[[[1,0]],[[1,2,3]]],\"k\":[[1,0]],\"v\":[[1]]}", "q.1.0", "3"},
    {"{\"q\":[[1,[0]]],\"k\":[[1,0]],\"v\":[[1]]}", "q.0.1", "mixes"},
    {"{\"q\":[[\"1\",0]],\"k\":[[1,0]],\"v\":[[1]]}", "q.0.0", "is a string; it must be a number."},
    {"{\"q\":[[1,\"0\"]],\"k\":[[1,0]],\"v\":[[1]]}", "q.0.1", "neither a number nor an array"},
    {"{\"q\":[[1,true]],\"k\":[[1,0]],\"v\":[[1]]}", "q.0.1", "boolean"},
    {"{\"q\":[[1,null]],\"k\":[[1,0]],\"v\":[[1]]}", "q.0.1", "only mask.bias takes null"},
    {"{\"q\":[[1,\"-Infinity\"]],\"k\":[[1,0]],\"v\":[[1]]}", "q.0.1", "not a finite number"},
    {"{\"q\":[[]],\"k\":[[1,0]],\"v\":[[1]]}", "q.0", "empty"},
    {"{\"q\":[],\"k\":[[1,0]],\"v\":[[1]]}", "q", "empty"},
    {"{\"q\":7,\"k\":[[1,0]],\"v\":[[1]]}", "q", "is a number; it must be an array of arrays of numbers"},
    {"{\"q\":null,\"k\":[[1,0]],\"v\":[[1]]}", "q", "is null"},
    {"{\"q\":\"a\",\"k\":[[1,0]],\"v\":[[1]]}", "q", "is a string"},
    {"{\"q\":[[1,0]],\"k\":[[1,0,0]],\"v\":[[1]]}", "k", "[1][3]"},
    {"{\"q\":[[1,0]],\"k\":[[1,0]],\"v\":[[1],[2]]}", "v", "[2][1]"},
    {"{\"q\":[[1,0]],\"k\":[[1,0]],\"v\":[[1]],\"x\":[[1]]}", "q", "cannot be mixed"},
    {"{\"x\":[[1]]}", "w_q", "missing"},
    {"{\"x\":[[1]]}", "w_v", "missing"},
    {"{\"x\":[[1]],\"w_q\":[[1]],\"w_k\":[[1]],\"w_v\":[[1]],\"b_o\":[1]}", "b_o", "without w_o"},
    {"{\"dtype\":\"float32\",\"q\":[[1,1e39]],\"k\":[[1,0]],\"v\":[[1]]}", "q.0.1", "too large for float32"},
    {"{\"dtype\":\"float32\",\"q\":[[1,3.402823567797337e38]],\"k\":[[1,0]],\"v\":[[1]]}", "q.0.1", "float32"},
    {"{\"q\":[[1,0]],\"k\":[[1,0]],\"v\":[[1]],\"dtype\":\"float16\"}", "dtype", "\"float64\" or \"float32\""},
};

START_TEST(bodies_are_refused)
{
    exchange_refused(bodies[_i].body, ERROR_INVALID, bodies[_i].name, bodies[_i].part);
}
END_TEST

/* Members beside a valid q, k, v of two queries, three keys, d_k 2, d_v 1. */
static const struct {
    const char *members, *name, *part;
} members[] = {
    {"\"masks\":1", "/masks", "did you mean \"mask\"?"},
    {"\"causal\":true", "/causal", "here it is \"mask\":\"causal\""},
    {"\"zebra\":1", "/zebra", "The request has no member \"zebra\"."},
    {"\"a~/b\":1", "/a~0~1b", "\"a~/b\""},
    {"\"a.b\":1", "/a.b", "\"a.b\""},
    {"\"<b>\\\"\\u0001\":1", "/<b>??", "\"<b>??\""},
    {"\"mask\":{\"alow\":[[true]]}", "/mask/alow", "mask has no member \"alow\"; did you mean \"allow\"?"},
    {"\"mask\":{\"window\":{\"lft\":1}}", "/mask/window/lft", "did you mean \"left\"?"},
    {"\"mask\":\"casual\"", "mask", "did you mean \"causal\"?"},
    {"\"mask\":\"causal\",\"mask\":\"none\"", "", ""},
    {"\"mask\":7", "mask", "must be \"none\" or \"causal\" or an object"},
    {"\"mask\":null", "mask", "is null"},
    {"\"mask\":{\"causal\":1}", "mask.causal", "is a number; it must be true or false"},
    {"\"mask\":{\"causal\":null}", "mask.causal", "is null"},
    {"\"mask\":{\"window\":{\"left\":-1}}", "mask.window.left", "is -1; it must be an integer of at least 0, or null"},
    {"\"mask\":{\"window\":{\"left\":1.5}}", "mask.window.left", "is 1.5"},
    {"\"mask\":{\"window\":[1,0]}", "mask.window", "must be an object"},
    {"\"mask\":{\"prefix\":2}", "mask.prefix", "without causal"},
    {"\"mask\":{\"prefix\":-2,\"causal\":true}", "mask.prefix", "is -2"},
    {"\"mask\":{\"align\":\"end\",\"query_offset\":1}", "mask.align", "query_offset"},
    {"\"mask\":{\"align\":\"middle\"}", "mask.align", "\"start\" or \"end\""},
    {"\"mask\":{\"query_offset\":[1,2]}", "mask.query_offset", "2 entries"},
    {"\"mask\":{\"query_offset\":1e300}", "mask.query_offset", "must be an integer"},
    {"\"mask\":{\"query_offset\":[0.5]}", "mask.query_offset.0", "is 0.5; it must be an integer"},
    {"\"mask\":{\"key_lengths\":[4]}", "mask.key_lengths", "there are 3 keys"},
    {"\"mask\":{\"key_lengths\":[-1]}", "mask.key_lengths.0", "is -1; the least is 0"},
    {"\"mask\":{\"key_lengths\":3}", "mask.key_lengths", "must be a list of integers"},
    {"\"mask\":{\"key_lengths\":[[3]]}", "mask.key_lengths", "[1][1]"},
    {"\"mask\":{\"documents\":[1,2]}", "mask.documents", "2 queries and 3 keys"},
    {"\"mask\":{\"documents\":{\"query\":[1,2]}}", "mask.documents", "lacks its member \"key\""},
    {"\"mask\":{\"documents\":{\"query\":[1],\"key\":[1,1,1]}}", "mask.documents.query", "1"},
    {"\"mask\":{\"allow\":[[1,0,1],[1,1,1]]}", "mask.allow.0.0", "true = may attend"},
    {"\"mask\":{\"allow\":[[true,true,true],[true,0,true]]}", "mask.allow.1.1", "true = may attend"},
    {"\"mask\":{\"allow\":[[true,null,true]]}", "mask.allow.0.1", "is null"},
    {"\"mask\":{\"allow\":[[true,true]]}", "mask.allow", "[1][2]"},
    {"\"mask\":{\"allow\":[true,true,true]}", "mask.allow", "rank 1"},
    {"\"mask\":{\"allow\":{\"dtype\":\"float32\",\"shape\":[1],\"base64\":\"AAAAAA==\"}}", "mask.allow.dtype",
     "must be \"uint8\""},
    {"\"mask\":{\"bias\":[[0,true,0]]}", "mask.bias.0.1", "boolean"},
    {"\"mask\":{\"bias\":[[0,0,0],[0,0,0],[0,0,0]]}", "mask.bias", "[3][3]"},
    {"\"mask\":{\"alibi\":[1,2]}", "mask.alibi", "2"},
    {"\"mask\":{\"alibi\":1}", "mask.alibi", "must be true, or a list of numbers"},
    {"\"mask\":{\"empty_rows\":\"zeros\"}", "mask.empty_rows", "did you mean \"zero\"?"},
    {"\"mask\":{\"key_lengths\":[0]}", "mask", "No key is visible to query 0, query 1"},
    {"\"scale\":\"big\"", "scale", "is a string; it must be a number"},
    {"\"softcap\":0", "softcap", "is 0; it must be a number greater than 0"},
    {"\"softcap\":-1", "softcap", "is -1"},
    {"\"sinks\":[1,2]", "sinks", "2 entries"},
    {"\"sinks\":1", "sinks", "must be a list of numbers"},
    {"\"sinks\":[null]", "sinks.0", "must be a number"},
    {"\"dropout\":{}", "dropout", "lacks its member \"p\""},
    {"\"dropout\":{\"p\":1}", "dropout.p", "is 1; it must be a number of at least 0 and less than 1"},
    {"\"dropout\":{\"p\":0.5,\"seed\":0.5}", "dropout.seed", "is 0.5"},
    {"\"dropout\":0.5", "dropout", "must be an object"},
    {"\"rope\":{\"dims\":3}", "rope.dims", "only 2 wide"},
    {"\"rope\":{\"dims\":1}", "rope.dims", "odd"},
    {"\"rope\":{\"dims\":0}", "rope.dims", "at least 1"},
    {"\"rope\":{\"theta\":0}", "rope.theta", "greater than 0"},
    {"\"rope\":{\"query_positions\":[0]}", "rope.query_positions", "1 positions"},
    {"\"rope\":{\"key_positions\":[[0,1]]}", "rope.key_positions", "[1][2]"},
    {"\"past\":{\"k\":[[1,2]]}", "past", "lacks its member \"v\""},
    {"\"past\":{\"k\":[[1,2,3]],\"v\":[[1]]}", "past.k", "[1][3]"},
    {"\"past\":{\"k\":[[1,2]],\"v\":[[1],[2]]}", "past.v", "[2][1]"},
    {"\"variant\":\"linar\"", "variant", "did you mean \"linear\"?"},
    {"\"variant\":\"linear\",\"mask\":\"causal\"", "mask", "linear"},
    {"\"variant\":\"linear\",\"softcap\":1", "softcap", "linear"},
    {"\"variant\":\"linear\",\"include\":[\"stats\"]", "include", "no stats"},
    {"\"variant\":\"linear\",\"include\":[\"log_sum_exp\"]", "include", "no log_sum_exp"},
    {"\"readout\":{\"w\":[[1,2]]}", "readout", "lacks its member \"tokens\""},
    {"\"readout\":{\"w\":[[1,2]],\"tokens\":[\"a\"]}", "readout.tokens",
     "1 label; the request makes it 2: one for each column"},
    {"\"readout\":{\"w\":[[1,2],[3,4]],\"tokens\":[\"a\",\"b\"]}", "readout.w", "has 2 rows"},
    {"\"include\":\"output\"", "include", "must be a list of names, for example \"include\":[\"output\",\"steps\"]"},
    {"\"include\":[\"outputs\"]", "include.0", "did you mean \"output\"?"},
    {"\"include\":[\"output\",\"scores\"]", "include.1", "did you mean \"steps.scores\"?"},
    {"\"include\":[\"steps.wieghts\"]", "include.0", "did you mean \"steps.weights\"?"},
    {"\"include\":[\"steps.zebra\"]", "include.0", "no name of a result"},
    {"\"include\":[\"all\"]", "include.0", "The names are output, weights, log_sum_exp"},
    {"\"include\":[1]", "include", "must be a list of names"},
    {"\"dropout\":0.1", "dropout", "for example \"dropout\":{\"p\":0.1,\"seed\":1}"},
    {"\"mask\":{\"window\":2}", "mask.window", "for example \"mask\":{\"window\":{\"left\":1,\"right\":0}}"},
    {"\"mask\":[[true,false,true]]", "mask", "is an array of booleans"},
    {"\"mask\":[[true,false,true]]", "mask", "{\"allow\":..}, where true = may attend"},
    {"\"mask\":{\"causal\":[true]}", "mask.causal", "is an array of booleans"},
    {"\"softcap\":[null]", "softcap", "is an array of nulls"},
    {"\"mask\":\"padding\"", "mask", "is \"padding\"; it must be \"none\" or \"causal\" or an object"},
    {"\"dtype\":\"float16\"", "dtype", "The arithmetic is in one of these two"},
    {"\"mask\":{\"key_lengths\":[1,2]}", "mask.key_lengths", "has 2 entries; the request makes it 1"},
    {"\"include\":[\"output\",{}]", "include.1", "is an object"},
    {"\"include\":[\"steps.capped\"]", "include", "no steps.capped: softcap would bring it"},
    {"\"include\":[\"steps.biased\"]", "include", "mask.bias or mask.alibi"},
    {"\"include\":[\"steps.dropped\"]", "include", "dropout would bring it"},
    {"\"tokens\":[\"a\",\"b\"]", "tokens", "2 queries and 3 keys"},
    {"\"tokens\":{\"query\":[\"a\",\"b\"],\"key\":[\"a\"]}", "tokens.key",
     "has 1 label; the request makes it 3: one for each key"},
    {"\"tokens\":{\"query\":[\"a\"],\"key\":[\"a\",\"b\",\"c\"]}", "tokens.query",
     "has 1 label; the request makes it 2: one for each query"},
    {"\"tokens\":[\"a\",1]", "tokens.1", "must be a string"},
    {"\"tokens\":[1,2]", "tokens", "it must be a list of strings"},
    {"\"tokens\":\"ab\"", "tokens", "a list, or an object"},
    {"\"decimals\":18", "decimals", "is 18; it must be an integer from 0 to 17"},
    {"\"decimals\":-1", "decimals", "is -1"},
    {"\"decimals\":\"3\"", "decimals", "is a string"},
    {"\"decimals\":-0.1", "decimals", "is -0.1; it must be"},
    {"\"mask\":[]", "mask", "is an empty array; it must be"},
    {"\"dropout\":{\"p\":0.5,\"seed\":9007199254740993}", "dropout.seed", "integers go up to 2^53 - 1"},
    {"\"mask\":{\"documents\":{\"query\":[1,9007199254740993],\"key\":[1,1,9007199254740992]}}",
     "mask.documents.query.1", "up to 2^53 - 1"},
    {"\"decimals\":3,\"encoding\":\"base64\"", "decimals", "prints no numbers"},
    {"\"mask\":\"causal\\u0000\"", "mask", "NUL character at byte 6"},
    {"\"include\":[\"output\\u0000s\"]", "include.0", "NUL"},
    {"\"id\":\"\\u0000\"", "id", "NUL character at byte 0"},
    {"\"tokens\":[\"a\",\"b\\u0000\"]", "tokens.1", "NUL character at byte 1"},
    {"\"tokens\":[null,\"b\"]", "tokens.0", "must be a string"},
    {"\"sinks\":[\"-Infinity\"]", "sinks", "must be a list of numbers"},
    {"\"nonfinite\":\"NaN\"", "nonfinite", "\"null\" or \"string\""},
    {"\"encoding\":\"hex\"", "encoding", "\"json\" or \"base64\""},
    {"\"id\":7", "id", "must be a string"},
    {"\"id\":\"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
     "01234567890123456789012345678\"",
     "id", "has 129 characters; 128 are the most"},
    {"\"heads\":0", "heads", "is 0"},
    {"\"heads\":1.5", "heads", "is 1.5"},
    {"\"heads\":3", "q", "3 heads"},
    {"\"kv_heads\":1", "kv_heads", "without heads"},
    {"\"heads\":2,\"kv_heads\":3", "kv_heads", "multiple"},
    {"\"dtype\":\"float32\",\"scale\":1e39", "scale", "too large for float32"},
    {"\"dtype\":\"float32\",\"softcap\":1e39", "softcap", "too large for float32"},
    {"\"dtype\":\"float32\",\"softcap\":1e-46", "softcap", "too small for float32"},
    {"\"dtype\":\"float32\",\"sinks\":[1e39]", "sinks.0", "too large for float32"},
};

START_TEST(members_are_refused)
{
    char body[1000];
    snprintf(body, sizeof body, "{\"q\":[[1,0],[0,2]],\"k\":[[1,0],[0,1],[1,1]],\"v\":[[1],[2],[3]],%s}",
             members[_i].members);
    enum error_code code = members[_i].name[0] ? ERROR_INVALID : ERROR_SYNTAX;
    exchange_refused(body, code, members[_i].name, members[_i].part);
}
END_TEST

/* In place of k: a packed tensor of shape [1][2] that is wrong. */
static const struct {
    const char *k, *name, *part;
} packed[] = {
    {"{\"dtype\":\"float8\",\"shape\":[1,2],\"base64\":\"AACAPwAAAAA=\"}", "k.dtype", "\"bfloat16\" or \"uint8\""},
    {"{\"dtype\":\"float32\",\"base64\":\"AACAPwAAAAA=\"}", "k", "lacks its member \"shape\""},
    {"{\"dtype\":\"float32\",\"shape\":[1,2]}", "k", "lacks its member \"base64\""},
    {"{\"shape\":[1,2],\"base64\":\"AACAPwAAAAA=\"}", "k", "lacks its member \"dtype\""},
    {"{\"dtype\":\"float32\",\"shape\":[1,0],\"base64\":\"\"}", "k.shape.1", "is 0; the least is 1"},
    {"{\"dtype\":\"float32\",\"shape\":[1,1,1,1,1,2],\"base64\":\"AACAPwAAAAA=\"}", "k", "6 sizes"},
    {"{\"dtype\":\"float32\",\"shape\":[1,3],\"base64\":\"AACAPwAAAAA=\"}", "k.base64",
     "holds 8 bytes; shape [1][3] of float32 takes 12"},
    {"{\"dtype\":\"float32\",\"shape\":[1,2],\"base64\":\"AACAPwAAAA=\"}", "k.base64", "has 11 characters; base64"},
    {"{\"dtype\":\"float32\",\"shape\":[1,2],\"base64\":\"AACAPwAAAA\"}", "k.base64", "has 10 characters; base64"},
    {"{\"dtype\":\"float32\",\"shape\":[1,2],\"base64\":\"AACA*wAAAAA=\"}", "k.base64", "position 4"},
    {"{\"dtype\":\"float32\",\"shape\":[1,2],\"base64\":\"AACAPwAAAAB=\"}", "k.base64", "position"},
    {"{\"dtype\":\"float32\",\"shape\":[1,2],\"base64\":\"AACAPwAAgH8=\"}", "k.0.1", "not finite"},
    {"{\"dtype\":\"float32\",\"shape\":[1,2],\"base64\":\"AACAPwAAgP8=\"}", "k.0.1", "not finite"},
    {"{\"dtype\":\"float32\",\"shape\":[1,2],\"base64\":\"AACAPwAAwH8=\"}", "k.0.1", "not finite"},
    {"{\"dtype\":\"float32\",\"shape\":[1,2],\"base64\":7}", "k.base64", "is a number; it must be a string."},
    {"{\"dtype\":\"float32\",\"shape\":[1,2],\"data\":\"\"}", "/k/data", "no member"},
};

START_TEST(packed_tensors_are_refused)
{
    char body[400];
    snprintf(body, sizeof body, "{\"q\":[[1,0]],\"k\":%s,\"v\":[[1]]}", packed[_i].k);
    exchange_refused(body, ERROR_INVALID, packed[_i].name, packed[_i].part);
}
END_TEST

START_TEST(a_packed_bias_hides_by_infinity_alone)
{
    const char *body = "{\"q\":[[1,0]],\"k\":[[1,0]],\"v\":[[1]],\"mask\":{\"bias\":{\"dtype\":\"float32\","
                       "\"shape\":[1,1],\"base64\":\"%s\"},\"empty_rows\":\"zero\"}}";
    char filled[400];
    snprintf(filled, sizeof filled, body, "AACA/w==");
    json_t *r = exchange_reply(filled);
    exchange_near(r, "weights", "[[0]]", 0);
    json_decref(r);
    snprintf(filled, sizeof filled, body, "AACAfw==");
    exchange_refused(filled, ERROR_INVALID, "mask.bias.0.0", "+infinity");
    snprintf(filled, sizeof filled, body, "AADAfw==");
    exchange_refused(filled, ERROR_INVALID, "mask.bias.0.0", "NaN");
}
END_TEST

START_TEST(a_float64_tensor_is_narrowed_with_a_check)
{
    /* 1e300 and 2 as float64 */
    const char *body = "{\"dtype\":\"%s\",\"q\":[[1,0]],\"k\":{\"dtype\":\"float64\",\"shape\":[1,2],"
                       "\"base64\":\"nHUAiDzkN34AAAAAAAAAQA==\"},\"v\":[[1]],\"include\":[\"inputs\"]}";
    char filled[400];
    snprintf(filled, sizeof filled, body, "float32");
    exchange_refused(filled, ERROR_INVALID, "k.0.0", "too large for float32");
    snprintf(filled, sizeof filled, body, "float64");
    json_t *r = exchange_reply(filled);
    exchange_near(r, "inputs.k", "[[1e300,2]]", 0);
    json_decref(r);
}
END_TEST

START_TEST(independent_faults_come_together)
{
    struct exchange x = exchange_run("{\"q\":[[1,true]],\"k\":[[1],[1,2]],\"v\":7,\"scale\":null,\"zebra\":1}",
                                     (struct exchange_how){0});
    static const char *const names[] = {"q.0.1", "k.1", "v", "scale", "/zebra"};
    ck_assert(!x.good);
    ck_assert_uint_eq(x.err.count, 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert_str_eq(x.err.faults[i].name, names[i]);
    exchange_end(&x);
}
END_TEST

START_TEST(a_long_foreign_name_is_cut)
{
    char body[1000] = "{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]],\"";
    for (size_t i = 0; i < 200; i++)
        strcat(body, "\xc3\xa4");
    strcat(body, "\":1}");
    struct exchange x = exchange_run(body, (struct exchange_how){0});
    ck_assert(!x.good);
    ck_assert_str_eq(x.err.faults[0].name, "/????????????????????????????????????????...");
    exchange_end(&x);
}
END_TEST

/* What other libraries call it, and what the error must say. */
static const struct {
    const char *member, *here;
} foreign[] = {
    {"query", "\"q\""},
    {"value", "\"v\""},
    {"attn_mask", "{\"allow\":..} for booleans, where true = may attend"},
    {"attention_mask", "where yours has 1 or true for tokens to keep"},
    {"key_padding_mask", "the opposite of yours, where true hides"},
    {"is_causal", "\"mask\":\"causal\""},
    {"num_heads", "\"heads\""},
    {"num_kv_heads", "\"kv_heads\""},
    {"q_num_heads", "\"heads\""},
    {"enable_gqa", "grouped-query"},
    {"need_weights", "\"weights\" in the list \"include\""},
    {"return_attention_scores", "\"include\""},
    {"sliding_window", "\"left\": w - 1"},
    {"window", "here it is \"mask\":{\"window\":{\"left\":1,\"right\":0}}"},
    {"cell", "\"cell\":{\"query\":0,\"key\":0} of POST /v1/attention/explain"},
    {"logits_soft_cap", "\"softcap\""},
    {"temperature", "which multiplies: 1 / (temperature * sqrt(d_k))"},
    {"rotary", "\"rope\""},
    {"scores_bias", "\"mask\":{\"bias\":..}"},
    {"kv_cache", "\"past\""},
};

START_TEST(names_of_other_libraries)
{
    char body[300];
    char name[80];
    snprintf(body, sizeof body, "{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]],\"%s\":true}", foreign[_i].member);
    snprintf(name, sizeof name, "/%s", foreign[_i].member);
    exchange_refused(body, ERROR_INVALID, name, foreign[_i].here);
    exchange_refused(body, ERROR_INVALID, name, "; here it is ");
}
END_TEST

START_TEST(nan_is_no_json)
{
    exchange_refused("{\"q\":[[1,NaN]],\"k\":[[1,0]],\"v\":[[1]]}", ERROR_SYNTAX, "", "JSON has no NaN");
    exchange_refused("{\"q\":[[1,0]],\"scale\":-Infinity}", ERROR_SYNTAX, "", "JSON has no NaN and no Infinity");
    exchange_refused("{\"q\":[[1,0]],\"scale\":nothing}", ERROR_SYNTAX, "", "a value is expected here");
}
END_TEST

Suite *refusals_suite(void);

Suite *refusals_suite(void)
{
    Suite *suite = suite_create("refusals");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, bodies_are_refused, 0, (int)(sizeof bodies / sizeof *bodies));
    tcase_add_loop_test(tests, members_are_refused, 0, (int)(sizeof members / sizeof *members));
    tcase_add_loop_test(tests, packed_tensors_are_refused, 0, (int)(sizeof packed / sizeof *packed));
    tcase_add_test(tests, a_packed_bias_hides_by_infinity_alone);
    tcase_add_test(tests, a_float64_tensor_is_narrowed_with_a_check);
    tcase_add_test(tests, independent_faults_come_together);
    tcase_add_test(tests, a_long_foreign_name_is_cut);
    tcase_add_test(tests, nan_is_no_json);
    tcase_add_loop_test(tests, names_of_other_libraries, 0, (int)(sizeof foreign / sizeof *foreign));
    suite_add_tcase(suite, tests);
    return suite;
}
