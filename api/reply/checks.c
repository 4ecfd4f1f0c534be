/* Comparing. */
#include "api/reply/checks.h"

#include "api/reply/reply.h"
#include "api/reply/section_rows.h"
#include "api/writing/array.h"

#include <math.h>

/* Null in a reply is a cell without a number, and equals only that. */
static double find_difference(double found, double wanted)
{
    if (isfinite(found) && isfinite(wanted))
        return fabs(found - wanted);
    return isfinite(found) == isfinite(wanted) ? 0 : HUGE_VAL;
}

static void judge(struct result_check *check, double found, double wanted, size_t at)
{
    double difference = find_difference(found, wanted);
    if (!(difference > check->difference))
        return;
    check->difference = difference;
    check->at = at;
}

static bool compare_rows(const struct reply *r, const struct section *s, struct tensor wanted,
                         struct result_check *check, const atomic_bool *cancel, struct buffer *owner)
{
    struct section_rows rows = {
        .a = reply_attention(r, s), .section = s, .owner = owner, .weights = reply_weights(r), .back = &r->back.core};
    size_t width = array_width(&s->t);
    bool good = true;
    for (size_t row = 0; good && row < array_rows(&s->t); row++) {
        const void *found = section_rows_row(&rows, row);
        good = found != NULL && !(cancel && atomic_load(cancel));
        for (size_t x = 0; good && x < width; x++)
            judge(check, dtype_get(s->t.dtype, found, x), dtype_get(wanted.dtype, wanted.data, row * width + x),
                  row * width + x);
    }
    section_rows_close(&rows);
    return good;
}

static bool compare(const struct reply *r, const struct expectation *e, struct result_check *check,
                    const atomic_bool *cancel, struct buffer *owner)
{
    const struct section *s = section_find(&r->checked, e->id);
    bool good = true;
    if (!s)
        return true;
    check->has_shape = true;
    if (s->result->document)
        judge(check, way_back_number(&r->back, s->result->gradient), dtype_get(e->value.dtype, e->value.data, 0), 0);
    else
        good = compare_rows(r, s, e->value, check, cancel, owner);
    check->ok = check->difference <= r->options->expect.tolerance;
    return good;
}

bool checks_run(struct reply *r, const atomic_bool *cancel, struct arena *arena, struct error *err)
{
    const struct expect *expect = &r->options->expect;
    if (expect->count == 0)
        return true;
    r->checks = arena_calloc(arena, expect->count, sizeof *r->checks, err);
    struct buffer owner = buffer_new(arena_room(arena));
    for (size_t x = 0; r->checks && x < expect->count; x++) {
        if (compare(r, &expect->items[x], &r->checks[x], cancel, &owner))
            continue;
        if (cancel && atomic_load(cancel))
            return error_set(err, ERROR_CANCELLED, "", "Nobody waits for this any more.");
        return buffer_check(&owner, "comparing what is expected", err);
    }
    return r->checks != NULL;
}

/* --- writing --- */

static void write_place(struct writer *w, struct tensor t, size_t at)
{
    size_t index[TENSOR_RANK_MAX] = {0};
    for (size_t axis = t.rank; axis-- > 0; at /= t.shape[axis])
        index[axis] = at % t.shape[axis];
    writer_array_begin(w);
    for (size_t axis = 0; axis < t.rank; axis++)
        writer_integer(w, (int64_t)index[axis]);
    writer_array_end(w);
}

static void write_check(struct writer *w, const struct expectation *e, const struct result_check *check)
{
    char name[RESULT_NAME_MAX];
    writer_object_begin(w);
    writer_member_string(w, "name", result_name(e->id, name));
    writer_member_bool(w, "ok", check->ok);
    writer_member_real(w, "max_abs_difference", check->has_shape ? check->difference : HUGE_VAL);
    writer_key(w, "at");
    if (check->has_shape)
        write_place(w, e->value, check->at);
    else
        writer_null(w);
    writer_object_end(w);
}

void checks_write(struct writer *w, const struct reply *r)
{
    writer_array_begin(w);
    for (size_t x = 0; x < r->options->expect.count; x++)
        write_check(w, &r->options->expect.items[x], &r->checks[x]);
    writer_array_end(w);
}

const char *checks_schema(void)
{
    return "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"additionalProperties\":false,"
           "\"required\":[\"name\",\"ok\",\"max_abs_difference\",\"at\"],\"properties\":{"
           "\"name\":{\"type\":\"string\",\"description\":\"as the request has it\"},"
           "\"ok\":{\"type\":\"boolean\",\"description\":\"no difference is larger than the tolerance\"},"
           "\"max_abs_difference\":{\"type\":[\"number\",\"null\"],\"description\":\"null where the shape is another, "
           "or "
           "a hidden cell meets a number\"},"
           "\"at\":{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"integer\"},\"description\":\"where it is, an "
           "index for each axis; null where the shape is another\"}}}}";
}
