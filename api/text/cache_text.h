/* A quantised cache as text: the codes of a head, and what they cost and lose in all. */
#ifndef API_TEXT_CACHE_TEXT_H
#define API_TEXT_CACHE_TEXT_H

#include "api/text/section_table.h"

/* The sections of `quantization` that belong to the head; its heads of queries share one of keys: the first shows it.
 * False when there is no memory.
 */
bool cache_text_head(const struct section_table *table);

/* The bill of both sides and the comparison with the exact result. With
 * `precision` the formats in place of the bill; nothing without either. */
void cache_text_error(const struct section_table *table);

#endif
