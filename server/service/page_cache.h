/* Pages that stay the same as long as the process lives: made once, kept plain and in each coding, each with its ETag.
 * Belongs to the event thread. */
#ifndef SERVER_SERVICE_PAGE_CACHE_H
#define SERVER_SERVICE_PAGE_CACHE_H

#include "api/numbers/buffer.h"
#include "server/coding/content_encoding.h"

#include <stdbool.h>

struct page_cache;

enum page_form { PAGE_JSON, PAGE_HTML, PAGE_TEXT };

/* One form of a page. */
struct page_cache_page {
    struct buffer body;
    const char *media_type;
    enum content_encoding coding;
    char etag[24]; /* with its quotes; each form has its own */
};

struct page_cache *page_cache_new(void);        /* NULL: no memory */
void page_cache_free(struct page_cache *pages); /* NULL is fine */

/* What a page is kept under. */
struct page_cache_key {
    const char *path; /* of its route, which must last */
    const char *name; /* there, "" without one */
    enum page_form form;
};

/* In that coding if it pays; NULL: it has not been kept yet. */
const struct page_cache_page *page_cache_find(const struct page_cache *pages, struct page_cache_key key,
                                              enum content_encoding coding);

/* Keeps `body`, which is taken over, as that page. Only for names that there are, so that strangers cannot fill the
 * memory. false: there is none. */
bool page_cache_keep(struct page_cache *pages, struct page_cache_key key, struct buffer *body, const char *media_type);

/* Whether an If-None-Match field (NULL: none) names this ETag (RFC 9110 section 13.1.2). */
bool page_cache_matches(const char *if_none_match, const char *etag);

#endif
