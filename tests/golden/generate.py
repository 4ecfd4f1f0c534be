#!/usr/bin/python3
"""Writes the goldens beside this file: NAME.json holds {"request", "reply"} of POST /v1/attention.

generate.py           writes them all, and removes those that no case makes any more
generate.py --check   makes them again and says which files differ by more than rounding; exits with 1 then
"""
import json
import math
import os
import sys

sys.dont_write_bytecode = True

from attention import reply
from cases import cases

HERE = os.path.dirname(os.path.abspath(__file__))
TOLERANCE = 1e-14  # of the largest number in an array: libm and NumPy may differ in the last digit between machines


def text(value, indent=""):
    """JSON with a line for each member and each row of a matrix."""
    inner = indent + " "
    if isinstance(value, dict) and any(isinstance(x, (dict, list)) for x in value.values()) and not is_short(value):
        rows = [inner + json.dumps(k) + ": " + text(x, inner) for k, x in value.items()]
        return "{\n" + ",\n".join(rows) + "\n" + indent + "}"
    if isinstance(value, list) and value and isinstance(value[0], (list, dict)):
        return "[\n" + ",\n".join(inner + text(x, inner) for x in value) + "\n" + indent + "]"
    return json.dumps(value, allow_nan=False)


def is_short(value):
    """Lists of names: {"output": ["query", "feature"]}."""
    return all(isinstance(x, list) and all(isinstance(y, str) for y in x) for x in value.values())


def leaves(value):
    return [x for item in value for x in leaves(item)] if isinstance(value, list) else [value]


def is_number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def same(a, b):
    """Equal structure, and numbers equal up to rounding."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        if any(isinstance(x, dict) for x in a + b):
            return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
        return same_numbers(leaves(a), leaves(b))
    return same_numbers([a], [b])


def same_numbers(a, b):
    if len(a) != len(b):
        return False
    room = TOLERANCE * max([abs(x) for x in a + b if is_number(x)], default=0)
    return all(math.isclose(x, y, rel_tol=0, abs_tol=room) if is_number(x) and is_number(y) else x == y
               for x, y in zip(a, b))


def stored():
    return {name for name in os.listdir(HERE) if name.endswith(".json")}


def check(goldens):
    wrong = sorted(stored() ^ goldens.keys())
    for name in sorted(stored() & goldens.keys()):
        with open(os.path.join(HERE, name), encoding="utf-8") as file:
            if not same(json.load(file), json.loads(text(goldens[name]))):
                wrong.append(name)
    for name in wrong:
        print("differs:", name)
    print("%d goldens, %d differ" % (len(goldens), len(wrong)))
    return 1 if wrong else 0


def write(goldens):
    for name in stored() - goldens.keys():
        os.remove(os.path.join(HERE, name))
    for name, golden in goldens.items():
        with open(os.path.join(HERE, name), "w", encoding="utf-8") as file:
            file.write(text(golden) + "\n")
    print("%d goldens" % len(goldens))
    return 0


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__)
        return 2
    goldens = {name + ".json": {"request": request, "reply": reply(request)} for name, request in cases()}
    return check(goldens) if arguments else write(goldens)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
