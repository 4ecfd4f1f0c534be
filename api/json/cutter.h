/* A JSON text without its matrices: each is cut out and read, and leaves its number behind. For document.c. */
#ifndef API_JSON_CUTTER_H
#define API_JSON_CUTTER_H

#include "api/json/document.h"
#include "api/numbers/buffer.h"

/* From here on the text of the outline is the original's again. */
struct cutter_anchor {
    size_t outline, original;
};

/* Where the original is wrong in a way that was found while cutting. */
struct cutter_fault {
    size_t byte;
    const char *why; /* NULL: nothing was found */
};

/* "[[1,2],[3,4]]" stands in `text` as "[0]"; an array with elements that no matrix has keeps these: "[0,\"a\"]". So an
 * array that starts with a number there is always such a reference; so is one that stands for a long base64 string.
 * When cutting stopped at a fault, `text` stops too.
 */
struct cutter {
    struct buffer text;
    struct cutter_anchor *anchors; /* in the arena */
    size_t anchor_count;
    struct cutter_fault fault;
};

/* Fills `document`'s matrices. Only brackets outside matrices are counted, nothing there is checked: that is left to a
 * parser. False and an error when memory runs out or the arena's limit is passed (the parser's tree is priced, too). */
bool cutter_cut(struct cutter *outline, struct document *document, const char *text, size_t length, struct pool *pool,
                struct arena *arena, struct error *err);
void cutter_free(struct cutter *outline);

/* The byte of the original that a byte of the outline comes from. */
size_t cutter_original(const struct cutter *outline, size_t byte);

#endif
