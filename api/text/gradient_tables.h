/* The gradients of a reply as text: a table each, after the story of the way there. */
#ifndef API_TEXT_GRADIENT_TABLES_H
#define API_TEXT_GRADIENT_TABLES_H

#include "api/text/section_table.h"

/* Loss, gradients and updated numbers, in the order of the flow back. False when there is no memory. */
bool gradient_tables_write(const struct section_table *panel);

#endif
