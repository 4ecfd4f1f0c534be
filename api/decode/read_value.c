/* Values that stand alone: numbers, names, strings, booleans. */
#include "api/decode/read_value.h"

#include "api/numbers/number.h"
#include "api/request/suggest.h"

#include <math.h>
#include <string.h>

#define INTEGER_END 9007199254740992.0 /* 2^53: from it on a double skips integers */

bool read_value_whole(double number, int64_t *integer)
{
    if (!(fabs(number) < INTEGER_END) || number != floor(number))
        return false;
    *integer = (int64_t)number;
    return true;
}

const char *read_value_digits(double number, char out[READ_VALUE_DIGITS])
{
    *number_print_float64(out, number) = '\0';
    return out;
}

static const char *array_type(const struct matrix *m)
{
    if (!m)
        return "an array of other things than numbers";
    if (m->fault == MATRIX_EMPTY && m->index_rank == 0)
        return "an empty array";
    if (m->has_numbers)
        return "an array of numbers";
    return m->has_booleans ? "an array of booleans" : "an array of nulls";
}

const char *read_value_type(const struct decoder *d, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        if (document_bytes(d->document, value))
            return "a string";
        if (document_tensor(d->document, value))
            return "a tensor";
        return array_type(document_matrix(d->document, value));
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        return "null";
    }
    return "something else";
}

bool read_value_refuse(struct decoder *d, const struct option *option, const json_t *value, const struct json_path *at)
{
    struct buffer words = buffer_new(BUFFER_SENTENCE);
    option_words(option, &words);
    if ((option->inner || option->kind == OPTION_INCLUDE) && option->example)
        buffer_format(&words, ", for example %s", option->example);
    if (option->hint)
        buffer_format(&words, ". %s", option->hint);
    json_path_fault(d->err, at, "is %s; it must be %.*s.", read_value_type(d, value), (int)words.length,
                    words.length ? words.data : "");
    buffer_free(&words);
    return false;
}

/* --- numbers --- */

static bool in_range(const struct option *o, double number)
{
    bool low = o->above ? number > o->minimum : number >= o->minimum;
    bool high = o->below ? number < o->maximum : number <= o->maximum;
    return !option_has_range(o) || (low && high);
}

static bool refuse_number(struct decoder *d, const struct option *o, double number, const struct json_path *at)
{
    char digits[READ_VALUE_DIGITS];
    struct buffer words = buffer_new(BUFFER_SENTENCE);
    option_words(o, &words);
    json_path_fault(d->err, at, "is %s; it must be %.*s.", read_value_digits(number, digits), (int)words.length,
                    words.length ? words.data : "");
    buffer_free(&words);
    return false;
}

void read_value_number(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                       struct read_value_target target)
{
    double number = json_number_value(value);
    if (!json_is_number(value))
        read_value_refuse(d, o, value, at);
    else if (!in_range(o, number))
        refuse_number(d, o, number, at);
    else
        *(double *)target.field = number;
}

static bool take_integer(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                         int64_t *integer)
{
    double number = json_number_value(value);
    char digits[READ_VALUE_DIGITS];
    if (!json_is_number(value))
        return read_value_refuse(d, o, value, at);
    if (fabs(number) >= INTEGER_END)
        return json_path_fault(d->err, at, "is %s; integers go up to 2^53 - 1.", read_value_digits(number, digits));
    return (read_value_whole(number, integer) && in_range(o, number)) || refuse_number(d, o, number, at);
}

void read_value_integer(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                        struct read_value_target target)
{
    int64_t integer = 0;
    if (take_integer(d, o, value, at, &integer))
        *(int64_t *)target.field = integer;
}

void read_value_count(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                      struct read_value_target target)
{
    int64_t integer = 0;
    if (!take_integer(d, o, value, at, &integer))
        return;
    if (integer < 1)
        refuse_number(d, o, (double)integer, at);
    else
        *(size_t *)target.field = (size_t)integer;
}

void read_value_side(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                     struct read_value_target target)
{
    int64_t integer = WINDOW_UNLIMITED;
    if (!json_is_null(value) && !take_integer(d, o, value, at, &integer))
        return;
    if (integer < 0)
        refuse_number(d, o, (double)integer, at);
    else
        *(int64_t *)target.field = integer;
}

void read_value_boolean(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                        struct read_value_target target)
{
    if (!json_is_boolean(value))
        read_value_refuse(d, o, value, at);
    else
        *(bool *)target.field = json_is_true(value);
}

/* --- names, strings, booleans --- */

const char *read_value_text(struct decoder *d, const json_t *value, const struct json_path *at)
{
    const char *text = json_string_value(value);
    if (!text || strlen(text) == json_string_length(value))
        return text;
    json_path_fault(d->err, at, "has a NUL character at byte %zu; strings here have none.", strlen(text));
    return NULL;
}

static void refuse_choice(struct decoder *d, const struct option *o, const char *given, const struct json_path *at)
{
    struct suggestion suggestion = {.wanted = given};
    struct buffer words = buffer_new(BUFFER_SENTENCE);
    char shown[JSON_PATH_SHOWN];
    for (size_t x = 0; o->choices[x]; x++)
        suggest_consider(&suggestion, o->choices[x]);
    option_words(o, &words);
    if (suggestion.best)
        buffer_format(&words, "; did you mean \"%s\"?", suggestion.best);
    else
        buffer_string(&words, ".");
    if (o->hint)
        buffer_format(&words, " %s.", o->hint);
    json_path_fault(d->err, at, "is \"%s\"; it must be %.*s", json_path_show(given, shown), (int)words.length,
                    words.length ? words.data : "");
    buffer_free(&words);
}

/* The index of the chosen one, or false after a fault. */
static bool choose(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                   unsigned *choice)
{
    const char *given = read_value_text(d, value, at);
    if (!json_is_string(value))
        return read_value_refuse(d, o, value, at);
    if (!given)
        return false;
    for (*choice = 0; o->choices[*choice]; ++*choice)
        if (strcmp(given, o->choices[*choice]) == 0)
            return true;
    refuse_choice(d, o, given, at);
    return false;
}

void read_value_choice(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                       struct read_value_target target)
{
    unsigned choice;
    if (choose(d, o, value, at, &choice))
        memcpy(target.field, &choice, sizeof choice);
}

void read_value_switch(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                       struct read_value_target target)
{
    unsigned choice;
    if (choose(d, o, value, at, &choice))
        *(bool *)target.field = choice == 1;
}

static const char *copy_string(struct decoder *d, const json_t *value)
{
    size_t length = json_string_length(value);
    char *copy = arena_alloc(d->arena, length + 1, d->err);
    return copy ? memcpy(copy, json_string_value(value), length + 1) : NULL;
}

/* Code points, as JSON Schema counts them. */
static size_t count_characters(const json_t *string)
{
    size_t count = 0;
    const char *text = json_string_value(string);
    for (size_t i = 0; i < json_string_length(string); i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

void read_value_string(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                       struct read_value_target target)
{
    if (!json_is_string(value))
        read_value_refuse(d, o, value, at);
    else if ((double)count_characters(value) > o->maximum)
        json_path_fault(d->err, at, "has %zu characters; %.0f are the most.", count_characters(value), o->maximum);
    else if (read_value_text(d, value, at))
        *(const char **)target.field = copy_string(d, value);
}
