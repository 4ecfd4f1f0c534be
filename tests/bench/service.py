#!/usr/bin/env python3
"""P1 and P7 to P12 of the goals: the service over HTTP, beside the peers that are installed, in one run.

    service.py PROGRAM

Peers: the folder BENCH_PEERS (default ../shared/peers) with bare_mhd.c and fastapi_numpy.py; BENCH_PYTHON
(default python3), which has fastapi, uvicorn, orjson and numpy; wrk. Times are medians; servers take turns, so that what
else the machine does slows all of them."""
import contextlib
import json
import os
import random
import re
import resource
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROUNDS = 15
TURNS = 5
WARM = 2
PAUSE = 0.1  # seconds between turns: threads of NumPy's OpenBLAS turn round and round for a while after their work
PEERS = os.environ.get("BENCH_PEERS", "../shared/peers")
PYTHON = os.environ.get("BENCH_PYTHON", "python3")
SERVE = """
import uvicorn
uvicorn.run(app, host="127.0.0.1", port=%d, log_level="warning", access_log=False)
"""
SEED = {"q": [[0.3, -0.2, 0.5, 0.1], [1.1, -0.8, 0.2, 0.3]], "k": [[-0.4, -0.3, 0.2, 1.2], [1.6, -0.7, -0.4, -0.5]],
        "v": [[-0.5, -0.4, 0.1, 1.1], [1.2, -0.3, -0.2, -0.6]], "mask": {"causal": True}, "dtype": "float32",
        "include": ["output", "weights", "steps"]}


