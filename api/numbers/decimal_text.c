/* Fixed-point text. */
#include "api/numbers/decimal_text.h"

#include "api/numbers/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LARGE 1e9

/* number_print_rounded drops trailing zeros: they come back, so that columns align. */
static char *pad(char *out, char *end, int decimals)
{
    char *point = memchr(out, '.', (size_t)(end - out));
    if (!point && decimals > 0) {
        point = end;
        *end++ = '.';
    }
    while (decimals > 0 && end - point <= decimals)
        *end++ = '0';
    *end = '\0';
    return out;
}

char *decimal_text_print(char out[DECIMAL_TEXT_SIZE], double value, int decimals)
{
    if (isnan(value) || isinf(value)) {
        snprintf(out, DECIMAL_TEXT_SIZE, "%s", isnan(value) ? "-" : value < 0 ? "-inf" : "inf");
        return out;
    }
    if (fabs(value) >= LARGE) {
        snprintf(out, DECIMAL_TEXT_SIZE, "%.*e", decimals, value);
        return out;
    }
    char room[NUMBER_TEXT_MAX];
    size_t length = (size_t)(number_print_rounded(room, value, decimals) - room);
    memcpy(out, room, length);
    pad(out, out + length, decimals);
    if (out[0] == '-' && strspn(out + 1, "0.") == strlen(out + 1))
        memmove(out, out + 1, strlen(out));
    return out;
}

char *decimal_text_exact(char out[DECIMAL_TEXT_SIZE], double value, enum dtype dtype)
{
    if (!isfinite(value))
        return decimal_text_print(out, value, 0);
    *(dtype == DTYPE_FLOAT32 ? number_print_float32(out, (float)value) : number_print_float64(out, value)) = '\0';
    return out;
}
