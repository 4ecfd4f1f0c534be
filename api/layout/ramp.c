/* Interpolation between stops. */
#include "api/layout/ramp.h"

#include <math.h>

#define STOPS_MAX 10

static const struct {
    size_t stops;
    struct ramp_colour stop[STOPS_MAX];
} ramps[RAMPS] = {
    [RAMP_SHARE] = {10,
                    {{0x00, 0x22, 0x4e},
                     {0x12, 0x35, 0x70},
                     {0x3b, 0x49, 0x6c},
                     {0x57, 0x5d, 0x6d},
                     {0x70, 0x71, 0x73},
                     {0x8a, 0x86, 0x78},
                     {0xa5, 0x9c, 0x74},
                     {0xc3, 0xb3, 0x69},
                     {0xe1, 0xcc, 0x55},
                     {0xfe, 0xe8, 0x38}}},
    [RAMP_AROUND] = {7,
                     {{0xb3, 0x58, 0x06},
                      {0xf1, 0xa3, 0x40},
                      {0xfe, 0xe0, 0xb6},
                      {0xf7, 0xf7, 0xf7},
                      {0xd8, 0xda, 0xeb},
                      {0x99, 0x8e, 0xc3},
                      {0x54, 0x27, 0x88}}},
};

static unsigned char mix(unsigned char from, unsigned char to, double part)
{
    return (unsigned char)lround(from + ((double)to - from) * part);
}

struct ramp_colour ramp_colour(enum ramp ramp, double place)
{
    size_t last = ramps[ramp].stops - 1;
    double at = fmin(1, fmax(0, place)) * (double)last;
    size_t stop = (size_t)fmin(floor(at), (double)(last - 1));
    struct ramp_colour from = ramps[ramp].stop[stop];
    struct ramp_colour to = ramps[ramp].stop[stop + 1];
    double part = at - (double)stop;
    return (struct ramp_colour){mix(from.red, to.red, part), mix(from.green, to.green, part),
                                mix(from.blue, to.blue, part)};
}

double ramp_place(enum ramp ramp, double value, double most)
{
    double part = most > 0 ? value / most : 0;
    return ramp == RAMP_SHARE ? part : (part + 1) / 2;
}

static double linear(unsigned char channel)
{
    double x = channel / 255.0;
    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

/* By the contrast of WCAG 2. */
bool ramp_wants_white(struct ramp_colour c)
{
    double luminance = 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
    return 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05;
}

/* --- terminals --- */

#define CUBE 16   /* the first colour of the cube, */
#define SIDE 6    /* and how many levels it has */
#define GREYS 232 /* the first grey, */
#define GREY_COUNT 24

static int distance(struct ramp_colour c, int red, int green, int blue)
{
    return (c.red - red) * (c.red - red) + (c.green - green) * (c.green - green) + (c.blue - blue) * (c.blue - blue);
}

/* The levels of the cube are 0, 95, 135, 175, 215, 255; greys are 8, 18, .. 238. */
static unsigned nearest_level(int channel)
{
    return channel < 48 ? 0 : channel < 115 ? 1 : (unsigned)(channel - 35) / 40;
}

static int level(unsigned index)
{
    return index == 0 ? 0 : 55 + 40 * (int)index;
}

unsigned ramp_terminal(struct ramp_colour c)
{
    unsigned red = nearest_level(c.red);
    unsigned green = nearest_level(c.green);
    unsigned blue = nearest_level(c.blue);
    int mean = (c.red + c.green + c.blue) / 3;
    int grey = mean < 8 ? 0 : mean > 238 ? GREY_COUNT - 1 : (mean - 3) / 10;
    int shade = 8 + 10 * grey;
    if (distance(c, shade, shade, shade) < distance(c, level(red), level(green), level(blue)))
        return GREYS + (unsigned)grey;
    return CUBE + SIDE * SIDE * red + SIDE * green + blue;
}