class Client:
    """One connection that is kept."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=300)
        self.buffer = bytearray(1 << 20)

    def ask(self, request):
        """Sends the request and reads its reply whole: (head, bytes of body and framing, seconds to the first byte)."""
        start = time.perf_counter()
        self.socket.sendall(request)
        count = self.socket.recv_into(self.buffer)
        first = time.perf_counter() - start
        head, _, rest = bytes(self.buffer[:count]).partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(bytes(self.buffer[:count]).decode(errors="replace"))
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        total, tail = len(rest), rest[-5:]
        while total < int(length[1]) if length else tail != b"0\r\n\r\n":
            count = self.socket.recv_into(self.buffer)
            if count == 0:
                raise SystemExit("the connection was closed in the middle of a reply")
            total += count
            tail = (tail + self.buffer[max(0, count - 5):count])[-5:]
        return head.decode(), total, first


def message(document, accept_encoding="identity"):
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return (b"POST /v1/attention HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Accept-Encoding: %s\r\nContent-Length: %d\r\n\r\n" % (accept_encoding.encode(), len(body))) + body


def matrix(rows, columns, draw):
    """Text of float32 values with as few digits as tell them apart: nine at most."""
    def number():
        value = struct.unpack("f", struct.pack("f", draw.gauss(0, 1)))[0]
        return next(text for text in ("%.6g" % value, "%.7g" % value, "%.8g" % value, "%.9g" % value)
                    if struct.unpack("f", struct.pack("f", float(text)))[0] == value)
    return "[" + ",".join("[" + ",".join(number() for _ in range(columns)) + "]" for _ in range(rows)) + "]"


def square(n, d, include):
    draw = random.Random(1)
    q, k, v = (matrix(n, d, draw) for _ in range(3))
    return ('{"q":%s,"k":%s,"v":%s,"dtype":"float32","include":%s}' % (q, k, v, json.dumps(include))).encode()


@contextlib.contextmanager
def process(command, **options):
    child = subprocess.Popen(command, **options)
    try:
        yield child
    finally:
        child.terminate()
        child.wait()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port, child, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end and child.poll() is None:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close() or True
        except OSError:
            time.sleep(0.05)
    return False


@contextlib.contextmanager
def service(program, *options):
    port = free_port()
    with process([program, "--port", str(port), "--log-level", "warn", *options]) as child:
        if not wait_for(port, child):
            raise SystemExit("the service did not start")
        yield child.pid, port


@contextlib.contextmanager
def fastapi():
    """Its port, or None where it is not installed."""
    source = os.path.join(PEERS, "fastapi_numpy.py")
    if not os.path.exists(source) or subprocess.run([PYTHON, "-c", "import fastapi, uvicorn, orjson, numpy"],
                                                    stderr=subprocess.DEVNULL).returncode != 0:
        yield None
        return
    port = free_port()
    with open(source, encoding="utf-8") as file, tempfile.TemporaryFile("w+") as script:
        script.write(file.read() + SERVE % port)
        script.seek(0)
        with process([PYTHON, "-"], stdin=script) as child:
            yield port if wait_for(port, child) else None


@contextlib.contextmanager
def bare(threads):
    """libmicrohttpd with a fixed reply: its port, or None."""
    source = os.path.join(PEERS, "bare_mhd.c")
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "bare")
        if not os.path.exists(source) or subprocess.run(
                ["cc", "-O2", source, "-o", program, "-lmicrohttpd"], stderr=subprocess.DEVNULL).returncode != 0:
            yield None
            return
        port = free_port()
        with process([program, str(port), str(threads)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as child:
            yield port if wait_for(port, child) else None


def memory(pid, name):
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        return int(re.search(name + r":\s+(\d+) kB", file.read())[1]) / 1024


def ratio(ours, theirs):
    return "attentiond is %.1f times as fast" % (theirs / ours)


def compare(title, document, ports):
    """The same request to each, in turns of a few, the first ones of a turn not counted."""
    clients = {name: Client(port) for name, port in ports.items() if port}
    times = {name: [] for name in clients}
    request = message(document)
    for _ in range(TURNS):
        for name, client in clients.items():
            time.sleep(PAUSE)
            for round_ in range(WARM + ROUNDS // TURNS):
                start = time.perf_counter()
                head, size, first = client.ask(request)
                if round_ >= WARM:
                    times[name].append((time.perf_counter() - start, first))
            if name == "attentiond":
                timing, bytes_back = re.search(r"(?i)server-timing: *(.*)", head), size
    middle = {name: [statistics.median(column) * 1e3 for column in zip(*list_)] for name, list_ in times.items()}
    print("%s: %.2f ms, first byte after %.2f; %.1f MB there, %.1f MB back (%s)" % (
        title, *middle["attentiond"], len(document) / 1e6, bytes_back / 1e6, timing[1].strip() if timing else ""))
    for name, (whole, first) in middle.items():
        if name != "attentiond":
            print("    %s: %.2f ms; %s" % (name, whole, ratio(middle["attentiond"][0], whole)))


def codings(title, document, port):
    """What packing adds: the same request with the Accept-Encoding of others, in turns. The client does not unpack."""
    accepts = {"plain": "identity", "requests": "gzip, deflate", "Chromium": "gzip, deflate, br, zstd"}
    client = Client(port)
    times, sizes = {name: [] for name in accepts}, {}
    for round_ in range(WARM + ROUNDS):
        for name, accept in accepts.items():
            start = time.perf_counter()
            _, sizes[name], _ = client.ask(message(document, accept))
            if round_ >= WARM:
                times[name].append((time.perf_counter() - start) * 1e3)
    print(title)
    for name, list_ in times.items():
        middle = statistics.median(list_)
        print("    %s (%s): %.1f ms, %.1f MB; %.2f of plain, %.2f at best" % (
            name, accepts[name], middle, sizes[name] / 1e6, middle / statistics.median(times["plain"]),
            min(list_) / min(times["plain"])))


def rate(port, script):
    text = subprocess.run(["wrk", "-t1", "-c32", "-d4s", "-s", script, "http://127.0.0.1:%d/v1/attention" % port],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    if "Non-2xx" in text:
        raise SystemExit(text)
    return float(re.search(r"Requests/sec: *([\d.]+)", text)[1])


def tiny(ports):
    if not shutil.which("wrk"):
        print("P1: wrk is not installed")
        return
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write('wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = %s\n'
                     % json.dumps(json.dumps(SEED, separators=(",", ":"))))
        script.flush()
        rates = {name: [] for name, port in ports.items() if port}
        for turn in range(4):
            for name in rates:
                rates[name].append(rate(ports[name], script.name))
    middle = {name: statistics.median(list_[1:]) for name, list_ in rates.items()}
    print("P1, the seed with all steps, 32 connections: %.0f requests/s" % middle["attentiond"])
    for name, value in middle.items():
        if name != "attentiond":
            print("    %s: %.0f; attentiond has %.2f of it" % (name, value, middle["attentiond"] / value))


def large(program, title, n, include):
    """Memory above idle, and megabytes a second."""
    body = square(n, 64, include)
    with service(program, "--deadline", "300", "--write-timeout", "300") as (pid, port):
        client = Client(port)
        client.ask(message(SEED))
        idle = memory(pid, "VmRSS")
        start = time.perf_counter()
        _, size, first = client.ask(message(body))
        seconds = time.perf_counter() - start
        peak = memory(pid, "VmHWM") - idle
    print("%s: peak %.1f MiB above idle (body %.1f, q, k and v %.1f); %.0f MB back in %.2f s, %.0f MB/s behind the first "
          "byte, which came after %.2f s" % (title, peak, len(body) / 2**20, 3 * n * 64 * 4 / 2**20, size / 1e6, seconds,
                                             size / 1e6 / max(seconds - first, 1e-9), first))


def slow(program, n, seconds):
    """Somebody takes a large reply at 1 MB/s; what others wait meanwhile. The rest of the reply is not taken."""
    body = square(n, 64, ["weights"])
    with service(program, "--deadline", "300") as (pid, port):
        other = Client(port)
        other.ask(message(SEED))
        idle = memory(pid, "VmRSS")
        reader = Client(port).socket
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        reader.sendall(message(body))
        taken, waits, start = 0, [], time.perf_counter()
        while time.perf_counter() - start < seconds:
            taken += len(reader.recv(1 << 16))
            while taken > (time.perf_counter() - start) * 1e6:
                began = time.perf_counter()
                other.ask(message(SEED))
                waits.append(time.perf_counter() - began)
                time.sleep(0.005)
        peak = memory(pid, "VmHWM") - idle
        reader.close()
    print("P10, the same to a reader of 1 MB/s, %.1f MB taken: peak %.1f MiB above idle; %d tiny requests meanwhile waited "
          "%.2f ms (median), %.2f ms (most)" % (taken / 1e6, peak, len(waits), statistics.median(waits) * 1e3,
                                                 max(waits) * 1e3))


def start_up(program):
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        port = free_port()
        with process([program, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            while True:
                try:
                    with socket.create_connection(("127.0.0.1", port)) as probe:
                        probe.sendall(b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n")
                        if probe.recv(4096).startswith(b"HTTP/1.1 200"):
                            break
                except OSError:
                    time.sleep(0.0002)
            times.append(time.perf_counter() - start)
            idle = memory(child.pid, "VmRSS")
    print("P12: %.1f ms from start to the first 200 of /readyz, %.1f MiB idle" % (statistics.median(times) * 1e3, idle))


def main(program):
    start_up(program)
    with service(program) as (_, port), service(program, "--pin-workers") as (_, pinned), fastapi() as peer, \
            bare(1) as one, bare(2) as two:
        for name, there in (("FastAPI + NumPy + orjson", peer), ("bare libmicrohttpd", one)):
            if not there:
                print("not here: %s" % name)
        tiny({"attentiond": port, "bare libmicrohttpd, 1 thread": one, "bare libmicrohttpd, 2 threads": two,
              "FastAPI + NumPy + orjson": peer})
        ports = {"attentiond": port, "attentiond --pin-workers": pinned, "FastAPI + NumPy + orjson": peer}
        compare("P7, n 1024, d 64, output", square(1024, 64, ["output"]), ports)
        compare("P8, the same with weights", square(1024, 64, ["output", "weights"]), ports)
        codings("P8, packed as clients ask for", square(1024, 64, ["output", "weights"]), port)
    large(program, "P9, n 16384, d 64, output", 16384, ["output"])
    large(program, "P10, n 8192, d 64, weights, fast reader", 8192, ["weights"])
    slow(program, 8192, 8)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main(sys.argv[1])
