/* Pages that stay the same as long as the process lives: made once, kept plain and packed, each with its ETag. Belongs
 * to the event thread. */
#ifndef SERVER_HTTP_PAGE_CACHE_H
#define SERVER_HTTP_PAGE_CACHE_H

#include "api/numbers/buffer.h"

#include <stdbool.h>

struct exchange;
struct page_cache;

/* One form of a page. */
struct page_cache_page {
    struct buffer body;
    const char *media_type;
    bool packed;   /* gzip */
    char etag[24]; /* with its quotes; the two forms have different ones */
};

struct page_cache *page_cache_new(void); /* NULL: no memory */
void page_cache_free(struct page_cache *shelf);

/* The page of the exchange's route and name, packed if it pays and `packed` is wished. NULL: there is nothing of this
 * name (*missing), or no memory. */
const struct page_cache_page *page_cache_find(struct page_cache *shelf, const struct exchange *exchange, bool packed,
                                              bool *missing);

/* Whether an If-None-Match field (NULL: none) names this ETag (RFC 9110 section 13.1.2). */
bool page_cache_matches(const char *if_none_match, const char *etag);

#endif
