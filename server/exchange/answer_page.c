/* Sending pages. */
#include "server/exchange/answer_page.h"

#include "server/coding/content_packing.h"
#include "server/coding/media_type.h"
#include "server/exchange/request.h"
#include "server/service/page_cache.h"
#include "server/service/pages.h"
#include "server/service/service.h"

#include <stdio.h>
#include <string.h>

static enum page_form find_form(const struct request *request)
{
    if (request_wants_html(request))
        return PAGE_HTML;
    return request_wants_text(request) ? PAGE_TEXT : PAGE_JSON;
}

/* Made when it is asked for first. */
static const struct page_cache_page *find_lasting(struct service *service, const struct request *request,
                                                  enum content_encoding coding, bool *missing)
{
    const struct page_cache_key key = {request->route->path, request->name, find_form(request)};
    const struct page_cache_page *kept = page_cache_find(service->pages, key, coding);
    struct page page = {.text = key.form == PAGE_TEXT, .body = buffer_new(BUFFER_PAGE)};
    if (kept)
        return kept;
    if (key.form == PAGE_HTML)
        pages_html(service, request->route, request->name, &page);
    else
        request->route->page(service, request->name, &page);
    *missing = page.status == 0;
    if (*missing || !page_cache_keep(service->pages, key, &page.body, page.media_type))
        return NULL;
    return page_cache_find(service->pages, key, coding);
}

static bool is_json(const char *media_type)
{
    return strcmp(media_type, "application/json") == 0;
}

static enum content_encoding choose(const struct service *service, const struct request *request)
{
    return content_encoding_choose(request->head.accept_encoding, service->settings.compression);
}

static void pack(const struct service *service, const struct request *request, struct answer *answer)
{
    enum content_encoding coding = choose(service, request);
    if (coding != CONTENT_ENCODING_NONE && answer->body.length >= CONTENT_PACKING_LEAST && !answer->body.failed &&
        content_packing_pack(&answer->body, coding))
        answer->coding = coding;
}

/* A copy, made each time, without an ETag. */
static enum MHD_Result send_indented(struct service *service, const struct request *request,
                                     const struct page_cache_page *page, struct reply *reply)
{
    struct answer answer = {.head = {.status = 200, .media_type = page->media_type},
                            .body = buffer_new(page->body.length)};
    buffer_append(&answer.body, page->body.data, page->body.length);
    answer_indent(request, &answer);
    pack(service, request, &answer);
    return answer_send(service, request, &answer, reply);
}

/* What lists the names is the path before them, where there is one. */
static enum MHD_Result refuse_name(struct service *service, const struct request *request, struct reply *reply)
{
    const char *path = request->route->path;
    char list[64];
    const char *name = NULL;
    snprintf(list, sizeof list, "%.*s", (int)strcspn(path, "{") - 1, path);
    struct problem problem = {0};
    problem_set(&problem, PROBLEM_NOT_FOUND, "There is nothing of this name; GET %s lists what there is.",
                route_find(list, &name) ? list : "/");
    return answer_problem(service, request, &problem, reply);
}

static enum MHD_Result send_lasting(struct service *service, const struct request *request, struct reply *reply)
{
    static const struct problem no_memory = {.code = PROBLEM_NO_MEMORY};
    bool missing = false;
    enum content_encoding coding = request->query.pretty ? CONTENT_ENCODING_NONE : choose(service, request);
    const struct page_cache_page *page = find_lasting(service, request, coding, &missing);
    if (!page)
        return missing ? refuse_name(service, request, reply) : answer_problem(service, request, &no_memory, reply);
    if (request->query.pretty && is_json(page->media_type))
        return send_indented(service, request, page, reply);
    bool known = page_cache_matches(request->head.if_none_match, page->etag);
    struct answer answer = {.head = {.status = known ? 304 : 200,
                                     .media_type = known ? NULL : page->media_type,
                                     .etag = page->etag,
                                     .release = request->route->release},
                            .page = page,
                            .coding = page->coding};
    return answer_send(service, request, &answer, reply);
}

static enum MHD_Result send_probe(struct service *service, const struct request *request, struct reply *reply)
{
    struct page page = {.body = buffer_new(BUFFER_PAGE)};
    request->route->page(service, request->name, &page);
    struct answer answer = {
        .head = {.status = page.status, .media_type = page.media_type, .retry_after = page.retry_after},
        .body = page.body};
    if (is_json(page.media_type))
        answer_indent(request, &answer);
    pack(service, request, &answer);
    return answer_send(service, request, &answer, reply);
}

enum MHD_Result answer_page(struct service *service, const struct request *request, struct reply *reply)
{
    if (request->head.method == METHOD_OPTIONS)
        return answer_send(service, request,
                           &(struct answer){.head = {.status = 204, .allow = route_allow(request->route)}}, reply);
    return (request->route->kind == ROUTE_PAGE ? send_lasting : send_probe)(service, request, reply);
}
