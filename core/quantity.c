/* Names and axes of the quantities. */
#include "core/quantity.h"

static const struct {
    const char *name;
    enum quantity_axis axis;
} table[QUANTITY_COUNT] = {
#define QUANTITY_ROW(id, name, axis) {name, axis},
    QUANTITIES(QUANTITY_ROW)
#undef QUANTITY_ROW
};

const char *quantity_name(enum quantity quantity)
{
    return table[quantity].name;
}

enum quantity_axis quantity_axis(enum quantity quantity)
{
    return table[quantity].axis;
}
