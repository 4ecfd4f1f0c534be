/* Links, health and information. */
#include "server/service/pages.h"

#include "api/json/document.h"
#include "api/openapi/examples.h"
#include "api/openapi/openapi.h"
#include "api/writing/writer.h"
#include "core/forward/rows.h"
#include "server/config/version.h"
#include "server/http/problem.h"
#include "server/listen/connections.h"
#include "server/service/asset.h"
#include "server/service/metrics.h"
#include "server/service/service.h"

#include <string.h>

static void finish_json(struct page *page, unsigned status)
{
    buffer_string(&page->body, "\n");
    page->status = status;
    page->media_type = "application/json";
}

static void finish_text(struct page *page)
{
    page->status = 200;
    page->media_type = "text/plain; charset=utf-8";
}

static void write_links_text(struct page *page)
{
    const struct route *route = NULL;
    buffer_format(&page->body, "attentiond %s\n\n", version_program());
    for (size_t i = 0; (route = route_row(i)) != NULL; i++)
        buffer_format(&page->body, "  %-5s %-24s %s\n", route_allows(route, METHOD_POST) ? "POST" : "GET", route->path,
                      route->summary);
    finish_text(page);
}

void pages_links(const struct service *service, const char *name, struct page *page)
{
    (void)service;
    (void)name;
    if (page->text) {
        write_links_text(page);
        return;
    }
    struct writer w = {.out = &page->body};
    const struct route *route = NULL;
    writer_object_begin(&w);
    writer_member_string(&w, "service", "attentiond");
    writer_member_string(&w, "version", version_program());
    writer_key(&w, "links");
    writer_array_begin(&w);
    for (size_t i = 0; (route = route_row(i)) != NULL; i++) {
        writer_object_begin(&w);
        writer_member_string(&w, "href", route->path);
        writer_member_string(&w, "methods", route_allow(route));
        writer_member_string(&w, "summary", route->summary);
        writer_object_end(&w);
    }
    writer_array_end(&w);
    writer_object_end(&w);
    finish_json(page, 200);
}

static void write_status(struct page *page, const char *word, unsigned status)
{
    struct writer w = {.out = &page->body};
    writer_object_begin(&w);
    writer_member_string(&w, "status", word);
    writer_member_string(&w, "version", version_program());
    writer_object_end(&w);
    finish_json(page, status);
}

void pages_alive(const struct service *service, const char *name, struct page *page)
{
    (void)service;
    (void)name;
    write_status(page, "ok", 200);
}

void pages_ready(const struct service *service, const char *name, struct page *page)
{
    (void)name;
    enum service_phase phase = atomic_load(&service->phase);
    if (phase == SERVICE_READY) {
        write_status(page, "ok", 200);
        return;
    }
    write_status(page, phase == SERVICE_STARTING ? "starting" : "draining", 503);
    page->retry_after = 1;
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
    writer_string(w, "zstd");
    writer_string(w, "gzip");
    writer_string(w, "deflate");
    writer_array_end(w);
}

void pages_info(const struct service *service, const char *name, struct page *page)
{
    (void)name;
    char why[VERSION_KERNEL_TEXT];
    struct writer w = {.out = &page->body};
    writer_object_begin(&w);
    writer_member_string(&w, "service", "attentiond");
    writer_member_string(&w, "version", version_program());
    writer_member_string(&w, "revision", version_revision());
    writer_member_string(&w, "compiler", version_compiler());
    write_libraries(&w);
    writer_member_string(&w, "blas_kernel", version_kernel());
    writer_member_string(&w, "blas_kernel_reason", version_kernel_reason(why));
    writer_member_string(&w, "simd", version_simd());
    writer_member_integer(&w, "workers", (int64_t)pool_workers(service->pool));
    writer_member_integer(&w, "max_depth", DOCUMENT_DEPTH_MAX);
    writer_member_integer(&w, "small_head_terms", ROWS_SMALL_TERMS);
    write_limits(&w, &service->settings);
    writer_member_string(&w, "compression", settings_compression_name(service->settings.compression));
    write_features(&w);
    writer_object_end(&w);
    finish_json(page, 200);
}

void pages_metrics(const struct service *service, const char *name, struct page *page)
{
    (void)name;
    const struct metrics_state state = {.requests = atomic_load(&service->requests),
                                        .connections = connections_open(service->connections),
                                        .waiting = pool_waiting(service->pool),
                                        .busy = pool_running(service->pool),
                                        .held = atomic_load(&service->held.held),
                                        .draining = atomic_load(&service->phase) >= SERVICE_DRAINING};
    metrics_write(service->metrics, &state, &page->body);
    page->status = 200;
    page->media_type = "text/plain; version=0.0.4; charset=utf-8";
}

