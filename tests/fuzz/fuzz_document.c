/* Documents: what is refused has a place in the text, what is read is what jansson reads, and nothing breaks. */
#include "api/json/document.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LIMIT ((size_t)64 * 1024 * 1024)

static void demand(bool held)
{
    if (!held)
        abort();
}

/* What we refuse and jansson does not: deep nesting, a NUL byte. What jansson refuses and we do not: a NUL in a name.
 */
static bool may_differ(const char *text, size_t size, const struct error *err)
{
    return memchr(text, '\0', size) || strstr(err->faults[0].text, "deeper") || memmem(text, size, "\\u0000", 6);
}

static void check_matrices(const struct document *document)
{
    for (size_t i = 0; i < document->matrix_count; i++) {
        const struct matrix *m = &document->matrices[i];
        size_t count = 1;
        if (m->fault != MATRIX_GOOD) {
            demand(m->index_rank <= TENSOR_RANK_MAX);
            continue;
        }
        for (size_t a = 0; a < m->rank; a++)
            count *= m->shape[a];
        demand(m->rank >= 1 && m->rank <= TENSOR_RANK_MAX && count == m->count && count > 0);
        for (size_t v = 0; v < count; v++)
            demand(isfinite(m->values[v]) || (m->has_hidden && m->values[v] < 0));
    }
}

static void check_refusal(const struct error *err, size_t size)
{
    demand(err->code == ERROR_TOO_LARGE || (err->code == ERROR_SYNTAX && err->placed && err->byte <= size));
    demand(err->code != ERROR_SYNTAX || (err->line >= 1 && err->column >= 1 && err->count == 1));
}

static void compare(const char *text, size_t size, struct arena *arena)
{
    struct document document;
    struct error err = {0};
    bool good = document_read(&document, text, size, (struct read_context){0}, arena, &err);
    json_t *theirs = json_loadb(
        text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
    if (good)
        check_matrices(&document);
    else
        check_refusal(&err, size);
    demand(good == (theirs != NULL) || err.code == ERROR_TOO_LARGE || may_differ(text, size, &err));
    json_decref(theirs);
    document_free(&document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(LIMIT);
    demand(arena != NULL);
    compare((const char *)data, size, arena);
    arena_free(arena);
    return 0;
}
