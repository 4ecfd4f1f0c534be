"""Clients that send requests until the service ends, and count what became of each.

Usage: drain.py PORT CLIENTS

Every other client sends one request after the other on a connection that it keeps until a reply says "Connection: close";
the others make a new connection for each request. All go on until no connection is accepted any more. A request counts as lost when its connection was accepted and
yet there was no whole reply to it, whatever the reason; nothing is excused. A refusal (503) counts as refused. The last line
is "ANSWERED answered, REFUSED refused, LOST lost"; the exit status is 1 when one was lost.
"""
import random
import socket
import sys
import threading

PATIENCE = 60


def request(method, path, body=b""):
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: drain\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def square(n, text='"include":["output"]'):
    row = "[" + ",".join("[0.25,-0.5]" for _ in range(n)) + "]"
    return f'{{"q":{row},"k":{row},"v":{row},{text}}}'.encode()


# Tiny work, work for a worker, a reply in blocks, a page.
REQUESTS = [
    request("POST", "/v1/attention", square(2)),
    request("POST", "/v1/attention", square(2)),
    request("POST", "/v1/attention", square(300)),
    request("POST", "/v1/attention", square(200, '"include":["steps"]')),
    request("GET", "/v1/info"),
]


class Lost(Exception):
    pass


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.held = b""

    def more(self):
        try:
            chunk = self.socket.recv(1 << 16)
        except OSError as error:
            raise Lost(f"{error} after {len(self.held)} bytes") from error
        if not chunk:
            raise Lost(f"the end came after {len(self.held)} bytes")
        self.held += chunk

    def take(self, count):
        while len(self.held) < count:
            self.more()
        taken, self.held = self.held[:count], self.held[count:]
        return taken

    def take_line(self, end=b"\r\n"):
        while end not in self.held:
            self.more()
        line, self.held = self.held.split(end, 1)
        return line

    def take_chunks(self):
        while True:
            size = int(self.take_line(), 16)
            if self.take(size + 2)[-2:] != b"\r\n":
                raise Lost("a chunk without its end")
            if size == 0:
                return

    def exchange(self, sent):
        """Status of the reply, and whether the connection goes on."""
        try:
            self.socket.sendall(sent)
        except OSError as error:
            raise Lost(f"{error} while sending") from error
        head = self.take_line(b"\r\n\r\n").lower()
        fields = dict(line.split(b":", 1) for line in head.split(b"\r\n")[1:])
        if fields.get(b"transfer-encoding", b"").strip() == b"chunked":
            self.take_chunks()
        else:
            self.take(int(fields[b"content-length"]))
        return int(head.split(b" ", 2)[1]), fields.get(b"connection", b"").strip() != b"close"


class Counts:
    def __init__(self):
        self.lock = threading.Lock()
        self.answered = self.refused = 0
        self.lost = []

    def add(self, status):
        with self.lock:
            if status < 400:
                self.answered += 1
            elif status == 503:
                self.refused += 1
            else:
                self.lost.append(f"status {status}")

    def lose(self, why):
        with self.lock:
            self.lost.append(str(why))


def ask_until_closed(port, counts, seed):
    choice = random.Random(seed)
    while True:
        try:
            connection = Connection(port)
        except OSError:
            return
        goes_on = True
        while goes_on:
            try:
                status, goes_on = connection.exchange(choice.choice(REQUESTS))
                counts.add(status)
                goes_on = goes_on and seed % 2 == 0
            except Lost as why:
                counts.lose(why)
                goes_on = False
        connection.socket.close()


def main():
    port, clients = int(sys.argv[1]), int(sys.argv[2])
    counts = Counts()
    threads = [threading.Thread(target=ask_until_closed, args=(port, counts, seed)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for why in counts.lost[:5]:
        print(f"lost: {why}")
    print(f"{counts.answered} answered, {counts.refused} refused, {len(counts.lost)} lost")
    return 1 if counts.lost else 0


sys.exit(main())
