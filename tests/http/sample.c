/* Bodies for POST /v1/attention. */
#include "tests/http/sample.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *write_rows(char *at, size_t n, size_t width, unsigned seed)
{
    for (size_t i = 0; i < n; i++) {
        *at++ = i == 0 ? '[' : ',';
        for (size_t j = 0; j < width; j++) {
            seed = seed * 1103515245u + 12345u;
            at += sprintf(at, "%c0.%02u", j == 0 ? '[' : ',', (seed >> 16) % 100);
        }
        *at++ = ']';
    }
    *at++ = ']';
    return at;
}

char *sample_rows(size_t n, size_t m, size_t width, const char *rest)
{
    char *body = malloc((n + 2 * m) * (5 * width + 3) + strlen(rest) + 64);
    ck_assert_ptr_nonnull(body);
    char *at = body;
    for (unsigned i = 0; i < 3; i++) {
        at += sprintf(at, "%c\"%c\":", i == 0 ? '{' : ',', "qkv"[i]);
        at = write_rows(at, i == 0 ? n : m, width, i + 1);
    }
    sprintf(at, ",%s}", rest);
    return body;
}

char *sample_square(size_t n, size_t width, const char *rest)
{
    return sample_rows(n, n, width, rest);
}

char *sample_slow(size_t n)
{
    return sample_square(n, 4, "\"include\":[\"log_sum_exp\"]");
}

char *sample_members(unsigned count, int width)
{
    char *text = malloc((size_t)count * ((size_t)width + 5) + 2);
    char *out = text;
    ck_assert_ptr_nonnull(text);
    for (unsigned i = 0; i < count; i++)
        out += sprintf(out, "%c\"%0*x\":1", i ? ',' : '{', width, i);
    strcpy(out, "}");
    return text;
}

char *sample_request(char *body)
{
    size_t size = strlen(body) + 128;
    char *request = malloc(size);
    ck_assert_ptr_nonnull(request);
    snprintf(request, size, "POST /v1/attention HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s", strlen(body),
             body);
    free(body);
    return request;
}
