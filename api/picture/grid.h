/* A section of a reply as matrices to draw: numbers, names, sizes. */
#ifndef API_PICTURE_GRID_H
#define API_PICTURE_GRID_H

#include "api/layout/ramp.h"
#include "api/layout/token_label.h"
#include "api/numbers/decimal_text.h"
#include "api/reply/reply.h"

#define GRID_TITLE 192 /* bytes, with the end; longer ones are cut */

struct grid {
    const struct reply *reply;
    const struct section *section;
    struct buffer *owner;
    size_t panels, rows, columns; /* a matrix for each index of the axes before its own */
    bool column;                  /* one number for each query, side by side in the reply, below each other here */
    enum axis down, across;       /* AXIS_NONE: nothing to name */
    double *values;               /* [panels][rows][columns], lent by the owner */
    unsigned char *hidden;        /* of the same; what the mask took out */
    enum ramp ramp;
    double most; /* the number that has the full colour */
    int decimals;
    char name[GRID_TITLE], formula[GRID_TITLE];
    bool small;                             /* too many cells for numbers in them */
    size_t cell_width, cell_height, gap;    /* pixels */
    size_t label_width, label_height, tilt; /* left and above; how far tilted labels stand out on the right */
    size_t width, height;                   /* of a panel, in pixels */
};

/* Is there a matrix to draw? */
bool grid_is_drawn(const struct section *section);

/* Reads and measures. False when `owner`, the text that is drawn, has no room to lend; grid_close in any case. */
bool grid_open(struct grid *grid, const struct reply *reply, const struct section *section, struct buffer *owner);
void grid_close(struct grid *grid);

char *grid_row_label(const struct grid *grid, size_t row, char out[TOKEN_LABEL_TEXT]);
char *grid_column_label(const struct grid *grid, size_t column, char out[TOKEN_LABEL_TEXT]);

/* What cell `at`, counted through all panels, says. */
char *grid_cell_text(const struct grid *grid, size_t at, char out[DECIMAL_TEXT_SIZE]);

#endif
