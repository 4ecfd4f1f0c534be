/* Pages made once. */
#include "server/shelf.h"

#include "server/answer.h"
#include "server/coding.h"
#include "server/exchange.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    bool made;
    struct shelf_page plain, packed; /* packed.body is empty when it does not pay */
};

struct shelf {
    struct entry entries[ROUTE_MAX];
};

struct shelf *shelf_new(void)
{
    return calloc(1, sizeof(struct shelf));
}

void shelf_free(struct shelf *shelf)
{
    for (size_t i = 0; shelf && i < ROUTE_MAX; i++) {
        text_free(&shelf->entries[i].plain.body);
        text_free(&shelf->entries[i].packed.body);
    }
    free(shelf);
}

/* FNV-1a, 64 bits. */
static uint64_t hash(const struct text *text)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text->length; i++)
        sum = (sum ^ (unsigned char)text->data[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static void set_etag(struct shelf_page *page)
{
    snprintf(page->etag, sizeof page->etag, "\"%016" PRIx64 "\"", hash(&page->body));
}

static void pack_entry(struct entry *entry)
{
    struct text *packed = &entry->packed.body;
    if (entry->plain.body.length < CODING_LEAST)
        return;
    text_append(packed, entry->plain.body.data, entry->plain.body.length);
    if (packed->failed || !coding_pack(packed))
        text_free(packed);
    entry->packed.packed = true;
    entry->packed.media_type = entry->plain.media_type;
    set_etag(&entry->packed);
}

static bool make_entry(struct entry *entry, const struct exchange *exchange)
{
    struct answer answer = {0};
    exchange->route->page(exchange, &answer);
    if (answer.body.failed) {
        text_free(&answer.body);
        return false;
    }
    entry->plain.body = answer.body;
    entry->plain.media_type = answer.media_type;
    set_etag(&entry->plain);
    pack_entry(entry);
    entry->made = true;
    return true;
}

const struct shelf_page *shelf_find(struct shelf *shelf, const struct exchange *exchange, bool packed)
{
    struct entry *entry = &shelf->entries[route_index(exchange->route)];
    if (!entry->made && !make_entry(entry, exchange))
        return NULL;
    return packed && entry->packed.body.length > 0 ? &entry->packed : &entry->plain;
}

/* The comparison is weak: W/ is passed over. */
bool shelf_matches(const char *if_none_match, const char *etag)
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
