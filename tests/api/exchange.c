/* Bodies in, replies out. */
#include "tests/api/exchange.h"

#include "core/tensor/blas.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void start_blas(void)
{
    static bool started;
    struct error err = {0};
    if (!started)
        ck_assert_msg(blas_start(&err), "%s", err.faults[0].text);
    started = true;
}

struct encoding {
    const struct job *job;
    struct buffer *blocks;
};

static void encode(void *context, size_t index, size_t worker)
{
    (void)worker;
    const struct encoding *e = context;
    if (!job_block(e->job, index, &e->blocks[index]))
        e->blocks[index].failed = true;
}

static void collect(struct exchange *x, const struct job *job, struct pool *pool)
{
    x->blocks = job_blocks(job);
    struct encoding e = {job, calloc(x->blocks, sizeof *e.blocks)};
    ck_assert_ptr_nonnull(e.blocks);
    size_t most = x->blocks == 1 ? job_text_room(job) : job_block_room(job);
    for (size_t i = 0; i < x->blocks; i++)
        e.blocks[i] = buffer_new(most);
    pool_run(pool, x->blocks, encode, &e);
    for (size_t i = 0; i < x->blocks; i++) {
        ck_assert_msg(!e.blocks[i].failed && e.blocks[i].length > 0 && e.blocks[i].lent == 0, "block %zu of %zu", i,
                      x->blocks);
        buffer_append(&x->text, e.blocks[i].data, e.blocks[i].length);
        buffer_free(&e.blocks[i]);
    }
    free(e.blocks);
}

struct exchange exchange_run(const char *body, struct exchange_how how)
{
    struct exchange x = {.text = buffer_new(SIZE_MAX)};
    struct buffer text = buffer_new(SIZE_MAX);
    start_blas();
    buffer_string(&text, body);
    size_t wide = (size_t)1 << 30;
    how.limits.elements = how.limits.elements ? how.limits.elements : wide;
    how.limits.reply_elements = how.limits.reply_elements ? how.limits.reply_elements : wide;
    how.limits.memory = how.limits.memory ? how.limits.memory : wide;
    struct job *job =
        job_new(&how.limits, &(struct job_order){.kind = how.kind, .format = how.format}, &text,
                (struct read_context){.pool = how.pool, .memory = how.memory, .defaults = how.defaults}, &x.err);
    ck_assert_msg(!text.data, "the body is taken over and freed");
    double lasting = job ? job_lasting(job) : 0;
    x.good = job && job_run(job, how.pool, NULL, &x.err);
    if (x.good) {
        ck_assert_double_le(lasting, (double)job_held(job));
        collect(&x, job, how.pool);
        x.reply = json_loadb(x.text.data, x.text.length, JSON_REJECT_DUPLICATES, NULL);
        snprintf(x.media_type, sizeof x.media_type, "%s", job_media_type(job));
    }
    job_free(job);
    return x;
}

void exchange_end(struct exchange *x)
{
    json_decref(x->reply);
    buffer_free(&x->text);
}

json_t *exchange_reply(const char *body)
{
    struct exchange x = exchange_run(body, (struct exchange_how){0});
    ck_assert_msg(x.good, "refused: %s: %s\n%s", x.err.faults[0].name, x.err.faults[0].text, body);
    ck_assert_msg(x.reply, "no JSON: %.200s", x.text.data);
    buffer_free(&x.text);
    return x.reply;
}

void exchange_refused(const char *body, enum error_code code, const char *name, const char *part)
{
    struct exchange x = exchange_run(body, (struct exchange_how){0});
    ck_assert_msg(!x.good, "accepted: %s", body);
    ck_assert_msg(x.err.code == code, "code %d, not %d: %s\n%s", (int)x.err.code, (int)code, x.err.faults[0].text,
                  body);
    bool found = false;
    for (size_t i = 0; i < x.err.count; i++)
        found |= strcmp(x.err.faults[i].name, name) == 0 && strstr(x.err.faults[i].text, part);
    ck_assert_msg(found, "%s\nwanted: %s ... %s\nfirst:  %s: %s", body, name, part, x.err.faults[0].name,
                  x.err.faults[0].text);
    exchange_end(&x);
}

static const json_t *step_into(const json_t *value, const char *name)
{
    return json_is_array(value) ? json_array_get(value, strtoul(name, NULL, 10)) : json_object_get(value, name);
}

json_t *exchange_at(const json_t *reply, const char *path)
{
    char copy[200];
    const json_t *at = reply;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *name = strtok(copy, "."); name; name = strtok(NULL, ".")) {
        at = step_into(at, name);
        ck_assert_msg(at, "the reply has no %s", path);
    }
    return (json_t *)at;
}

static void compare(const json_t *found, const json_t *expected, const char *path, double tolerance)
{
    ck_assert_msg(json_is_number(found) ? json_is_number(expected) : json_typeof(found) == json_typeof(expected),
                  "%s has another type", path);
    if (json_is_number(expected)) {
        double difference = fabs(json_number_value(found) - json_number_value(expected));
        ck_assert_msg(difference <= tolerance, "%s: %.17g instead of %.17g", path, json_number_value(found),
                      json_number_value(expected));
    } else if (json_is_array(expected)) {
        ck_assert_msg(json_array_size(found) == json_array_size(expected), "%s has %zu entries, not %zu", path,
                      json_array_size(found), json_array_size(expected));
        for (size_t i = 0; i < json_array_size(expected); i++)
            compare(json_array_get(found, i), json_array_get(expected, i), path, tolerance);
    } else {
        ck_assert_msg(json_equal(found, expected), "%s differs", path);
    }
}

void exchange_near(const json_t *reply, const char *path, const char *expected, double tolerance)
{
    json_t *wanted = json_loads(expected, JSON_DECODE_ANY, NULL);
    ck_assert_msg(wanted, "the test's own JSON: %s", expected);
    compare(exchange_at(reply, path), wanted, path, tolerance);
    json_decref(wanted);
}
