/* Collecting faults. */
#include "core/tensor/error.h"

#include <stdarg.h>
#include <stdio.h>

void error_init(struct error *err)
{
    err->code = ERROR_NONE;
    err->count = 0;
    err->line = err->column = err->byte = 0;
    err->placed = false;
}

bool error_set(struct error *err, enum error_code code, const char *name, const char *format, ...)
{
    if (err->code == ERROR_NONE)
        err->code = code;
    if (err->code != code || err->count == ERROR_FAULTS)
        return false;
    struct fault *fault = &err->faults[err->count++];
    snprintf(fault->name, sizeof fault->name, "%s", name ? name : "");
    va_list values;
    va_start(values, format);
    vsnprintf(fault->text, sizeof fault->text, format, values);
    va_end(values);
    return false;
}

bool error_is_full(const struct error *err)
{
    return err->count == ERROR_FAULTS;
}
