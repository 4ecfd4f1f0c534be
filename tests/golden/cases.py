"""The requests of the goldens: each option alone, then combinations of many.

Inputs are multiples of 1/16, exact in float32 as well, so that one golden serves both precisions and dot products of
inputs are exact. Each case draws from its own generator, seeded with its name.
"""
import base64
import zlib

import numpy as np

ALL = ["output", "weights", "log_sum_exp", "stats", "mask", "steps"]
ZERO = {"empty_rows": "zero"}


class Draw:
    """Numbers for one case."""

    def __init__(self, name):
        self.random = np.random.RandomState(zlib.crc32(name.encode()))

    def reals(self, *shape, limit=2):
        """Multiples of 1/16 in [-limit, limit]."""
        return (self.random.randint(-16 * limit, 16 * limit + 1, size=shape) / 16).tolist()

    def booleans(self, *shape):
        """Two in three are true."""
        return (self.random.randint(0, 3, size=shape) > 0).tolist()

    def integers(self, low, high, *shape):
        return self.random.randint(low, high + 1, size=shape).tolist()

    def chance(self, percent):
        return bool(self.random.randint(100) < percent)

    def one_of(self, choices):
        return choices[self.random.randint(len(choices))]


# Inputs


def qkv(draw, rank=2, n=3, m=5, d=4, e=3, b=2, h=4, g=None):
    """Form A of rank 2, 3 or 4."""
    g = g or h
    lead, lead_kv = {2: ((), ()), 3: ((h,), (g,)), 4: ((b, h), (b, g))}[rank]
    return {"q": draw.reals(*lead, n, d), "k": draw.reals(*lead_kv, m, d), "v": draw.reals(*lead_kv, m, e)}


def packed(draw, batch=False, n=3, m=5, d=4, e=3, b=2, h=4, g=None):
    """Form A with `heads`."""
    lead = (b,) if batch else ()
    widths = {"q": (n, h * d), "k": (m, (g or h) * d), "v": (m, (g or h) * e)}
    request = {name: draw.reals(*lead, *shape) for name, shape in widths.items()}
    request["heads"] = h
    if g:
        request["kv_heads"] = g
    return request


def projected(draw, batch=False, n=3, m=None, width=5, context=6, d=4, e=3, b=2, h=None, g=None, biases=False):
    """Form B; a context when m is given. h None: without `heads`."""
    lead = (b,) if batch else ()
    rows = context if m else width
    request = {"x": draw.reals(*lead, n, width, limit=1)}
    if m:
        request["context"] = draw.reals(*lead, m, rows, limit=1)
    columns = {"q": (h or 1) * d, "k": (g or h or 1) * d, "v": (g or h or 1) * e}
    for name in "qkv":
        request["w_" + name] = draw.reals(width if name == "q" else rows, columns[name], limit=1)
        if biases:
            request["b_" + name] = draw.reals(columns[name], limit=1)
    if h:
        request["heads"] = h
    if g:
        request["kv_heads"] = g
    return request


def packed_tensor(values, kind):
    array = np.array(values, dtype={"float64": "<f8", "float32": "<f4"}[kind])
    return {"dtype": kind, "shape": list(array.shape), "base64": base64.b64encode(array.tobytes()).decode()}


# Each option alone


