/* What a value of each kind of setting looks like: read, printed, described. `field` is the row's, of its kind's type.
 */
#ifndef SERVER_CONFIG_SETTING_VALUE_H
#define SERVER_CONFIG_SETTING_VALUE_H

#include "server/config/settings.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads `value` into the field, or adds it to a list; false: it is none of the row's. */
bool setting_value_set(void *field, const struct setting *row, const char *value);

/* As setting_value_set reads it; returns out. */
char *setting_value_print(const void *field, const struct setting *row, char *out, size_t size);

/* "a whole number from 1 to 64": what would be one. */
void setting_value_describe(const struct setting *row, char *out, size_t size);

#endif
