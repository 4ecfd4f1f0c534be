/* Refusals and their text. */
#include "server/http/problem.h"

#include "api/openapi/endpoint.h"
#include "api/writing/writer.h"
#include "server/http/problem_cause.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    unsigned status;
    const char *slug;
    const char *title;
    const char *advice;
} rows[] = {[PROBLEM_NONE] = {500, "internal", "The service made a mistake", ""},
#define ROW(code, status, slug, title, having, lacking, advice) [PROBLEM_##code] = {status, slug, title, advice},
            PROBLEMS(ROW)
#undef ROW
};

static const struct {
    enum problem_code code;
    const char *cause;
    const char *instead;
} causes[] = {
#define CAUSE(code, cause, instead) {PROBLEM_##code, cause, instead},
    PROBLEM_CAUSES(CAUSE)
#undef CAUSE
};

unsigned problem_status(enum problem_code code)
{
    return rows[code].status;
}

const char *problem_slug(enum problem_code code)
{
    return rows[code].slug;
}

enum problem_code problem_find(const char *slug)
{
    for (size_t code = PROBLEM_NONE + 1; code < sizeof rows / sizeof *rows; code++)
        if (strcmp(rows[code].slug, slug) == 0)
            return (enum problem_code)code;
    return PROBLEM_NONE;
}

static void write_type(struct writer *w, enum problem_code code)
{
    char type[64];
    snprintf(type, sizeof type, "/problems/%s", rows[code].slug);
    writer_member_string(w, "type", type);
    writer_member_string(w, "title", rows[code].title);
    writer_member_integer(w, "status", rows[code].status);
    writer_member_string(w, "code", rows[code].slug);
}

static void write_causes(struct writer *w, enum problem_code code)
{
    writer_key(w, "causes");
    writer_array_begin(w);
    for (size_t x = 0; x < sizeof causes / sizeof *causes; x++) {
        if (causes[x].code != code)
            continue;
        writer_object_begin(w);
        writer_member_string(w, "cause", causes[x].cause);
        writer_member_string(w, "instead", causes[x].instead);
        writer_object_end(w);
    }
    writer_array_end(w);
}

void problem_explain(struct writer *w, enum problem_code code)
{
    writer_object_begin(w);
    write_type(w, code);
    writer_member_string(w, "advice", rows[code].advice);
    write_causes(w, code);
    writer_object_end(w);
}

void problem_explain_text(struct buffer *out, enum problem_code code)
{
    buffer_format(out, "%u %s: %s\n  %s\n", rows[code].status, rows[code].slug, rows[code].title, rows[code].advice);
    for (size_t x = 0; x < sizeof causes / sizeof *causes; x++)
        if (causes[x].code == code)
            buffer_format(out, "  - %s\n    Send: %s\n", causes[x].cause, causes[x].instead);
}

enum problem_code problem_of_error(const struct error *err)
{
    switch (err->code) {
    case ERROR_NONE:
        return PROBLEM_INTERNAL;
    case ERROR_SYNTAX:
        return PROBLEM_MALFORMED_BODY;
    case ERROR_INVALID:
        return PROBLEM_INVALID;
    case ERROR_TOO_LARGE:
        return PROBLEM_TOO_LARGE;
    case ERROR_MEMORY:
        return PROBLEM_NO_MEMORY;
    case ERROR_CANCELLED:
        return PROBLEM_DEADLINE;
    }
    return PROBLEM_INTERNAL;
}

bool problem_is_inference(const char *path)
{
    size_t length = strlen(ENDPOINT_INFERENCE);
    return path && strncmp(path, ENDPOINT_INFERENCE, length) == 0 && (path[length] == '/' || !path[length]);
}

enum problem_code problem_for(const char *path, enum problem_code code)
{
    return code == PROBLEM_INVALID && problem_is_inference(path) ? PROBLEM_INFERENCE : code;
}

const char *problem_media_type(const char *path)
{
    return problem_is_inference(path) ? "application/json" : "application/problem+json";
}

bool problem_set(struct problem *problem, enum problem_code code, const char *format, ...)
{
    if (problem->code != PROBLEM_NONE)
        return false;
    problem->code = code;
    va_list values;
    va_start(values, format);
    vsnprintf(problem->detail, sizeof problem->detail, format, values);
    va_end(values);
    return false;
}

