/* A reply to POST /v1/attention as an ordered list of sections: which, of what shape, from where. */
#ifndef API_REPLY_SECTION_H
#define API_REPLY_SECTION_H

#include "api/request/options.h"
#include "core/attention.h"

#include <stdbool.h>
#include <stddef.h>

#define SECTIONS_MAX 32

enum section_source {
    SECTION_NONE,   /* no numbers: `lead` is all */
    SECTION_VIEW,   /* numbers in memory: t.data */
    SECTION_BLOCKS, /* a quantity, computed again block by block */
    SECTION_TERMS,  /* products or contributions, computed query by query */
};

struct section {
    const char *group, *name; /* the member is group.name, or name where there is no group */
    enum section_source source;
    enum quantity quantity;
    struct tensor t;                   /* the axes that the reply has; data for SECTION_VIEW alone */
    const char *axes[TENSOR_RANK_MAX]; /* their names */
    bool plain;                        /* JSON also where tensors are base64 */
    size_t numbers;                    /* that it prints */
    const char *lead, *trail;          /* text before and after */
    size_t lead_length, trail_length;
    size_t first_block, block_count, rows_per_block; /* rows as in array.h */
};

struct section_list {
    struct section at[SECTIONS_MAX];
    size_t count;
    size_t numbers; /* of all; (size_t)-1 when they cannot be counted */
};

/* Fills a zeroed list with the sections of a checked request in the order of the contract; the first is the head. Data
 * is not bound. */
void section_plan(struct section_list *list, const struct options *options, const struct attention *a);

/* What of `include` brought the section: "weights", "steps.scores" ...; `out` holds at least 64 bytes. */
const char *section_item(const struct section *section, const struct include *include, char *out, size_t size);

/* Its numbers are written as base64. */
bool section_is_packed(const struct section *section, const struct style *style);

/* Is it group.name? NULL groups match each other. */
bool section_is(const struct section *section, const char *group, const char *name);

#endif
