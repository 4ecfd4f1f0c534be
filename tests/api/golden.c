/* Replies held against goldens. */
#include "golden.h"

#include "api/numbers/base64.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Where the comparison is. */
struct json_path {
    const char *name;
    char path[200];
    const char *dtype;
    double tolerance;
};

static void enter(struct json_path *at, const struct json_path *from, const char *member)
{
    *at = *from;
    size_t length = strlen(at->path);
    snprintf(at->path + length, sizeof at->path - length, "/%s", member);
}

static bool is_packed(const json_t *value)
{
    return json_object_get(value, "base64") != NULL;
}

/* A packed tensor as a flat list; -infinity is null. */
static json_t *unpacked(const struct json_path *at, const json_t *packed)
{
    const char *text = json_string_value(json_object_get(packed, "base64"));
    bool wide = strcmp(json_string_value(json_object_get(packed, "dtype")), "float64") == 0;
    size_t size = wide ? sizeof(double) : sizeof(float);
    size_t count = base64_bytes(text, strlen(text));
    unsigned char *bytes = malloc(count + 1);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_msg(base64_decode(text, strlen(text), bytes), "%s: %s: no base64", at->name, at->path);
    json_t *list = json_array();
    for (size_t x = 0; x < count / size; x++) {
        double number;
        float narrow;
        memcpy(wide ? (void *)&number : (void *)&narrow, bytes + x * size, size);
        number = wide ? number : (double)narrow;
        json_array_append_new(list, isinf(number) ? json_null() : json_real(number));
    }
    free(bytes);
    return list;
}

static double largest(const json_t *value)
{
    double max = json_is_number(value) ? fabs(json_number_value(value)) : 0;
    size_t index;
    json_t *item;
    json_array_foreach(value, index, item) max = fmax(max, largest(item));
    return max;
}

static void compare(const struct json_path *at, const json_t *found, const json_t *expected, double room);

static void compare_dtype(const struct json_path *at, const json_t *found)
{
    const char *dtype = json_string_value(found);
    ck_assert_msg(dtype != NULL && strcmp(dtype, at->dtype) == 0, "%s: %s is not %s", at->name, at->path, at->dtype);
}

static void compare_members(const struct json_path *at, const json_t *found, const json_t *expected)
{
    struct json_path inner;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)expected, name, value)
    {
        enter(&inner, at, name);
        json_t *other = json_object_get(found, name);
        ck_assert_msg(other != NULL, "%s: %s is missing", inner.name, inner.path);
        if (strcmp(name, "dtype") == 0)
            compare_dtype(&inner, other);
        else
            compare(&inner, other, value, inner.tolerance * largest(value));
    }
    json_object_foreach((json_t *)found, name, value)
    {
        enter(&inner, at, name);
        ck_assert_msg(json_object_get(expected, name) != NULL, "%s: %s was not expected", inner.name, inner.path);
    }
}

static void compare_items(const struct json_path *at, const json_t *found, const json_t *expected, double room)
{
    struct json_path inner;
    size_t index, count = json_array_size(expected);
    json_t *value;
    ck_assert_msg(json_array_size(found) == count, "%s: %s has %zu entries, not %zu", at->name, at->path,
                  json_array_size(found), count);
    json_array_foreach(expected, index, value)
    {
        char name[24];
        snprintf(name, sizeof name, "%zu", index);
        enter(&inner, at, name);
        compare(&inner, json_array_get(found, index), value, room);
    }
}

static void compare_packed(const struct json_path *at, const json_t *found, const json_t *expected)
{
    ck_assert_msg(json_object_size(found) == 3 && is_packed(found), "%s: %s is no packed tensor", at->name, at->path);
    ck_assert_msg(json_equal(json_object_get(found, "shape"), json_object_get(expected, "shape")), "%s: %s/shape",
                  at->name, at->path);
    compare_dtype(at, json_object_get(found, "dtype"));
    json_t *numbers = unpacked(at, found), *right = unpacked(at, expected);
    compare_items(at, numbers, right, at->tolerance * largest(right));
    json_decref(numbers);
    json_decref(right);
}

static void compare_number(const struct json_path *at, const json_t *found, double expected, double room)
{
    double number = json_number_value(found);
    if (!json_is_number(found) || !(fabs(number - expected) <= room))
        ck_abort_msg("%s: %s is %.17g, not %.17g (may be off by %g)", at->name, at->path, number, expected, room);
}

static void compare(const struct json_path *at, const json_t *found, const json_t *expected, double room)
{
    if (json_is_number(expected))
        compare_number(at, found, json_number_value(expected), room);
    else if (json_is_array(expected) && json_is_array(found))
        compare_items(at, found, expected, room);
    else if (is_packed(expected))
        compare_packed(at, found, expected);
    else if (json_is_object(expected) && json_is_object(found))
        compare_members(at, found, expected);
    else if (!json_equal(found, expected))
        ck_abort_msg("%s: %s differs", at->name, at->path);
}

void golden_compare(const char *name, const json_t *found, const json_t *expected, const char *dtype, double tolerance)
{
    struct json_path at = {.name = name, .dtype = dtype, .tolerance = tolerance};
    compare(&at, found, expected, 0);
}
