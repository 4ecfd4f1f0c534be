/* A bare socket. */
#include "tests/http/wire.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NARROW (32 * 1024)

static bool open_wire(const struct service *service, struct wire *wire, int receive_buffer)
{
    int on = 1;
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((in_port_t)service->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    *wire = (struct wire){.descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .data = calloc(1, 1)};
    ck_assert_int_ge(wire->descriptor, 0);
    ck_assert_ptr_nonnull(wire->data);
    setsockopt(wire->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (receive_buffer > 0)
        setsockopt(wire->descriptor, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    if (connect(wire->descriptor, (const struct sockaddr *)&address, sizeof address) == 0)
        return true;
    wire_close(wire);
    return false;
}

bool wire_try_open(const struct service *service, struct wire *wire)
{
    return open_wire(service, wire, 0);
}

struct wire wire_open(const struct service *service)
{
    struct wire wire;
    ck_assert_msg(wire_try_open(service, &wire), "connect: %s", strerror(errno));
    return wire;
}

struct wire wire_open_narrow(const struct service *service)
{
    struct wire wire;
    ck_assert_msg(open_wire(service, &wire, NARROW), "connect: %s", strerror(errno));
    return wire;
}

bool wire_ended(const struct wire *wire)
{
    return wire->last;
}

void wire_close(struct wire *wire)
{
    close(wire->descriptor);
    free(wire->data);
    free(wire->head);
    *wire = (struct wire){.descriptor = -1};
}

void wire_abort(struct wire *wire)
{
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(wire->descriptor, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    wire_close(wire);
}

bool wire_send_bytes(struct wire *wire, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(wire->descriptor, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return false;
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

bool wire_send(struct wire *wire, const char *text)
{
    return wire_send_bytes(wire, text, strlen(text));
}

bool wire_send_slowly(struct wire *wire, const char *text)
{
    for (; *text; text++)
        if (!wire_send_bytes(wire, text, 1))
            return false;
    return true;
}

enum arrival { ARRIVAL_BYTES, ARRIVAL_END, ARRIVAL_LATE };

static enum arrival receive_more(struct wire *wire, double until)
{
    char chunk[65536];
    double left = until - service_now();
    struct pollfd poller = {.fd = wire->descriptor, .events = POLLIN};
    if (left <= 0 || poll(&poller, 1, (int)(left * 1e3) + 1) <= 0)
        return ARRIVAL_LATE;
    ssize_t got = recv(wire->descriptor, chunk, sizeof chunk, 0);
    if (got <= 0)
        return ARRIVAL_END;
    wire->data = realloc(wire->data, wire->length + (size_t)got + 1);
    ck_assert_ptr_nonnull(wire->data);
    memcpy(wire->data + wire->length, chunk, (size_t)got);
    wire->length += (size_t)got;
    wire->data[wire->length] = '\0';
    return ARRIVAL_BYTES;
}

static void drop(struct wire *wire, size_t count)
{
    memmove(wire->data, wire->data + count, wire->length - count + 1);
    wire->length -= count;
}

/* What follows `line` in the head that ends at `end`, or NULL. */
static const char *find_line(const char *head, const char *end, const char *line)
{
    size_t length = strlen(line);
    for (const char *at = head; at + length <= end; at++)
        if (strncasecmp(at, line, length) == 0)
            return at + length;
    return NULL;
}

bool wire_receive_text(struct wire *wire, const char *text, double seconds)
{
    double until = service_now() + seconds;
    while (!strstr(wire->data, text))
        if (receive_more(wire, until) != ARRIVAL_BYTES)
            return false;
    return true;
}

/* Where the chunked body at `at` ends, or NULL when it is not complete; the chunks' bytes go to `out`. */
static const char *read_chunks(const char *at, const char *end, char *out, size_t *length)
{
    *length = 0;
    for (;;) {
        char *after = NULL;
        size_t size = strtoul(at, &after, 16);
        if (after == at || end - after < 2 || (size_t)(end - after) < size + 4)
            return NULL;
        at = after + 2;
        if (out)
            memcpy(out + *length, at, size);
        *length += size;
        at += size + 2;
        if (size == 0)
            return at;
    }
}

struct frame {
    int status;
    const char *body;
    const char *after; /* NULL: not complete */
    bool chunked, to_end;
};

static struct frame find_frame(const struct wire *wire)
{
    struct frame frame = {0};
    size_t length = 0;
    const char *end = strstr(wire->data, "\r\n\r\n");
    if (!end || sscanf(wire->data, "HTTP/1.%*d %d", &frame.status) != 1)
        return frame;
    frame.body = end + 4;
    const char *announced = find_line(wire->data, end, "\r\nContent-Length:");
    frame.chunked = find_line(wire->data, end, "\r\nTransfer-Encoding: chunked") != NULL;
    if (frame.chunked)
        frame.after = read_chunks(frame.body, wire->data + wire->length, NULL, &length);
    else if (announced)
        frame.after = frame.body + strtoul(announced, NULL, 10);
    else if (frame.status == 204 || frame.status == 304 || frame.status < 200)
        frame.after = frame.body;
    else
        frame.to_end = true;
    if (frame.after && frame.after > wire->data + wire->length)
        frame.after = NULL;
    return frame;
}

static void copy_body(const struct wire *wire, const struct frame *frame, char **body)
{
    size_t length = (size_t)(frame->after - frame->body);
    *body = calloc(1, length + 1);
    ck_assert_ptr_nonnull(*body);
    if (frame->chunked)
        read_chunks(frame->body, wire->data + wire->length, *body, &length);
    else
        memcpy(*body, frame->body, length);
}

static int take_frame(struct wire *wire, const struct frame *frame, char **body)
{
    wire->last = frame->to_end || find_line(wire->data, frame->body, "\r\nConnection: close") != NULL;
    if (body)
        copy_body(wire, frame, body);
    free(wire->head);
    wire->head = strndup(wire->data, (size_t)(frame->body - wire->data));
    drop(wire, (size_t)(frame->after - wire->data));
    return frame->status;
}

int wire_receive(struct wire *wire, char **body, double seconds)
{
    double until = service_now() + seconds;
    wire->last = true;
    for (;;) {
        struct frame frame = find_frame(wire);
        if (frame.after)
            return take_frame(wire, &frame, body);
        switch (receive_more(wire, until)) {
        case ARRIVAL_BYTES:
            continue;
        case ARRIVAL_LATE:
            return -1;
        case ARRIVAL_END:
            if (!frame.to_end)
                return 0;
            frame.after = wire->data + wire->length;
            return take_frame(wire, &frame, body);
        }
    }
}

void wire_check_problem(const struct wire *wire, const char *body)
{
    char id[256];
    const char *end = wire->head + strlen(wire->head);
    const char *named = find_line(wire->head, end, "\r\nX-Request-Id: ");
    bool inference = strncmp(body, "{\"error\":\"", 10) == 0;
    ck_assert_ptr_nonnull(find_line(wire->head, end,
                                    inference ? "\r\nContent-Type: application/json\r\n"
                                              : "\r\nContent-Type: application/problem+json\r\n"));
    ck_assert_ptr_nonnull(find_line(wire->head, end, "\r\nAccess-Control-Allow-Origin: "));
    ck_assert_ptr_nonnull(find_line(wire->head, end, "\r\nConnection: close\r\n"));
    ck_assert_ptr_nonnull(named);
    if (inference)
        return;
    snprintf(id, sizeof id, "\"request_id\":\"%.*s\"", (int)strcspn(named, "\r"), named);
    ck_assert_msg(strstr(body, id) != NULL, "%s is not in %s", id, body);
    ck_assert_ptr_nonnull(strstr(body, "\"detail\":\""));
}

bool wire_closed(struct wire *wire, double seconds)
{
    double until = service_now() + seconds;
    enum arrival arrival = ARRIVAL_BYTES;
    while (arrival == ARRIVAL_BYTES) {
        drop(wire, wire->length);
        arrival = receive_more(wire, until);
    }
    return arrival == ARRIVAL_END;
}

size_t wire_take(struct wire *wire, size_t most, double seconds)
{
    char chunk[65536];
    double until = service_now() + seconds;
    size_t taken = 0;
    while (taken < most && service_now() < until) {
        size_t wanted = most - taken < sizeof chunk ? most - taken : sizeof chunk;
        struct pollfd poller = {.fd = wire->descriptor, .events = POLLIN};
        if (poll(&poller, 1, 100) <= 0)
            continue;
        ssize_t got = recv(wire->descriptor, chunk, wanted, 0);
        if (got <= 0)
            break;
        taken += (size_t)got;
    }
    return taken;
}
