/* Replies in blocks. */
#include "server/compute/stream.h"

#include "server/coding/content_packing.h"
#include "server/compute/block_queue.h"
#include "server/listen/connections.h"
#include "server/service/service.h"
#include "server/watch/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_FULL };

/* One block of the window; block i has slot i modulo the window. */
struct slot {
    struct block_task task; /* first: a task is its slot */
    struct stream *stream;
    enum slot_state state;
    size_t index;
    size_t charged; /* to the budget; 0 for the block that the stream was charged for when it began */
    struct buffer text;
    const char *view;               /* the bytes lie in the job; else NULL, and they are `text` */
    size_t length;                  /* of the view */
    struct content_packing_sum sum; /* when the stream is packed */
    bool failed;
};

/* Held by the response and by every block on its way through the pool; the last one frees it. What is below the mutex
 * is under it. */
struct stream {
    struct block_task end; /* first: a task is its stream */
    struct service *service;
    struct MHD_Connection *connection; /* valid while `waiting`, or on the event thread before stream_close */
    struct connection *peer;
    struct job *job;
    size_t charged; /* for the job and one block */
    size_t room;    /* that a block takes at most */
    atomic_size_t *sent;
    enum content_encoding coding;
    struct content_packing_sum sum; /* of the blocks that have been sent: the event thread's */
    size_t blocks, window;
    size_t current, offset; /* the block being sent and how much of it was: the event thread's */
    size_t part;            /* bytes since the clock was started: the event thread's */
    size_t next;            /* the first block nobody encodes yet: the event thread's */
    pthread_mutex_t mutex;
    size_t holders;
    bool waiting; /* the reader is suspended: whoever clears this resumes it */
    bool closed;  /* nobody reads any more */
    struct slot slots[];
};

/* --- life --- */

static void empty_slot(struct slot *slot)
{
    buffer_free(&slot->text);
    budget_give(&slot->stream->service->held, slot->charged);
    slot->charged = 0;
}

static void free_stream(struct block_task *task)
{
    struct stream *stream = (struct stream *)(void *)task;
    for (size_t i = 0; i < stream->window; i++)
        empty_slot(&stream->slots[i]);
    pthread_mutex_destroy(&stream->mutex);
    job_free(stream->job);
    budget_give(&stream->service->held, stream->charged);
    free(stream);
}

/* Whether it was the last. */
static bool let_go(struct stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    bool last = --stream->holders == 0;
    pthread_mutex_unlock(&stream->mutex);
    return last;
}

struct stream *stream_new(struct service *service, struct MHD_Connection *connection, struct job *job, size_t charged,
                          enum content_encoding coding, atomic_size_t *sent)
{
    size_t window = 2 * pool_workers(service->pool);
    struct stream *stream = calloc(1, sizeof *stream + window * sizeof *stream->slots);
    if (!stream) {
        job_free(job);
        budget_give(&service->held, charged);
        return NULL;
    }
    stream->service = service;
    stream->connection = connection;
    stream->peer = connections_find(connection);
    stream->job = job;
    stream->sent = sent;
    stream->coding = coding;
    stream->charged = charged;
    stream->room = job_block_room(job);
    stream->blocks = job_blocks(job);
    stream->window = window;
    stream->holders = 1;
    stream->end.run = free_stream;
    pthread_mutex_init(&stream->mutex, NULL);
    for (size_t i = 0; i < window; i++)
        stream->slots[i].stream = stream;
    return stream;
}

/* --- encoding: on a worker --- */

static bool pack(struct slot *slot, const struct buffer *plain)
{
    const struct stream *stream = slot->stream;
    if (slot->index == 0)
        content_packing_begin(stream->coding, &slot->text);
    bool last = slot->index + 1 == stream->blocks;
    return content_packing_piece(stream->coding, plain, last, &slot->text, &slot->sum);
}

static bool write_packed(struct slot *slot)
{
    struct buffer plain = buffer_new(slot->stream->room);
    bool good = job_block(slot->stream->job, slot->index, &plain) && !plain.failed && pack(slot, &plain);
    buffer_free(&plain);
    return good;
}

/* What the block does not need of its room is given back; the last one may have an end appended yet. */
static void encode(struct slot *slot)
{
    const struct stream *stream = slot->stream;
    struct buffer *text = &slot->text;
    slot->text =
        buffer_new(stream->coding != CONTENT_ENCODING_NONE ? content_packing_most(stream->room) : stream->room);
    bool good =
        stream->coding != CONTENT_ENCODING_NONE ? write_packed(slot) : job_block(stream->job, slot->index, text);
    slot->failed = !good || text->failed;
    if (slot->index + 1 == stream->blocks)
        return;
    buffer_trim(text);
    if (slot->charged <= text->length)
        return;
    budget_give(&stream->service->held, slot->charged - text->length);
    slot->charged = text->length;
}

/* A block is ready: wakes the reader if it waits for this one. The connection is suspended until then, so it exists. */
static void deliver(struct slot *slot)
{
    struct stream *stream = slot->stream;
    pthread_mutex_lock(&stream->mutex);
    slot->state = SLOT_FULL;
    bool wake = stream->waiting && slot->index == stream->current;
    if (wake)
        stream->waiting = false;
    pthread_mutex_unlock(&stream->mutex);
    if (wake)
        connections_resume(stream->service->connections, stream->connection);
}

static void run_encode(struct block_task *task)
{
    struct slot *slot = (struct slot *)(void *)task;
    struct stream *stream = slot->stream;
    pthread_mutex_lock(&stream->mutex);
    bool closed = stream->closed;
    pthread_mutex_unlock(&stream->mutex);
    if (!closed)
        encode(slot);
    deliver(slot);
    if (let_go(stream))
        free_stream(&stream->end);
}

