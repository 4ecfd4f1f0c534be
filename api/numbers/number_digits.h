/* Digits of whole numbers, eight at a time. For number_print.c and number_round.c. */
#ifndef API_NUMBERS_NUMBER_DIGITS_H
#define API_NUMBERS_NUMBER_DIGITS_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

/* Seventeen digits as bytes 0 .. 9, and how many there are without the zeros at the end. */
struct spread {
    uint64_t first, middle, last; /* the first digit in the lowest byte */
    int used;
};

#ifdef __SSE2__
/* The same in one vector: four digits in every 32 bits, then two in every 16, then one in each byte. */
INLINE __m128i spread_sixteen(uint32_t high, uint32_t low)
{
    uint64_t four[2] = {((uint64_t)high << 32) - high / 10000 * ((UINT64_C(10000) << 32) - 1),
                        ((uint64_t)low << 32) - low / 10000 * ((UINT64_C(10000) << 32) - 1)};
    __m128i fours = _mm_set_epi64x((long long)four[1], (long long)four[0]);
    __m128i hundreds = _mm_srli_epi16(_mm_mulhi_epu16(fours, _mm_set1_epi32(5243)), 3);
    __m128i rest = _mm_sub_epi16(fours, _mm_mullo_epi16(hundreds, _mm_set1_epi32(100)));
    __m128i pairs = _mm_or_si128(hundreds, _mm_slli_epi32(rest, 16));
    __m128i ten = _mm_mulhi_epu16(pairs, _mm_set1_epi16(6554));
    __m128i ones = _mm_sub_epi16(pairs, _mm_mullo_epi16(ten, _mm_set1_epi16(10)));
    return _mm_or_si128(ten, _mm_slli_epi16(ones, 8));
}

INLINE struct spread spread_all(uint64_t seventeen)
{
    uint64_t nine = seventeen / 100000000;
    uint32_t first = (uint32_t)(nine / 100000000);
    __m128i digits = spread_sixteen((uint32_t)nine - first * 100000000, (uint32_t)(seventeen - nine * 100000000));
    unsigned zeros = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(digits, _mm_setzero_si128()));
    return (struct spread){.first = first,
                           .middle = (uint64_t)_mm_cvtsi128_si64(digits),
                           .last = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(digits, digits)),
                           .used = 1 + 31 - __builtin_clz((~zeros & 0xffffU) << 1 | 1)};
}
#else
INLINE struct spread spread_all(uint64_t seventeen)
{
    uint64_t sixteen = seventeen % tens[16];
    uint64_t middle = spread_eight((uint32_t)(sixteen / 100000000));
    uint64_t last = spread_eight((uint32_t)(sixteen % 100000000));
    return (struct spread){.first = seventeen / tens[16],
                           .middle = middle,
                           .last = last,
                           .used = 1 + (last ? 8 + count_used(last) : count_used(middle))};
}
#endif

/* As text. */
INLINE void store_spread(char *out, const struct spread *spread)
{
    uint64_t middle = spread->middle + '0' * ONES;
    uint64_t last = spread->last + '0' * ONES;
    *out = (char)('0' + spread->first);
    memcpy(out + 1, &middle, sizeof middle);
    memcpy(out + 9, &last, sizeof last);
}

#endif
