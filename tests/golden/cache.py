#!/usr/bin/python3
"""Writes cache.json in the folder cache: requests with quantised caches, latent attention and emulated precision, and
what NumPy and ml_dtypes (both from PyPI) say of their replies, path by path."""
import json
import math
import os

import ml_dtypes
import numpy as np

WORD = (1 << 64) - 1
LEVELS = {
    0: [],
    1: [0.7978845608],
    2: [0.4527800346, 1.5104176085],
    3: [0.2450941789, 0.7560052812, 1.3439092785, 2.1519457045],
    4: [0.1283950299, 0.3880482995, 0.6567591185, 0.9423404565, 1.2562311973, 1.6180463860, 2.0690172265, 2.7325895710],
}


class Stream:
    """splitmix64, and normal numbers of it by Box and Muller."""

    def __init__(self, seed):
        self.state = seed

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & WORD
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        return z ^ (z >> 31)

    def square(self, d):
        out = []
        while len(out) < d * d:
            u1 = ((self.bits() >> 11) + 1) * 2.0**-53
            u2 = (self.bits() >> 11) * 2.0**-53
            r = math.sqrt(-2 * math.log(u1))
            out += [r * math.cos(2 * math.pi * u2), r * math.sin(2 * math.pi * u2)]
        return np.array(out[: d * d]).reshape(d, d)


def rotation(side, d):
    """R, and what follows it in the stream."""
    stream = Stream(side.get("seed", 0))
    kind = side.get("rotation", "random" if side["method"] == "turboquant" else "none")
    if kind == "none":
        return np.eye(d), stream
    if kind == "random":
        q, u = np.linalg.qr(stream.square(d))
        return q * np.sign(np.diag(u)), stream
    if kind == "hadamard":
        h = np.array([[(-1) ** bin(i & j).count("1") for j in range(d)] for i in range(d)])
        return h * np.array([-1 if stream.bits() >> 63 else 1 for _ in range(d)]) / math.sqrt(d), stream
    return np.array(kind, float), stream


