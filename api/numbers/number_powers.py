#!/usr/bin/env python3
"""Writes number_powers.h: 10^p for p = FIRST .. LAST as the 128 leading bits, rounded down.

    python3 api/numbers/number_powers.py >api/numbers/number_powers.h

It first proves, with exact fractions, what number_print.c relies on: see prove_printing.
"""
from fractions import Fraction

FIRST, LAST = -343, 324


def power(p):
    return Fraction(10) ** p


def floor_log2(x):
    n, d = x.numerator, x.denominator
    e = n.bit_length() - d.bit_length()
    return e if Fraction(n, d) >= Fraction(2) ** e else e - 1


def leading_bits(p):
    """10^p = (bits + less than 1) * 2^(floor_log2(10^p) - 127)."""
    x = power(p) / Fraction(2) ** (floor_log2(power(p)) - 127)
    return x.numerator // x.denominator


def closest_to_integers(x, limit):
    """The smallest non-zero distances of n * x, 1 <= n <= limit, above and below a whole number.

    Two records, one on either side, give the next by adding their multipliers: the distances subtract (this is the
    continued fraction of x, walked in runs). Distances are counted in parts of the denominator.
    """
    parts = x.denominator
    above, below = x.numerator % parts, parts - x.numerator % parts
    if above == 0:
        return None
    n_above, n_below = 1, 1
    while above != below and n_above + n_below <= limit:  # equal: their sum is whole, and then all repeats
        if above > below:
            steps = min((above - 1) // below, (limit - n_above) // n_below)
            above, n_above = above - steps * below, n_above + steps * n_below
        else:
            steps = min((below - 1) // above, (limit - n_below) // n_above)
            below, n_below = below - steps * above, n_below + steps * n_above
    return Fraction(above, parts), Fraction(below, parts)


def floor_log10(x):
    k = -400
    while power(k + 1) <= x:
        k += 1
    return k


def prove_printing(q, whole_step):
    """number_print.c takes n * 2^q * 10^-k as (n << shift) * g / 2^128 with g = bits + 1.

    n is even and at most 2^55 + 2, or 2^54 - 1. g makes the result too large by at most (n << shift) / 2^128. So its
    whole part is right, and what is left below the point passes that error exactly when the true value is not whole,
    if whatever is not whole keeps further away from whole numbers than the error.
    """
    k = floor_log10(whole_step)
    shift = q + floor_log2(power(-k)) + 1
    assert FIRST <= -k <= LAST and 1 <= shift <= 4
    assert floor_log2(power(-k)) == (-k * 1741647) >> 19
    x = Fraction(2) ** q * power(-k)
    error = Fraction((2 ** 55 + 2) << shift, 2 ** 128)
    odd = (2 ** 54 - 1) * x % 1
    above, below = closest_to_integers(2 * x, 2 ** 54 + 1) or (1, 1)
    assert above > error and below > error
    assert odd == 0 or error < odd < 1 - error
    return k


FLOAT32_FIRST, FLOAT32_LAST = -39, -1


def print_float32_steps():
    """Floats c * 2^q of everyday size, c of 24 bits: v = ((c << shift) * power / 2^64) * 10^k, and how far the interval
    of those that round to v reaches to either side of it, in units of 2^-60 * 10^k."""
    print("#define NUMBER_FLOAT32_FIRST (%d)\n#define NUMBER_FLOAT32_LAST (%d)\n" % (FLOAT32_FIRST, FLOAT32_LAST))
    print("struct number_float32 {\n    uint64_t power, reach;\n    int shift, k;\n};\n")
    print("/* c * 2^q = ((c << shift) * power / 2^64) * 10^k; half a unit of c is reach / 2^60 * 10^k. */")
    print("static const struct number_float32 number_float32[] = {")
    for q in range(FLOAT32_FIRST, FLOAT32_LAST + 1):
        k = floor_log10(Fraction(2) ** q)
        power = (leading_bits(-k) >> 64) + 1
        shift = q + floor_log2(Fraction(10) ** -k) + 1
        print("    {0x%016x, 0x%016x, %d, %d}, /* 2^%d */" % (power, power >> (5 - shift), shift, k, q))
    print("};")


def main():
    for q in range(-1074, 972):
        assert prove_printing(q, Fraction(2) ** q) == q * 1262611 >> 22
        assert prove_printing(q, Fraction(2) ** q * Fraction(3, 4)) == q * 1262611 - 524031 >> 22
    print("/* 10^p, p = %d .. %d: the 128 leading bits, rounded down. Made by number_powers.py; not for editing. */" % (FIRST, LAST))
    print("#ifndef API_NUMBER_POWERS_H\n#define API_NUMBER_POWERS_H\n\n#include <stdint.h>\n")
    print("#define NUMBER_POWERS_FIRST (%d)\n#define NUMBER_POWERS_LAST %d\n" % (FIRST, LAST))
    print("/* The whole part of the logarithm of 10^p to the base 2, p as above. */")
    print("static inline int number_power_log2(int p)\n{\n    return (p * 1741647) >> 19;\n}\n")
    print("struct number_power {\n    uint64_t high, low;\n};\n")
    print("static const struct number_power number_powers[] = {")
    for p in range(FIRST, LAST + 1):
        bits = leading_bits(p)
        assert bits & (2 ** 64 - 1) != 2 ** 64 - 1  # so that low + 1 does not carry
        assert floor_log2(power(p)) == p * 1741647 >> 19
        print("    {0x%016x, 0x%016x}, /* 10^%d */" % (bits >> 64, bits & (2 ** 64 - 1), p))
    print("};\n")
    print_float32_steps()
    print("\n#endif")


if __name__ == "__main__":
    main()
