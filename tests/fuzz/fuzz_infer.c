/* Requests of the Open Inference Protocol: whatever the JSON and the bytes behind it, there is a refusal with words or
 * a reply, which is the same in blocks as whole, and whose JSON ends where it says. */
#include "api/job.h"
#include "core/tensor/blas.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROOM ((size_t)1 << 26)

static void demand(bool held)
{
    if (!held)
        abort();
}

static void start(void)
{
    static bool started;
    struct error err = {0};
    demand(started || blas_start(&err));
    started = true;
}

static void check_json(const struct job *job, const struct buffer *out)
{
    size_t length = job_json_length(job) > 0 ? job_json_length(job) : out->length;
    demand(length <= out->length && (job_length(job) == 0 || job_length(job) == out->length));
    json_t *reply = json_loadb(out->data, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    demand(json_is_object(reply));
    json_decref(reply);
}

/* The first line of the data says how many bytes are JSON, after `lead` blanks; without a number there all of it is. */
static bool run(const uint8_t *data, size_t size, size_t whole_elements, size_t lead, struct buffer *out)
{
    const struct request_limits limits = {
        .elements = 4096, .reply_elements = 20000, .memory = 1 << 24, .whole_elements = whole_elements};
    const uint8_t *line = memchr(data, '\n', size);
    size_t skipped = line ? (size_t)(line - data) + 1 : 0;
    char digits[24] = {0};
    memcpy(digits, data, skipped < sizeof digits ? skipped : 0);
    const struct job_order order = {
        .kind = JOB_INFER, .split = skipped > 1, .json_length = strtoul(digits, NULL, 10), .lead = lead};
    struct error err = {0};
    struct buffer body = buffer_new(size + lead);
    for (size_t x = 0; x < lead; x++)
        buffer_append(&body, " ", 1);
    buffer_append(&body, (const char *)data + skipped, size - skipped);
    struct job *job = job_new(&limits, &order, &body, (struct read_context){0}, &err);
    bool good = job && job_run(job, NULL, NULL, &err);
    for (size_t x = 0; good && x < job_blocks(job); x++)
        demand(job_block(job, x, out));
    if (good)
        check_json(job, out);
    else
        demand(err.code != ERROR_NONE && err.count > 0 && err.faults[0].text[0] != '\0');
    job_free(job);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer whole = buffer_new(ROOM);
    struct buffer blocks = buffer_new(ROOM);
    start();
    bool good = run(data, size, 0, 0, &whole);
    demand(run(data, size, 1, size % 8, &blocks) == good);
    demand(whole.length == blocks.length && (!good || memcmp(whole.data, blocks.data, whole.length) == 0));
    buffer_free(&whole);
    buffer_free(&blocks);
    return 0;
}
