/* Products with weights, written out: x . w_q and its like before the scores, the heads times w_o after the mix. */
#ifndef API_TEXT_PROJECTION_TEXT_H
#define API_TEXT_PROJECTION_TEXT_H

#include "api/text/section_table.h"

/* q, k and v of the head, as they come from x (before rotary embedding and past); nothing where they were given. */
void projection_text_inputs(const struct section_table *table);

/* Each number of the output, from the heads side by side; nothing without w_o. */
void projection_text_output(const struct section_table *table);

#endif
