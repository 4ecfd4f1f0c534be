/* Lists: integers overlay the doubles that the document read, strings are copied. */
#include "api/decode/read_list.h"

#include "api/decode/read_raw.h"
#include "api/decode/read_value.h"

#include <math.h>
#include <string.h>

/* A tensor beside the text as the matrix that its array would have been, or NULL after a fault. */
static const struct matrix *widen_tensor(struct decoder *d, const struct tensor *beside, const struct json_path *at)
{
    struct tensor t;
    struct matrix *m = arena_calloc(d->arena, 1, sizeof *m, d->err);
    if (!m || !read_raw_doubles(d, *beside, at, &t))
        return NULL;
    *m = (struct matrix){.values = t.data, .count = tensor_count(t), .rank = t.rank, .has_numbers = true};
    for (size_t axis = 0; axis < t.rank; axis++)
        m->shape[axis] = t.shape[axis];
    return m;
}

static const struct matrix *find_numbers(struct decoder *d, const struct option *option, const json_t *value,
                                         const struct json_path *at)
{
    const struct tensor *beside = document_tensor(d->document, value);
    const struct matrix *m = document_matrix(d->document, value);
    if (beside)
        return widen_tensor(d, beside, at);
    if (!m) {
        read_value_refuse(d, option, value, at);
        return NULL;
    }
    return decoder_is_regular(d, m, at) && decoder_count(d, m->count) ? m : NULL;
}

/* The matrix behind a list of at most `rank_max` levels, all numbers; a bare number counts as a list of one when `bare`
 * has room. */
static const struct matrix *find_list(struct decoder *d, const struct option *option, const json_t *value,
                                      const struct json_path *at, size_t rank_max)
{
    const struct matrix *m = find_numbers(d, option, value, at);
    if (!m)
        return NULL;
    struct tensor shape = tensor_dense(DTYPE_FLOAT64, m->rank, m->shape, NULL);
    if (m->rank > rank_max) {
        char text[128];
        json_path_fault(d->err, at, "has shape %s; it must be a list of numbers.",
                        tensor_shape_text(shape, text, sizeof text));
        return NULL;
    }
    if (m->has_booleans || m->has_hidden) {
        decoder_fault_at(d, shape, m->has_booleans ? m->first_boolean : m->first_hidden, at, "must be a number.");
        return NULL;
    }
    return m;
}

static bool check_integer(struct decoder *d, const struct option *o, double number, const struct json_path *at,
                          int64_t *out)
{
    char digits[READ_VALUE_DIGITS];
    read_value_digits(number, digits);
    if (!read_value_whole(number, out))
        return json_path_fault(d->err, at, "is %s; it must be an integer (up to 2^53 - 1).", digits);
    if (option_has_range(o) && number < o->minimum)
        return json_path_fault(d->err, at, "is %s; the least is %.0f.", digits, o->minimum);
    if (option_has_range(o) && number > o->maximum)
        return json_path_fault(d->err, at, "is %s; the most is %.0f.", digits, o->maximum);
    return true;
}

/* Integers are as wide as doubles: each takes the place of its own. */
static bool overlay_integers(struct decoder *d, const struct option *o, const struct matrix *m,
                             const struct json_path *at)
{
    for (size_t x = 0; x < m->count; x++) {
        const size_t index[2] = {m->rank == 2 ? x / m->shape[1] : x, m->rank == 2 ? x % m->shape[1] : 0};
        const struct json_path element = {.parent = at, .index = index, .rank = m->rank};
        int64_t integer;
        if (!check_integer(d, o, m->values[x], &element, &integer))
            return false;
        memcpy(&m->values[x], &integer, sizeof integer);
    }
    return true;
}

static void read_bare(struct decoder *d, const struct option *o, double number, const struct json_path *at,
                      struct integers *out)
{
    int64_t integer;
    if (!check_integer(d, o, number, at, &integer))
        return;
    int64_t *values = arena_alloc(d->arena, sizeof *values, d->err);
    if (!values)
        return;
    *values = integer;
    *out = (struct integers){.values = values, .count = 1, .scalar = true};
}

void read_list_integers(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                        struct integers *out)
{
    if (o->kind == OPTION_OFFSETS && json_is_number(value)) {
        read_bare(d, o, json_number_value(value), at, out);
        return;
    }
    const struct matrix *m = find_list(d, o, value, at, o->kind == OPTION_POSITIONS ? 2 : 1);
    if (m && overlay_integers(d, o, m, at))
        *out = (struct integers){.values = (const int64_t *)(const void *)m->values,
                                 .count = m->count,
                                 .rows = m->rank == 2 ? m->shape[0] : 0};
}

