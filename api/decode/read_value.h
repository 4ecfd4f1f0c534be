/* Values of a request that stand alone: numbers, names, strings, booleans. */
#ifndef API_DECODE_READ_VALUE_H
#define API_DECODE_READ_VALUE_H

#include "api/decode/decoder.h"

/* Where a value goes: `field` is the option's, `into` the whole struct that its table fills. */
struct read_value_target {
    void *field, *into;
};

/* Reads the value of one kind of option; on a fault the field stays as it is. */
typedef void read_value(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                        struct read_value_target target);

read_value read_value_number;
read_value read_value_integer;
read_value read_value_count;
read_value read_value_side;
read_value read_value_boolean;
read_value read_value_choice;
read_value read_value_switch;
read_value read_value_string;

/* True and *integer for a number without a fraction, up to 2^53 - 1: what is next to 2^53 reads as 2^53. */
bool read_value_whole(double number, int64_t *integer);

/* The characters of a string, or NULL: it is none, or (after a fault) a NUL stands in it, where C would end it. */
const char *read_value_text(struct decoder *d, const json_t *value, const struct json_path *at);

/* The shortest digits of a number, for sentences. */
#define READ_VALUE_DIGITS 33
const char *read_value_digits(double number, char out[READ_VALUE_DIGITS]);

/* "a string", "an array of numbers" ... for sentences. */
const char *read_value_type(const struct decoder *d, const json_t *value);

/* The fault of a value of the wrong type: what it is and what the option takes. Returns false. */
bool read_value_refuse(struct decoder *d, const struct option *option, const json_t *value, const struct json_path *at);

#endif