/* --- the window: on the event thread --- */

static struct slot *find_slot(struct stream *stream, size_t index)
{
    return &stream->slots[index % stream->window];
}

static void set_taken(struct slot *slot, bool taken)
{
    struct stream *stream = slot->stream;
    pthread_mutex_lock(&stream->mutex);
    slot->state = taken ? SLOT_TAKEN : SLOT_FREE;
    stream->holders = taken ? stream->holders + 1 : stream->holders - 1;
    pthread_mutex_unlock(&stream->mutex);
}

/* Blocks ahead of the one that is wanted leave half of the budget to others. */
static bool charge_ahead(struct slot *slot)
{
    struct budget *held = &slot->stream->service->held;
    size_t room = slot->stream->room;
    if (!budget_has(held, held->limit / 2) || !budget_take(held, room))
        return false;
    slot->charged = room;
    return true;
}

/* What lies in the job needs no worker, and nothing of the budget. */
static bool find_view(struct slot *slot)
{
    const struct stream *stream = slot->stream;
    slot->view = stream->coding == CONTENT_ENCODING_NONE ? job_view(stream->job, slot->index, &slot->length) : NULL;
    if (slot->view)
        slot->state = SLOT_FULL;
    return slot->view != NULL;
}

static bool submit_ahead(struct slot *slot)
{
    if (!charge_ahead(slot))
        return false;
    set_taken(slot, true);
    if (block_queue_try(slot->stream->service->blocks, &slot->task))
        return true;
    set_taken(slot, false);
    empty_slot(slot);
    return false;
}

/* The stream was charged for it when it began, and it waits for its turn, whatever the load. */
static void submit_wanted(struct slot *slot)
{
    set_taken(slot, true);
    block_queue_submit(slot->stream->service->blocks, &slot->task);
}

static void fill_window(struct stream *stream)
{
    for (; stream->next < stream->blocks && stream->next < stream->current + stream->window; stream->next++) {
        struct slot *slot = find_slot(stream, stream->next);
        slot->task.run = run_encode;
        slot->index = stream->next;
        if (find_view(slot))
            continue;
        if (stream->next == stream->current)
            submit_wanted(slot);
        else if (!submit_ahead(slot))
            return;
    }
}

enum arrival { ARRIVAL_READY, ARRIVAL_PARKED, ARRIVAL_STOPPED };

/* Whether the block wanted now is there; if not, the reader is parked before any worker can bring it. */
static enum arrival await_block(struct stream *stream, struct slot *slot)
{
    enum arrival arrival = ARRIVAL_READY;
    pthread_mutex_lock(&stream->mutex);
    if (slot->state != SLOT_FULL) {
        stream->waiting = connections_suspend(stream->service->connections, stream->connection);
        arrival = stream->waiting ? ARRIVAL_PARKED : ARRIVAL_STOPPED;
    }
    pthread_mutex_unlock(&stream->mutex);
    return arrival;
}

/* --- sending --- */

/* Before the first byte of a block is sent. */
static void begin_block(struct stream *stream, struct slot *slot)
{
    if (stream->coding == CONTENT_ENCODING_NONE)
        return;
    content_packing_fold(&stream->sum, &slot->sum);
    if (stream->current + 1 == stream->blocks)
        content_packing_end(stream->coding, &stream->sum, &slot->text);
}

/* The client has --write-timeout for each part, and none while it waits for us, which it does between blocks only. */
static void start_clock(struct stream *stream)
{
    if (!stream->peer || (stream->offset > 0 && stream->part < STREAM_PART))
        return;
    stream->part = 0;
    connections_move(stream->peer, CONNECTION_REPLY,
                     clock_now() + clock_from_seconds(stream->service->settings.write_timeout));
}

static void stop_clock(struct stream *stream)
{
    if (stream->peer && stream->offset == 0)
        connections_move(stream->peer, CONNECTION_REPLY, INT64_MAX);
}

static size_t take_bytes(struct stream *stream, struct slot *slot, char *out, size_t size)
{
    size_t left = (slot->view ? slot->length : slot->text.length) - stream->offset;
    size_t taken = left < size ? left : size;
    memcpy(out, (slot->view ? slot->view : slot->text.data) + stream->offset, taken);
    stream->offset += taken;
    stream->part += taken;
    atomic_fetch_add_explicit(stream->sent, taken, memory_order_relaxed);
    if (taken == left) {
        slot->state = SLOT_FREE;
        empty_slot(slot);
        stream->offset = 0;
        stream->current++;
    }
    return taken;
}

ssize_t stream_read(void *context, uint64_t position, char *out, size_t size)
{
    struct stream *stream = context;
    (void)position;
    if (stream->current == stream->blocks)
        return MHD_CONTENT_READER_END_OF_STREAM;
    fill_window(stream);
    struct slot *slot = find_slot(stream, stream->current);
    stop_clock(stream);
    enum arrival arrival = await_block(stream, slot);
    if (arrival == ARRIVAL_PARKED)
        return 0;
    if (arrival == ARRIVAL_STOPPED)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (stream->offset == 0 && !slot->failed)
        begin_block(stream, slot);
    if (slot->failed || slot->text.failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    start_clock(stream);
    return (ssize_t)take_bytes(stream, slot, out, size);
}

/* What a stream holds may be large, and freeing it takes a while: that is for a worker. */
void stream_close(void *context)
{
    struct stream *stream = context;
    pthread_mutex_lock(&stream->mutex);
    stream->closed = true;
    pthread_mutex_unlock(&stream->mutex);
    if (let_go(stream))
        block_queue_submit(stream->service->blocks, &stream->end);
}
