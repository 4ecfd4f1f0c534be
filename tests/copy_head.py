#!/usr/bin/python3
"""One head learns to copy, over HTTP: the example copy-head is sent again and again, each time with what the last reply
updated. Prints the loss and exits with 1 where it has not fallen to a fifth.

Usage: copy_head.py PROGRAM [STEPS]
"""
import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.request


def start(program):
    """The service on a port of its own choice, which its log tells."""
    log = tempfile.TemporaryFile()
    service = subprocess.Popen([program, "--listen", "127.0.0.1", "--port", "0"], stdout=log, stderr=log)
    for _ in range(200):
        log.seek(0)
        told = re.search(rb"listens on 127.0.0.1 port (\d+)", log.read())
        if told:
            return service, int(told[1])
        time.sleep(0.05)
    service.kill()
    sys.exit("the service does not tell its port")


def ask(port, path, request=None):
    body = None if request is None else json.dumps(request).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", body, timeout=30) as reply:
        return json.load(reply)


def train(port, steps):
    request = ask(port, "/v1/examples/copy-head")
    losses = []
    for _ in range(steps):
        reply = ask(port, "/v1/attention", request)
        losses.append(reply["loss"])
        updated = reply["updated"]
        request["readout"]["w"] = updated.pop("readout_w")
        request.update(updated)
    return losses


def main():
    service, port = start(sys.argv[1])
    try:
        losses = train(port, int(sys.argv[2]) if len(sys.argv) > 2 else 50)
    finally:
        service.terminate()
        service.wait(30)
    for step in range(0, len(losses), 10):
        print(f"step {step:3}  loss {losses[step]:.4f}")
    print(f"last      loss {losses[-1]:.4f}")
    return losses[-1] > losses[0] / 5


if __name__ == "__main__":
    sys.exit(main())
