"""The shell-session blocks of docker/README.md, executed: each command succeeds and prints what stands below it ("..." is anything).
Usage: readme.py COMPOSE SERVICES, the command for `docker compose` and what it is to start; ports and names are changed to
ones that are free. Run it from the top of the tree; "N passed, M failed" is the last line."""

import os
import re
import socket
import subprocess
import sys
import time

LIMIT = 240


def find_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def read_blocks(text):
    """[(command, expected output)]"""
    steps = []
    for block in re.findall(r"^```shell-session\n(.*?)^```", text, re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append([line[2:], []])
            elif line.startswith("> ") and not steps[-1][1]:
                steps[-1][0] += "\n" + line[2:]
            else:
                steps[-1][1].append(line)
    return [(command, "\n".join(expected)) for command, expected in steps]


def matches(found, expected):
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, found, re.S) is not None


def adapt(command, port, name, compose, services):
    command = command.replace("localhost:8080", f"localhost:{port}").replace("127.0.0.1:8080:", f"127.0.0.1:{port}:")
    command = re.sub(r"(--name|docker stop|docker rm|ExitCode}}') attentiond\b", rf"\1 {name}", command)
    command = re.sub(r"up --detach$", f"up --detach {services}", command)
    return command.replace("docker compose", compose)


def run(command, environment):
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def main():
    compose, services = sys.argv[1:3]
    port, name = find_port(), f"attentiond-readme-{os.getpid()}"
    environment = {**os.environ, "COMPOSE_PROJECT_NAME": name, "PORT": port, "PROMETHEUS_PORT": "0", "GRAFANA_PORT": "0"}
    with open("docker/README.md", encoding="utf-8") as readme:
        steps = read_blocks(readme.read())
    failed = 0
    try:
        for command, expected in steps:
            start = time.monotonic()
            status, found, errors = run(adapt(command, port, name, compose, services), environment)
            good = status == 0 and matches(found.replace(name, "attentiond"), expected)
            failed += not good
            print(f"{'ok     ' if good else 'FAILED '} $ {command.splitlines()[0]} ({time.monotonic() - start:.1f} s)")
            if not good:
                print(f"exit status {status}\nprints:   {found}\nexpected: {expected}\n{errors[-2000:]}")
    finally:
        run(f"docker rm --force {name}; {compose} --file docker/compose.yaml down --volumes --timeout 5", environment)
    print(f"{len(steps) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not steps else 0)


main()
