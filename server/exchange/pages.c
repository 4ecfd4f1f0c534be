/* Links, health and information. */
#include "server/exchange/pages.h"

#include "api/json/writer.h"
#include "api/openapi/examples.h"
#include "api/openapi/openapi.h"
#include "server/config/version.h"
#include "server/exchange/answer.h"
#include "server/exchange/exchange.h"
#include "server/run/server.h"
#include "server/watch/clock.h"
#include "server/watch/metrics.h"

#include <string.h>

static void finish_json(struct answer *answer, unsigned status)
{
    buffer_string(&answer->body, "\n");
    answer->status = status;
    answer->media_type = "application/json";
}

void pages_links(const struct exchange *exchange, struct answer *answer)
{
    struct writer w = {.out = &answer->body};
    const struct route *route = NULL;
    (void)exchange;
    writer_object_begin(&w);
    writer_member_string(&w, "service", "attentiond");
    writer_member_string(&w, "version", version_program());
    writer_key(&w, "links");
    writer_array_begin(&w);
    for (size_t i = 0; (route = route_row(i)) != NULL; i++) {
        writer_object_begin(&w);
        writer_member_string(&w, "href", route->path);
        writer_member_string(&w, "methods", route->allow);
        writer_member_string(&w, "summary", route->summary);
        writer_object_end(&w);
    }
    writer_array_end(&w);
    writer_object_end(&w);
    finish_json(answer, 200);
}

static void write_status(struct answer *answer, const char *word, unsigned status)
{
    struct writer w = {.out = &answer->body};
    writer_object_begin(&w);
    writer_member_string(&w, "status", word);
    writer_member_string(&w, "version", version_program());
    writer_object_end(&w);
    finish_json(answer, status);
}

void pages_alive(const struct exchange *exchange, struct answer *answer)
{
    (void)exchange;
    write_status(answer, "ok", 200);
}

void pages_ready(const struct exchange *exchange, struct answer *answer)
{
    enum server_phase phase = atomic_load(&exchange->server->phase);
    if (phase == SERVER_READY) {
        write_status(answer, "ok", 200);
        return;
    }
    write_status(answer, phase == SERVER_STARTING ? "starting" : "draining", 503);
    answer->retry_after = 1;
}

/* Every setting that is a number is a limit of some kind. */
static void write_limits(struct writer *w, const struct settings *settings)
{
    const struct setting *row = NULL;
    writer_key(w, "limits");
    writer_object_begin(w);
    for (size_t i = 0; (row = settings_row(i)) != NULL; i++) {
        const char *field = (const char *)settings + row->offset;
        char name[64];
        settings_variable(row, name, sizeof name);
        for (char *c = name; *c; c++)
            *c = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
        const char *plain = name + strlen("attnd_");
        if (row->kind == SETTINGS_COUNT || row->kind == SETTINGS_SIZE)
            writer_member_integer(w, plain, (int64_t) * (const size_t *)(const void *)field);
        else if (row->kind == SETTINGS_SECONDS || row->kind == SETTINGS_RATE)
            writer_member_real(w, plain, *(const double *)(const void *)field);
    }
    writer_object_end(w);
}

static void write_libraries(struct writer *w)
{
    writer_key(w, "libraries");
    writer_object_begin(w);
    writer_member_string(w, "libmicrohttpd", version_http());
    writer_member_string(w, "jansson", version_json());
    writer_member_string(w, "openblas", version_blas());
    writer_object_end(w);
}

static void write_features(struct writer *w)
{
    writer_key(w, "features");
    writer_array_begin(w);
    writer_string(w, "streaming");
    writer_string(w, "gzip");
    writer_string(w, "deflate");
    writer_array_end(w);
}

void pages_info(const struct exchange *exchange, struct answer *answer)
{
    const struct server *server = exchange->server;
    struct writer w = {.out = &answer->body};
    writer_object_begin(&w);
    writer_member_string(&w, "service", "attentiond");
    writer_member_string(&w, "version", version_program());
    writer_member_string(&w, "revision", version_revision());
    writer_member_string(&w, "compiler", version_compiler());
    write_libraries(&w);
    writer_member_string(&w, "blas_kernel", version_kernel());
    writer_member_string(&w, "simd", version_simd());
    writer_member_integer(&w, "workers", (int64_t)pool_workers(server->pool));
    writer_member_integer(&w, "max_depth", 32);
    write_limits(&w, &server->settings);
    write_features(&w);
    writer_object_end(&w);
    finish_json(answer, 200);
}

void pages_metrics(const struct exchange *exchange, struct answer *answer)
{
    metrics_write(exchange->server->metrics, exchange->server, &answer->body);
    answer->status = 200;
    answer->media_type = "text/plain; version=0.0.4; charset=utf-8";
}

void pages_openapi(const struct exchange *exchange, struct answer *answer)
{
    (void)exchange;
    answer->body.failed = !openapi_text(&answer->body);
    answer->status = 200;
    answer->media_type = "application/json";
}

void pages_problems(const struct exchange *exchange, struct answer *answer)
{
    struct writer w = {.out = &answer->body};
    (void)exchange;
    writer_array_begin(&w);
    for (enum problem_code code = PROBLEM_NONE + 1; code <= PROBLEM_INTERNAL; code++)
        problem_explain(&w, code);
    writer_array_end(&w);
    finish_json(answer, 200);
}

/* An unknown name leaves the status at 0. */
void pages_problem(const struct exchange *exchange, struct answer *answer)
{
    struct writer w = {.out = &answer->body};
    enum problem_code code = problem_find(exchange->name);
    if (code == PROBLEM_NONE)
        return;
    problem_explain(&w, code);
    finish_json(answer, 200);
}

void pages_examples(const struct exchange *exchange, struct answer *answer)
{
    (void)exchange;
    answer->body.failed = !examples_list(&answer->body);
    answer->status = 200;
    answer->media_type = "application/json";
}

/* An unknown name leaves the status at 0. */
void pages_example(const struct exchange *exchange, struct answer *answer)
{
    const struct example *example = examples_find(exchange->name);
    if (!example)
        return;
    buffer_string(&answer->body, example->body);
    answer->status = 200;
    answer->media_type = "application/json";
}
