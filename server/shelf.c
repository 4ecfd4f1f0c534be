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
    struct entry *next;              /* of the route */
    struct shelf_page plain, packed; /* packed.body is empty when it does not pay */
    char name[];                     /* "" where the route has none */
};

struct shelf {
    struct entry *entries[ROUTE_MAX];
};

struct shelf *shelf_new(void)
{
    return calloc(1, sizeof(struct shelf));
}

static void free_entry(struct entry *entry)
{
    text_free(&entry->plain.body);
    text_free(&entry->packed.body);
    free(entry);
}

void shelf_free(struct shelf *shelf)
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

const struct shelf_page *shelf_find(struct shelf *shelf, const struct exchange *exchange, bool packed, bool *missing)
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
