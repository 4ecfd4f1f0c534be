/* Values of a request that stand alone: numbers, names, strings, booleans. */
#ifndef API_VALUE_H
#define API_VALUE_H

#include "api/decode.h"

/* Where a value goes: `field` is the option's, `into` the whole struct that its table fills. */
struct value_target {
    void *field, *into;
};

/* Reads the value of one kind of option; on a fault the field stays as it is. */
typedef void value_read(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                        struct value_target target);

value_read value_number;
value_read value_integer;
value_read value_count;
value_read value_side;
value_read value_boolean;
value_read value_choice;
value_read value_switch;
value_read value_string;

/* True and *integer for a number without a fraction, up to 2^53 - 1: what is next to 2^53 reads as 2^53. */
bool value_whole(double number, int64_t *integer);

/* The characters of a string, or NULL: it is none, or (after a fault) a NUL stands in it, where C would end it. */
const char *value_text(struct decoder *d, const json_t *value, const struct place *at);

/* The shortest digits of a number, for sentences. */
#define VALUE_DIGITS 33
const char *value_digits(double number, char out[VALUE_DIGITS]);

/* "a string", "an array of numbers" ... for sentences. */
const char *value_type(const struct decoder *d, const json_t *value);

/* The fault of a value of the wrong type: what it is and what the option takes. Returns false. */
bool value_refuse(struct decoder *d, const struct option *option, const json_t *value, const struct place *at);

#endif
