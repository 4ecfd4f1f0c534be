/* One matrix of a grid, drawn. */
#ifndef API_PICTURE_PANEL_H
#define API_PICTURE_PANEL_H

#include "api/picture/grid.h"

#define PANEL_CELL_BYTES 256 /* that a cell takes at most, labels not counted */

/* Appends panel `panel` of the grid with its upper left corner at (x, y). */
void panel_draw(struct buffer *out, const struct grid *grid, size_t panel, size_t x, size_t y);

/* What panels refer to: the hatching of hidden cells and the colours of legends. */
void panel_define(struct buffer *out);

#endif
