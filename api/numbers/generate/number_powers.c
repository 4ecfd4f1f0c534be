/* Writes number_powers.h: a program that runs while attentiond is built. Powers of ten are exact here, as long numbers;
 * tests/numbers/powers.py proves what the printing relies on, and checks what this program writes. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FIRST (-343)
#define LAST 324
#define FLOAT32_FIRST (-39)
#define FLOAT32_LAST (-1)
#define WORDS 48 /* of 32 bits, the least significant first */

struct power {
    uint64_t high, low; /* the 128 leading bits, rounded down */
    int log2;           /* the whole part of the logarithm to the base 2 */
};

static void multiply_by_ten(uint32_t *number)
{
    uint64_t carry = 0;
    for (size_t w = 0; w < WORDS; w++) {
        carry += (uint64_t)number[w] * 10;
        number[w] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void divide_by_ten(uint32_t *number)
{
    uint64_t rest = 0;
    for (size_t w = WORDS; w-- > 0; rest %= 10) {
        rest = rest << 32 | number[w];
        number[w] = (uint32_t)(rest / 10);
    }
}

static bool bit(const uint32_t *number, int at)
{
    return at >= 0 && number[at / 32] >> at % 32 & 1;
}

static struct power lead(const uint32_t *number, int scale)
{
    struct power power = {0};
    int top = WORDS * 32 - 1;
    while (!bit(number, top))
        top--;
    for (int x = 0; x < 64; x++) {
        power.high = power.high << 1 | bit(number, top - x);
        power.low = power.low << 1 | bit(number, top - 64 - x);
    }
    power.log2 = top - scale;
    return power;
}

/* 10^p times 2^scale, rounded down: what is cut off stands far behind the 128 bits. */
static struct power find_power(int p)
{
    uint32_t number[WORDS] = {0};
    int scale = p < 0 ? WORDS * 32 - 1 : 0;
    number[scale / 32] = 1U << scale % 32;
    for (int x = 0; x < p; x++)
        multiply_by_ten(number);
    for (int x = 0; x > p; x--)
        divide_by_ten(number);
    return lead(number, scale);
}

static void print_powers(void)
{
    puts("struct number_power {\n    uint64_t high, low;\n};\n");
    puts("static const struct number_power number_powers[] = {");
    for (int p = FIRST; p <= LAST; p++) {
        struct power power = find_power(p);
        printf("    {0x%016" PRIx64 ", 0x%016" PRIx64 "}, /* 10^%d */\n", power.high, power.low, p);
    }
    puts("};\n");
}

/* Floats c * 2^q of everyday size, c of 24 bits: v = ((c << shift) * power / 2^64) * 10^k, and how far the interval of
 * those that round to v reaches to either side of it, in units of 2^-60 * 10^k. */
static void print_float32_steps(void)
{
    printf("#define NUMBER_FLOAT32_FIRST (%d)\n#define NUMBER_FLOAT32_LAST (%d)\n\n", FLOAT32_FIRST, FLOAT32_LAST);
    puts("struct number_float32 {\n    uint64_t power, reach;\n    int shift, k;\n};\n");
    puts("/* c * 2^q = ((c << shift) * power / 2^64) * 10^k; half a unit of c is reach / 2^60 * 10^k. */");
    puts("static const struct number_float32 number_float32[] = {");
    for (int q = FLOAT32_FIRST; q <= FLOAT32_LAST; q++) {
        int k = 0;
        while (find_power(k).log2 >= q) /* the largest k with 10^k <= 2^q: no power of ten is one of two but 1 */
            k--;
        uint64_t power = find_power(-k).high + 1;
        int shift = q + find_power(-k).log2 + 1;
        printf("    {0x%016" PRIx64 ", 0x%016" PRIx64 ", %d, %d}, /* 2^%d */\n", power, power >> (5 - shift), shift, k,
               q);
    }
    puts("};\n");
}

int main(void)
{
    printf("/* 10^p, p = %d .. %d: the 128 leading bits, rounded down. Made by api/numbers/generate. */\n", FIRST,
           LAST);
    puts("#ifndef API_NUMBERS_NUMBER_POWERS_H\n#define API_NUMBERS_NUMBER_POWERS_H\n\n#include <stdint.h>\n");
    printf("#define NUMBER_POWERS_FIRST (%d)\n#define NUMBER_POWERS_LAST %d\n\n", FIRST, LAST);
    puts("/* The whole part of the logarithm of 10^p to the base 2, p as above. */");
    puts("static inline int number_power_log2(int p)\n{\n    return (p * 1741647) >> 19;\n}\n");
    print_powers();
    print_float32_steps();
    puts("#endif");
    return ferror(stdout) != 0;
}
