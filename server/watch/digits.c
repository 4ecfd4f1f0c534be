/* Decimal digits. */
#include "server/watch/digits.h"

#include <string.h>

char *digits_put(char *out, uint64_t value)
{
    char digits[20];
    char *at = digits + sizeof digits;
    do
        *--at = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    size_t length = (size_t)(digits + sizeof digits - at);
    memcpy(out, at, length);
    return out + length;
}

char *digits_put_milliseconds(char *out, int64_t nanoseconds)
{
    uint64_t microseconds = nanoseconds < 0 ? 0 : (uint64_t)nanoseconds / 1000;
    out = digits_put(out, microseconds / 1000);
    unsigned rest = (unsigned)(microseconds % 1000);
    *out++ = '.';
    *out++ = (char)('0' + rest / 100);
    *out++ = (char)('0' + rest / 10 % 10);
    *out++ = (char)('0' + rest % 10);
    return out;
}
