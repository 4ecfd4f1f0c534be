/* A second look at the text, for the few numbers that need it. */
#include "api/json/matrix_floats.h"

#include "api/numbers/number.h"
#include "api/numbers/number_run.h"

#include <math.h>

/* A power of two of them has just been filled. */
static bool make_room(struct matrix *m, struct arena *arena, struct error *err)
{
    size_t count = m->float_count;
    if ((count & (count - 1)) != 0)
        return true;
    struct matrix_float *floats = arena_resize(arena, m->floats, (count ? 2 * count : 1) * sizeof *floats, err);
    if (floats)
        m->floats = floats;
    return floats != NULL;
}

static float round_twice(double value)
{
    return fabs(value) < 0x1.ffffffp127 ? (float)value : (float)copysign((double)INFINITY, value);
}

static bool take_float(struct matrix *m, const char *at, const char *end, size_t position, double value,
                       struct arena *arena, struct error *err)
{
    float exact = number_read_float32(at, end);
    if (exact == round_twice(value))
        return true;
    if (!make_room(m, arena, err))
        return false;
    m->floats[m->float_count++] = (struct matrix_float){position, exact};
    return true;
}

/* Behind null, true, false or "-Infinity". */
static const char *skip_word(const char *at, const char *end)
{
    while (at < end && *at != ',' && *at != ']')
        at++;
    return at;
}

static bool starts_word(char c)
{
    return c == 'n' || c == 't' || c == 'f' || c == '"';
}

bool matrix_floats_find(struct matrix *m, const char *text, const char *end, struct arena *arena, struct error *err)
{
    size_t position = 0;
    for (const char *at = text; at < end;) {
        double value;
        if (!number_run_starts(*at)) {
            bool word = starts_word(*at);
            position += word;
            at = word ? skip_word(at, end) : at + 1;
            continue;
        }
        const char *after = number_read(at, end, &value);
        if (number_is_halfway(value) && !take_float(m, at, end, position, value, arena, err))
            return false;
        position++;
        at = after;
    }
    return true;
}
