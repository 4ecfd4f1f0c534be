/* A small table of numbers with labelled rows and columns, for a terminal of 80 columns. */
#ifndef API_GRID_H
#define API_GRID_H

#include "api/figure.h"
#include "api/label.h"
#include "api/text.h"

#define GRID_ROWS 12
#define GRID_COLUMNS 12
#define GRID_LINE 80

struct grid {
    size_t indent;
    size_t rows, columns;         /* filled */
    size_t all_rows, all_columns; /* that there are */
    const char *row_noun, *column_noun;
    char row[GRID_ROWS][LABEL_TEXT];
    char column[GRID_COLUMNS][LABEL_TEXT];
    char cell[GRID_ROWS][GRID_COLUMNS][FIGURE_TEXT];
};

/* Appends the table; columns that do not fit the line are left out. What is not shown is counted in a
 * line below it. */
void grid_print(struct text *out, const struct grid *grid);

/* "... 92 more queries (8 of 100 shown)", or nothing when all are. */
void grid_rest(struct text *out, size_t indent, size_t shown, size_t all, const char *noun);

/* Spaces. */
void grid_indent(struct text *out, size_t columns);

#endif
