/* Replies in blocks. */
#include "server/compute/stream.h"

#include "server/http/content_encoding.h"
#include "server/listen/connections.h"
#include "server/service/service.h"
#include "server/watch/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum place_state { PLACE_FREE, PLACE_TAKEN, PLACE_FULL };

/* Room for one block; block i has place i modulo the window. */
struct json_path {
    struct stream *stream;
    enum place_state state;
    size_t index;
    struct buffer plain;
    struct buffer packed; /* gzip of it, when the stream is packed */
    struct content_encoding_sum sum;
    bool failed;
};

/* Held by the response and by every block on its way through the pool; the last one frees it. What is below the mutex
 * is under it. */
struct stream {
    struct service *service;
    struct MHD_Connection *connection; /* valid while `waiting`, or on the event thread before stream_close */
    struct job *job;
    size_t charged; /* for the job */
    struct connection *peer;
    atomic_size_t *sent;
    bool packed;
    struct content_encoding_sum sum; /* of the blocks that have been sent: the event thread's */
    size_t blocks, window;
    size_t current, offset; /* the block being sent and how much of it was: the event thread's */
    size_t part;            /* bytes since the clock was started: the event thread's */
    size_t next;            /* the first block nobody encodes yet: the event thread's */
    pthread_mutex_t mutex;
    size_t holders;
    bool waiting; /* the reader is suspended: whoever clears this resumes it */
    bool closed;  /* nobody reads any more */
    struct json_path places[];
};

static void free_stream(struct stream *stream)
{
    for (size_t i = 0; i < stream->window; i++) {
        buffer_free(&stream->places[i].plain);
        buffer_free(&stream->places[i].packed);
    }
    pthread_mutex_destroy(&stream->mutex);
    job_free(stream->job);
    budget_give(&stream->service->held, stream->charged);
    free(stream);
}

static void release(struct stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    bool last = --stream->holders == 0;
    pthread_mutex_unlock(&stream->mutex);
    if (last)
        free_stream(stream);
}

struct stream *stream_new(struct service *service, struct MHD_Connection *connection, struct job *job, size_t charged,
                          bool packed, atomic_size_t *sent)
{
    size_t window = 2 * pool_workers(service->pool);
    struct stream *stream = calloc(1, sizeof *stream + window * sizeof *stream->places);
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
    stream->packed = packed;
    stream->charged = charged;
    stream->blocks = job_blocks(job);
    stream->window = window;
    stream->holders = 1;
    pthread_mutex_init(&stream->mutex, NULL);
    for (size_t i = 0; i < window; i++)
        stream->places[i].stream = stream;
    return stream;
}

static struct json_path *find_place(struct stream *stream, size_t index)
{
    return &stream->places[index % stream->window];
}

static void pack(struct json_path *place)
{
    const struct stream *stream = place->stream;
    place->packed.length = 0;
    if (place->index == 0)
        content_encoding_begin(&place->packed);
    bool last = place->index + 1 == stream->blocks;
    place->failed = !content_encoding_pack_piece(&place->plain, last, &place->packed, &place->sum);
}

static void encode(struct json_path *place)
{
    place->plain.length = 0;
    place->failed = !job_block(place->stream->job, place->index, &place->plain) || place->plain.failed;
    if (place->stream->packed && !place->failed)
        pack(place);
}

static struct buffer *find_text(struct json_path *place)
{
    return place->stream->packed ? &place->packed : &place->plain;
}

/* Before the first byte of a block is sent. */
static void begin_block(struct stream *stream, struct json_path *place)
{
    if (!stream->packed)
        return;
    content_encoding_fold(&stream->sum, &place->sum);
    if (stream->current + 1 == stream->blocks)
        content_encoding_end(&stream->sum, &place->packed);
}

/* A block is ready: wakes the reader if it waits for this one. The connection is suspended until then, so it exists. */
static void deliver(struct json_path *place)
{
    struct stream *stream = place->stream;
    pthread_mutex_lock(&stream->mutex);
    place->state = PLACE_FULL;
    bool wake = stream->waiting && place->index == stream->current;
    if (wake)
        stream->waiting = false;
    pthread_mutex_unlock(&stream->mutex);
    if (wake)
        connections_resume(stream->service->connections, stream->connection);
}

static void run_encode(void *context)
{
    struct json_path *place = context;
    struct stream *stream = place->stream;
    pthread_mutex_lock(&stream->mutex);
    bool closed = stream->closed;
    pthread_mutex_unlock(&stream->mutex);
    if (!closed)
        encode(place);
    deliver(place);
    release(stream);
}

/* Streams leave half of the queue to new requests. */
static bool has_room(struct stream *stream)
{
    return pool_waiting(stream->service->pool) <= stream->service->settings.queue / 2;
}

static bool submit_block(struct stream *stream, struct json_path *place)
{
    pthread_mutex_lock(&stream->mutex);
    place->state = PLACE_TAKEN;
    stream->holders++;
    pthread_mutex_unlock(&stream->mutex);
    if (has_room(stream) && pool_submit_brief(stream->service->pool, run_encode, place))
        return true;
    pthread_mutex_lock(&stream->mutex);
    place->state = PLACE_FREE;
    stream->holders--;
    pthread_mutex_unlock(&stream->mutex);
    return false;
}

/* Keeps the window full. When the pool has no room the block that is wanted now is encoded here: a stream goes on, if
 * slowly, whatever the load. */
static void fill_window(struct stream *stream)
{
    while (stream->next < stream->blocks && stream->next < stream->current + stream->window) {
        struct json_path *place = find_place(stream, stream->next);
        place->index = stream->next;
        if (!submit_block(stream, place)) {
            if (stream->next != stream->current)
                return;
            encode(place);
            place->state = PLACE_FULL;
        }
        stream->next++;
    }
}

enum arrival { ARRIVAL_READY, ARRIVAL_PARKED, ARRIVAL_STOPPED };

/* Whether the block wanted now is there; if not, the reader is parked before any worker can bring it. */
static enum arrival await_block(struct stream *stream, struct json_path *place)
{
    enum arrival arrival = ARRIVAL_READY;
    pthread_mutex_lock(&stream->mutex);
    if (place->state != PLACE_FULL) {
        stream->waiting = connections_suspend(stream->service->connections, stream->connection);
        arrival = stream->waiting ? ARRIVAL_PARKED : ARRIVAL_STOPPED;
    }
    pthread_mutex_unlock(&stream->mutex);
    return arrival;
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

static size_t take_bytes(struct stream *stream, struct json_path *place, char *out, size_t size)
{
    const struct buffer *text = find_text(place);
    size_t left = text->length - stream->offset;
    size_t taken = left < size ? left : size;
    memcpy(out, text->data + stream->offset, taken);
    stream->offset += taken;
    stream->part += taken;
    atomic_fetch_add_explicit(stream->sent, taken, memory_order_relaxed);
    if (taken == left) {
        place->state = PLACE_FREE;
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
    struct json_path *place = find_place(stream, stream->current);
    stop_clock(stream);
    enum arrival arrival = await_block(stream, place);
    if (arrival == ARRIVAL_PARKED)
        return 0;
    if (arrival == ARRIVAL_STOPPED)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (stream->offset == 0 && !place->failed)
        begin_block(stream, place);
    if (place->failed || find_text(place)->failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    start_clock(stream);
    return (ssize_t)take_bytes(stream, place, out, size);
}

void stream_close(void *context)
{
    struct stream *stream = context;
    pthread_mutex_lock(&stream->mutex);
    stream->closed = true;
    pthread_mutex_unlock(&stream->mutex);
    release(stream);
}
