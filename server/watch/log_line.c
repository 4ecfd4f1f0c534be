/* Log lines of requests, put together without printf. */
#include "server/watch/log_line.h"

#include "server/watch/digits.h"

#include <string.h>

/* A line being put together; what does not fit is cut. */
struct log_line {
    char *at;
    char *end;
};

static void put(struct log_line *line, const char *string)
{
    size_t length = strnlen(string, (size_t)(line->end - line->at));
    memcpy(line->at, string, length);
    line->at += length;
}

static void put_number(struct log_line *line, const char *before, uint64_t value)
{
    put(line, before);
    if (line->end - line->at > DIGITS_MAX)
        line->at = digits_put(line->at, value);
}

static void put_milliseconds(struct log_line *line, const char *before, int64_t nanoseconds)
{
    put(line, before);
    if (line->end - line->at > DIGITS_MAX)
        line->at = digits_put_milliseconds(line->at, nanoseconds);
}

static void put_member(struct log_line *line, const char *before, const char *string)
{
    put(line, before);
    put(line, string);
}

static void put_json(struct log_line *line, enum log_level level, const struct log_request *r)
{
    put_member(line, "Z\",\"level\":\"", log_level_name(level));
    put_member(line, "\",\"msg\":\"", r->message);
    put_member(line, "\",\"request_id\":\"", r->id);
    if (r->trace)
        put_member(line, "\",\"trace_id\":\"", r->trace);
    put_member(line, "\",\"client\":\"", r->client);
    put_member(line, "\",\"method\":\"", r->method);
    put_member(line, "\",\"route\":\"", r->route);
    if (r->path)
        put_member(line, "\",\"path\":\"", r->path);
    put_number(line, "\",\"status\":", r->status);
    if (r->code) {
        put_member(line, ",\"code\":\"", r->code);
        put(line, "\"");
    }
    put_number(line, ",\"bytes_in\":", r->bytes_in);
    put_number(line, ",\"bytes_out\":", r->bytes_out);
    put_milliseconds(line, ",\"dur_ms\":", r->duration);
    put_milliseconds(line, ",\"queue_ms\":", r->queue);
    put(line, "}");
}

static void put_text(struct log_line *line, enum log_level level, const struct log_request *r)
{
    put_member(line, "Z ", log_level_name(level));
    put_number(line, " ", r->status);
    put_member(line, " ", r->method);
    put_member(line, " ", r->path ? r->path : r->route);
    put_milliseconds(line, " ", r->duration);
    put_milliseconds(line, " ms (queue ", r->queue);
    put_number(line, ") in ", r->bytes_in);
    put_number(line, " out ", r->bytes_out);
    put_member(line, " ", r->client);
    put_member(line, " ", r->id);
    if (r->code)
        put_member(line, " ", r->code);
    if (strcmp(r->message, "request") != 0)
        put_member(line, " ", r->message);
}

size_t log_line_write(char out[LOG_LINE_MAX_BYTES], enum log_format format, const char *stamp, unsigned milliseconds,
                      enum log_level level, const struct log_request *request)
{
    struct log_line line = {out, out + LOG_LINE_MAX_BYTES - 1};
    const char part[] = {'.', (char)('0' + milliseconds / 100), (char)('0' + milliseconds / 10 % 10),
                         (char)('0' + milliseconds % 10), '\0'};
    put_member(&line, format == LOG_JSON ? "{\"ts\":\"" : "", stamp);
    put(&line, part);
    (format == LOG_JSON ? put_json : put_text)(&line, level, request);
    *line.at++ = '\n';
    return (size_t)(line.at - out);
}
