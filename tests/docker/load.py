"""Clients that keep asking and check every reply, to the byte, until SIGTERM or SECONDS have passed.
Usage: load.py URL CLIENTS SECONDS; the last line is "N answered, M failed", and M > 0 is exit status 1."""

import http.client
import json
import random
import signal
import sys
import threading
import time
import urllib.parse


def make_body(queries, keys, width, seed):
    draw = random.Random(seed)

    def matrix(rows):
        return [[draw.gauss(0, 1) for _ in range(width)] for _ in range(rows)]

    return json.dumps({"q": matrix(queries), "k": matrix(keys), "v": matrix(keys), "include": ["output"]})


def ask(connection, body, name):
    connection.request("POST", "/v1/attention", body, {"Content-Type": "application/json", "X-Request-Id": name})
    reply = connection.getresponse()
    return reply.status, reply.getheader("X-Request-Id"), reply.read()


def connect(url):
    return http.client.HTTPConnection(url.hostname, url.port, timeout=30)


class Client(threading.Thread):
    def __init__(self, url, index, expected, ending):
        super().__init__()
        self.url, self.index, self.expected, self.ending = url, index, expected, ending
        self.answered, self.faults = 0, []

    def run(self):
        connection = connect(self.url)
        while not self.ending.is_set():
            number = self.answered + len(self.faults)
            body, reply = self.expected[number % len(self.expected)]
            name = f"client-{self.index}-{number}"
            try:
                found = ask(connection, body, name)
                if found != (200, name, reply):
                    raise ValueError(f"{name}: {found[0]} {found[1]} {found[2][:200]!r}")
                self.answered += 1
            except (OSError, http.client.HTTPException, ValueError) as fault:
                self.faults.append(f"{time.strftime('%T')} {name}: {fault!r}")
                connection.close()
                connection = connect(self.url)


def main():
    url = urllib.parse.urlsplit(sys.argv[1])
    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())
    # The largest body is more than the balancer keeps in memory.
    shapes = [(2, 2, 4), (16, 16, 8), (64, 64, 32), (8, 1000, 32)]
    bodies = [make_body(*shape, seed) for seed, shape in enumerate(shapes)]
    expected = [(body, ask(connect(url), body, "first")[2]) for body in bodies]
    clients = [Client(url, index, expected, ending) for index in range(int(sys.argv[2]))]
    for client in clients:
        client.start()
    print("started", flush=True)
    ending.wait(float(sys.argv[3]))
    ending.set()
    for client in clients:
        client.join()
    faults = [fault for client in clients for fault in client.faults]
    print(*faults[:20], sep="\n", end="\n" if faults else "")
    print(f"{sum(client.answered for client in clients)} answered, {len(faults)} failed")
    sys.exit(1 if faults else 0)


main()
