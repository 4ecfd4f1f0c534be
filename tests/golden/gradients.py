#!/usr/bin/python3
"""Writes gradients/NAME.json beside this file: requests with backward, and what PyTorch's autograd says in float64.

Needs torch and numpy, which nothing else of the tests does. Each file holds {"request", "gradients", "output"}, and the
error of PyTorch's own float32 against that, per gradient: the service's float32 may err twice as much.
"""
import json
import math
import os
import random

import torch

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gradients")


def rotate(x, rope, start):
    """x [h][n][d] turned by its positions."""
    r = rope.get("dims", x.shape[-1])
    half = r // 2
    angle = torch.outer(torch.arange(start, start + x.shape[-2], dtype=x.dtype),
                        rope.get("theta", 10000.0) ** (-2 * torch.arange(half, dtype=x.dtype) / r))
    a, b = (x[..., 0:r:2], x[..., 1:r:2]) if rope.get("interleaved") else (x[..., :half], x[..., half:r])
    one, two = torch.cos(angle) * a - torch.sin(angle) * b, torch.sin(angle) * a + torch.cos(angle) * b
    turned = torch.stack((one, two), -1).flatten(-2) if rope.get("interleaved") else torch.cat((one, two), -1)
    return torch.cat((turned, x[..., r:]), -1)


def split(t, heads):
    return t.reshape(t.shape[0], heads, -1).transpose(0, 1)


def attend(request, dtype):
    """The output, and the leaves whose gradients are told, by name."""
    leaf = {}

    def take(name, value):
        leaf[name] = torch.tensor(value, dtype=dtype, requires_grad=True)
        return leaf[name]

    heads = request["heads"]
    groups = request.get("kv_heads", heads)
    if "x" in request:
        x = take("x", request["x"])
        q, k, v = (x @ take(w, request[w]) + (take(b, request[b]) if b in request else 0)
                   for w, b in (("w_q", "b_q"), ("w_k", "b_k"), ("w_v", "b_v")))
    else:
        q, k, v = (take(name, request[name]) for name in "qkv")
    q, k, v = split(q, heads), split(k, groups), split(v, groups)
    past = len(request["past"]["k"][0]) if "past" in request else 0
    if "rope" in request:
        q, k = rotate(q, request["rope"], past), rotate(k, request["rope"], past)
    if past:
        k = torch.cat((take("past.k", request["past"]["k"]), k), 1)
        v = torch.cat((take("past.v", request["past"]["v"]), v), 1)
    k, v = k.repeat_interleave(heads // groups, 0), v.repeat_interleave(heads // groups, 0)
    n, m = q.shape[1], k.shape[1]
    scale = take("scale", request.get("scale", 1 / math.sqrt(q.shape[-1])))
    s = scale * (q @ k.transpose(-1, -2))
    if "softcap" in request:
        cap = take("softcap", request["softcap"])
        s = cap * torch.tanh(s / cap)
    mask = request.get("mask", {})
    if "bias" in mask:
        s = s + take("bias", mask["bias"])
    seen = torch.ones(n, m, dtype=torch.bool)
    if mask.get("causal"):
        seen = torch.arange(m)[None, :] <= torch.arange(n)[:, None] + past
    s = torch.where(seen, s, torch.tensor(-math.inf, dtype=dtype))
    if "sinks" in request:
        sinks = take("sinks", request["sinks"])
        w = torch.softmax(torch.cat((s, sinks[:, None, None].expand(heads, n, 1)), -1), -1)[..., :m]
    else:
        w = torch.softmax(s, -1)
    y = (w @ v).transpose(0, 1).reshape(n, -1)
    if "w_o" in request:
        y = y @ take("w_o", request["w_o"]) + (take("b_o", request["b_o"]) if "b_o" in request else 0)
    return y, leaf


def gradients(request, dtype):
    y, leaf = attend(request, dtype)
    (y * torch.tensor(request["backward"]["output"], dtype=dtype)).sum().backward()
    return y.detach(), {name: t.grad for name, t in leaf.items()}


def numbers(draw, *shape):
    if not shape:
        return round(draw.gauss(0, 1), 3)
    return [numbers(draw, *shape[1:]) for _ in range(shape[0])]


def case(seed):
    draw = random.Random(seed)
    groups = draw.choice([1, 2])
    heads = groups * draw.choice([1, 2])
    n, m, d, e = draw.randint(1, 5), draw.randint(1, 6), 2 * draw.randint(1, 3), draw.randint(1, 4)
    request = {"heads": heads, "kv_heads": groups}
    if draw.random() < 0.5:
        m, width = n, draw.randint(2, 5)
        request.update(x=numbers(draw, n, width), w_q=numbers(draw, width, heads * d),
                       w_k=numbers(draw, width, groups * d), w_v=numbers(draw, width, groups * e))
        if draw.random() < 0.5:
            request.update(b_q=numbers(draw, heads * d), b_v=numbers(draw, groups * e))
        if draw.random() < 0.6:
            request.update(w_o=numbers(draw, heads * e, 3), b_o=numbers(draw, 3))
    else:
        request.update(q=numbers(draw, n, heads * d), k=numbers(draw, m, groups * d), v=numbers(draw, m, groups * e))
    past = draw.randint(1, 3) if draw.random() < 0.3 else 0
    if past:
        request["past"] = {"k": numbers(draw, groups, past, d), "v": numbers(draw, groups, past, e)}
    if draw.random() < 0.4:
        request["rope"] = {"interleaved": draw.random() < 0.5}
    mask = {}
    if draw.random() < 0.5:
        mask["causal"] = True
    if draw.random() < 0.4:
        mask["bias"] = numbers(draw, n, draw.choice([1, m + past]))
    if mask:
        request["mask"] = mask
    if draw.random() < 0.4:
        request["softcap"] = round(1 + 2 * draw.random(), 3)
    if draw.random() < 0.4:
        request["sinks"] = numbers(draw, heads)
    if draw.random() < 0.3:
        request["scale"] = round(draw.random(), 3)
    width = 3 if "w_o" in request else heads * e
    request["backward"] = {"output": numbers(draw, n, width)}
    return request


def main():
    os.makedirs(HERE, exist_ok=True)
    for seed in range(24):
        request = case(seed)
        output, exact = gradients(request, torch.float64)
        _, rough = gradients(request, torch.float32)
        error = {name: float((rough[name].double() - exact[name]).abs().max()) for name in exact}
        with open(os.path.join(HERE, f"seed-{seed:02}.json"), "w", encoding="ascii") as file:
            json.dump({"request": request, "output": output.tolist(),
                       "gradients": {name: t.tolist() for name, t in exact.items()}, "float32_error": error}, file)
            file.write("\n")


main()
