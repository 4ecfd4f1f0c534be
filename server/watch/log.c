/* The log: lines gather in memory, a thread writes them; what is lost is counted and said as soon as it can be. */
#include "server/watch/log.h"

#include "api/numbers/buffer.h"
#include "api/writing/writer.h"
#include "server/watch/log_line.h"
#include "server/watch/printable.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HELD_MAX ((size_t)1024 * 1024)
#define STOP_SECONDS 2
#define GATHER_NANOSECONDS 5000000 /* lines of this time leave in one write */

static const char *const level_names[] = {"debug", "info", "warn", "error"};
static const char *const format_names[] = {"json", "text"};

struct log {
    int descriptor;
    enum log_format format;
    enum log_level level;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    struct buffer held;
    uint64_t dropped; /* lines lost and not yet told */
    bool fresh;       /* something came since the thread last looked */
    bool sleeping, stopping;
    time_t second; /* that `stamp` shows */
    char stamp[32];
};

/* Who passes a descriptor that does not block must not cost lines: the thread waits as it would in write(). */
static bool wait_for_reader(int descriptor)
{
    struct pollfd poller = {.fd = descriptor, .events = POLLOUT};
    return poll(&poller, 1, -1) >= 0 || errno == EINTR;
}

/* How many bytes the descriptor took. */
static size_t write_all(int descriptor, const char *bytes, size_t length)
{
    size_t taken = 0;
    while (taken < length) {
        ssize_t written = write(descriptor, bytes + taken, length - taken);
        if (written >= 0)
            taken += (size_t)written;
        else if (errno == EAGAIN ? !wait_for_reader(descriptor) : errno != EINTR)
            break;
    }
    return taken;
}

static uint64_t count_lines(const char *bytes, size_t length)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += bytes[i] == '\n';
    return lines;
}

/* "2024-05-01T10:00:00" now and then; the milliseconds are the caller's. Under the mutex. */
static long set_stamp(struct log *log)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec != log->second) {
        struct tm parts;
        gmtime_r(&now.tv_sec, &parts);
        strftime(log->stamp, sizeof log->stamp, "%Y-%m-%dT%H:%M:%S", &parts);
        log->second = now.tv_sec;
    }
    return now.tv_nsec / 1000000;
}

static void wake(struct log *log)
{
    log->fresh = true;
    if (log->sleeping)
        pthread_cond_signal(&log->filled);
    log->sleeping = false;
}

/* Appends a line, or counts it when the reader is too slow or memory is spent. Under the mutex. */
static void hold_line(struct log *log, const char *line, size_t length)
{
    buffer_append(&log->held, line, length);
    log->dropped += log->held.failed;
    log->held.failed = false;
    wake(log);
}

/* From the stack, since memory may be what is missing. The mutex is held on entry and on return. */
static void write_dropped(struct log *log)
{
    char line[160];
    uint64_t dropped = log->dropped;
    long milliseconds = set_stamp(log);
    const char *form = log->format == LOG_JSON ? "{\"ts\":\"%s.%03ldZ\",\"level\":\"warn\",\"msg\":\"%" PRIu64
                                                 " log lines were dropped\"}\n"
                                               : "%s.%03ldZ warn %" PRIu64 " log lines were dropped\n";
    size_t length = (size_t)snprintf(line, sizeof line, form, log->stamp, milliseconds, dropped);
    pthread_mutex_unlock(&log->mutex);
    bool written = write_all(log->descriptor, line, length) == length;
    pthread_mutex_lock(&log->mutex);
    log->dropped -= written ? dropped : 0;
}

/* Writes what has gathered; the mutex is held on entry and on return. What could not be written is told after the next
 * lines that can. */
static void write_held(struct log *log)
{
    struct buffer taken = log->held;
    log->held = buffer_new(HELD_MAX);
    pthread_mutex_unlock(&log->mutex);
    size_t written = write_all(log->descriptor, taken.data, taken.length);
    uint64_t lost = written < taken.length ? count_lines(taken.data + written, taken.length - written) : 0;
    buffer_free(&taken);
    pthread_mutex_lock(&log->mutex);
    log->dropped += lost;
    if (log->dropped > 0 && lost == 0)
        write_dropped(log);
}

