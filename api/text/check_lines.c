/* Lines of checks. */
#include "api/text/check_lines.h"

#include <math.h>

static void write_place(struct buffer *out, struct tensor t, size_t at)
{
    size_t below = tensor_count(t);
    buffer_string(out, t.rank > 0 ? " at " : "");
    for (size_t axis = 0; axis < t.rank; axis++) {
        below /= t.shape[axis];
        buffer_format(out, "[%zu]", at / below % t.shape[axis]);
    }
}

static void write_line(struct buffer *out, const struct expectation *e, const struct result_check *check)
{
    char name[RESULT_NAME_MAX];
    buffer_format(out, "  %-24s %-3s  ", result_name(e->id, name), check->ok ? "ok" : "no");
    if (!check->has_shape) {
        buffer_string(out, "it has another shape\n");
        return;
    }
    if (isfinite(check->difference))
        buffer_format(out, "off by at most %.3g", check->difference);
    else
        buffer_string(out, "a hidden cell meets a number");
    write_place(out, e->value, check->at);
    buffer_string(out, "\n");
}

void check_lines_write(struct buffer *out, const struct reply *r)
{
    const struct expect *expect = &r->options->expect;
    if (expect->count == 0)
        return;
    buffer_format(out, "checks   (ok: off by at most %g)\n", expect->tolerance);
    for (size_t x = 0; x < expect->count; x++)
        write_line(out, &expect->items[x], &r->checks[x]);
    buffer_string(out, "\n");
}
