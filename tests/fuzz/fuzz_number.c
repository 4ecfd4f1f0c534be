/* Numbers: what number_read takes is what strtod makes of the same bytes, and what is printed reads back as it was. */
#include "api/numbers/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool held)
{
    if (!held)
        abort();
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void read_as_strtod(const char *text, size_t size)
{
    double value = 0;
    const char *end = number_read(text, text + size, &value);
    if (end == NULL)
        return;
    char *copy = strndup(text, (size_t)(end - text));
    char *stop = NULL;
    demand(copy != NULL);
    demand(same_bits(value, strtod(copy, &stop)));
    demand(*stop == '\0');
    free(copy);
}

static void print_and_read(double value)
{
    char text[NUMBER_TEXT_MAX];
    double back = 0;
    if (!isfinite(value))
        return;
    char *end = number_print_float64(text, value);
    demand(number_read(text, end, &back) == end && same_bits(back, value));
    for (int decimals = 0; decimals <= 17; decimals++) {
        end = number_print_rounded(text, value, decimals);
        demand(number_read(text, end, &back) == end);
        demand(fabs(back - value) <= 0.500001 * pow(10, -decimals) + fabs(value) * 0x1p-52);
    }
}

static void print_and_read_float(float value)
{
    char text[NUMBER_TEXT_MAX];
    char *stop = NULL;
    if (!isfinite(value))
        return;
    char *end = number_print_float32(text, value);
    *end = '\0';
    float back = strtof(text, &stop);
    demand(stop == end && memcmp(&back, &value, sizeof back) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double wide = 0;
    float narrow = 0;
    read_as_strtod((const char *)data, size);
    if (size < sizeof wide)
        return 0;
    memcpy(&wide, data, sizeof wide);
    memcpy(&narrow, data, sizeof narrow);
    print_and_read(wide);
    print_and_read_float(narrow);
    return 0;
}