def layouts():
    """name, function of a Draw that gives the request."""
    yield "plain", lambda r: qkv(r)
    yield "one-query-one-key", lambda r: qkv(r, n=1, m=1, d=1, e=1)
    yield "more-queries-than-keys", lambda r: qkv(r, n=6, m=2)
    yield "rank-3", lambda r: qkv(r, 3, h=2)
    yield "rank-4", lambda r: qkv(r, 4, h=2)
    yield "grouped-rank-3", lambda r: qkv(r, 3, h=6, g=3, n=2, m=3)
    yield "grouped-rank-4", lambda r: qkv(r, 4, h=4, g=2, n=2, m=3)
    yield "multi-query", lambda r: qkv(r, 4, h=3, g=1, n=2, m=3)
    yield "packed", lambda r: packed(r, h=2)
    yield "packed-one-head", lambda r: packed(r, h=1)
    yield "packed-batch", lambda r: packed(r, True, h=2)
    yield "packed-grouped", lambda r: packed(r, h=4, g=2, n=2, m=3)
    yield "packed-batch-multi-query", lambda r: packed(r, True, h=3, g=1, n=2, m=3)
    yield "projected", lambda r: projected(r)
    yield "projected-one-head", lambda r: projected(r, h=1)
    yield "projected-heads", lambda r: projected(r, h=2)
    yield "projected-batch", lambda r: projected(r, True)
    yield "projected-batch-grouped", lambda r: projected(r, True, h=4, g=2)
    yield "projected-biases", lambda r: projected(r, h=2, biases=True)
    yield "projected-context", lambda r: projected(r, m=5)
    yield "projected-context-batch-biases", lambda r: projected(r, True, m=5, h=2, biases=True)
    yield "output-projection", lambda r: {**projected(r, h=2), "w_o": r.reals(6, 5, limit=1)}
    yield "output-projection-bias", lambda r: {
        **projected(r, True, h=2), "w_o": r.reals(6, 2, limit=1), "b_o": r.reals(2)}
    yield "packed-tensors", lambda r: {
        name: packed_tensor(x, "float32" if name == "v" else "float64") for name, x in qkv(r).items()}


def places():
    """name, mask, and what the inputs need to be."""
    yield "none", "none", {}
    yield "causal", "causal", {"n": 4, "m": 4}
    yield "causal-object", {"causal": True}, {"n": 2, "m": 5}
    yield "causal-off", {"causal": False}, {}
    yield "causal-more-queries-than-keys", {"causal": True}, {"n": 5, "m": 2}
    yield "align-start", {"causal": True, "align": "start"}, {"n": 2, "m": 5}
    yield "align-end", {"causal": True, "align": "end"}, {"n": 2, "m": 5}
    yield "align-end-empty", {"causal": True, "align": "end", **ZERO}, {"n": 5, "m": 2}
    yield "query-offset", {"causal": True, "query_offset": 2}, {"n": 3, "m": 5}
    yield "query-offset-negative", {"causal": True, "query_offset": -2, **ZERO}, {"n": 4, "m": 3}
    yield "query-offset-per-batch", {"causal": True, "query_offset": [3, 0]}, {"rank": 4, "h": 2, "n": 2, "m": 5}
    yield "query-offset-list-of-one", {"causal": True, "query_offset": [1]}, {"n": 3, "m": 5}
    yield "window", {"window": {"left": 1, "right": 1}}, {"n": 5, "m": 5}
    yield "window-left", {"window": {"left": 1, "right": None}}, {"n": 4, "m": 5}
    yield "window-right", {"window": {"right": 0}}, {"n": 4, "m": 5}
    yield "window-zero", {"window": {"left": 0, "right": 0}}, {"n": 4, "m": 4}
    yield "window-causal", {"causal": True, "window": {"left": 2, "right": 1}}, {"n": 5, "m": 5}
    yield "window-query-offset", {"window": {"left": 1, "right": 0}, "query_offset": 3}, {"n": 2, "m": 5}
    yield "window-beyond", {"window": {"left": 1, "right": 0}, **ZERO}, {"n": 6, "m": 3}
    yield "prefix", {"causal": True, "prefix": 3}, {"n": 5, "m": 5}
    yield "prefix-window", {"causal": True, "prefix": 3, "window": {"left": 1, "right": 1}}, {"n": 5, "m": 5}
    yield "prefix-of-all", {"causal": True, "prefix": 5}, {"n": 3, "m": 5}
    yield "documents", {"documents": [7, 7, 7, -1, -1]}, {"n": 5, "m": 5}
    yield "documents-interleaved-causal", {"causal": True, "documents": [1, 2, 1, 2, 1]}, {"n": 5, "m": 5}
    yield "documents-two-lists", {
        "documents": {"query": [0, 1, 2], "key": [1, 0, 1, 0, 0]}, **ZERO}, {"n": 3, "m": 5}
    yield "documents-align-end", {
        "causal": True, "align": "end", "documents": {"query": [1, 2, 2], "key": [1, 1, 2, 2, 2, 1]}}, {"n": 3, "m": 6}
    yield "documents-query-offset", {
        "causal": True, "query_offset": 1, "documents": {"query": [1, 2, 2], "key": [1, 2, 1, 2, 2, 1]}}, {"n": 3, "m": 6}
    yield "documents-window", {
        "window": {"left": 1, "right": 0}, "documents": [3, 4, 3, 3, 4, 4]}, {"n": 6, "m": 6}
    yield "documents-prefix", {"causal": True, "prefix": 2, "documents": [3, 4, 3, 3, 4, 4]}, {"n": 6, "m": 6}
    yield "documents-alibi", {"alibi": True, "documents": [3, 4, 3, 3, 4, 4]}, {"rank": 3, "h": 2, "n": 6, "m": 6}
    yield "key-lengths", {"key_lengths": [3]}, {}
    yield "key-lengths-per-batch", {"key_lengths": [2, 5]}, {"rank": 4, "h": 2}
    yield "key-lengths-zero", {"key_lengths": [0, 4], **ZERO}, {"rank": 4, "h": 1}
    yield "alibi", {"alibi": True}, {"rank": 3, "h": 4}
    yield "alibi-no-power-of-two", {"alibi": True}, {"rank": 3, "h": 12, "n": 2, "m": 3, "d": 2, "e": 1}
    yield "alibi-without-heads", {"alibi": True}, {}
    yield "alibi-slopes", {"alibi": [0.25, 1.5]}, {"rank": 4, "h": 2}
    yield "alibi-causal-query-offset", {"alibi": True, "causal": True, "query_offset": 2}, {"rank": 3, "h": 2}
    yield "alibi-align-end", {"alibi": [0.5], "align": "end"}, {}
    yield "empty-rows-error-without-any", {"causal": True, "empty_rows": "error"}, {"n": 4, "m": 4}


