/* A small table of numbers with labelled rows and columns, for a terminal of 80 columns. */
#ifndef API_LAYOUT_TEXT_TABLE_H
#define API_LAYOUT_TEXT_TABLE_H

#include "api/layout/ramp.h"
#include "api/layout/token_label.h"
#include "api/numbers/buffer.h"
#include "api/numbers/decimal_text.h"

#define TEXT_TABLE_ROWS 12
#define TEXT_TABLE_COLUMNS 12
#define TEXT_TABLE_LINE 80
#define TEXT_TABLE_SHADE 32 /* bytes that a colour adds to a cell, at most */

struct text_table {
    size_t indent;
    size_t rows, columns;         /* filled */
    size_t all_rows, all_columns; /* that there are */
    const char *row_noun, *column_noun;
    char row[TEXT_TABLE_ROWS][TOKEN_LABEL_TEXT];
    char column[TEXT_TABLE_COLUMNS][TOKEN_LABEL_TEXT];
    char cell[TEXT_TABLE_ROWS][TEXT_TABLE_COLUMNS][DECIMAL_TEXT_SIZE];
    bool shaded; /* cells have the colour of their `value`; those that are not finite have none */
    enum ramp ramp;
    double value[TEXT_TABLE_ROWS][TEXT_TABLE_COLUMNS];
};

/* Appends the table; columns that do not fit the line are left out. What is not shown is counted in a
 * line below it. */
void text_table_print(struct buffer *out, const struct text_table *grid);

/* "... 92 more queries (8 of 100 shown)", or nothing when all are. */
void text_table_rest(struct buffer *out, size_t indent, size_t shown, size_t all, const char *noun);

/* Spaces. */
void text_table_indent(struct buffer *out, size_t columns);

#endif
