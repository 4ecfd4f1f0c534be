/* Pages made once. */
#include "server/service/page_cache.h"

#include "server/coding/content_packing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMS (CONTENT_ENCODING_ZSTD + 1)

struct entry {
    struct entry *next;
    struct page_cache_page forms[FORMS]; /* [coding]; the body is empty when packing does not pay */
    const char *path;
    enum page_form form;
    char name[];
};

struct page_cache {
    struct entry *first;
};

struct page_cache *page_cache_new(void)
{
    return calloc(1, sizeof(struct page_cache));
}

static void free_entry(struct entry *entry)
{
    for (int i = 0; i < FORMS; i++)
        buffer_free(&entry->forms[i].body);
    free(entry);
}

void page_cache_free(struct page_cache *pages)
{
    while (pages && pages->first) {
        struct entry *next = pages->first->next;
        free_entry(pages->first);
        pages->first = next;
    }
    free(pages);
}

/* FNV-1a, 64 bits. */
static uint64_t hash(const struct buffer *text)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text->length; i++)
        sum = (sum ^ (unsigned char)text->data[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static void set_etag(struct page_cache_page *page)
{
    snprintf(page->etag, sizeof page->etag, "\"%016" PRIx64 "\"", hash(&page->body));
}

static void pack_entry(struct entry *entry, enum content_encoding coding)
{
    const struct page_cache_page *plain = &entry->forms[CONTENT_ENCODING_NONE];
    struct page_cache_page *packed = &entry->forms[coding];
    if (plain->body.length < CONTENT_PACKING_LEAST)
        return;
    packed->body = buffer_new(plain->body.length);
    buffer_append(&packed->body, plain->body.data, plain->body.length);
    if (packed->body.failed || !content_packing_pack_lasting(&packed->body, coding))
        buffer_free(&packed->body);
    packed->coding = coding;
    packed->media_type = plain->media_type;
    set_etag(packed);
}

static bool has_key(const struct entry *entry, struct page_cache_key key)
{
    return entry->form == key.form && strcmp(entry->path, key.path) == 0 && strcmp(entry->name, key.name) == 0;
}

const struct page_cache_page *page_cache_find(const struct page_cache *pages, struct page_cache_key key,
                                              enum content_encoding coding)
{
    const struct entry *entry = pages->first;
    while (entry && !has_key(entry, key))
        entry = entry->next;
    if (!entry)
        return NULL;
    return &entry->forms[entry->forms[coding].body.length > 0 ? coding : CONTENT_ENCODING_NONE];
}

bool page_cache_keep(struct page_cache *pages, struct page_cache_key key, struct buffer *body, const char *media_type)
{
    struct entry *entry = body->failed ? NULL : calloc(1, sizeof *entry + strlen(key.name) + 1);
    if (!entry) {
        buffer_free(body);
        return false;
    }
    entry->path = key.path;
    entry->form = key.form;
    memcpy(entry->name, key.name, strlen(key.name) + 1);
    entry->forms[CONTENT_ENCODING_NONE] = (struct page_cache_page){.body = *body, .media_type = media_type};
    *body = (struct buffer){0};
    set_etag(&entry->forms[CONTENT_ENCODING_NONE]);
    pack_entry(entry, CONTENT_ENCODING_GZIP);
    pack_entry(entry, CONTENT_ENCODING_ZSTD);
    entry->next = pages->first;
    pages->first = entry;
    return true;
}

/* The comparison is weak: W/ is passed over. */
bool page_cache_matches(const char *if_none_match, const char *etag)
{
    size_t wanted = strlen(etag);
    for (const char *at = if_none_match; at && *at; at += strcspn(at, ",")) {
        at += strspn(at, " \t,");
        if (strncmp(at, "W/", 2) == 0)
            at += 2;
        size_t length = strcspn(at, " \t,");
        if ((length == 1 && *at == '*') || (length == wanted && strncmp(at, etag, length) == 0))
            return true;
    }
    return false;
}
