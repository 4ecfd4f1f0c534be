#!/usr/bin/env python3
"""Writes number_tables.h beside this file: what NumPy and ml_dtypes (both from PyPI) say of the numbers in core/tensor/normal.h
and core/tensor/format.h."""
import os

import ml_dtypes
import numpy as np

WORD = (1 << 64) - 1
FLOAT8 = {"float8_e4m3": (ml_dtypes.float8_e4m3fn, 127), "float8_e5m2": (ml_dtypes.float8_e5m2, 124)}
FLOAT16 = {"float16": (np.float16, 0x7C00), "bfloat16": (ml_dtypes.bfloat16, 0x7F80)}


class Stream:
    def __init__(self, seed):
        self.state = seed

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & WORD
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        return z ^ (z >> 31)

    def normal(self, count):
        out = []
        while len(out) < count:
            u1 = ((self.bits() >> 11) + 1) * 2.0**-53
            u2 = (self.bits() >> 11) * 2.0**-53
            r = np.sqrt(-2 * np.log(u1))
            out += [r * np.cos(2 * np.pi * u2), r * np.sin(2 * np.pi * u2)]
        return [float(x) for x in out[:count]]


def array(kind, name, values, show):
    lines, line = [], "   "
    for value in values:
        word = " " + show(value) + ","
        if len(line + word) > 118:
            lines, line = lines + [line], "   "
        line += word
    return f"static const {kind} {name}[] = {{\n" + "\n".join(lines + [line]) + "\n};\n"


def decoded(kind, codes, width):
    return np.array(codes, dtype=width).view(kind).astype(np.float64)


def float8(name, kind, finite):
    """The values of all codes from 0 up, and what the midpoint after each becomes."""
    values = decoded(kind, range(finite), np.uint8)
    middles = (values[:-1] + values[1:]) / 2
    codes = middles.astype(kind).view(np.uint8)
    return array("double", f"{name}_values", values, lambda x: float(x).hex()) + array(
        "unsigned char", f"{name}_middles", codes, lambda x: str(int(x)))


def digest(kind, finite):
    """FNV-1a over what every midpoint of two neighbours, and the float32 next to it on either side, becomes."""
    values = decoded(kind, range(finite), np.uint16)
    middles = ((values[:-1] + values[1:]) / 2).astype(np.float32)
    hashed = 0xCBF29CE484222325
    for x in np.stack([np.nextafter(middles, np.float32(0)), middles, np.nextafter(middles, np.float32(np.inf))], 1).ravel():
        hashed = ((hashed ^ int(x.astype(kind).view(np.uint16))) * 0x100000001B3) & WORD
    return hashed


def main():
    out = '/* Made by number_tables.py with NumPy and ml_dtypes. */\n#include <stdint.h>\n\n/* clang-format off */\n'
    stream = Stream(1234567)
    out += array("uint64_t", "splitmix_1234567", [stream.bits() for _ in range(5)], lambda x: f"{x}U")
    stream = Stream(7)
    out += array("double", "normal_7", stream.normal(7), repr)
    out += array("double", "normal_7_after", stream.normal(4), repr)
    for name, (kind, finite) in FLOAT8.items():
        out += float8(name, kind, finite)
    for name, (kind, finite) in FLOAT16.items():
        out += f"#define {name.upper()}_DIGEST {digest(kind, finite)}U\n"
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "number_tables.h"), "w") as file:
        file.write(out)


main()
