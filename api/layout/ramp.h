/* Colours of numbers: the explorer's, which the common colour blindnesses tell apart. */
#ifndef API_LAYOUT_RAMP_H
#define API_LAYOUT_RAMP_H

#include <stdbool.h>
#include <stddef.h>

enum ramp {
    RAMP_SHARE,  /* 0 to 1: cividis, dark to light */
    RAMP_AROUND, /* around 0: orange, white, purple */
    RAMPS
};

struct ramp_colour {
    unsigned char red, green, blue;
};

/* The colour at `place`, 0 to 1; beyond, that of the end. */
struct ramp_colour ramp_colour(enum ramp ramp, double place);

/* Where `value` lies when `most` has the full colour. */
double ramp_place(enum ramp ramp, double value, double most);

/* The closest of the 256 colours of a terminal, from its cube and its greys. */
unsigned ramp_terminal(struct ramp_colour colour);

/* Is white text easier to read on it than black? */
bool ramp_wants_white(struct ramp_colour colour);

#endif
