/* How much there is of everything, and how rows are cut into blocks. */
#include "core/attention.h"

/* Rows of a table may say the same. NOLINTBEGIN(bugprone-branch-clone) */
size_t attention_extent(const struct attention *a, enum axis axis)
{
    switch (axis) {
#define AXIS_EXTENT(id, name, extent, there) \
    case AXIS_##id: \
        return a->extent;
        AXES(AXIS_EXTENT)
#undef AXIS_EXTENT
    case AXIS_NONE:
    case AXIS_COUNT:
        break;
    }
    return 1;
}

bool attention_has_axis(const struct attention *a, enum axis axis)
{
    switch (axis) {
#define AXIS_THERE(id, name, extent, there) \
    case AXIS_##id: \
        return there;
        AXES(AXIS_THERE)
#undef AXIS_THERE
    case AXIS_NONE:
    case AXIS_COUNT:
        break;
    }
    return false;
}
/* NOLINTEND(bugprone-branch-clone) */

/* The axes `first`, first + 1, .. multiplied; (size_t)-1 when that does not fit. */
static size_t multiply_axes(const struct attention *a, const enum axis *axes, size_t first)
{
    size_t count = 1;
    for (size_t x = first; x < AXES_MAX && axes[x] != AXIS_NONE; x++)
        if (!size_multiply(count, attention_extent(a, axes[x]), &count))
            return (size_t)-1;
    return count;
}

size_t attention_width(const struct attention *a, enum quantity quantity)
{
    const enum axis *axes = quantity_axes(quantity);
    size_t inner = 0;
    while (inner < AXES_MAX && axes[inner++] != AXIS_QUERY)
        continue;
    return multiply_axes(a, axes, inner);
}

size_t attention_count(const struct attention *a, enum quantity quantity)
{
    return multiply_axes(a, quantity_axes(quantity), 0);
}

enum dtype attention_dtype(const struct attention *a, enum quantity quantity)
{
    unsigned traits = quantity_traits(quantity);
    return traits & IS_BOOLEAN ? DTYPE_BOOL : traits & IS_INDEX ? DTYPE_FLOAT64 : a->dtype;
}

/* --- blocks --- */

#define NUMBERS_PER_BLOCK ((size_t)1 << 18) /* of an [n][m] quantity, where a row is no longer than that */

/* Rows of a block: a matter of the number of keys alone, so that a request has the same blocks under any load. */
static size_t rows_per_block(const struct attention *a)
{
    size_t rows = NUMBERS_PER_BLOCK / a->keys;
    rows = rows > 16 ? rows / 16 * 16 : rows > 0 ? rows : 1;
    rows = rows > ROWS_PER_BLOCK ? ROWS_PER_BLOCK : rows;
    return rows < a->queries ? rows : a->queries;
}

static size_t blocks_per_head(const struct attention *a)
{
    return (a->queries + rows_per_block(a) - 1) / rows_per_block(a);
}

size_t attention_blocks(const struct attention *a)
{
    return a->batch * a->heads * blocks_per_head(a);
}

struct attention_rows attention_block(const struct attention *a, size_t block)
{
    size_t head = block / blocks_per_head(a);
    size_t rows = rows_per_block(a);
    size_t first = block % blocks_per_head(a) * rows;
    return (struct attention_rows){head / a->heads, head % a->heads, first,
                                   a->queries - first < rows ? a->queries - first : rows};
}