void pages_openapi(const struct service *service, const char *name, struct page *page)
{
    (void)service;
    (void)name;
    page->body.failed = !openapi_text(&page->body);
    page->status = 200;
    page->media_type = "application/json";
}

void pages_problems(const struct service *service, const char *name, struct page *page)
{
    (void)service;
    (void)name;
    if (page->text) {
        for (enum problem_code code = PROBLEM_NONE + 1; code <= PROBLEM_INTERNAL; code++) {
            problem_explain_text(&page->body, code);
            buffer_string(&page->body, "\n");
        }
        finish_text(page);
        return;
    }
    struct writer w = {.out = &page->body};
    writer_array_begin(&w);
    for (enum problem_code code = PROBLEM_NONE + 1; code <= PROBLEM_INTERNAL; code++)
        problem_explain(&w, code);
    writer_array_end(&w);
    finish_json(page, 200);
}

/* An unknown name leaves the status at 0. */
void pages_problem(const struct service *service, const char *name, struct page *page)
{
    (void)service;
    struct writer w = {.out = &page->body};
    enum problem_code code = problem_find(name);
    if (code == PROBLEM_NONE)
        return;
    if (page->text) {
        problem_explain_text(&page->body, code);
        finish_text(page);
        return;
    }
    problem_explain(&w, code);
    finish_json(page, 200);
}

static void write_examples_text(struct page *page)
{
    const struct example *example = NULL;
    for (size_t i = 0; (example = examples_at(i)) != NULL; i++)
        buffer_format(&page->body, "%s: %s\n  %s\n  %s\n  /v1/examples/%s\n\n", example->name, example->title,
                      example->teaches, example->look, example->name);
    finish_text(page);
}

void pages_examples(const struct service *service, const char *name, struct page *page)
{
    (void)service;
    (void)name;
    if (page->text) {
        write_examples_text(page);
        return;
    }
    page->body.failed = !examples_list(&page->body);
    page->status = 200;
    page->media_type = "application/json";
}

/* An unknown name leaves the status at 0. */
void pages_example(const struct service *service, const char *name, struct page *page)
{
    (void)service;
    const struct example *example = examples_find(name);
    if (!example)
        return;
    buffer_string(&page->body, examples_body(example));
    page->status = 200;
    page->media_type = "application/json";
}

/* An unknown name leaves the status at 0. */
void pages_asset(const struct service *service, const char *name, struct page *page)
{
    (void)service;
    const struct asset *asset = asset_find(name);
    if (!asset)
        return;
    buffer_append(&page->body, (const char *)asset->data, asset->length);
    page->status = 200;
    page->media_type = asset_media_type(asset);
}

/* `name` is "RELEASE/FILE". */
void pages_release_asset(const struct service *service, const char *name, struct page *page)
{
    const char *release = asset_release();
    size_t length = strlen(release);
    if (strncmp(name, release, length) == 0 && name[length] == '/')
        pages_asset(service, name + length + 1, page);
}

static void write_base(struct buffer *out, size_t depth)
{
    buffer_string(out, "\n<base href=\"");
    for (size_t i = 0; i < depth; i++)
        buffer_string(out, "../");
    buffer_string(out, "\">");
}

/* The text up to and with the next `mark`; returns what follows. */
static const char *copy_past(struct buffer *out, const char *text, const char *mark)
{
    const char *found = strstr(text, mark);
    size_t length = found ? (size_t)(found - text) + strlen(mark) : strlen(text);
    buffer_append(out, text, length);
    return text + length;
}

/* The file, which says where its links start: `depth` folders up. The files that it names are those of this release. */
static void write_html(struct page *page, const char *file, size_t depth)
{
    const struct asset *asset = asset_find(file);
    const char *rest = copy_past(&page->body, (const char *)asset->data, "<head>");
    if (depth > 0)
        write_base(&page->body, depth);
    while (*(rest = copy_past(&page->body, rest, "=\"web/")))
        buffer_format(&page->body, "%s/", asset_release());
    page->status = 200;
    page->media_type = asset_media_type(asset);
}

void pages_docs(const struct service *service, const char *name, struct page *page)
{
    (void)service;
    (void)name;
    write_html(page, "reference.html", 0);
}

void pages_html(const struct service *service, const struct route *route, const char *name, struct page *page)
{
    struct page other = {.body = buffer_new(BUFFER_PAGE)};
    size_t depth = 0;
    route->page(service, name, &other);
    buffer_free(&other.body);
    if (other.status == 0)
        return;
    for (const char *at = route->path + 1; *at; at++)
        depth += *at == '/';
    write_html(page, route->path[1] ? "reference.html" : "index.html", depth);
}
