/* Sending pages. */
#include "server/exchange/answer_page.h"

#include "server/exchange/request.h"
#include "server/http/content_encoding.h"
#include "server/http/media_type.h"
#include "server/http/page_cache.h"
#include "server/service/pages.h"
#include "server/service/service.h"

/* Browsers prefer HTML; whoever takes both alike gets JSON. */
static bool wants_html(const struct request *request)
{
    const char *accept = request->head.accept;
    return request->route->html &&
           media_type_weight(accept, "text/html") > media_type_weight(accept, "application/json");
}

/* Made when it is asked for first. */
static const struct page_cache_page *find_lasting(struct service *service, const struct request *request, bool *missing)
{
    const struct page_cache_key key = {request->route->path, request->name, wants_html(request)};
    bool packed = content_encoding_wants_gzip(request->head.accept_encoding);
    const struct page_cache_page *kept = page_cache_find(service->pages, key, packed);
    struct page page = {0};
    if (kept)
        return kept;
    (key.html ? pages_html : request->route->page)(service, request->name, &page);
    *missing = page.status == 0;
    if (*missing || !page_cache_keep(service->pages, key, &page.body, page.media_type))
        return NULL;
    return page_cache_find(service->pages, key, packed);
}

static enum MHD_Result send_lasting(struct service *service, const struct request *request, struct reply *reply)
{
    static const struct problem not_found = {.code = PROBLEM_NOT_FOUND, .detail = "There is nothing of this name."};
    static const struct problem no_memory = {.code = PROBLEM_NO_MEMORY};
    bool missing = false;
    const struct page_cache_page *page = find_lasting(service, request, &missing);
    if (!page)
        return answer_problem(service, request, missing ? &not_found : &no_memory, reply);
    bool known = page_cache_matches(request->head.if_none_match, page->etag);
    struct answer answer = {.head = {.status = known ? 304 : 200,
                                     .media_type = known ? NULL : page->media_type,
                                     .etag = page->etag,
                                     .forms = request->route->html},
                            .page = page,
                            .packed = page->packed};
    return answer_send(service, request, &answer, reply);
}

static enum MHD_Result send_probe(struct service *service, const struct request *request, struct reply *reply)
{
    struct page page = {0};
    request->route->page(service, request->name, &page);
    struct answer answer = {
        .head = {.status = page.status, .media_type = page.media_type, .retry_after = page.retry_after},
        .body = page.body};
    if (page.body.length >= CONTENT_ENCODING_LEAST && !page.body.failed &&
        content_encoding_wants_gzip(request->head.accept_encoding))
        answer.packed = content_encoding_pack(&answer.body);
    return answer_send(service, request, &answer, reply);
}

enum MHD_Result answer_page(struct service *service, const struct request *request, struct reply *reply)
{
    if (request->head.method == METHOD_OPTIONS)
        return answer_send(service, request,
                           &(struct answer){.head = {.status = 204, .allow = route_allow(request->route)}}, reply);
    return (request->route->kind == ROUTE_PAGE ? send_lasting : send_probe)(service, request, reply);
}
