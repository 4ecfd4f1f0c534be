"""The service when everything goes wrong at once. Usage: chaos.py PROGRAM [SECONDS of overload, 30]

Overload at ten times what it can do: every connection that is accepted gets a whole reply, 200, 429 or 503; probes are
answered within 100 ms, and what a bare server beside it needs on this machine just then; memory stays where it is.
Clients that reset their connections at every stage of a request leave nothing behind. SIGTERM in the middle of that
ends cleanly, and after SIGKILL the next start serves at the same place.
The last line is "PASSED passed, FAILED failed".
"""
import asyncio
import collections
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

PATIENCE = 60
CLIENTS = 16  # that find out what the service can do
TIMES = 10
PROBE_SECONDS = 0.1
TIMES_BARE = 4  # on top, of what a server that does nothing needs at the same time: a busy machine is no fault of ours
GROWTH = 48 << 20  # bytes that memory may vary by, once it has been under load
folder = tempfile.TemporaryDirectory()
counts = collections.Counter()


def verdict(good, what):
    counts["passed" if good else "failed"] += 1
    print(f"{'ok' if good else 'FAILED'}: {what}", flush=True)


def post(n, include, end=b""):
    row = "[" + ",".join("[0.25,-0.5]" for _ in range(n)) + "]"
    body = f'{{"q":{row},"k":{row},"v":{row},"include":["{include}"]}}'.encode() + end
    head = f"POST /v1/attention HTTP/1.1\r\nHost: chaos\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


WORK = post(2500, "output")  # some milliseconds, so that few requests a second are too many
GET = b"GET %s HTTP/1.1\r\nHost: chaos\r\nConnection: close\r\n\r\n"


class Service:
    def __init__(self, program, *flags):
        self.port_file = os.path.join(folder.name, "port")
        self.log = open(os.path.join(folder.name, "log"), "wb")
        if os.path.exists(self.port_file):
            os.unlink(self.port_file)
        command = [program, "--port", "0", "--port-file", self.port_file, "--log-level", "warn", *flags]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        end = time.monotonic() + PATIENCE
        while not os.path.exists(self.port_file) and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        with open(self.port_file, encoding="ascii") as file:
            self.port = int(file.read())

    def resident(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) << 10

    def end(self, sent):
        self.process.send_signal(sent)
        return self.process.wait(PATIENCE)


async def receive(reader):
    """Status of one whole reply with a length or in chunks."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = re.search(rb"\ncontent-length: (\d+)", head)
    if length:
        await reader.readexactly(int(length[1]))
    while not length:
        size = int(await reader.readuntil(b"\r\n"), 16)
        await reader.readexactly(size + 2)
        if size == 0:
            break
    return int(head.split(b" ", 2)[1])


async def ask(port, sent):
    """Status of the reply on a connection of its own; a text that says why there was none."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return "refused"
    try:
        writer.write(sent)
        return await asyncio.wait_for(receive(reader), PATIENCE)
    except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
        return type(error).__name__
    finally:
        writer.close()


async def find_capacity(port):
    """Requests a second that it answers when a few clients ask without a pause."""
    end = time.monotonic() + 2
    done = 0

    async def keep_asking():
        nonlocal done
        while time.monotonic() < end:
            status = await ask(port, WORK)
            done += status == 200

    await asyncio.gather(*(keep_asking() for _ in range(CLIENTS)))
    return done / 2


async def overload(port, rate, seconds):
    """Requests at this rate, whatever becomes of them; how many had which end."""
    ends = collections.Counter()
    tasks = set()

    async def ask_once():
        end = await ask(port, WORK)
        ends[end] += 1

    start = time.monotonic()
    sent = 0
    while time.monotonic() - start < seconds:
        while sent < (time.monotonic() - start) * rate:
            task = asyncio.create_task(ask_once())
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            sent += 1
        await asyncio.sleep(0.005)
    await asyncio.gather(*tasks)
    return ends


def answer_all(listener):
    """A bare server: what it needs for an answer is what this machine needs just now."""
    while True:
        one, _ = listener.accept()
        with one:
            one.recv(4096)
            one.sendall(b"HTTP/1.1 200 OK\r\n\r\n")


def time_one(port):
    start = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as one:
        one.sendall(GET % b"/livez")
        good = one.recv(4096).startswith(b"HTTP/1.1 200 ")
    return time.monotonic() - start if good else PATIENCE


# By itself in a process of its own: the clients of the overload must not delay what it measures.
def probe(port, bare, seconds, out):
    end = time.monotonic() + seconds
    times = {"service": [], "bare": []}
    while time.monotonic() < end:
        times["service"].append(time_one(port))
        times["bare"].append(time_one(bare))
        time.sleep(0.02)
    json.dump(times, out)


def start_bare():
    listener = socket.create_server(("127.0.0.1", 0))
    child = os.fork()
    if child == 0:
        answer_all(listener)
    port = listener.getsockname()[1]
    listener.close()
    return child, port


