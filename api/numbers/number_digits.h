/* Digits of whole numbers, eight at a time. For number_print.c and number_round.c. */
#ifndef API_NUMBERS_NUMBER_DIGITS_H
#define API_NUMBERS_NUMBER_DIGITS_H

#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first digit is the lowest byte of a word");

#define ONES UINT64_C(0x0101010101010101)
#define INLINE static inline __attribute__((always_inline))

static const uint64_t tens[] = {1,
                                10,
                                100,
                                1000,
                                10000,
                                100000,
                                1000000,
                                10000000,
                                100000000,
                                1000000000,
                                10000000000,
                                100000000000,
                                1000000000000,
                                10000000000000,
                                100000000000000,
                                1000000000000000,
                                10000000000000000,
                                100000000000000000};

/* The eight digits of n < 10^8 as bytes 0 .. 9, the last in the lowest: halves, quarters, eighths, side by side. */
INLINE uint64_t spread_backwards(uint32_t n)
{
    uint64_t halves = n % 10000 | (uint64_t)(n / 10000) << 32;
    uint64_t hundreds = (halves * 5243 >> 19) & UINT64_C(0x0000007f0000007f);
    uint64_t pairs = hundreds << 16 | (halves - hundreds * 100);
    uint64_t tens_of_pairs = (pairs * 103 >> 10) & UINT64_C(0x000f000f000f000f);
    return tens_of_pairs << 8 | (pairs - tens_of_pairs * 10);
}

/* The same in reading order: the first in the lowest byte. */
INLINE uint64_t spread_eight(uint32_t n)
{
    return __builtin_bswap64(spread_backwards(n));
}

/* Without the zero bytes at the end. */
INLINE int count_used(uint64_t bytes)
{
    return bytes == 0 ? 0 : 8 - __builtin_clzll(bytes) / 8;
}

/* Seventeen digits, the first of which counts 10^exponent. */
struct spread {
    uint64_t first, middle, last; /* bytes '0' .. '9', the first digit in the lowest */
    int used;
};

INLINE struct spread spread_all(uint64_t seventeen)
{
    uint64_t sixteen = seventeen % tens[16];
    uint64_t middle = spread_eight((uint32_t)(sixteen / 100000000));
    uint64_t last = spread_eight((uint32_t)(sixteen % 100000000));
    return (struct spread){.first = '0' + seventeen / tens[16],
                           .middle = middle + '0' * ONES,
                           .last = last + '0' * ONES,
                           .used = 1 + (last ? 8 + count_used(last) : count_used(middle))};
}

INLINE void store_spread(char *out, const struct spread *spread)
{
    *out = (char)spread->first;
    memcpy(out + 1, &spread->middle, sizeof spread->middle);
    memcpy(out + 9, &spread->last, sizeof spread->last);
}

#endif
