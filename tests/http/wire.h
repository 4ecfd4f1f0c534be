/* A bare socket, for requests that no client library would send. Failures are failures of the running test. */
#ifndef TESTS_HTTP_WIRE_H
#define TESTS_HTTP_WIRE_H

#include "tests/http/service.h"

#include <stdbool.h>
#include <stddef.h>

struct wire {
    int descriptor;
    bool last;  /* the last reply said Connection: close */
    char *head; /* of the last reply */
    char *data; /* received and not yet taken; a NUL after it */
    size_t length;
};

struct wire wire_open(const struct service *service);

/* The same with a small receive buffer, whatever the kernel's usual one is: what is not taken soon waits in the
 * service. */
struct wire wire_open_narrow(const struct service *service);

/* The same; false when the connection is refused. */
bool wire_try_open(const struct service *service, struct wire *wire);
void wire_close(struct wire *wire);

/* Closes with RST, as a client that crashed. */
void wire_abort(struct wire *wire);

/* Sends all of it; false when the other side has closed. */
bool wire_send(struct wire *wire, const char *text);
bool wire_send_bytes(struct wire *wire, const char *bytes, size_t length);

/* One byte a segment. */
bool wire_send_slowly(struct wire *wire, const char *text);

/* The status of the next reply, whose head and body are taken (chunked, by length, or to the end); 0: the connection
 * was closed without one. `body`, when not NULL, is to be freed. `seconds` bounds the wait; -1 when they pass. */
int wire_receive(struct wire *wire, char **body, double seconds);

/* Asserts that the last reply, of this body, was a whole refusal: problem+json, closed, with one id in head and body,
 * or the one sentence that there is below /v2. */
void wire_check_problem(const struct wire *wire, const char *body);

/* Waits until what has been received and not taken holds `text`; false when the connection or the time ends first. */
bool wire_receive_text(struct wire *wire, const char *text, double seconds);

/* Whether the last reply said that it was the last of the connection, or there was none. */
bool wire_ended(const struct wire *wire);

/* Whether the other side closes within so many seconds; what comes before is dropped. */
bool wire_closed(struct wire *wire, double seconds);

/* Takes up to `most` bytes as they come; how many. */
size_t wire_take(struct wire *wire, size_t most, double seconds);

#endif
