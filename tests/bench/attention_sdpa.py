#!/usr/bin/env python3
"""PyTorch's scaled_dot_product_attention beside ours: for each line "heads n d repeats" the medians, in seconds, on one
thread, on one thread with the causal mask, and on two threads."""
import statistics
import sys
import time

import torch
from torch.nn.functional import scaled_dot_product_attention


def median(q, k, v, repeats, causal, threads):
    torch.set_num_threads(threads)
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        scaled_dot_product_attention(q, k, v, is_causal=causal)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


with torch.no_grad():
    for line in sys.stdin:
        heads, n, d, repeats = map(int, line.split())
        q, k, v = (torch.rand(1, heads, n, d) * 2 - 1 for _ in range(3))
        print(*(median(q, k, v, repeats, *way) for way in ((False, 1), (True, 1), (False, 2))), flush=True)
