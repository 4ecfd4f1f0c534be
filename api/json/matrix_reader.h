/* How far the reading of a matrix is, and the room for its values. For matrix.c and matrix_parallel.c. */
#ifndef API_JSON_MATRIX_READER_H
#define API_JSON_MATRIX_READER_H

#include "api/json/document.h"
#include "core/tensor/pool.h"

#define MATRIX_SMALL 2048 /* numbers; up to this a copy is cheaper than a block of pages */

/* Where values gather; kept from one matrix to the next, so that small ones cost one exact block each. Zero-initialise.
 */
struct matrix_buffer {
    double *values; /* arena block, or NULL */
    size_t capacity;
};

enum matrix_step {
    MATRIX_ON,      /* not returned */
    MATRIX_DONE,    /* `matrix` is complete; `at` is behind it */
    MATRIX_OTHER,   /* `at` is a string or an object: check it, move `at` behind it, call again; `matrix` has the fault
                     */
    MATRIX_BROKEN,  /* not JSON: `at` is the first byte that is wrong, `why` says how */
    MATRIX_REFUSED, /* the arena's error is in `err` */
};

/* Set the first six, zero the rest. */
struct matrix_reader {
    const char *at, *end; /* at: the opening bracket */
    size_t depth;         /* brackets that are open around it */
    struct pool *pool;    /* reads long matrices together; may be NULL */
    struct arena *arena;
    struct matrix_buffer *buffer;
    struct error *err;
    struct matrix matrix;
    const char *why;
    const char *start;                     /* where it begins */
    size_t level;                          /* brackets open in it */
    bool halfway;                          /* a number lies halfway between two floats */
    const char *alone;                     /* rows before it are read one after the other */
    size_t length[DOCUMENT_DEPTH_MAX + 1]; /* elements so far in the array that is open at each level */
};

/* Makes room for a value behind those that there are: false with an error when there is none. */
bool matrix_reader_grow(struct matrix_reader *r);

/* Makes room for `more` of them; false without an error when there is none. */
bool matrix_reader_reserve(struct matrix_reader *r, size_t more);

#endif
