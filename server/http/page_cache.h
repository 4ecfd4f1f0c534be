/* Pages that stay the same as long as the process lives: made once, kept plain and packed, each with its ETag. Belongs
 * to the event thread. */
#ifndef SERVER_HTTP_PAGE_CACHE_H
#define SERVER_HTTP_PAGE_CACHE_H

#include "api/numbers/buffer.h"

#include <stdbool.h>

struct page_cache;

/* One form of a page. */
struct page_cache_page {
    struct buffer body;
    const char *media_type;
    bool packed;   /* gzip */
    char etag[24]; /* with its quotes; the two forms have different ones */
};

struct page_cache *page_cache_new(void);        /* NULL: no memory */
void page_cache_free(struct page_cache *pages); /* NULL is fine */

/* A page has the path of its route, which must last, and a name there, "" without one. Packed if it pays and `packed`
 * is wished; NULL: it has not been kept yet. */
const struct page_cache_page *page_cache_find(const struct page_cache *pages, const char *path, const char *name,
                                              bool packed);

/* Keeps `body`, which is taken over, as the page of that name. Only for names that there are, so that strangers cannot
 * fill the memory. false: there is none. */
bool page_cache_keep(struct page_cache *pages, const char *path, const char *name, struct buffer *body,
                     const char *media_type);

/* Whether an If-None-Match field (NULL: none) names this ETag (RFC 9110 section 13.1.2). */
bool page_cache_matches(const char *if_none_match, const char *etag);

#endif
