/* Reading and checking the head of a request: libmicrohttpd 0.9.75 lets through much that later versions refuse. */
#include "server/http/request_head.h"

#include "server/config/version.h"
#include "server/http/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET_MAX 1024
#define LENGTH_DIGITS_MAX 18
#define HEXADECIMAL "0123456789abcdefABCDEF"

enum times { FRAMING, ONCE, MANY, LIST };

static const struct {
    const char *name;
    size_t length;
    size_t offset;
    enum times times;
} fields[] = {
#define ROW(field, name, times) {name, sizeof name - 1, offsetof(struct request_head, field), times},
    REQUEST_HEAD_FIELDS(ROW)
#undef ROW
};

static const char *const method_names[] = {"GET", "HEAD", "POST", "OPTIONS", "other"};

struct gate {
    struct request_head *head;
    struct problem *problem;
    size_t bytes, max_header;
};

/* RFC 9110 section 5.6.2. */
static bool is_token_byte(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool check_name(struct gate *gate, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!is_token_byte((unsigned char)name[i]))
            return problem_set(gate->problem, PROBLEM_BAD_REQUEST, "A field name has a byte that HTTP does not allow.");
    return length > 0 || problem_set(gate->problem, PROBLEM_BAD_REQUEST, "A field has no name.");
}

static bool check_value(struct gate *gate, const char *value, size_t length)
{
    if (length == 0 || (!memchr(value, '\0', length) && !memchr(value, '\r', length) && !memchr(value, '\n', length)))
        return true;
    return problem_set(gate->problem, PROBLEM_BAD_REQUEST, "A field value holds a NUL, CR or LF byte.");
}

static bool refuse_memory(struct gate *gate)
{
    return problem_set(gate->problem, PROBLEM_NO_MEMORY, "There is no memory for the head of this request.");
}

static bool join_line(struct gate *gate, char **copy, const char **field, const char *line, size_t length)
{
    size_t before = strlen(*field);
    size_t room = before + length + sizeof ", ";
    char *text = realloc(*copy, room);
    if (!text)
        return refuse_memory(gate);
    if (!*copy)
        memcpy(text, *field, before);
    snprintf(text + before, room - before, ", %.*s", (int)length, line);
    *field = *copy = text;
    return true;
}

/* Blanks around a value are no part of it (RFC 9110 section 5.5); 0.9.75 leaves those behind it. */
static bool set_field(struct gate *gate, char **copy, const char **field, const char *value, size_t length)
{
    if (!value[length]) {
        *field = value;
        return true;
    }
    *copy = strndup(value, length);
    *field = *copy;
    return *copy || refuse_memory(gate);
}

static size_t trim(const char **value)
{
    *value += strspn(*value, " \t");
    size_t length = strlen(*value);
    while (length > 0 && ((*value)[length - 1] == ' ' || (*value)[length - 1] == '\t'))
        length--;
    return length;
}

static bool keep_field(struct gate *gate, const char *name, size_t name_length, const char *value)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (fields[i].length != name_length || strncasecmp(fields[i].name, name, name_length) != 0)
            continue;
        const char **field = (const char **)(void *)((char *)gate->head + fields[i].offset);
        size_t length = fields[i].times == FRAMING ? strlen(value) : trim(&value);
        if (!*field)
            return set_field(gate, &gate->head->copies[i], field, value, length);
        if (fields[i].times <= ONCE)
            return problem_set(gate->problem, PROBLEM_BAD_REQUEST, "The field %s was sent more than once.",
                               fields[i].name);
        return fields[i].times != LIST || join_line(gate, &gate->head->copies[i], field, value, length);
    }
    return true;
}

static enum MHD_Result take_field(void *context, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                  const char *value, size_t value_size)
{
    struct gate *gate = context;
    (void)kind;
    gate->bytes += name_size + value_size + 4;
    if (gate->bytes > gate->max_header) {
        problem_set(gate->problem, PROBLEM_HEADER_TOO_LARGE, "The header fields take more than %zu bytes.",
                    gate->max_header);
        return MHD_NO;
    }
    bool good = check_name(gate, name, name_size) && check_value(gate, value, value_size) &&
                keep_field(gate, name, name_size, value ? value : "");
    return good ? MHD_YES : MHD_NO;
}

