"""The contract of POST /v1/attention in NumPy, float64, one number at a time: slow and obviously right.

b batch, h query head of H, g key/value head of G, i query of n, j key of m (m counts the past), d and e the widths of
keys and values. Sums go through math.fsum, which rounds once, so that a result owes nothing to an order of summation.
A request must be a valid one: nothing is checked here.
"""
import base64
import math

import numpy as np

STEPS = ("scores", "scaled", "capped", "biased", "masked", "row_max", "shifted", "exp", "row_sum", "weights", "dropped")
OPT_IN = ("products", "contributions")
STATS = ("entropy_bits", "argmax_key", "max_weight", "weight_sum", "effective_keys", "jacobian_trace", "jacobian_norm",
         "score_mean", "score_variance")


# Tensors


def tensor(value):
    """Nested lists or {"dtype","shape","base64"} as float64; null and "-Infinity" are -infinity."""
    if isinstance(value, dict):
        kind = {"float64": "<f8", "float32": "<f4"}[value["dtype"]]
        data = np.frombuffer(base64.b64decode(value["base64"]), dtype=kind)
        return data.astype(np.float64).reshape(value["shape"])
    flat = np.array(value, dtype=object)
    hidden = np.vectorize(lambda x: x is None or x == "-Infinity", otypes=[bool])(flat)
    return np.where(hidden, -np.inf, np.where(hidden, 0, flat)).astype(np.float64)


def product(a, b):
    """a[..., k] b[k, c], each element summed by fsum."""
    rows = a.reshape(-1, a.shape[-1])
    out = [[math.fsum(row[t] * b[t, c] for t in range(b.shape[0])) for c in range(b.shape[1])] for row in rows]
    return np.array(out).reshape(a.shape[:-1] + (b.shape[1],))


