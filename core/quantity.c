/* The rows of the quantities and of their axes. */
#include "core/quantity.h"

static const struct {
    const char *name;
    enum axis axes[AXES_MAX];
    unsigned traits;
    const char *formula;
} table[QUANTITY_COUNT] = {
#define QUANTITY_ROW(id, name, axes, traits, formula) {name, {AXES_OF axes}, traits, formula},
    QUANTITIES(QUANTITY_ROW)
#undef QUANTITY_ROW
};

const char *axis_name(enum axis axis)
{
    static const char *const names[AXIS_COUNT] = {
#define AXIS_NAME(id, name, extent, there) [AXIS_##id] = name,
        AXES(AXIS_NAME)
#undef AXIS_NAME
    };
    return names[axis];
}

const char *quantity_name(enum quantity quantity)
{
    return table[quantity].name;
}

const enum axis *quantity_axes(enum quantity quantity)
{
    return table[quantity].axes;
}

bool quantity_has_axis(enum quantity quantity, enum axis axis)
{
    for (size_t x = 0; x < AXES_MAX; x++)
        if (table[quantity].axes[x] == axis)
            return true;
    return false;
}

unsigned quantity_traits(enum quantity quantity)
{
    return table[quantity].traits;
}

bool quantity_is(enum quantity quantity, enum quantity_trait trait)
{
    return table[quantity].traits & trait;
}

const char *quantity_formula(enum quantity quantity)
{
    return table[quantity].formula;
}
