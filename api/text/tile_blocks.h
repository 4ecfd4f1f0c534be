/* The softmax as it runs over tiles of keys: a block for each tile, and the bill of what is kept. */
#ifndef API_TEXT_TILE_BLOCKS_H
#define API_TEXT_TILE_BLOCKS_H

#include "api/text/section_table.h"

/* Whether the blocks tell this section. */
bool tile_blocks_tell(const struct section *section);

/* The tiles of the head, where the reply has steps of them. False when there is no memory. */
bool tile_blocks_write(const struct section_table *table);

#endif
