/* Jobs: whatever the body, there is a refusal with words or a reply; a JSON reply is JSON, and the same in blocks as
 * whole. */
#include "api/job.h"
#include "core/tensor/blas.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte says how: its lowest digit the kind and format, the rest is the body. */
static const struct {
    enum job_kind kind;
    enum job_format format;
} ways[] = {
    {JOB_ATTENTION, JOB_JSON}, {JOB_ATTENTION, JOB_TEXT}, {JOB_EXPLAIN, JOB_JSON},      {JOB_EXPLAIN, JOB_TEXT},
    {JOB_MERGE, JOB_JSON},     {JOB_ATTENTION, JOB_JSON}, {JOB_ATTENTION, JOB_PICTURE}, {JOB_DECODE, JOB_JSON},
    {JOB_EXPLAIN, JOB_TEXT},   {JOB_MERGE, JOB_JSON},
};

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

/* Each within the room that was told before. */
static void encode(const struct job *job, struct buffer *out)
{
    size_t most = job_blocks(job) == 1 ? job_text_room(job) : job_block_room(job);
    for (size_t block = 0; block < job_blocks(job); block++) {
        struct buffer text = buffer_new(most);
        demand(job_block(job, block, &text) && text.length > 0 && text.lent == 0);
        buffer_append(out, text.data, text.length);
        buffer_free(&text);
    }
}

/* False when it is refused. `whole_elements` 1: in as many blocks as there can be. */
static bool run(const uint8_t *data, size_t size, size_t whole_elements, struct buffer *out)
{
    const struct request_limits limits = {
        .elements = 4096, .reply_elements = 20000, .memory = 1 << 24, .whole_elements = whole_elements};
    size_t way = data[0] % (sizeof ways / sizeof *ways);
    struct error err = {0};
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_append(&body, (const char *)data + 1, size - 1);
    struct job *job = job_new(&limits, &(struct job_order){.kind = ways[way].kind, .format = ways[way].format}, &body,
                              (struct read_context){0}, &err);
    bool good = job && job_run(job, NULL, NULL, &err);
    if (good)
        encode(job, out);
    else
        demand(err.code != ERROR_NONE && err.count > 0 && err.faults[0].text[0] != '\0');
    job_free(job);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer whole = buffer_new(SIZE_MAX);
    struct buffer blocks = buffer_new(SIZE_MAX);
    if (size == 0)
        return 0;
    start();
    bool good = run(data, size, 0, &whole);
    demand(run(data, size, 1, &blocks) == good);
    demand(whole.length == blocks.length && (!good || memcmp(whole.data, blocks.data, whole.length) == 0));
    if (good && ways[data[0] % (sizeof ways / sizeof *ways)].format == JOB_JSON) {
        json_t *reply = json_loadb(whole.data, whole.length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
        demand(json_is_object(reply));
        json_decref(reply);
    }
    buffer_free(&whole);
    buffer_free(&blocks);
    return 0;
}
