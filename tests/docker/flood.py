"""Bodies of almost 64 MiB from many clients at once: each is answered or refused for want of memory, some of them answered.
Usage: flood.py HOST:PORT CLIENTS [none]; with "none" there is too little memory for any."""

import collections
import http.client
import sys
import threading

WIDTH = 128
ROWS = 2**26 // (2 * (2 * WIDTH + 2)) - 2
row = "[" + ",".join("1" * WIDTH) + "]"
matrix = "[" + ",".join([row] * ROWS) + "]"
body = f'{{"include":["output"],"q":[{row}],"k":{matrix},"v":{matrix}}}'.encode()
statuses = collections.Counter()


def ask():
    connection = http.client.HTTPConnection(sys.argv[1], timeout=100)
    try:
        connection.request("POST", "/v1/attention", body)
    except OSError:
        pass  # a refusal may come before the body is sent
    try:
        statuses[connection.getresponse().status] += 1
    except (OSError, http.client.HTTPException) as fault:
        statuses[type(fault).__name__] += 1


clients = [threading.Thread(target=ask) for _ in range(int(sys.argv[2]))]
for client in clients:
    client.start()
for client in clients:
    client.join()
print(len(body), "bytes:", dict(statuses))
wanted, allowed = ((), {413, 503}) if sys.argv[3:] == ["none"] else ((200, 503), {200, 503})
# A connection that was closed while the client was still sending says nothing: the container's state does.
sys.exit(0 if all(statuses[status] for status in wanted) and not set(statuses) - allowed - {"ConnectionResetError"} else 1)
