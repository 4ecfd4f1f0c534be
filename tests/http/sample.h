/* Bodies for POST /v1/attention. */
#ifndef TESTS_HTTP_SAMPLE_H
#define TESTS_HTTP_SAMPLE_H

#include <stddef.h>

/* Two tokens, four features, causal: its second row of weights is 0.2799 0.7201. */
#define SAMPLE_CAT \
    "{\"tokens\":[\"the\",\"cat\"],\"q\":[[0.3,-0.2,0.5,0.1],[1.1,-0.8,0.2,0.3]]," \
    "\"k\":[[-0.4,-0.3,0.2,1.2],[1.6,-0.7,-0.4,-0.5]]," \
    "\"v\":[[-0.5,-0.4,0.1,1.1],[1.2,-0.3,-0.2,-0.6]]," \
    "\"mask\":\"causal\",\"include\":[\"output\",\"weights\",\"steps\"]}"

/* q, k and v with `n` rows of `width` numbers each, and the members `rest` ("\"include\":[\"output\"]"); to be freed.
 */
char *sample_square(size_t n, size_t width, const char *rest);

/* The same with `m` keys for `n` queries. */
char *sample_rows(size_t n, size_t m, size_t width, const char *rest);

/* About 2 n^2 (width + 20) operations before a reply of one number per query: n = 4096 takes a core some tenths of a
 * second. */
char *sample_slow(size_t n);

/* An object of `count` members that no request has, whose names are hexadecimal numbers of `width` digits; to be freed.
 */
char *sample_members(unsigned count, int width);

/* A POST /v1/attention as bytes, to be freed; `body` is freed here. */
char *sample_request(char *body);

#endif
