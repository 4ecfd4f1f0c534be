#!/usr/bin/env python3
"""One request whose keys are too many for one replica: blocks of keys go to several at once, the results are joined.

    split_keys.py [--parts N] URL... <request.json

prints {"output","log_sum_exp"}, as POST /v1/attention of the whole request would with include ["output","log_sum_exp"].
Softmax over all keys is the mean of the softmaxes over the blocks, weighted by e^log_sum_exp, so nothing is approximated;
float64 sums in another order differ in the last digits. One URL may be a balancer; several are taken in turn."""

import argparse
import concurrent.futures
import json
import sys
import urllib.error
import urllib.request

# What needs all keys at once, or is only needed once, does not go with the blocks.
REFUSED = ("x", "context", "past", "dropout", "variant", "readout", "rope", "encoding")
AFTER = ("decimals", "nonfinite", "id")


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as refusal:
        sys.exit(f"{url}: {refusal.read().decode()}")
    except OSError as fault:
        sys.exit(f"{url}: {fault}")


def depth(tensor):
    return 1 + depth(tensor[0]) if isinstance(tensor, list) and tensor else 0


def cut(tensor, above, begin, end):
    """Entries begin..end of the axis that has `above` axes above it; an axis of size 1 stands for all."""
    if above > 0:
        return [cut(inner, above - 1, begin, end) for inner in tensor]
    return tensor if len(tensor) == 1 else tensor[begin:end]


def length(tensor, above):
    return length(tensor[0], above - 1) if above > 0 else len(tensor)


def find_offset(mask, queries, keys):
    if mask.get("align") == "end":
        return keys - queries
    return mask.get("query_offset", 0)


def cut_mask(mask, queries, keys, begin, end):
    """The same constraints where key `begin` is key 0: every query then stands `begin` places earlier."""
    out = {name: value for name, value in mask.items() if name != "align"}
    offset = find_offset(mask, queries, keys)
    out["query_offset"] = [o - begin for o in offset] if isinstance(offset, list) else offset - begin
    out["empty_rows"] = "zero"
    for name in ("allow", "bias"):
        if name in mask:
            out[name] = cut(mask[name], depth(mask[name]) - 1, begin, end)
    if "prefix" in mask:
        out["prefix"] = min(max(mask["prefix"] - begin, 0), end - begin)
    if "key_lengths" in mask:
        out["key_lengths"] = [min(max(n - begin, 0), end - begin) for n in mask["key_lengths"]]
    if "documents" in mask:
        ids = mask["documents"]
        both = ids if isinstance(ids, dict) else {"query": ids, "key": ids}
        out["documents"] = {"query": both["query"], "key": both["key"][begin:end]}
    return out


def read_mask(request):
    mask = request.get("mask", "none")
    return mask if isinstance(mask, dict) else {"causal": mask == "causal"}


def check(request):
    mask = read_mask(request)
    for name in REFUSED:
        if name in request:
            sys.exit(f"{name} cannot be split by keys here.")
    for name, tensor in [(name, request.get(name)) for name in ("q", "k", "v")] + [("mask.bias", mask.get("bias", [[0]]))]:
        if depth(tensor) < 2:
            sys.exit(f"{name} must be nested lists.")
    counted = [name for name in ("causal", "window", "prefix", "alibi") if mask.get(name)]
    if "documents" in mask and counted:
        sys.exit(f"documents with {counted[0]} cannot be split: positions count inside each document.")


def split(request, parts):
    mask = read_mask(request)
    above = depth(request["k"]) - 2
    keys, queries = length(request["k"], above), length(request["q"], above)
    parts = min(parts, keys)
    for part in range(parts):
        begin, end = keys * part // parts, keys * (part + 1) // parts
        block = {name: value for name, value in request.items() if name not in AFTER + ("tokens", "sinks")}
        block["k"], block["v"] = cut_rows(request, "k", above, begin, end), cut_rows(request, "v", above, begin, end)
        block["mask"] = cut_mask(mask, queries, keys, begin, end)
        block["include"] = ["output", "log_sum_exp"]
        yield block


def cut_rows(request, name, above, begin, end):
    rows = length(request[name], above)
    keys = length(request["k"], above)
    if rows != keys:
        sys.exit(f"k has {keys} rows, {name} has {rows}.")
    return cut(request[name], above, begin, end) if rows > 1 else request[name]


def fill(tensor, value):
    return [fill(inner, value) for inner in tensor] if isinstance(tensor, list) else value


def sink_part(sinks, part):
    """A sink is one more logit of each row of its head, with nothing behind it."""
    sums, heads = part["log_sum_exp"], depth(part["log_sum_exp"]) - 2
    if heads < 0:
        sums = fill(sums, sinks[0])
    elif heads == 0:
        sums = [fill(rows, sink) for rows, sink in zip(sums, sinks)]
    else:
        sums = [[fill(rows, sink) for rows, sink in zip(batch, sinks)] for batch in sums]
    return {"output": fill(part["output"], 0), "log_sum_exp": sums}


def some_row_is_empty(sums):
    """Of the blocks' sums, a row in all of which no key was seen."""
    if isinstance(sums[0], list):
        return any(map(some_row_is_empty, zip(*sums)))
    return all(value is None for value in sums)


def count(text):
    if int(text) < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return int(text)


def main():
    options = argparse.ArgumentParser(usage="split_keys.py [--parts N] URL... <request.json")
    options.add_argument("--parts", type=count, help="blocks of keys; as many as there are URLs unless given")
    options.add_argument("urls", nargs="+", metavar="URL")
    given = options.parse_args()
    request = json.load(sys.stdin)
    check(request)
    blocks = list(split(request, given.parts or len(given.urls)))
    with concurrent.futures.ThreadPoolExecutor(len(blocks)) as senders:
        urls = [given.urls[i % len(given.urls)] + "/v1/attention" for i in range(len(blocks))]
        replies = list(senders.map(post, urls, blocks))
    parts = [{name: reply[name] for name in ("output", "log_sum_exp")} for reply in replies]
    if read_mask(request).get("empty_rows") != "zero" and some_row_is_empty([part["log_sum_exp"] for part in parts]):
        sys.exit('A query sees no key in any block; "empty_rows":"zero" allows that.')
    if "sinks" in request:
        parts.append(sink_part(request["sinks"], parts[0]))
    merge = {name: request[name] for name in AFTER + ("dtype",) if name in request}
    joined = post(given.urls[0] + "/v1/attention/merge", {**merge, "parts": parts})
    json.dump(joined, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