def broadcasts():
    """name, shape of an allow or a bias against rank-4 inputs with b 2, h 2, n 3, m 5."""
    yield "rank-2", (3, 5)
    yield "one-row", (1, 5)
    yield "one-column", (3, 1)
    yield "rank-3", (2, 3, 5)
    yield "rank-3-shared", (1, 3, 5)
    yield "rank-4", (2, 2, 3, 5)
    yield "rank-4-per-batch", (2, 1, 1, 5)
    yield "rank-4-per-head", (1, 2, 3, 1)


def tables():
    """name, function of a Draw that gives the request: allow and bias."""
    for name, shape in broadcasts():
        yield "allow-" + name, lambda r, shape=shape: {
            **qkv(r, 4, h=2), "mask": {"allow": r.booleans(*shape), **ZERO}}
        yield "bias-" + name, lambda r, shape=shape: {**qkv(r, 4, h=2), "mask": {"bias": r.reals(*shape)}}
    yield "bias-null", lambda r: {**qkv(r), "mask": {"bias": [[0, None, -1, 0.5, None], [None, 1, 2, 3, 4], [0] * 5]}}
    yield "bias-minus-infinity", lambda r: {
        **qkv(r), "mask": {"bias": [["-Infinity", 0, 0, 0, 0], ["-Infinity"] * 5, [1, 2, 3, 4, "-Infinity"]], **ZERO}}
    yield "bias-large-negative-is-no-empty-row", lambda r: {
        **qkv(r), "scale": 0, "mask": {"bias": [[-1e9] * 5, [0, -1e9, 0, 0, 0], [1e9, 0, 0, 0, 0]]}}
    yield "allow-and-bias", lambda r: {
        **qkv(r), "mask": {"allow": [[True, False, True, True, False]], "bias": r.reals(3, 5)}}
    yield "empty-rows-zero", lambda r: {
        **qkv(r), "mask": {"allow": [[False] * 5, [True] * 5, [False, True, False, False, False]], **ZERO}}


