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
    return 1 + depth(tensor[0]) if isinstance(tensor, list) else 0


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


def split(request, parts):
    for name in REFUSED:
        if name in request:
            sys.exit(f"{name} cannot be split by keys here.")
    for name in ("q", "k", "v"):
        if not isinstance(request.get(name), list):
            sys.exit(f"{name} must be nested lists.")
    mask = request.get("mask", "none")
    mask = mask if isinstance(mask, dict) else {"causal": mask == "causal"}
    above = depth(request["k"]) - 2
    keys, queries = length(request["k"], above), length(request["q"], above)
    for part in range(parts):
        begin, end = keys * part // parts, keys * (part + 1) // parts
        if begin == end:
            continue
        block = {name: value for name, value in request.items() if name not in AFTER + ("tokens",)}
        block["k"], block["v"] = cut_rows(request, "k", above, begin, end), cut_rows(request, "v", above, begin, end)
        block["mask"] = cut_mask(mask, queries, keys, begin, end)
        block["include"] = ["output", "log_sum_exp"]
        if part > 0:
            block.pop("sinks", None)  # a sink is one more logit of the whole row: it is counted once
        yield block


def cut_rows(request, name, above, begin, end):
    rows = length(request[name], above)
    keys = length(request["k"], above)
    if rows != keys:
        sys.exit(f"k has {keys} rows, {name} has {rows}.")
    return cut(request[name], above, begin, end) if rows > 1 else request[name]


def has_empty_rows(log_sum_exp):
    if isinstance(log_sum_exp, list):
        return any(map(has_empty_rows, log_sum_exp))
    return log_sum_exp is None


def main():
    options = argparse.ArgumentParser(usage="split_keys.py [--parts N] URL... <request.json")
    options.add_argument("--parts", type=int, help="blocks of keys; as many as there are URLs unless given")
    options.add_argument("urls", nargs="+", metavar="URL")
    given = options.parse_args()
    request = json.load(sys.stdin)
    blocks = list(split(request, given.parts or len(given.urls)))
    with concurrent.futures.ThreadPoolExecutor(len(blocks)) as senders:
        urls = [given.urls[i % len(given.urls)] + "/v1/attention" for i in range(len(blocks))]
        replies = list(senders.map(post, urls, blocks))
    merge = {name: request[name] for name in AFTER + ("dtype",) if name in request}
    merge["parts"] = [{name: reply[name] for name in ("output", "log_sum_exp")} for reply in replies]
    joined = post(given.urls[0] + "/v1/attention/merge", merge)
    mask = request.get("mask")
    zero = isinstance(mask, dict) and mask.get("empty_rows") == "zero"
    if not zero and has_empty_rows(joined["log_sum_exp"]):
        sys.exit('A query sees no key in any block; "empty_rows":"zero" allows that.')
    json.dump(joined, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