def split_heads(x, heads):
    """[b][n][heads*d] -> [b][heads][n][d]: feature = head*d + t."""
    b, n, width = x.shape
    return x.reshape(b, n, heads, width // heads).transpose(0, 2, 1, 3)


# Inputs


class Inputs:
    """q [b][H][n][d], k [b][G][m][d], v [b][G][m][e], before rotation and past; which axes the request has."""

    def __init__(self, request):
        self.packed = "x" in request or "heads" in request
        heads = request.get("heads", 1)
        kv_heads = request.get("kv_heads", heads)
        if "x" in request:
            self.has_heads = "heads" in request
            q, k, v = self.project(request)
        else:
            q, k, v = (tensor(request[name]) for name in "qkv")
            self.has_heads = self.packed or q.ndim >= 3
        if self.packed:
            self.has_batch = q.ndim == 3
            q, k, v = (x if self.has_batch else x[None] for x in (q, k, v))
            self.q, self.k, self.v = split_heads(q, heads), split_heads(k, kv_heads), split_heads(v, kv_heads)
        else:
            self.has_batch = q.ndim == 4
            self.q, self.k, self.v = (x.reshape((1,) * (4 - x.ndim) + x.shape) for x in (q, k, v))

    @staticmethod
    def project(request):
        x = tensor(request["x"])
        context = tensor(request["context"]) if "context" in request else x
        out = []
        for name, source in (("q", x), ("k", context), ("v", context)):
            y = product(source, tensor(request["w_" + name]))
            out.append(y + tensor(request["b_" + name]) if "b_" + name in request else y)
        return out

    def with_axes(self, past):
        """A past tensor, given without the axes that the request lacks, as [b][G][p][width]."""
        if not self.has_heads:
            past = np.expand_dims(past, -3)
        return past if self.has_batch else past[None]


def rotate(x, rope, positions):
    """Rotary embedding of x [b][heads][count][d] at positions [b][count]."""
    r = rope.get("dims", x.shape[-1])
    theta = rope.get("theta", 10000)
    y = x.copy()
    for b, h, i in np.ndindex(x.shape[:3]):
        for t in range(r // 2):
            first, second = (2 * t, 2 * t + 1) if rope.get("interleaved", False) else (t, t + r // 2)
            angle = float(positions[b][i]) * theta ** (-2 * t / r)
            c, s = math.cos(angle), math.sin(angle)
            x1, x2 = x[b, h, i, first], x[b, h, i, second]
            y[b, h, i, first] = c * x1 - s * x2
            y[b, h, i, second] = s * x1 + c * x2
    return y


def positions_of(rope, name, batch, count, past):
    """[b][count]: as given, for every batch or one list per batch, or counted from the length of the past."""
    given = rope.get(name, list(range(past, past + count)))
    return given if isinstance(given[0], list) else [given] * batch


# Masks


def alibi_slopes(heads):
    """Press, Smith, Lewis 2022."""
    n = 1
    while n * 2 <= heads:
        n *= 2
    slopes = [2.0 ** (-8 * (t + 1) / n) for t in range(n)]
    return slopes + [2.0 ** (-4 * (2 * t + 1) / n) for t in range(heads - n)]


class Positions:
    """P(i) and R(j), the two numbers that every rule about places compares."""

    def __init__(self, mask, b, n, m, past):
        offset = self.given_offset(mask, b)
        documents = mask.get("documents")
        if documents is None:
            if offset is None:
                offset = m - n if mask.get("align") == "end" else past
            self.query = [i + offset for i in range(n)]
            self.key = list(range(m))
            return
        ids = documents if isinstance(documents, dict) else {"query": documents, "key": documents}
        self.query_ids, self.key_ids = ids["query"], ids["key"]
        self.key = [self.key_ids[:j].count(self.key_ids[j]) for j in range(m)]
        self.query = []
        for i in range(n):
            own = self.query_ids[i]
            start = offset
            if start is None and mask.get("align") == "end":
                start = self.key_ids.count(own) - self.query_ids.count(own)
            elif start is None:
                start = self.key_ids[:past].count(own)
            self.query.append(self.query_ids[:i].count(own) + start)

    @staticmethod
    def given_offset(mask, b):
        offset = mask.get("query_offset")
        return offset[b] if isinstance(offset, list) else offset


def sees(mask, places, i, j):
    """Whether the rules about places let query i see key j."""
    p, r = places.query[i], places.key[j]
    if "documents" in mask and places.query_ids[i] != places.key_ids[j]:
        return False
    if mask.get("causal", False) and not (r <= p or r < mask.get("prefix", 0)):
        return False
    window = mask.get("window") or {}
    left, right = window.get("left"), window.get("right")
    return (left is None or p - left <= r) and (right is None or r <= p + right)


class Mask:
    """visible [b][H][n][m], bias [b][H][n][m] or None; a bias of -infinity hides too."""

    def __init__(self, request, b, h, n, m, past):
        mask = request.get("mask", "none")
        if isinstance(mask, str):
            mask = {"causal": mask == "causal"}
        full = (b, h, n, m)
        self.visible = np.ones(full, dtype=bool)
        self.bias = np.zeros(full) if "bias" in mask or mask.get("alibi") else None
        if "allow" in mask:
            self.visible &= np.broadcast_to(np.array(mask["allow"], dtype=bool), full)
        if "bias" in mask:
            self.bias = self.bias + np.broadcast_to(tensor(mask["bias"]), full)
        slopes = mask.get("alibi")
        slopes = alibi_slopes(h) if slopes is True else slopes
        for at in range(b):
            places = Positions(mask, at, n, m, past)
            for i in range(n):
                for j in range(m):
                    if not sees(mask, places, i, j) or j >= mask.get("key_lengths", [m] * b)[at]:
                        self.visible[at, :, i, j] = False
                    for head in range(h if slopes else 0):
                        self.bias[at, head, i, j] -= slopes[head] * abs(places.query[i] - places.key[j])
        if self.bias is not None:
            self.visible &= ~np.isneginf(self.bias)


# Dropout


def dropout_uniform(seed, index):
    """splitmix64 (Steele, Lea, Flood 2014) at a counter, as a number in [0, 1)."""
    word = (1 << 64) - 1
    z = (seed + (index + 1) * 0x9E3779B97F4A7C15) & word
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & word
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & word
    z ^= z >> 31
    return (z >> 11) * 2.0 ** -53


# The rows


def softmax_row(row, sink, out, at):
    """row: what enters the softmax, -infinity where hidden. Fills row_max .. weights at `at`."""
    top = max(row) if sink is None else max(max(row), sink)
    out["row_max"][at] = top
    if np.isneginf(top):
        out["shifted"][at] = -np.inf
        out["log_sum_exp"][at] = -np.inf
        return
    exps = [math.exp(s - top) if s > -np.inf else 0.0 for s in row]
    total = math.fsum(exps + ([] if sink is None else [math.exp(sink - top)]))
    out["shifted"][at] = [s - top for s in row]
    out["exp"][at] = exps
    out["row_sum"][at] = total
    out["log_sum_exp"][at] = top + math.log(total)
    out["weights"][at] = [x / total for x in exps]


def stats_row(weights, visible, out, at):
    out["entropy_bits"][at] = math.fsum(w * -math.log2(w) for w in weights if w > 0)
    out["max_weight"][at] = max(weights)
    out["weight_sum"][at] = math.fsum(weights)
    seen = [j for j in range(len(weights)) if visible[j]]
    out["argmax_key"][at] = max(seen, key=lambda j: weights[j]) if seen else np.nan  # the first of the largest


def saturation_row(weights, rest, scaled, visible, out, at):
    """rest: what of the softmax is not in the weights. 1 - w is the sum of the others and the rest."""
    m = len(weights)
    others = [math.fsum([weights[l] for l in range(m) if l != j] + [rest]) for j in range(m)]
    squares = [math.fsum(weights[l] ** 2 for l in range(m) if l != j) for j in range(m)]
    whole = math.fsum(w * w for w in weights)
    out["effective_keys"][at] = math.fsum(weights) ** 2 / whole if whole > 0 else 0.0
    out["jacobian_trace"][at] = math.fsum(w * o for w, o in zip(weights, others))
    out["jacobian_norm"][at] = math.sqrt(math.fsum(w * w * (o * o + q) for w, o, q in zip(weights, others, squares)))
    seen = [s for s, see in zip(scaled, visible) if see]
    mean = out["score_mean"][at] = math.fsum(seen) / len(seen) if seen else np.nan
    out["score_variance"][at] = math.fsum((s - mean) ** 2 for s in seen) / len(seen) if seen else np.nan


def attend(request, q, k, v, mask, scale):
    """Everything a row has, as arrays [b][H][n].. by name."""
    b, h, n, d = q.shape
    m, e, group = k.shape[2], v.shape[3], h // k.shape[1]
    variant = request.get("variant", "softmax")
    cap, sinks, dropout = request.get("softcap"), request.get("sinks"), request.get("dropout")
    per_key = ["scores", "scaled", "weights"]
    per_query = []
    if variant != "linear":
        per_key += ["masked", "shifted", "exp"] + ["capped"] * (cap is not None) + ["biased"] * (mask.bias is not None)
        per_key += ["dropped"] * (dropout is not None)
        per_query = ["row_max", "row_sum", "log_sum_exp"] + list(STATS)
    out = {name: np.zeros((b, h, n, m)) for name in per_key}
    out.update({name: np.zeros((b, h, n)) for name in per_query})
    out["products"] = np.zeros((b, h, n, m, d))
    out["contributions"] = np.zeros((b, h, n, m, e))
    out["heads"] = np.zeros((b, h, n, e))
    out["allowed"] = mask.visible
    if mask.bias is not None:
        out["bias"] = mask.bias
    for at in np.ndindex(b, h, n):
        keys, values = k[at[0], at[1] // group], v[at[0], at[1] // group]
        for j in range(m):
            out["products"][at][j] = q[at] * keys[j]
            out["scores"][at][j] = math.fsum(out["products"][at][j])
        s = out["scaled"][at] = scale * out["scores"][at]
        if variant == "linear":
            used = out["weights"][at] = s
        else:
            used = softmax_variant(out, at, s, mask, cap, None if sinks is None else sinks[at[1]], variant)
            if dropout is not None:
                p, seed = dropout["p"], dropout.get("seed", 0)
                first = ((at[0] * h + at[1]) * n + at[2]) * m
                kept = [dropout_uniform(seed, first + j) >= p for j in range(m)]
                used = out["dropped"][at] = [w / (1 - p) if keep else 0.0 for w, keep in zip(used, kept)]
        for j in range(m):
            if used[j] != 0:
                out["contributions"][at][j] = used[j] * values[j]
        out["heads"][at] = [math.fsum(out["contributions"][at][:, c]) for c in range(e)]
    return out


def softmax_variant(out, at, s, mask, cap, sink, variant):
    """From the scaled scores of one row to its weights; also fills the steps and the statistics."""
    visible, scaled = mask.visible[at], s
    if cap is not None:
        s = out["capped"][at] = [cap * math.tanh(x / cap) for x in s]
    if mask.bias is not None:
        s = out["biased"][at] = np.array(s) + mask.bias[at]
    if variant == "mask_after_softmax":
        out["masked"][at] = s
        softmax_row(out["masked"][at], sink, out, at)
        out["weights"][at] = np.where(visible, out["weights"][at], 0.0)
    else:
        out["masked"][at] = np.where(visible, s, -np.inf)
        softmax_row(out["masked"][at], sink, out, at)
    rest = [x / out["row_sum"][at] for x, see in zip(out["exp"][at], visible) if not see and x > 0]
    if sink is not None:
        rest.append(math.exp(sink - out["row_max"][at]) / out["row_sum"][at])
    stats_row(out["weights"][at], visible, out, at)
    saturation_row(out["weights"][at], math.fsum(rest), scaled, visible, out, at)
    return out["weights"][at]


# The reply


class Printer:
    """Arrays as JSON, by the request's decimals, nonfinite and encoding."""

    def __init__(self, request):
        self.decimals = request.get("decimals")
        self.hidden = "-Infinity" if request.get("nonfinite") == "string" else None
        self.base64 = request.get("encoding") == "base64"

    def number(self, x):
        if np.isneginf(x):
            return self.hidden
        return float(x) if self.decimals is None else round(float(x), self.decimals)

    def nested(self, array):
        return self.number(array) if array.ndim == 0 else [self.nested(x) for x in array]

    def tensor(self, array):
        if not self.base64:
            return self.nested(array)
        data = np.ascontiguousarray(array, dtype="<f8").tobytes()
        return {"dtype": "float64", "shape": list(array.shape), "base64": base64.b64encode(data).decode()}

    def stats(self, name, array):
        if array.ndim:
            return [self.stats(name, x) for x in array]
        if name == "argmax_key":
            return None if np.isnan(array) else int(array)
        return None if np.isnan(array) else self.number(array)


def readout(rows, request, inputs):
    """Logits of the last query's output row against a vocabulary, largest first; a list of lists with a batch axis."""
    given = request["readout"]
    lists = []
    for row in rows[:, -1]:
        logits = product(row[None], tensor(given["w"]))[0]
        top = max(logits)
        exps = [math.exp(x - top) for x in logits]
        total = math.fsum(exps)
        order = sorted(range(len(logits)), key=lambda t: -logits[t])
        lists.append([{"token": given["tokens"][t], "logit": float(logits[t]), "exp": exps[t],
                       "probability": exps[t] / total}
                      for t in order])
    return lists if inputs.has_batch else lists[0]


def labels(tokens):
    return tokens if isinstance(tokens, dict) else {"query": tokens, "key": tokens}


def axes(inputs, answer):
    """Names of the axes of every tensor in the answer; a group of tensors is an object of lists."""
    outer = ["batch"] * inputs.has_batch + ["head"] * inputs.has_heads
    last = {"output": ["query", "feature"], "products": ["query", "key", "feature"],
            "contributions": ["query", "key", "feature"], "q": ["query", "feature"],
            "k": ["key", "feature"], "v": ["key", "feature"]}
    last.update({name: ["query"] for name in ("log_sum_exp", "row_max", "row_sum") + STATS})

    def of(name):
        if name == "output" and inputs.packed:
            return ["batch"] * inputs.has_batch + last[name]
        return outer + last.get(name, ["query", "key"])

    names = {}
    for name in ("output", "weights", "log_sum_exp"):
        if name in answer:
            names[name] = of(name)
    for group in ("present", "inputs", "mask", "stats", "steps"):
        if group in answer:
            names[group] = {name: of(name) for name in answer[group]}
    return names


def reply(request):
    """The whole reply to a valid request."""
    inputs = Inputs(request)
    q, k, v = inputs.q, inputs.k, inputs.v
    past = 0
    if "past" in request:
        past_k, past_v = (inputs.with_axes(tensor(request["past"][name])) for name in "kv")
        past = past_k.shape[2]
    if "rope" in request:
        rope = request["rope"]
        q = rotate(q, rope, positions_of(rope, "query_positions", q.shape[0], q.shape[2], past))
        k = rotate(k, rope, positions_of(rope, "key_positions", k.shape[0], k.shape[2], past))
    if past:
        k, v = np.concatenate((past_k, k), axis=2), np.concatenate((past_v, v), axis=2)
    b, h, n, d = q.shape
    m = k.shape[2]
    scale = request.get("scale", 1 / math.sqrt(d))
    out = attend(request, q, k, v, Mask(request, b, h, n, m, past), scale)
    return assemble(request, inputs, {"q": q, "k": k, "v": v}, out, scale)


def assemble(request, inputs, entered, out, scale):
    printer = Printer(request)
    include = request.get("include", ["output", "weights"])
    (b, h, n, d), (_, g, m, e) = entered["q"].shape, entered["v"].shape
    rows = out["heads"]
    if inputs.packed:
        rows = rows.transpose(0, 2, 1, 3).reshape(b, n, h * e)
    if "w_o" in request:
        rows = product(rows, tensor(request["w_o"]))
        rows = rows + tensor(request["b_o"]) if "b_o" in request else rows

    def shaped(array):
        array = array if inputs.has_heads else array[:, 0]
        return array if inputs.has_batch else array[0]

    answer = {"id": request["id"]} if "id" in request else {}
    answer["dtype"] = request.get("dtype", "float64")
    answer["shape"] = {"batch": b, "heads": h, "kv_heads": g, "queries": n, "keys": m, "d_k": d, "d_v": e}
    answer["axes"] = {}
    if "tokens" in request:
        answer["labels"] = labels(request["tokens"])
    answer["scale"] = scale
    if "output" in include:
        if inputs.packed:
            answer["output"] = printer.tensor(rows if inputs.has_batch else rows[0])
        else:
            answer["output"] = printer.tensor(shaped(rows))
    for name in ("weights", "log_sum_exp"):
        if name in include:
            answer[name] = printer.tensor(shaped(out[name]))
    if "present" in include:
        answer["present"] = {name: printer.tensor(shaped(entered[name])) for name in "kv"}
    if "inputs" in include:
        answer["inputs"] = {name: printer.tensor(shaped(entered[name])) for name in "qkv"}
    if "mask" in include:
        answer["mask"] = {"allowed": shaped(out["allowed"]).tolist()}
        if "bias" in out:
            answer["mask"]["bias"] = printer.nested(shaped(out["bias"]))
    if "stats" in include:
        answer["stats"] = {name: printer.stats(name, shaped(out[name])) for name in STATS}
    steps = [s for s in STEPS if s in out and ("steps" in include or "steps." + s in include)]
    steps += [s for s in OPT_IN if "steps." + s in include]
    if steps:
        answer["steps"] = {name: printer.tensor(shaped(out[name])) for name in steps}
    if "readout" in request:
        answer["readout"] = readout(rows if inputs.packed else rows[:, 0], request, inputs)
    answer["axes"] = axes(inputs, answer)
    return answer