def options():
    """name, function of a Draw that gives the request: everything that is no mask."""
    yield "scale", lambda r: {**qkv(r), "scale": 0.25}
    yield "scale-zero", lambda r: {**qkv(r), "scale": 0}
    yield "scale-negative", lambda r: {**qkv(r), "scale": -1.5}
    yield "softcap", lambda r: {**qkv(r), "softcap": 1.5}
    yield "softcap-hidden-keys-stay-hidden", lambda r: {**qkv(r), "softcap": 0.5, "mask": "causal"}
    yield "sinks", lambda r: {**qkv(r, 3, h=2), "sinks": [0.5, -3]}
    yield "sinks-one", lambda r: {**qkv(r), "sinks": [6]}
    yield "sinks-empty-row", lambda r: {
        **qkv(r, 3, h=2, m=3), "sinks": [0.5, -3], "mask": {"causal": True, "query_offset": -1, **ZERO}}
    yield "dropout", lambda r: {**qkv(r, 4, h=2), "dropout": {"p": 0.5, "seed": 42}}
    yield "dropout-default-seed", lambda r: {**qkv(r), "dropout": {"p": 0.25}}
    yield "dropout-zero", lambda r: {**qkv(r), "dropout": {"p": 0, "seed": 7}}
    yield "dropout-causal", lambda r: {**qkv(r, 3, h=2, n=4, m=4), "dropout": {"p": 0.3, "seed": 1}, "mask": "causal"}
    yield "variant-softmax", lambda r: {**qkv(r), "variant": "softmax"}
    yield "variant-mask-after-softmax", lambda r: {**qkv(r), "variant": "mask_after_softmax", "mask": "causal"}
    yield "variant-mask-after-softmax-bias", lambda r: {
        **qkv(r, 3, h=2), "variant": "mask_after_softmax", "softcap": 2,
        "mask": {"allow": [[True, False, True, True, False]], "bias": r.reals(3, 5), "alibi": True}}
    yield "variant-mask-after-softmax-sinks", lambda r: {
        **qkv(r), "variant": "mask_after_softmax", "mask": "causal", "sinks": [1]}


def rotary():
    """name, function of a Draw that gives the request: rope and past."""
    show = {"include": ["output", "inputs", "steps.scores"]}
    yield "rope", lambda r: {**qkv(r, d=6), "rope": {}, **show}
    yield "rope-interleaved", lambda r: {**qkv(r, d=6), "rope": {"interleaved": True}, **show}
    yield "rope-dims", lambda r: {**qkv(r, d=6), "rope": {"dims": 4}, **show}
    yield "rope-dims-interleaved", lambda r: {**qkv(r, 3, h=2, d=6), "rope": {"dims": 2, "interleaved": True}, **show}
    yield "rope-theta", lambda r: {**qkv(r, d=6), "rope": {"theta": 100}, **show}
    yield "rope-positions", lambda r: {
        **qkv(r), "rope": {"query_positions": [3, 0, 7], "key_positions": [1, 1, 2, 40, 1000]}, **show}
    yield "rope-query-positions", lambda r: {**qkv(r), "rope": {"query_positions": [2, 3, 4]}, **show}
    yield "rope-positions-per-batch", lambda r: {
        **qkv(r, 4, h=2), **show,
        "rope": {"query_positions": r.integers(0, 9, 2, 3), "key_positions": r.integers(0, 9, 2, 5)}}
    yield "rope-grouped", lambda r: {**qkv(r, 3, h=4, g=2), "rope": {}, **show}
    yield "rope-packed", lambda r: {**packed(r, True, h=2), "rope": {"theta": 500}, **show}
    yield "rope-projected", lambda r: {**projected(r, h=2, biases=True), "rope": {}, **show}
    yield "rope-is-not-moved-by-the-offset", lambda r: {
        **qkv(r), "rope": {}, "mask": {"causal": True, "query_offset": 2}, **show}
    see = {"include": ["output", "weights", "present", "inputs", "mask"]}
    yield "past", lambda r: {**qkv(r, n=2, m=2), "past": {"k": r.reals(3, 4), "v": r.reals(3, 3)}, **see}
    yield "past-causal", lambda r: {
        **qkv(r, n=2, m=2), "past": {"k": r.reals(3, 4), "v": r.reals(3, 3)}, "mask": "causal", **see}
    yield "past-rank-3", lambda r: {
        **qkv(r, 3, h=4, g=2, n=2, m=2), "past": {"k": r.reals(2, 3, 4), "v": r.reals(2, 3, 3)}, "mask": "causal", **see}
    yield "past-rank-4", lambda r: {
        **qkv(r, 4, h=2, n=1, m=1), "past": {"k": r.reals(2, 2, 3, 4), "v": r.reals(2, 2, 3, 3)}, "mask": "causal", **see}
    yield "past-packed", lambda r: {
        **packed(r, h=2, n=2, m=2), "past": {"k": r.reals(2, 3, 4), "v": r.reals(2, 3, 3)}, "mask": "causal", **see}
    yield "past-packed-batch", lambda r: {
        **packed(r, True, h=2, g=1, n=2, m=2), "past": {"k": r.reals(2, 1, 3, 4), "v": r.reals(2, 1, 3, 3)}, **see}
    yield "past-projected", lambda r: {
        **projected(r, n=2), "past": {"k": r.reals(3, 4), "v": r.reals(3, 3)}, "mask": "causal", **see}
    yield "past-projected-batch", lambda r: {
        **projected(r, True, n=2), "past": {"k": r.reals(2, 3, 4), "v": r.reals(2, 3, 3)}, "mask": "causal", **see}
    yield "past-rope", lambda r: {
        **qkv(r, n=2, m=2), "past": {"k": r.reals(3, 4), "v": r.reals(3, 3)}, "mask": "causal", "rope": {}, **see}
    yield "past-rope-positions", lambda r: {
        **qkv(r, n=2, m=2), "past": {"k": r.reals(3, 4), "v": r.reals(3, 3)},
        "rope": {"query_positions": [9, 8], "key_positions": [0, 5]}, **see}
    yield "past-window", lambda r: {
        **qkv(r, n=2, m=2), "past": {"k": r.reals(3, 4), "v": r.reals(3, 3)},
        "mask": {"window": {"left": 1, "right": 0}}, **see}
    yield "past-align-end", lambda r: {
        **qkv(r, n=2, m=3), "past": {"k": r.reals(3, 4), "v": r.reals(3, 3)},
        "mask": {"causal": True, "align": "end"}, **see}
    yield "past-query-offset", lambda r: {
        **qkv(r, n=2, m=2), "past": {"k": r.reals(3, 4), "v": r.reals(3, 3)},
        "mask": {"causal": True, "query_offset": 1, "alibi": True}, **see}
    yield "past-documents", lambda r: {
        **qkv(r, n=2, m=2), "past": {"k": r.reals(3, 4), "v": r.reals(3, 3)},
        "mask": {"causal": True, "documents": {"query": [5, 6], "key": [5, 6, 5, 5, 6]}}, **see}
    yield "past-key-lengths", lambda r: {
        **qkv(r, n=2, m=2), "past": {"k": r.reals(3, 4), "v": r.reals(3, 3)}, "mask": {"key_lengths": [4]}, **see}