static bool check_version(const struct request_head *head, const char *version, struct problem *problem)
{
    bool first = strlen(version) == 8 && strncmp(version, "HTTP/1.", 7) == 0 && strchr("0123456789", version[7]);
    bool newer = first && version[7] != '0'; /* RFC 9110 section 2.5: a higher minor version is served as ours */
    if (!first)
        return problem_set(problem, PROBLEM_VERSION, "HTTP/1.1 and HTTP/1.0 are served here.");
    if (newer && !head->host)
        return problem_set(problem, PROBLEM_BAD_REQUEST, "HTTP/1.1 asks for the field Host.");
    if (head->host && !host_is_valid(head->host))
        return problem_set(problem, PROBLEM_BAD_REQUEST, "Host is not a name or an address, perhaps with a port.");
    if (!newer && head->transfer_encoding)
        return problem_set(problem, PROBLEM_BAD_REQUEST, "HTTP/1.0 has no Transfer-Encoding.");
    return true;
}

static bool check_chunked(struct request_head *head, struct problem *problem)
{
    if (head->content_length)
        return problem_set(problem, PROBLEM_BAD_REQUEST, "Content-Length and Transfer-Encoding exclude each other.");
    if (strcasecmp(head->transfer_encoding, "chunked") != 0)
        return problem_set(problem, PROBLEM_CODING_NOT_IMPLEMENTED, "The only transfer coding taken is chunked.");
    head->chunked = true;
    head->has_body = true;
    return true;
}

static bool check_length(struct request_head *head, struct problem *problem)
{
    size_t digits = strspn(head->content_length, "0123456789");
    if (digits == 0 || digits > LENGTH_DIGITS_MAX || head->content_length[digits])
        return problem_set(problem, PROBLEM_BAD_REQUEST, "Content-Length is not a number of 1 to %d digits.",
                           LENGTH_DIGITS_MAX);
    head->length = strtoull(head->content_length, NULL, 10);
    head->has_body = head->length > 0;
    return true;
}

static void find_method(struct request_head *head, const char *method)
{
    head->method = METHOD_GET;
    while (head->method < METHOD_OTHER && strcmp(method, method_names[head->method]) != 0)
        head->method++;
    head->method_name = method_names[head->method];
}

bool request_head_read(struct request_head *head, struct MHD_Connection *connection, const char *method,
                       const char *version, size_t max_header, struct problem *problem)
{
    struct gate gate = {.head = head, .problem = problem, .max_header = max_header};
    find_method(head, method);
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, take_field, &gate);
    if (problem->code != PROBLEM_NONE || !check_version(head, version, problem))
        return false;
    if (head->transfer_encoding)
        return check_chunked(head, problem);
    return !head->content_length || check_length(head, problem);
}

void request_head_free(struct request_head *head)
{
    for (size_t i = 0; i < sizeof head->copies / sizeof *head->copies; i++)
        free(head->copies[i]);
}

const char *request_head_method_name(enum method method)
{
    return method_names[method];
}

size_t request_head_unescape(void *context, struct MHD_Connection *connection, char *text)
{
    char *out = text;
    (void)context;
    (void)connection;
    for (const char *at = text; *at; out++) {
        const char digits[] = {at[0] == '%' && at[1] ? at[1] : '\0', at[0] == '%' && at[1] ? at[2] : '\0', '\0'};
        char byte = strspn(digits, HEXADECIMAL) == 2 ? (char)strtoul(digits, NULL, 16) : '\0';
        bool decoded = byte && byte != '/';
        *out = decoded ? byte : *at;
        at += decoded ? 3 : 1;
    }
    *out = '\0';
    return (size_t)(out - text);
}

bool request_head_check_end(const char *target_end, const char *version, struct problem *problem)
{
    if (!version_http_lenient() || version == target_end + 1)
        return true;
    return problem_set(problem, PROBLEM_BAD_REQUEST, "The request target holds a NUL byte.");
}

bool request_head_check_target(const char *target, struct problem *problem)
{
    size_t length = strnlen(target, TARGET_MAX + 1);
    if (length > TARGET_MAX)
        return problem_set(problem, PROBLEM_TARGET_TOO_LONG, "The request target is longer than %d bytes.", TARGET_MAX);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)target[i] < 0x21 || (unsigned char)target[i] > 0x7e)
            return problem_set(problem, PROBLEM_BAD_REQUEST,
                               "The request target holds a byte that HTTP does not allow.");
    if (strstr(target, "%00"))
        return problem_set(problem, PROBLEM_BAD_REQUEST, "The request target holds a NUL byte.");
    return true;
}
