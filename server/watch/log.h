/* The log: one line per event on a descriptor, written by a thread of its own so that nobody waits for a slow reader.
 * Lines that find no room, no memory or a descriptor that fails are counted, and the count is a line of its own as soon
 * as one can be written. */
#ifndef SERVER_WATCH_LOG_H
#define SERVER_WATCH_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_JSON, LOG_TEXT };

struct log;

/* One answered (or abandoned) request. Texts are printable ASCII without quotes, backslashes or blanks. */
struct log_request {
    const char *message; /* "request" or why it ended otherwise */
    const char *id;
    const char *client; /* its address */
    const char *trace;  /* NULL: none */
    const char *method;
    const char *route;
    const char *path; /* that was asked for, where the route does not tell it; else NULL */
    const char *code; /* of the problem that was sent; NULL: none */
    unsigned status;  /* 0: no reply was sent */
    uint64_t bytes_in, bytes_out;
    int64_t duration, queue; /* nanoseconds */
};

/* Starts the writer; NULL when that fails. */
struct log *log_start(int descriptor, enum log_format format, enum log_level level);
void log_stop(struct log *log); /* writes what is left first */

bool log_wants(const struct log *log, enum log_level level);

/* An event in a sentence; bytes of clients in it are made printable. */
void log_event(struct log *log, enum log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

void log_request(struct log *log, enum log_level level, const struct log_request *request);

const char *log_level_name(enum log_level level);
const char *log_format_name(enum log_format format);
bool log_level_find(const char *name, int *level);
bool log_format_find(const char *name, int *format);

#endif