def replies():
    """name, function of a Draw that gives the request: what comes back, and how."""
    def plain(draw, **more):
        return {**qkv(draw), "mask": "causal", **more}

    yield "include-output", lambda r: plain(r, include=["output"])
    yield "include-weights", lambda r: plain(r, include=["weights"])
    yield "include-log-sum-exp", lambda r: plain(r, include=["log_sum_exp"])
    yield "include-stats", lambda r: plain(r, include=["stats"])
    yield "include-mask", lambda r: plain(r, include=["mask"])
    yield "include-inputs", lambda r: plain(r, include=["inputs"])
    yield "include-present", lambda r: plain(r, include=["present"])
    yield "include-steps", lambda r: plain(r, include=["steps"])
    for name in ("scores", "scaled", "masked", "row_max", "shifted", "exp", "row_sum", "weights", "products", "contributions"):
        yield "include-steps-" + name.replace("_", "-"), lambda r, name=name: plain(r, include=["steps." + name])
    yield "include-steps-capped", lambda r: plain(r, softcap=2, include=["steps.capped"])
    yield "include-steps-biased", lambda r: {**qkv(r), "mask": {"alibi": True}, "include": ["steps.biased"]}
    yield "include-steps-dropped", lambda r: plain(r, dropout={"p": 0.5}, include=["steps.dropped", "steps.contributions"])
    yield "include-everything", lambda r: {
        **qkv(r, 3, h=2), "softcap": 3, "sinks": [0, 1], "dropout": {"p": 0.25, "seed": 3},
        "mask": {"causal": True, "alibi": True},
        "include": ALL + ["inputs", "present", "steps.products", "steps.contributions"]}
    yield "variant-linear", lambda r: {
        **qkv(r), "variant": "linear", "include": ["output", "weights", "steps.scores", "steps.scaled"]}
    yield "variant-linear-grouped", lambda r: {
        **qkv(r, 3, h=4, g=2), "variant": "linear", "scale": 0.125, "include": ["output", "weights"]}
    yield "variant-mask-after-softmax-empty-row", lambda r: {
        **qkv(r), "variant": "mask_after_softmax", "mask": {"causal": True, "query_offset": -1, **ZERO},
        "include": ["output", "weights"]}
    words = [["a", "the", "cat", "sat", "on", "mat"], (3, 6)]
    yield "readout", lambda r: {**qkv(r), "readout": {"w": r.reals(*words[1]), "tokens": words[0]}}
    yield "readout-packed", lambda r: {
        **packed(r, h=2), "readout": {"w": r.reals(6, 4), "tokens": ["w", "x", "y", "z"]}, "include": ["output"]}
    yield "readout-projected-batch", lambda r: {
        **projected(r, True, h=2), "w_o": r.reals(6, 2, limit=1),
        "readout": {"w": r.reals(2, 4), "tokens": ["w", "x", "y", "z"]}}
    yield "tokens", lambda r: {**qkv(r, n=3, m=3), "tokens": ["one", "two", "three"]}
    yield "tokens-two-lists", lambda r: {
        **qkv(r, n=2, m=3), "tokens": {"query": ["\u00fc", "<b>"], "key": ["\"", "\\", "\U0001f642"]}}
    yield "tokens-past", lambda r: {
        **qkv(r, n=1, m=1), "past": {"k": r.reals(2, 4), "v": r.reals(2, 3)},
        "tokens": {"query": ["now"], "key": ["once", "then", "now"]}}
    yield "decimals", lambda r: plain(r, decimals=3, include=ALL)
    yield "decimals-zero", lambda r: plain(r, decimals=0)
    yield "nonfinite-string", lambda r: {
        **qkv(r), "mask": {"causal": True, "query_offset": -1, **ZERO}, "nonfinite": "string", "include": ALL}
    yield "nonfinite-null", lambda r: plain(r, nonfinite="null", include=ALL)
    yield "encoding-json", lambda r: plain(r, encoding="json")
    yield "encoding-base64", lambda r: plain(r, encoding="base64", include=ALL + ["inputs", "present"])
    yield "id", lambda r: plain(r, id="request 7")
    yield "worked-example-the-cat", lambda r: {
        "tokens": ["the", "cat"], "q": [[0.3, -0.2, 0.5, 0.1], [1.1, -0.8, 0.2, 0.3]],
        "k": [[-0.4, -0.3, 0.2, 1.2], [1.6, -0.7, -0.4, -0.5]],
        "v": [[-0.5, -0.4, 0.1, 1.1], [1.2, -0.3, -0.2, -0.6]],
        "mask": "causal", "include": ALL + ["steps.products", "steps.contributions"]}
    yield "worked-example-one-query", lambda r: {
        "q": [[1, 0]], "k": [[1, 0], [0, 1], [1, 0]], "v": [[2, 0], [0, 2], [1, 1]],
        "include": ["output", "weights", "steps"]}


