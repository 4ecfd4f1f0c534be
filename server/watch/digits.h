/* Decimal digits without printf, which costs more than the rest of a log line. */
#ifndef SERVER_WATCH_DIGITS_H
#define SERVER_WATCH_DIGITS_H

#include <stdint.h>

#define DIGITS_MAX 24 /* room that each call below may use */

/* Write without a NUL and return the end. */
char *digits_put(char *out, uint64_t value);
char *digits_put_milliseconds(char *out, int64_t nanoseconds); /* "12.345"; less than nothing is 0 */

#endif
