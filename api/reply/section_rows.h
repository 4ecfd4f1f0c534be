/* The rows of a section, wherever they come from: memory, a block computed again, the terms of one query. */
#ifndef API_REPLY_SECTION_ROWS_H
#define API_REPLY_SECTION_ROWS_H

#include "api/numbers/buffer.h"
#include "api/reply/section.h"
#include "core/backward/backward.h"

/* Reads rows of one section; keeps what it has computed last. One thread each. Initialise with a, section and the text
 * that is written of them (and `weights` when those of the whole request are in memory); end with section_rows_close.
 */
struct section_rows {
    const struct attention *a;
    const struct section *section;
    struct buffer *owner;        /* lends what is needed to compute rows */
    const void *weights;         /* [b][h][n][m], what contributions multiply; NULL: computed again */
    const struct backward *back; /* of a request that has gradients */
    char *room;                  /* scratch, `block` and `terms`; NULL: nothing was computed yet */
    char *block;                 /* rows of the block `at` */
    struct attention_rows at;    /* count 0: none */
    char *terms;
    struct attention_terms kept; /* whose these are; count 0: nobody's */
    char *decoded;               /* a key or value that is decoded by tiles */
};

/* Bytes that reading takes at most. */
size_t section_rows_room(const struct section_rows *source);

/* The numbers of a row (array.h), valid until the next call; NULL when there is no memory. */
const void *section_rows_row(struct section_rows *source, size_t row);
void section_rows_close(struct section_rows *source);

/* The block of core that has query `query` (counted through [b][h][n]). */
size_t section_rows_block(const struct attention *a, size_t query);

#endif