def singles():
    for make in (layouts, tables, options):
        for name, request in make():
            yield name, lambda r, request=request: {"include": ALL, **request(r)}
    for name, mask, sizes in places():
        yield "mask-" + name, lambda r, mask=mask, sizes=sizes: {**qkv(r, **sizes), "mask": mask, "include": ALL}
    for make in (rotary, replies):
        yield from make()


# Combinations

COMBINATIONS = 96


def combined_inputs(draw):
    """name, request, (b, h, g, n, new keys, d, e, batch axis, head axis)"""
    layout = draw.one_of(["rank-2", "rank-3", "rank-4", "packed", "packed-batch", "projected", "projected-batch"])
    g = draw.one_of([1, 2])
    grouped = layout != "rank-2" and draw.chance(50)
    h = g * 2 if grouped else g
    n, m = draw.integers(1, 4), draw.integers(1, 5)
    d, e = draw.one_of([2, 4, 6]), draw.integers(1, 4)
    batch = layout in ("rank-4", "packed-batch", "projected-batch")
    sizes = {"n": n, "m": m, "d": d, "e": e, "h": h}
    share = {"g": g} if grouped else {}
    if layout.startswith("rank"):
        h, g = (1, 1) if layout == "rank-2" else (h, g)
        request = qkv(draw, int(layout[-1]), **sizes, **share)
    elif layout.startswith("packed"):
        request = packed(draw, batch, **sizes, **share)
    else:
        cross = draw.chance(50)
        m = m if cross else n
        request = projected(draw, batch, **{**sizes, "m": m if cross else None}, **share, biases=draw.chance(50))
        layout += "+context" * cross
        if draw.chance(40):
            layout, request["w_o"] = layout + "+output", draw.reals(h * e, 3, limit=1)
    name = layout + "+grouped" * grouped
    return name, request, (2 if batch else 1, h, g, n, m, d, e, batch, layout != "rank-2")