def start_probe(port, bare, seconds):
    path = os.path.join(folder.name, "probes")
    child = os.fork()
    if child == 0:
        with open(path, "w", encoding="ascii") as out:
            probe(port, bare, seconds, out)
        os._exit(0)
    return child, path


def find_late(times):
    return sorted(times)[int(0.99 * len(times))]


def check_overload(program, seconds):
    service = Service(program, "--queue", "32", "--max-connections", "200")
    rate = TIMES * asyncio.run(find_capacity(service.port))
    asyncio.run(overload(service.port, rate, 5))
    before = service.resident()
    bare, bare_port = start_bare()
    child, path = start_probe(service.port, bare_port, seconds)
    ends = asyncio.run(overload(service.port, rate, seconds))
    after = service.resident()
    os.waitpid(child, 0)
    os.kill(bare, signal.SIGKILL)
    os.waitpid(bare, 0)
    with open(path, encoding="ascii") as file:
        times = json.load(file)
    print(f"offered {rate:.0f}/s for {seconds} s: {dict(ends)}", flush=True)
    late, late_bare = find_late(times["service"]), find_late(times["bare"])
    verdict(set(ends) <= {200, 429, 503} and ends[200] > 0 and ends[503] > 0, f"overload: {dict(ends)}")
    verdict(
        late < PROBE_SECONDS + TIMES_BARE * late_bare,
        f"{len(times['service'])} probes: 99 of 100 within {late * 1e3:.1f} ms, of a bare server {late_bare * 1e3:.1f}",
    )
    verdict(after < before + GROWTH, f"memory {before >> 20} MiB before, {after >> 20} after")
    verdict(asyncio.run(ask(service.port, WORK)) == 200, "answers as ever afterwards")
    verdict(service.end(signal.SIGTERM) == 0, "ends cleanly afterwards")


def reset(one):
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    one.close()


LARGE = post(400, "steps")
STAGES = [b"", b"P", WORK[:30], WORK[:80], WORK[: len(WORK) // 2], WORK, LARGE, WORK * 3, GET % b"/metrics"]


def reset_at(port, stage, taken):
    one = socket.create_connection(("127.0.0.1", port), PATIENCE)
    try:
        one.sendall(STAGES[stage])
        if taken:
            one.recv(taken)
    except OSError:
        pass
    reset(one)


def read_metrics(port):
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as one:
        one.sendall(GET % b"/metrics")
        text = b"".join(iter(lambda: one.recv(1 << 16), b"")).decode()
    return {name: float(value) for name, value in re.findall(r"^(\w+) ([\d.e+]+)$", text, re.M)}


IDLE = {
    "attnd_connections_open": 1,
    "attnd_http_requests_in_flight": 1,
    "attnd_workers_busy": 0,
    "attnd_queue_depth": 0,
    "attnd_bytes_held": 0,
}


def await_idle(port, files):
    end = time.monotonic() + PATIENCE
    wanted = dict(IDLE, process_open_fds=files)
    while True:
        found = {name: value for name, value in read_metrics(port).items() if name in wanted}
        if found == wanted or time.monotonic() > end:
            return found == wanted, found
        time.sleep(0.05)


def check_resets(program):
    choice = random.Random(1)
    service = Service(program)
    asyncio.run(ask(service.port, WORK))
    files = read_metrics(service.port)["process_open_fds"]
    for i in range(900):
        stage = i % len(STAGES)
        reset_at(service.port, stage, choice.choice([0, 1, 5000]) if stage in (6, 8) else 0)
    idle, found = await_idle(service.port, files)
    verdict(idle, f"resets at every stage leave nothing behind: {found}")
    verdict(service.end(signal.SIGTERM) == 0, "ends cleanly after resets")


async def signal_under_load(service, sent):
    task = asyncio.create_task(overload(service.port, 300, 3))
    await asyncio.sleep(1)
    service.process.send_signal(sent)
    return await task


def check_signals(program):
    service = Service(program)
    ends = asyncio.run(signal_under_load(service, signal.SIGTERM))
    status = service.process.wait(PATIENCE)
    verdict(status == 0 and set(ends) <= {200, 429, 503, "refused"}, f"SIGTERM under load: {status}, {dict(ends)}")
    path = "unix:" + os.path.join(folder.name, "socket")
    for _ in range(3):
        service = Service(program, "--metrics-listen", path)
        asyncio.run(signal_under_load(service, signal.SIGKILL))
        service.process.wait(PATIENCE)
        again = Service(program, "--port", str(service.port), "--metrics-listen", path)
        verdict(asyncio.run(ask(again.port, WORK)) == 200, "SIGKILL under load, and the next start serves there")
        verdict(again.end(signal.SIGTERM) == 0, "and ends cleanly")


def main():
    program, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 30
    check_resets(program)
    check_signals(program)
    check_overload(program, seconds)
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] else 0


sys.exit(main())