static void gather(struct log *log)
{
    struct timespec pause = {.tv_nsec = GATHER_NANOSECONDS};
    pthread_mutex_unlock(&log->mutex);
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&log->mutex);
}

static void *write_lines(void *context)
{
    struct log *log = context;
    pthread_mutex_lock(&log->mutex);
    while (!log->stopping || log->fresh) {
        if (!log->fresh) {
            log->sleeping = true;
            pthread_cond_wait(&log->filled, &log->mutex);
            continue;
        }
        log->fresh = false;
        write_held(log);
        if (!log->stopping)
            gather(log);
    }
    pthread_mutex_unlock(&log->mutex);
    return NULL;
}

static bool start_thread(struct log *log)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&log->thread, NULL, write_lines, log);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0;
}

struct log *log_start(int descriptor, enum log_format format, enum log_level level)
{
    struct log *log = calloc(1, sizeof *log);
    if (!log)
        return NULL;
    log->descriptor = descriptor;
    log->format = format;
    log->level = level;
    log->held = buffer_new(HELD_MAX);
    pthread_mutex_init(&log->mutex, NULL);
    pthread_cond_init(&log->filled, NULL);
    if (start_thread(log))
        return log;
    free(log);
    return NULL;
}

void log_stop(struct log *log)
{
    pthread_mutex_lock(&log->mutex);
    log->stopping = true;
    pthread_cond_signal(&log->filled);
    pthread_mutex_unlock(&log->mutex);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += STOP_SECONDS;
    if (pthread_timedjoin_np(log->thread, NULL, &until) != 0)
        return; /* a reader that takes nothing must not keep the process; it ends with the thread in write() */
    pthread_cond_destroy(&log->filled);
    pthread_mutex_destroy(&log->mutex);
    buffer_free(&log->held);
    free(log);
}

bool log_wants(const struct log *log, enum log_level level)
{
    return level >= log->level;
}

static void hold_event(struct log *log, enum log_level level, const char *message)
{
    struct buffer line = buffer_new(BUFFER_SENTENCE);
    long milliseconds = set_stamp(log);
    if (log->format == LOG_TEXT) {
        buffer_format(&line, "%s.%03ldZ %s %s\n", log->stamp, milliseconds, level_names[level], message);
    } else {
        buffer_format(&line, "{\"ts\":\"%s.%03ldZ\",\"level\":\"%s\",\"msg\":", log->stamp, milliseconds,
                      level_names[level]);
        writer_string(&(struct writer){.out = &line}, message);
        buffer_string(&line, "}\n");
    }
    if (line.failed) {
        log->dropped++;
        wake(log);
    } else {
        hold_line(log, line.data, line.length);
    }
    buffer_free(&line);
}

void log_event(struct log *log, enum log_level level, const char *format, ...)
{
    if (!log_wants(log, level))
        return;
    char message[512];
    char clean[PRINTABLE_SIZE(sizeof message)];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    printable_text(clean, sizeof clean, message);
    pthread_mutex_lock(&log->mutex);
    hold_event(log, level, clean);
    pthread_mutex_unlock(&log->mutex);
}

void log_request(struct log *log, enum log_level level, const struct log_request *request)
{
    if (!log_wants(log, level))
        return;
    char line[LOG_LINE_MAX_BYTES];
    pthread_mutex_lock(&log->mutex);
    unsigned milliseconds = (unsigned)set_stamp(log);
    hold_line(log, line, log_line_write(line, log->format, log->stamp, milliseconds, level, request));
    pthread_mutex_unlock(&log->mutex);
}

const char *log_level_name(enum log_level level)
{
    return level_names[level];
}

const char *log_format_name(enum log_format format)
{
    return format_names[format];
}

static bool find_name(const char *const *names, int count, const char *name, int *found)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) {
            *found = i;
            return true;
        }
    return false;
}

bool log_level_find(const char *name, int *level)
{
    return find_name(level_names, 4, name, level);
}

bool log_format_find(const char *name, int *format)
{
    return find_name(format_names, 2, name, format);
}
