/* Pages made once. */
#include "server/http/page_cache.h"

#include "server/exchange/answer.h"
#include "server/exchange/exchange.h"
#include "server/http/content_encoding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;                   /* of the route */
    struct page_cache_page plain, packed; /* packed.body is empty when it does not pay */
    char name[];                          /* "" where the route has none */
};

struct page_cache {
    struct entry *entries[ROUTE_MAX];
};

struct page_cache *page_cache_new(void)
{
    return calloc(1, sizeof(struct page_cache));
}

static void free_entry(struct entry *entry)
{
    buffer_free(&entry->plain.body);
    buffer_free(&entry->packed.body);
    free(entry);
}

void page_cache_free(struct page_cache *shelf)
{
    for (size_t i = 0; shelf && i < ROUTE_MAX; i++)
        while (shelf->entries[i]) {
            struct entry *next = shelf->entries[i]->next;
            free_entry(shelf->entries[i]);
            shelf->entries[i] = next;
        }
    free(shelf);
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

static void pack_entry(struct entry *entry)
{
    struct buffer *packed = &entry->packed.body;
    if (entry->plain.body.length < CONTENT_ENCODING_LEAST)
        return;
    buffer_append(packed, entry->plain.body.data, entry->plain.body.length);
    if (packed->failed || !content_encoding_pack(packed))
        buffer_free(packed);
    entry->packed.packed = true;
    entry->packed.media_type = entry->plain.media_type;
    set_etag(&entry->packed);
}

/* Only what there is is kept, so that strangers cannot fill the shelf. */
static struct entry *make_entry(const struct exchange *exchange, bool *missing)
{
    struct answer answer = {0};
    size_t length = strlen(exchange->name);
    struct entry *entry = calloc(1, sizeof *entry + length + 1);
    if (!entry)
        return NULL;
    memcpy(entry->name, exchange->name, length);
    exchange->route->page(exchange, &answer);
    *missing = answer.status == 0;
    entry->plain.body = answer.body;
    entry->plain.media_type = answer.media_type;
    if (*missing || answer.body.failed) {
        free_entry(entry);
        return NULL;
    }
    set_etag(&entry->plain);
    pack_entry(entry);
    return entry;
}

static struct entry *find_entry(struct entry *entry, const char *name)
{
    while (entry && strcmp(entry->name, name) != 0)
        entry = entry->next;
    return entry;
}

const struct page_cache_page *page_cache_find(struct page_cache *shelf, const struct exchange *exchange, bool packed,
                                              bool *missing)
{
    struct entry **first = &shelf->entries[route_index(exchange->route)];
    struct entry *entry = find_entry(*first, exchange->name);
    *missing = false;
    if (!entry) {
        entry = make_entry(exchange, missing);
        if (!entry)
            return NULL;
        entry->next = *first;
        *first = entry;
    }
    return packed && entry->packed.body.length > 0 ? &entry->packed : &entry->plain;
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
