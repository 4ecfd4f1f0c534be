/* What the maximum and the sum of a row are taken of, number by number. */
#ifndef API_EXPLAIN_EXPLAIN_ROW_H
#define API_EXPLAIN_EXPLAIN_ROW_H

#include "api/explain/equation_line.h"
#include "api/text/query_steps.h"

/* "row_max = max(..) = .." and "row_sum = .. + .. = .."; keys past the tenth are one number, a sink is the last. Long
 * ones go on in another line. */
void explain_row_max(const struct line_pen *pen, const struct query_steps *query);
void explain_row_sum(const struct line_pen *pen, const struct query_steps *query);

#endif