def combined_past(draw, sizes, request):
    b, h, g, n, m, d, e, batch, heads = sizes
    if not draw.chance(35):
        return "", 0
    past = draw.integers(1, 3)
    lead = ((b,) if batch else ()) + ((g,) if heads else ())
    request["past"] = {"k": draw.reals(*lead, past, d), "v": draw.reals(*lead, past, e)}
    return "+past", past


def combined_places(draw, mask, b, n, m, past):
    """Rules about places; returns their names."""
    names = ""
    if draw.chance(50):
        names, mask["causal"] = names + "+causal", True
        if draw.chance(25):
            names, mask["prefix"] = names + "+prefix", draw.integers(1, m)
    if draw.chance(30):
        names, mask["window"] = names + "+window", {
            "left": draw.one_of([None, 0, 1, 2]), "right": draw.one_of([None, 0, 1])}
    if draw.chance(25):
        names += "+documents"
        mask["documents"] = {"query": draw.integers(1, 2, n), "key": draw.integers(1, 2, m)}
    where = draw.one_of(["", "", "", "align", "offset", "offsets"]) if "causal" in mask or "window" in mask else ""
    if where == "align":
        names, mask["align"] = names + "+align", "end"
    elif where:
        names += "+" + where
        mask["query_offset"] = draw.integers(-1, m, b) if where == "offsets" else draw.integers(-1, m)
    return names


def combined_tables(draw, mask, b, h, n, m):
    names = ""
    if draw.chance(20):
        names, mask["key_lengths"] = names + "+lengths", draw.integers(0, m, b)
    if draw.chance(25):
        names, mask["allow"] = names + "+allow", draw.booleans(*draw.one_of([(n, m), (1, m), (h, n, m), (b, 1, n, m)]))
    if draw.chance(30):
        names, mask["bias"] = names + "+bias", draw.reals(*draw.one_of([(n, m), (n, 1), (h, 1, m), (b, h, n, m)]))
    if draw.chance(25):
        names, mask["alibi"] = names + "+alibi", draw.one_of([True, draw.reals(h, limit=1)])
    return names


def combined_options(draw, request, h, d):
    names = ""
    if draw.chance(40):
        names, request["rope"] = names + "+rope", {
            "theta": draw.one_of([10000, 50]), "interleaved": draw.chance(50), "dims": draw.one_of([2, d])}
    if draw.chance(35):
        names, request["softcap"] = names + "+softcap", draw.one_of([0.75, 2, 20])
    if draw.chance(35):
        names, request["sinks"] = names + "+sinks", draw.reals(h)
    if draw.chance(25):
        names, request["dropout"] = names + "+dropout", {"p": draw.one_of([0.1, 0.5]), "seed": draw.integers(0, 999)}
    if draw.chance(25):
        names, request["scale"] = names + "+scale", draw.one_of([0.125, -0.5, 1])
    return names


def combination(number):
    draw = Draw("combination %d" % number)
    name, request, sizes = combined_inputs(draw)
    more, past = combined_past(draw, sizes, request)
    b, h, _, n, m, d = sizes[:6]
    mask = dict(ZERO)
    name += more + combined_places(draw, mask, b, n, m + past, past) + combined_tables(draw, mask, b, h, n, m + past)
    name += combined_options(draw, request, h, d)
    request["mask"] = mask
    request["include"] = ["output", "weights", "log_sum_exp", "present", "mask", "steps.masked"]
    return name, request


def cases():
    """name, request; names are unique."""
    seen = set()
    for name, make in singles():
        assert name not in seen, name
        seen.add(name)
        yield name, make(Draw(name))
    number = made = 0
    while made < COMBINATIONS:
        name, request = combination(number)
        number += 1
        if name not in seen and name.count("+") >= 3:
            seen.add(name)
            made += 1
            yield name, request
