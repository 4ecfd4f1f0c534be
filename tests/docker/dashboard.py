"""The dashboard and the alerts, against the Prometheus that they are for: each query runs, and the dashboard's have data.
Usage: dashboard.py PROMETHEUS_URL; "N passed, M failed" is the last line. Run it from the top of the tree."""

import json
import pathlib
import re
import sys
import urllib.parse
import urllib.request

GRAFANA = pathlib.Path("docker/grafana")
COLUMNS = 24


def get(base, path, **parameters):
    with urllib.request.urlopen(f"{base}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=10) as reply:
        return json.load(reply)["data"]


def has_data(base, expression):
    result = get(base, "query", query=expression.replace("$__rate_interval", "2m"))["result"]
    return any(sample["value"][1] != "NaN" for sample in result)


def overlap(a, b):
    return a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"]


def find_faults(dashboard, source):
    panels = dashboard["panels"]
    if len({panel["id"] for panel in panels}) < len(panels):
        yield "two panels have one id"
    for i, panel in enumerate(panels):
        place = panel["gridPos"]
        if place["x"] + place["w"] > COLUMNS or any(overlap(place, other["gridPos"]) for other in panels[:i]):
            yield f"{panel['title']} lies over another panel"
        for part in (panel, *panel["targets"]):
            if part["datasource"] != {"type": "prometheus", "uid": source}:
                yield f"{panel['title']} asks {part['datasource']}"


def check(what, faults):
    for fault in faults:
        print(f"FAILED  {what}: {fault}")
    if not faults:
        print(f"ok      {what}")
    return not faults


def check_queries(base, dashboard):
    for panel in dashboard["panels"]:
        empty = [target["expr"] for target in panel["targets"] if not has_data(base, target["expr"])]
        yield check(f"data for \"{panel['title']}\"", empty)


def check_alerts(base):
    rules = [rule for group in get(base, "rules")["groups"] for rule in group["rules"]]
    known = set(get(base, "label/__name__/values"))
    asked = {name for rule in rules for name in re.findall(r"\b(?:attnd|process)_[a-z_]+", rule["query"])}
    yield check(f"{len(rules)} alerts run", [rule["name"] for rule in rules if rule["health"] != "ok"])
    yield check("alerts ask for what there is", sorted(asked - known))


def main():
    base = sys.argv[1]
    dashboard = json.loads((GRAFANA / "dashboards/attentiond.json").read_text())
    source = re.search(r"^ *uid: (\S+)$", (GRAFANA / "provisioning/datasources/prometheus.yml").read_text(), re.M)[1]
    results = [check("the dashboard is whole", list(find_faults(dashboard, source)))]
    results += check_queries(base, dashboard)
    results += check_alerts(base)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    sys.exit(not all(results))


main()
