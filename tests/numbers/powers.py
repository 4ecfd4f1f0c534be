#!/usr/bin/env python3
"""Proves, with exact fractions, what number_print.c relies on (see prove_printing), and checks the table of powers.

    python3 tests/numbers/powers.py build/generated/api/numbers/number_powers.h
"""
import re
import sys
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


def float32_step(q):
    """What stands for floats c * 2^q: power, reach, shift, k."""
    k = floor_log10(Fraction(2) ** q)
    high = (leading_bits(-k) >> 64) + 1
    shift = q + floor_log2(Fraction(10) ** -k) + 1
    return high, high >> (5 - shift), shift, k


def rows_of(text, name):
    body = text.split(name + "[] = {")[1].split("};")[0]
    return [tuple(int(x, 0) for x in row.split(",")) for row in re.findall(r"\{(.*?)\}", body)]


def main():
    text = open(sys.argv[1]).read()
    for q in range(-1074, 972):
        assert prove_printing(q, Fraction(2) ** q) == q * 1262611 >> 22
        assert prove_printing(q, Fraction(2) ** q * Fraction(3, 4)) == q * 1262611 - 524031 >> 22
    powers = [leading_bits(p) for p in range(FIRST, LAST + 1)]
    for p, bits in zip(range(FIRST, LAST + 1), powers):
        assert bits & (2 ** 64 - 1) != 2 ** 64 - 1  # so that low + 1 does not carry
        assert floor_log2(power(p)) == p * 1741647 >> 19
    assert rows_of(text, "number_powers") == [(bits >> 64, bits & (2 ** 64 - 1)) for bits in powers]
    steps = [float32_step(q) for q in range(FLOAT32_FIRST, FLOAT32_LAST + 1)]
    assert rows_of(text, "number_float32") == steps
    print("%d powers and %d steps are right, and printing with them is exact." % (len(powers), len(steps)))


if __name__ == "__main__":
    main()
