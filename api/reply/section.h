/* The plan of a reply: its sections in order, what each holds, of what shape and from where. How they are written is
 * the writers' business (reply_json.h, api/text/reply_text.h). */
#ifndef API_REPLY_SECTION_H
#define API_REPLY_SECTION_H

#include "api/request/options.h"
#include "core/attention.h"

#include <stdbool.h>
#include <stddef.h>

enum section_source {
    SECTION_NONE,        /* no rows of numbers: the head, a document */
    SECTION_VIEW,        /* numbers in memory: t.data; without data they are decoded (attention_keys) */
    SECTION_BLOCKS,      /* a quantity, computed again block by block */
    SECTION_TERMS,       /* products or contributions, computed query by query */
    SECTION_BACK_BLOCKS, /* a gradient, computed again block by block */
    SECTION_BACK_TERMS,  /* jacobian or products of the way back, query by query */
};

/* Rows are those of array.h: the last axis is a row. */
struct section {
    enum result_id id;
    const struct result *result; /* NULL: the head of the reply */
    const char *group;           /* the object that it is a member of, or NULL */
    enum section_source source;
    struct tensor t;          /* the axes that the reply has; data for SECTION_VIEW alone */
    enum axis axes[AXES_MAX]; /* which these are */
    size_t numbers;           /* that it prints */
    size_t first_block, block_count;
    size_t rows_per_block; /* SECTION_VIEW, SECTION_TERMS */
    size_t core_blocks;    /* SECTION_BLOCKS: how many of core's blocks make one of ours */
    size_t pieces;         /* 1, or into how many blocks each row is cut */
};

struct section_list {
    struct section *at; /* in the arena */
    size_t count;
    size_t numbers; /* of all; (size_t)-1 when they cannot be counted */
};

/* Calls `visit` for every result of a part, in the order of a reply. */
typedef void section_visit(void *context, enum result_id id);
void section_each(enum part part, section_visit *visit, void *context);

/* The member of the request that brings a part, whatever `include` says; NULL: none does. */
const char *section_member(const struct options *options, enum part part);

/* Makes the list of the sections of a checked request in the order of the contract; the first is the head. Data
 * is not bound. */
bool section_plan(struct section_list *list, const struct options *options, const struct attention *a,
                  struct arena *arena, struct error *err);

/* The list of the results that `expect` names and whose shape it has; the first entry is no section. */
bool section_plan_expected(struct section_list *list, const struct options *options, const struct attention *a,
                           struct arena *arena, struct error *err);

/* Cuts a section into blocks, of which the first is `first`. */
void section_cut(struct section *section, const struct attention *a, const struct style *style, size_t first);

/* Are its numbers shares of one, or powers of e up to 1? (Linear attention has weights of any size all the same.) */
bool section_is_share(const struct section *section);

/* The rows of its block `local`, and which of their numbers: all, or a piece of one row. */
struct section_span {
    size_t first, count;
    size_t from, to;
};
struct section_span section_block_rows(const struct section *section, const struct attention *a, size_t local);

/* Of how many keys of a query the terms are computed at a time. */
size_t section_terms_keys(const struct section *section, const struct attention *a);

/* Its numbers are written as base64. */
bool section_is_packed(const struct section *section, const struct style *style);

/* The section of a result, or NULL. */
const struct section *section_find(const struct section_list *list, enum result_id id);

#endif
