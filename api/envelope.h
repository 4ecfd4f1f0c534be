/* A JSON text without its matrices: each is cut out and read, and leaves its number behind. For document.c. */
#ifndef API_ENVELOPE_H
#define API_ENVELOPE_H

#include "api/document.h"
#include "api/text.h"

/* From here on the text of the envelope is the original's again. */
struct envelope_anchor {
    size_t envelope, original;
};

/* Where the original is wrong in a way that was found while cutting. */
struct envelope_fault {
    size_t byte;
    const char *why; /* NULL: nothing was found */
};

/* "[[1,2],[3,4]]" stands in `text` as "[0]"; an array with elements that no matrix has keeps these: "[0,\"a\"]". So an
 * array that starts with a number there is always such a reference. When cutting stopped at a fault, `text` stops too.
 */
struct envelope {
    struct text text;
    struct envelope_anchor *anchors; /* in the arena */
    size_t anchor_count;
    struct envelope_fault fault;
};

/* Fills `document`'s matrices. Only brackets outside matrices are counted, nothing there is checked: that is left to a
 * parser. False and an error when memory runs out or the arena's limit is passed (the parser's tree is priced, too). */
bool envelope_cut(struct envelope *envelope, struct document *document, const char *text, size_t length,
                  struct pool *pool, struct arena *arena, struct error *err);
void envelope_free(struct envelope *envelope);

/* The byte of the original that a byte of the envelope comes from. */
size_t envelope_original(const struct envelope *envelope, size_t byte);

#endif