/* "mask.window.left" is /mask/window/left; a name that starts with '/' is a pointer already. */
static void make_pointer(const char *name, char *out, size_t size)
{
    size_t used = 0;
    bool ready = name[0] == '/';
    if (!ready)
        out[used++] = '/';
    for (const char *c = name; *c && used + 3 < size; c++) {
        if (!ready && (*c == '~' || *c == '/')) {
            out[used++] = '~';
            out[used++] = *c == '~' ? '0' : '1';
        } else {
            out[used++] = !ready && *c == '.' ? '/' : *c;
        }
    }
    out[used] = '\0';
}

/* Bytes of the UTF-8 character at `c`; 0 when it is not complete, as after a cut. */
static size_t measure_character(const char *c)
{
    unsigned char lead = (unsigned char)*c;
    size_t length = lead < 0x80                   ? 1
                    : lead >= 0xc2 && lead < 0xe0 ? 2
                    : lead >= 0xe0 && lead < 0xf0 ? 3
                    : lead >= 0xf0 && lead < 0xf5 ? 4
                                                  : 0;
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)c[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* What a cut left incomplete is dropped, so that the text is always UTF-8. */
static void write_clean(struct writer *w, const char *name, const char *string)
{
    char clean[512];
    size_t used = 0;
    while (*string && used + 4 < sizeof clean) {
        size_t length = measure_character(string);
        memcpy(clean + used, string, length);
        used += length;
        string += length ? length : 1;
    }
    writer_key(w, name);
    writer_string_n(w, clean, used);
}

static void write_pointer(struct writer *w, const struct fault *fault)
{
    if (!fault->name[0])
        return;
    char pointer[2 * sizeof fault->name + 8];
    make_pointer(fault->name, pointer, sizeof pointer);
    write_clean(w, "pointer", pointer);
}

static void write_faults(struct writer *w, const struct error *err)
{
    writer_key(w, "errors");
    writer_array_begin(w);
    for (size_t i = 0; i < err->count; i++) {
        writer_object_begin(w);
        write_clean(w, "detail", err->faults[i].text);
        write_pointer(w, &err->faults[i]);
        writer_object_end(w);
    }
    writer_array_end(w);
}

static void write_error(struct writer *w, const struct error *err)
{
    if (err->count > 0)
        write_pointer(w, &err->faults[0]);
    if (err->placed) {
        writer_member_integer(w, "line", (int64_t)err->line);
        writer_member_integer(w, "column", (int64_t)err->column);
        writer_member_integer(w, "byte", (int64_t)err->byte);
    }
    if (err->count > 1)
        write_faults(w, err);
}

static const char *find_detail(const struct problem *problem)
{
    const struct error *err = problem->err;
    if (problem->detail[0])
        return problem->detail;
    return err && err->count > 0 ? err->faults[0].text : rows[problem->code].title;
}

/* Clients of that protocol show this one member. */
static void write_inference(struct writer *w, const struct problem *problem)
{
    char sentence[512];
    const struct error *err = problem->err;
    int length = snprintf(sentence, sizeof sentence, "%s", find_detail(problem));
    if (err && err->placed && length > 0 && (size_t)length < sizeof sentence)
        snprintf(sentence + length, sizeof sentence - (size_t)length, " (line %zu, column %zu)", err->line,
                 err->column);
    writer_object_begin(w);
    write_clean(w, "error", sentence);
    writer_object_end(w);
}

void problem_write(struct buffer *out, const struct problem *problem, const char *request_id, const char *instance)
{
    struct writer w = {.out = out};
    const struct error *err = problem->err;
    if (problem_is_inference(instance)) {
        write_inference(&w, problem);
        buffer_string(out, "\n");
        return;
    }
    writer_object_begin(&w);
    write_type(&w, problem->code);
    write_clean(&w, "detail", find_detail(problem));
    if (problem->limit > 0)
        writer_member_integer(&w, "limit_bytes", (int64_t)problem->limit);
    if (err)
        write_error(&w, err);
    if (instance)
        writer_member_string(&w, "instance", instance);
    writer_member_string(&w, "request_id", request_id);
    writer_object_end(&w);
    buffer_string(out, "\n");
}
