/* Pages of the Open Inference Protocol. */
#include "server/service/pages.h"

#include "api/infer/infer_metadata.h"
#include "api/writing/writer.h"
#include "server/config/version.h"
#include "server/service/metrics.h"
#include "server/service/service.h"

static void finish(struct page *page, unsigned status)
{
    buffer_string(&page->body, "\n");
    page->status = status;
    page->media_type = "application/json";
}

static bool is_ready(const struct service *service)
{
    return atomic_load(&service->phase) == SERVICE_READY;
}

void pages_inference(const struct service *service, const char *name, struct page *page)
{
    struct writer w = {.out = &page->body};
    (void)service;
    (void)name;
    infer_metadata_server(&w, version_program());
    finish(page, 200);
}

static void write_switch(struct page *page, const char *model, const char *name, bool on)
{
    struct writer w = {.out = &page->body};
    writer_object_begin(&w);
    if (model)
        writer_member_string(&w, "name", model);
    writer_member_bool(&w, name, on);
    writer_object_end(&w);
    page->retry_after = on ? 0 : 1;
    finish(page, on ? 200 : 503);
}

void pages_inference_live(const struct service *service, const char *name, struct page *page)
{
    (void)service;
    (void)name;
    write_switch(page, NULL, "live", true);
}

void pages_inference_ready(const struct service *service, const char *name, struct page *page)
{
    (void)name;
    write_switch(page, NULL, "ready", is_ready(service));
}

void pages_model_ready(const struct service *service, const char *name, struct page *page)
{
    (void)name;
    write_switch(page, "attention", "ready", is_ready(service));
}

void pages_model(const struct service *service, const char *name, struct page *page)
{
    struct writer w = {.out = &page->body};
    (void)service;
    (void)name;
    infer_metadata_model(&w);
    finish(page, 200);
}

void pages_model_config(const struct service *service, const char *name, struct page *page)
{
    struct writer w = {.out = &page->body};
    (void)service;
    (void)name;
    infer_metadata_config(&w);
    finish(page, 200);
}

void pages_model_stats(const struct service *service, const char *name, struct page *page)
{
    struct writer w = {.out = &page->body};
    (void)name;
    infer_metadata_statistics(&w, metrics_inference(service->metrics));
    finish(page, 200);
}

void pages_models(const struct service *service, const char *name, struct page *page)
{
    struct writer w = {.out = &page->body};
    (void)name;
    infer_metadata_index(&w, is_ready(service));
    finish(page, 200);
}
