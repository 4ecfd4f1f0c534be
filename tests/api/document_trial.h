/* One document at a time, read in an arena of its own. */
#ifndef TESTS_API_DOCUMENT_TRIAL_H
#define TESTS_API_DOCUMENT_TRIAL_H

#include "api/json/document.h"

#define MIB ((size_t)1024 * 1024)

/* What the last read gave; all of it lasts until the next. */
struct trial {
    struct arena *arena;
    struct document document;
    struct error err;
    const atomic_bool *cancel; /* kept from one read to the next */
};

/* A document with everything in it that is allowed. */
const char *trial_valid(void);

/* A checked fixture's two halves, and the trial between them. */
void trial_setup(void);
void trial_teardown(void);
struct trial *trial_now(void);

/* Reads within `limit` bytes, from a block of exactly that length, so that a sanitizer sees a step past its end. */
bool trial_read_within(const char *text, size_t length, size_t limit);
bool trial_read_bytes(const char *text, size_t length);
bool trial_read(const char *text);

#endif
