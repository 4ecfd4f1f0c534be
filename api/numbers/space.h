/* JSON's white space (RFC 8259 section 2). */
#ifndef API_NUMBERS_SPACE_H
#define API_NUMBERS_SPACE_H

/* The first byte from `at` on that is none, or `end`. */
static inline const char *space_skip(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

#endif