void read_list_reals(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                     struct reals *out)
{
    const struct matrix *m = find_list(d, o, value, at, 1);
    if (m)
        *out = (struct reals){.values = m->values, .count = m->count};
}

/* --- strings --- */

/* One block for all: an array of pointers, the characters behind it. */
static char *make_room(struct decoder *d, const json_t *list, const char ***values)
{
    size_t bytes = json_array_size(list) * sizeof **values;
    size_t index;
    const json_t *entry;
    json_array_foreach((json_t *)list, index, entry) bytes += json_string_length(entry) + 1;
    *values = arena_alloc(d->arena, bytes, d->err);
    return *values ? (char *)(*values + json_array_size(list)) : NULL;
}

static void copy_strings(struct decoder *d, const json_t *list, struct strings *out)
{
    const char **values;
    char *room = make_room(d, list, &values);
    size_t index;
    json_t *entry;
    if (!room)
        return;
    json_array_foreach((json_t *)list, index, entry)
    {
        size_t bytes = json_string_length(entry) + 1;
        values[index] = memcpy(room, json_string_value(entry), bytes);
        room += bytes;
    }
    *out = (struct strings){values, json_array_size(list)};
}

void read_list_strings(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                       struct strings *out)
{
    size_t index;
    json_t *entry;
    if (!json_is_array(value) || document_matrix(d->document, value) || document_tensor(d->document, value) ||
        json_array_size(value) == 0) {
        read_value_refuse(d, o, value, at);
        return;
    }
    json_array_foreach((json_t *)value, index, entry)
    {
        const struct json_path element = {.parent = at, .index = &index, .rank = 1};
        if (!json_is_string(entry)) {
            json_path_fault(d->err, &element, "must be a string.");
            return;
        }
        if (!read_value_text(d, entry, &element))
            return;
    }
    copy_strings(d, value, out);
}

/* --- words of rows --- */

static const char *copy_word(struct decoder *d, const json_t *value)
{
    size_t bytes = json_string_length(value) + 1;
    char *copy = arena_alloc(d->arena, bytes, d->err);
    return copy ? memcpy(copy, json_string_value(value), bytes) : NULL;
}

/* Entries of a list, strings or null, copied to `out`. */
static bool read_words_of(struct decoder *d, const struct option *o, const json_t *list, const struct json_path *at,
                          const char **out)
{
    size_t index;
    json_t *entry;
    json_array_foreach((json_t *)list, index, entry)
    {
        const struct json_path element = {.parent = at, .index = &index, .rank = 1};
        const char *text = json_is_string(entry) ? read_value_text(d, entry, &element) : NULL;
        if (!text && !json_is_null(entry))
            return json_is_string(entry) ? false : read_value_refuse(d, o, entry, &element);
        out[index] = text ? copy_word(d, entry) : NULL;
        if (text && !out[index])
            return false;
    }
    return true;
}

static bool read_rows_of_words(struct decoder *d, const struct option *o, const json_t *value,
                               const struct json_path *at, size_t count, const char **out)
{
    size_t index;
    json_t *row;
    json_array_foreach((json_t *)value, index, row)
    {
        const struct json_path element = {.parent = at, .index = &index, .rank = 1};
        if (!json_is_array(row) || json_array_size(row) != count)
            return json_path_fault(d->err, &element, "must be a list of %zu words, like its first sibling.", count);
        if (!read_words_of(d, o, row, &element, out + index * count))
            return false;
    }
    return true;
}

void read_list_words(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                     struct words *out)
{
    bool nested = json_is_array(json_array_get(value, 0));
    size_t rows = nested ? json_array_size(value) : 0;
    size_t count = nested ? json_array_size(json_array_get(value, 0)) : json_array_size(value);
    bool bare = json_is_string(value);
    if (!bare && (!json_is_array(value) || count == 0 || document_matrix(d->document, value))) {
        read_value_refuse(d, o, value, at);
        return;
    }
    size_t all = bare ? 1 : nested ? rows * count : count;
    const char **values = decoder_count(d, all) ? arena_calloc(d->arena, all, sizeof *values, d->err) : NULL;
    if (!values)
        return;
    bool good = bare     ? (values[0] = read_value_text(d, value, at) ? copy_word(d, value) : NULL) != NULL
                : nested ? read_rows_of_words(d, o, value, at, count, values)
                         : read_words_of(d, o, value, at, values);
    if (good)
        *out = (struct words){values, all, rows, bare};
}