def scales(side, y, default):
    """The groups of numbers that share a scale, as an array of the shape of y that names them."""
    tokens, d = y.shape
    axis = side.get("axis", default)
    if axis == "tensor":
        return np.zeros(y.shape, int)
    i, t = np.indices(y.shape)
    if axis == "channel":
        return i // side.get("group", tokens) * d + t
    group = side.get("group", d)
    return i * (d // group) + t // group


def scaled(side, y, default):
    codes, back = np.zeros(y.shape), np.zeros(y.shape)
    shared = scales(side, y, default)
    for group in np.unique(shared):
        x = y[shared == group]
        if side["method"] == "affine":
            most = 2 ** side["bits"] - 1
            scale, zero = (x.max() - x.min()) / most, x.min()
            code = np.clip(np.round((x - zero) / scale), 0, most) if scale else 0 * x
            codes[shared == group], back[shared == group] = code, code * scale + zero
        elif side["method"] == "symmetric":
            most = 2 ** (side["bits"] - 1) - 1
            scale = np.abs(x).max() / most
            code = np.clip(np.round(x / scale), -most, most)
            codes[shared == group], back[shared == group] = code, code * scale
        else:
            kind, most = {"float8_e4m3": (ml_dtypes.float8_e4m3fn, 448), "float8_e5m2": (ml_dtypes.float8_e5m2, 57344)}[side["method"]]
            scale = np.abs(x).max() / most
            small = (x / scale).astype(kind)
            codes[shared == group], back[shared == group] = small.view(np.uint8), small.astype(float) * scale
    return codes, back


def turboquant(side, y, norm, stream):
    d = y.shape[1]
    bits = side["bits"] - (side.get("residual") == "qjl")
    levels = np.array(sorted([-x for x in LEVELS[bits]] + LEVELS[bits]) or [0.0]) / math.sqrt(d)
    codes = np.searchsorted((levels[1:] + levels[:-1]) / 2, y, side="right")
    rounded = levels[codes]
    if side.get("renormalize"):
        rounded = rounded / np.linalg.norm(rounded, axis=1, keepdims=True)
    if side.get("residual") == "qjl":
        s, left = stream.square(d), y - rounded
        sign = np.where(left @ s.T < 0, -1, 1)
        rounded = rounded + math.sqrt(math.pi / 2) / d * np.linalg.norm(left, axis=1, keepdims=True) * (sign @ s)
    return codes, rounded * norm


def quantized(side, x, default):
    """codes, and what they stand for."""
    r, stream = rotation(side, x.shape[1])
    y = x @ r.T
    if side["method"] != "turboquant":
        codes, back = scaled(side, y, default)
    else:
        norm = np.linalg.norm(x, axis=1, keepdims=True)
        codes, back = turboquant(side, y / norm, norm, stream)
    return codes, back @ r


def softmax(q, k, causal=True):
    s = q @ k.T / math.sqrt(q.shape[1])
    if causal:
        s = np.where(np.tril(np.ones(s.shape)) > 0, s, -np.inf)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def quantize_case(draw, sides, width=8):
    q, k, v = (np.round(draw.normal(size=(6, width)), 3) for _ in range(3))
    request = {"q": q.tolist(), "k": k.tolist(), "v": v.tolist(), "mask": "causal", "quantize": sides,
               "include": ["output", "weights", "exact.output"]}
    expected = {}
    back = {"k": k, "v": v}
    for name, default in (("k", "channel"), ("v", "token")):
        if name in sides:
            codes, back[name] = quantized(sides[name], back[name], default)
            expected[f"quantization.{name}.codes"] = codes
            expected[f"quantization.{name}.dequantized"] = back[name]
    w, exact = softmax(q, back["k"]), softmax(q, k)
    expected |= {"weights": w, "output": w @ back["v"], "exact.output": exact @ v}
    y, z = w @ back["v"], exact @ v
    with np.errstate(divide="ignore", invalid="ignore"):
        expected["error.weights.kl_bits"] = np.where(exact > 0, exact * np.log2(exact / w), 0).sum(axis=1)
    expected["error.output.cosine"] = (y * z).sum(axis=1) / np.linalg.norm(y, axis=1) / np.linalg.norm(z, axis=1)
    expected["error.output.rms"] = np.sqrt(((y - z) ** 2).mean())
    expected["error.weights.max"] = np.abs(w - exact).max()
    return request, expected


def rotate(x):
    r = x.shape[-1]
    out = x.copy()
    angle = np.arange(x.shape[-2])[:, None] * 10000.0 ** (-2 * np.arange(r // 2) / r)
    out[..., 0::2] = np.cos(angle) * x[..., 0::2] - np.sin(angle) * x[..., 1::2]
    out[..., 1::2] = np.sin(angle) * x[..., 0::2] + np.cos(angle) * x[..., 1::2]
    return out


def latent_case(draw, form, rms):
    h, dn, dr, dc, dcq, e, d, n = 3, 2, 4, 3, 4, 2, 5, 4
    sizes = {"w_dkv": (d, dc), "w_kr": (d, dr), "w_uk": (dc, h * dn), "w_uv": (dc, h * e), "w_dq": (d, dcq), "w_uq": (dcq, h * (dn + dr))}
    w = {name: np.round(draw.normal(size=size) / 2, 3) for name, size in sizes.items()}
    x = np.round(draw.normal(size=(n, d)), 3)
    norm = (lambda c: c / np.sqrt((c * c).mean(axis=1, keepdims=True) + 1e-6)) if rms else (lambda c: c)
    c, kr, cq = norm(x @ w["w_dkv"]), rotate(x @ w["w_kr"]), norm(x @ w["w_dq"])
    q = (cq @ w["w_uq"]).reshape(n, h, dn + dr).transpose(1, 0, 2)
    q = np.concatenate((q[..., :dn], rotate(q[..., dn:])), axis=2)
    k, v = (c @ w["w_uk"]).reshape(n, h, dn).transpose(1, 0, 2), (c @ w["w_uv"]).reshape(n, h, e).transpose(1, 0, 2)
    weights = np.array([softmax(q[g], np.concatenate((k[g], kr), axis=1)) for g in range(h)])
    request = {"x": x.tolist(), "heads": h, "mask": "causal", "latent": {name: m.tolist() for name, m in w.items()} | {"form": form}
               | ({"norm": "rms"} if rms else {}), "include": ["output", "weights", "present", "steps.query_rope"]}
    return request, {"output": np.concatenate([weights[g] @ v[g] for g in range(h)], axis=1), "weights": weights,
                     "present.latent": c, "present.rope_key": kr, "steps.query_rope": q[..., dn:]}


def add(kind, terms):
    total = kind(0)
    for x in terms:
        total = kind(float(total) + float(x))
    return float(total)


def precision_case(draw, profile, narrow, wide):
    """Inputs, weights and output in the narrow format, all else in the wide one."""
    q, k, v = (np.round(draw.normal(size=(3, 4)), 3) for _ in range(3))
    qn, kn, vn = (m.astype(narrow).astype(float) for m in (q, k, v))
    weights, output = np.zeros((3, 3)), np.zeros((3, 4))
    for i in range(3):
        s = [float(wide(0.5 * add(wide, [float(wide(a * b)) for a, b in zip(qn[i], kn[j])]))) for j in range(3)]
        e = [float(wide(math.exp(float(wide(x - max(s)))))) for x in s]
        total = add(wide, e)
        weights[i] = [float(narrow(float(wide(x / total)))) for x in e]
        output[i] = [float(narrow(add(wide, [float(wide(a * b)) for a, b in zip(weights[i], vn[:, t])]))) for t in range(4)]
    request = {"q": q.tolist(), "k": k.tolist(), "v": v.tolist(), "precision": profile}
    return request, {"weights": weights, "output": output}


def cases():
    draw = np.random.default_rng(17)
    affine = {"method": "affine", "bits": 3}
    yield "affine", *quantize_case(draw, {"k": affine, "v": affine})
    yield "affine-groups", *quantize_case(draw, {"k": affine | {"group": 2}, "v": affine | {"group": 4}})
    yield "affine-tensor", *quantize_case(draw, {"k": affine | {"axis": "tensor"}})
    yield "affine-hadamard", *quantize_case(draw, {"k": affine | {"rotation": "hadamard", "seed": 5}})
    yield "affine-random", *quantize_case(draw, {"v": affine | {"rotation": "random", "seed": 6}}, 7)
    yield "symmetric", *quantize_case(draw, {"k": {"method": "symmetric", "bits": 4}, "v": {"method": "symmetric", "bits": 2}})
    yield "float8", *quantize_case(draw, {"k": {"method": "float8_e4m3"}, "v": {"method": "float8_e5m2", "axis": "channel"}})
    for bits in range(1, 5):
        turbo = {"method": "turboquant", "bits": bits, "seed": bits}
        yield f"turboquant-{bits}", *quantize_case(draw, {"k": turbo, "v": turbo | {"rotation": "hadamard"}})
        yield f"turboquant-{bits}-qjl", *quantize_case(draw, {"k": turbo | {"residual": "qjl"}}, 5)
    yield "turboquant-renormalised", *quantize_case(draw, {"k": {"method": "turboquant", "bits": 2, "renormalize": True}})
    for form in ("expanded", "absorbed"):
        yield f"latent-{form}", *latent_case(draw, form, False)
        yield f"latent-{form}-rms", *latent_case(draw, form, True)
    yield "bf16-kernel", *precision_case(draw, "bf16-kernel", ml_dtypes.bfloat16, np.float32)
    yield "fp16", *precision_case(draw, "fp16", np.float16, np.float32)
    yield "bf16-all", *precision_case(draw, "bf16-all", ml_dtypes.bfloat16, ml_dtypes.bfloat16)


def main():
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cache")
    os.makedirs(here, exist_ok=True)
    rows = []
    for name, request, expected in cases():
        rows.append(json.dumps({"name": name, "request": request, "expected": {k: np.asarray(v).tolist() for k, v in expected.items()}}))
    with open(os.path.join(here, "cache.json"), "w") as file:
        file.write("[\n" + ",\n".join(rows) + "\n]\n")


main()
