/* What went wrong: a code, the plain name of what is at fault, one sentence. */
#ifndef CORE_TENSOR_ERROR_H
#define CORE_TENSOR_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#define ERROR_FAULTS 10

enum error_code {
    ERROR_NONE,
    ERROR_SYNTAX,    /* the text is not what its format allows */
    ERROR_INVALID,   /* well formed, but not a valid request */
    ERROR_TOO_LARGE, /* larger than a limit that the operator set */
    ERROR_MEMORY,    /* an allocation failed */
    ERROR_CANCELLED, /* nobody waits for the result any more */
};

/* One fault. `name` is a dotted path ("mask.window.left", "q.0.2"), or a ready JSON Pointer when it starts with '/';
 * empty when no member is at fault. `text` is one sentence of ours. */
struct fault {
    char name[160];
    char text[400];
};

/* Zero-initialise. The first error decides the code; later faults of the same code are kept beside it while there is
 * room. */
struct error {
    enum error_code code;
    size_t count;
    struct fault faults[ERROR_FAULTS];
    size_t line, column, byte; /* ERROR_SYNTAX in a document: where, line and column from 1, byte from 0 */
    bool placed;               /* line, column and byte are set */
};

/* Makes it empty, as zeroing does, without touching its texts: for where that would cost more than what may fail. */
void error_init(struct error *err);

/* Records a fault (see struct error) and returns false, so that a function can `return error_set(...)`. */
bool error_set(struct error *err, enum error_code code, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* No further fault would be kept: whoever looks for more may stop. */
bool error_is_full(const struct error *err);

#endif
