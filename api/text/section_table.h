/* One section of a reply as text: its title and a grid of the rows of one head. */
#ifndef API_TEXT_SECTION_TABLE_H
#define API_TEXT_SECTION_TABLE_H

#include "api/layout/token_label.h"
#include "api/reply/reply.h"
#include "api/text/query_arithmetic.h"

#define SECTION_TABLE_INDENT 2
#define SECTION_TABLE_ROWS 10 /* shown of a head; the rest is counted */

/* Where we are: a head of a reply. */
struct section_table {
    const struct reply *reply;
    const struct options *options;
    const struct attention *a;
    struct buffer *out;
    bool shaded; /* cells have colours */
    struct query_arithmetic arithmetic;
    size_t b, h;
};

/* The formula or name of the section, in a line. */
void section_table_title(const struct section_table *table, const struct section *section);

/* Title and grid of the part of a section that belongs to the head. All return false when there is no memory. */
bool section_table_write(const struct section_table *table, const struct section *section);

/* What a row or a column of this axis is called, and many of them. */
void section_table_label(const struct section_table *table, enum axis axis, size_t index, char out[TOKEN_LABEL_TEXT]);
const char *section_table_noun(enum axis axis);

/* The first row of the section that belongs to the head. */
size_t section_table_first(const struct section_table *table, const struct section *section);

/* Rows first, first + 1, .. of the section as the rows of a grid; `axis` names them. */
bool section_table_rows(const struct section_table *table, const struct section *section, size_t first, enum axis axis,
                        size_t count, size_t indent);

#endif
