"""Splits requests of many kinds with docker/split_keys.py and compares with the reply to the whole request.
Usage: split.py URL...; "N passed, M failed" is the last line."""

import json
import math
import pathlib
import random
import subprocess
import sys
import urllib.request

SCRIPT = pathlib.Path(__file__).parents[2] / "docker" / "split_keys.py"
TOLERANCE = 1e-12  # float64 sums in another order


def ask(url, request):
    body = json.dumps({**request, "include": ["output", "log_sum_exp"]}).encode()
    with urllib.request.urlopen(url + "/v1/attention", body, timeout=60) as reply:
        return json.load(reply)


def split(urls, request, parts):
    run = subprocess.run([sys.executable, SCRIPT, "--parts", str(parts), *urls], input=json.dumps(request),
                         capture_output=True, text=True, timeout=120, check=False)
    if run.returncode != 0:
        raise ValueError(run.stderr)
    return json.loads(run.stdout)


def distance(a, b):
    if isinstance(a, list):
        return max(map(distance, a, b), default=0) if len(a) == len(b) else math.inf
    if a is None or b is None:
        return 0 if a is b else math.inf
    return abs(a - b) / max(1, abs(a))


def tensor(draw, *shape):
    return [tensor(draw, *shape[1:]) for _ in range(shape[0])] if shape else draw.gauss(0, 2)


def cases(draw):
    q, k, v = tensor(draw, 6, 4), tensor(draw, 11, 4), tensor(draw, 11, 3)
    plain = {"q": q, "k": k, "v": v}
    allow = [[(i + 2 * j) % 3 != 1 for j in range(11)] for i in range(6)]
    bias = [[None if (i * j) % 5 == 4 else draw.gauss(0, 1) for j in range(11)] for i in range(6)]
    documents = {"query": [0, 0, 1, 1, 2, 2], "key": [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]}
    yield "no mask", plain
    yield "causal", {**plain, "mask": "causal"}
    yield "causal, aligned at the end", {**plain, "mask": {"causal": True, "align": "end"}}
    yield "offset and window", {**plain, "mask": {"query_offset": 3, "window": {"left": 2, "right": 1}}}
    yield "prefix", {**plain, "mask": {"causal": True, "prefix": 5}}
    yield "documents", {**plain, "mask": {"documents": documents}}
    yield "allow", {**plain, "mask": {"allow": allow}}
    yield "bias", {**plain, "mask": {"bias": bias}}
    yield "a bias for all keys", {**plain, "mask": {"bias": [[row[0] or 0] for row in bias]}}
    yield "alibi", {**plain, "mask": {"alibi": True, "causal": True}}
    yield "sinks, scale and softcap", {**plain, "sinks": [0.3], "scale": 0.7, "softcap": 5}
    yield "rows without keys", {**plain, "mask": {"causal": True, "query_offset": -3, "empty_rows": "zero"}}
    heads = {"q": tensor(draw, 2, 4, 5, 3), "k": tensor(draw, 2, 2, 9, 3), "v": tensor(draw, 2, 2, 9, 2)}
    yield "batch and grouped heads", {**heads, "mask": {"key_lengths": [9, 4]}}
    packed = {"q": tensor(draw, 5, 8), "k": tensor(draw, 9, 4), "v": tensor(draw, 9, 4), "heads": 4, "kv_heads": 2}
    yield "heads side by side", {**packed, "sinks": [0, 1, 2, 3], "mask": "causal"}
    yield "fewer keys than parts", {"q": [[1, 0]], "k": [[1, 0]], "v": [[1, 2]], "sinks": [0]}
    yield "sinks of heads and batches", {**heads, "sinks": [1, -1, 0, 2], "mask": {"key_lengths": [9, 4]}}
    yield "many keys", {"q": tensor(draw, 16, 8), "k": tensor(draw, 4000, 8), "v": tensor(draw, 4000, 8)}


# What the service refuses too, or what cannot be split: no numbers come of it.
def refusals():
    tokens = {"q": [[1, 0], [0, 1], [1, 1]], "k": [[1, 0], [0, 1], [1, 1]], "v": [[1], [2], [3]]}
    documents = {"query": [1, 1, 2], "key": [1, 1, 2]}
    yield "documents and causal", {**tokens, "mask": {"causal": True, "documents": documents}}
    yield "no key for a row, with a sink", {**tokens, "sinks": [1], "mask": {"causal": True, "query_offset": -1}}
    yield "no key for a row, told in words", {**tokens, "nonfinite": "string", "mask": {"key_lengths": [0]}}
    yield "a packed bias", {**tokens, "mask": {"bias": {"dtype": "float64", "shape": [1, 1], "base64": "AAAAAAAAAAA="}}}
    yield "nothing to split", {**tokens, "k": []}


def refuses(urls, request):
    try:
        split(urls, request, 2)
    except ValueError as refusal:
        return "Traceback" not in str(refusal)
    return False


def main():
    urls = sys.argv[1:]
    passed = failed = 0
    largest = 0
    for what, request in cases(random.Random(1)):
        for parts in (2, 3, 5):
            whole, joined = ask(urls[0], request), split(urls, request, parts)
            far = max(distance(whole[name], joined[name]) for name in ("output", "log_sum_exp"))
            largest = max(largest, far)
            passed, failed = passed + (far <= TOLERANCE), failed + (far > TOLERANCE)
            if far > TOLERANCE:
                print(f"{what} in {parts} parts: {far} from the whole")
    for what, request in refusals():
        good = refuses(urls, request)
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"{what}: not refused in words")
    print(f"largest difference {largest:.1e}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
