/* Pages that stay the same as long as the process lives: made once, kept plain and packed, each with its ETag. Belongs
 * to the event thread. */
#ifndef SERVER_SHELF_H
#define SERVER_SHELF_H

#include "api/text.h"

#include <stdbool.h>

struct exchange;
struct shelf;

/* One form of a page. */
struct shelf_page {
    struct text body;
    const char *media_type;
    bool packed;   /* gzip */
    char etag[24]; /* with its quotes; the two forms have different ones */
};

struct shelf *shelf_new(void); /* NULL: no memory */
void shelf_free(struct shelf *shelf);

/* The page of the exchange's route and name, packed if it pays and `packed` is wished. NULL: there is nothing of this
 * name (*missing), or no memory. */
const struct shelf_page *shelf_find(struct shelf *shelf, const struct exchange *exchange, bool packed, bool *missing);

/* Whether an If-None-Match field (NULL: none) names this ETag (RFC 9110 section 13.1.2). */
bool shelf_matches(const char *if_none_match, const char *etag);

#endif
