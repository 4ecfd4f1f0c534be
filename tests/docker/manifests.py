"""What Kubernetes manifests (YAML on standard input) promise beyond their schema: one line for each promise that is broken.
Usage: manifests.py PROGRAM <manifests.yaml; exit status 1 when there is a line."""

import os
import subprocess
import sys

import yaml

PROGRAM_MEMORY = 80 * 2**20  # these as the program counts them (server/machine/fit.c)
WORKER_MEMORY = 24 * 2**20
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


def find_all(documents, kind):
    return [document for document in documents if document["kind"] == kind]


def find(documents, kind):
    found = find_all(documents, kind)
    if len(found) != 1:
        sys.exit(f"{len(found)} of {kind}")
    return found[0]


def size(text):
    text = text.removesuffix("i")
    return int(text[:-1]) * UNITS[text[-1]]


def settings(program, environment):
    """What the program makes of the manifest's environment; what it says against it too."""
    run = subprocess.run([program, "--print-config"], env=environment, capture_output=True, text=True, check=False)
    values = dict(line.split("  #")[0].split(" = ") for line in run.stdout.splitlines())
    return values, run.stderr.strip()


def contains(whole, part):
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(contains(whole.get(name), value) for name, value in part.items())
    return whole == part


def promises(documents, program):
    deployment = find(documents, "Deployment")
    pod = deployment["spec"]["template"]
    spec, labels = pod["spec"], pod["metadata"]["labels"]
    container = spec["containers"][0]
    environment = {entry["name"]: entry["value"] for entry in container["env"]}
    values, warnings = settings(program, {"PATH": os.environ["PATH"], **environment})
    port = container["ports"][0]

    # Pod Security Standards, restricted
    yield "no privileges", contains(container, {"securityContext": {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}})
    yield "not root, default system calls", contains(spec, {"securityContext": {
        "runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}})
    yield "nothing of the host", not {"hostNetwork", "hostPID", "hostIPC", "volumes"} & spec.keys()
    yield "no token, no service links", contains(
        spec, {"automountServiceAccountToken": False, "enableServiceLinks": False})

    yield f"settings that there are ({warnings})", warnings == "" and values != {}
    if not values:
        return
    yield "the port of the program", str(port["containerPort"]) == values["port"]
    yield "time to end", spec["terminationGracePeriodSeconds"] > (
        float(values["shutdown-delay"]) + float(values["drain-timeout"])) and float(values["shutdown-delay"]) >= 5
    resources, workers = container["resources"], int(values["workers"])
    needed = PROGRAM_MEMORY + size(values["memory"]) + workers * (size(values["request-memory"]) + WORKER_MEMORY)
    yield "memory for all that is let in", size(resources["limits"]["memory"]) >= needed
    yield "memory that is there", resources["requests"]["memory"] == resources["limits"]["memory"]
    yield "as many workers as processors", workers == int(resources["limits"]["cpu"])
    yield "processors asked for, as the autoscaler needs them", "cpu" in resources["requests"]

    startup, ready, live = (container[name + "Probe"] for name in ("startup", "readiness", "liveness"))
    yield "startup: each second for 30", contains(startup, {
        "httpGet": {"path": "/readyz", "port": port["name"]}, "periodSeconds": 1, "failureThreshold": 30})
    yield "readiness: each 5 s", contains(ready, {"httpGet": {"path": "/readyz", "port": port["name"]}, "periodSeconds": 5})
    yield "liveness: three times 10 s", contains(live, {
        "httpGet": {"path": "/livez", "port": port["name"]}, "periodSeconds": 10, "failureThreshold": 3})

    service, autoscaler = find(documents, "Service")["spec"], find(documents, "HorizontalPodAutoscaler")["spec"]
    budget, network = find(documents, "PodDisruptionBudget")["spec"], find(documents, "NetworkPolicy")["spec"]
    yield "the service finds the pods", contains(labels, service["selector"]) and service["selector"] != {}
    yield "the service finds the port", service["ports"][0]["targetPort"] == port["name"]
    for what, part in (("the deployment", deployment["spec"]["selector"]), ("the disruption budget", budget["selector"])):
        yield f"{what} finds the pods", contains(labels, part["matchLabels"])
    yield "the network policy finds the pods", contains(labels, network["podSelector"]["matchLabels"])
    yield "in by one port, out by none", [rule["ports"] for rule in network["ingress"]] == [[{"port": port["name"]}]] and (
        network["policyTypes"] == ["Ingress", "Egress"] and not network["egress"])
    yield "spread finds the pods", all(
        contains(labels, rule["labelSelector"]["matchLabels"]) for rule in spec["topologySpreadConstraints"])
    yield "the autoscaler finds the deployment", contains(
        autoscaler["scaleTargetRef"], {"kind": "Deployment", "name": deployment["metadata"]["name"]})
    yield "the number of replicas is the autoscaler's", "replicas" not in deployment["spec"] and autoscaler["minReplicas"] >= 2

    for monitor in find_all(documents, "PodMonitor"):
        yield "the monitor finds the pods", contains(labels, monitor["spec"]["selector"]["matchLabels"])
        yield "the monitor finds the port", all(
            contains(end, {"port": port["name"], "path": "/metrics"}) for end in monitor["spec"]["podMetricsEndpoints"])
    for ingress in find_all(documents, "Ingress"):
        backends = [path["backend"]["service"] for rule in ingress["spec"]["rules"] for path in rule["http"]["paths"]]
        yield "the ingress finds the service", backends == [{
            "name": find(documents, "Service")["metadata"]["name"], "port": {"name": service["ports"][0]["name"]}}]
        yield "the ingress is trusted to name the client", values["trusted-proxy"] != ""


def main():
    documents = [document for document in yaml.safe_load_all(sys.stdin) if document]
    broken = [what for what, kept in promises(documents, sys.argv[1]) if not kept]
    print(*broken, sep="\n", end="\n" if broken else "")
    sys.exit(1 if broken else 0)


main()
