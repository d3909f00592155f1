"""Alert rules and the dashboard: valid, and about figures that there are."""

import json
import re
import shutil
import subprocess

import pytest
import yaml

from app.durations import BOUNDS
from tests.kit.lab_process import ROOT

RULES = ROOT / "deploy/alerts.yml"
CASES = ROOT / "tests/deploy/alerts.yml"
DASHBOARD = json.loads((ROOT / "deploy/grafana-dashboard.json").read_text())
PANELS = {panel["title"]: panel for panel in DASHBOARD["panels"]}
ALERTS = {
    alert["alert"]: alert
    for group in yaml.safe_load(RULES.read_text())["groups"]
    for alert in group["rules"]
}
EXPRESSIONS = {
    **{name: [rule["expr"]] for name, rule in ALERTS.items()},
    **{title: [target["expr"] for target in panel["targets"]] for title, panel in PANELS.items()},
}


def promtool(*words):
    """Run promtool; skip the test where there is none."""
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    done = subprocess.run(["promtool", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_takes_its_configuration(tmp_path):
    """Prometheus's own tool finds no fault in it, nor in the rules that it names."""
    promtool("check", "config", str(ROOT / "deploy/prometheus.yml"))
    # Debian's was built without Kubernetes, and would know the name of that list and no more.
    text = (ROOT / "deploy/prometheus-kubernetes.yml").read_text()
    path = tmp_path / "prometheus.yml"
    text = text.replace("kubernetes_sd_configs:", "static_configs:")
    path.write_text(text.replace("- role: pod", "- targets: [pod]"))
    promtool("check", "config", str(path))


def test_each_alert_fires_when_it_should():
    """With the figures of tests/deploy/alerts.yml each fires, and without a fault none does."""
    promtool("test", "rules", str(CASES))


def test_each_alert_has_its_cases():
    """Each has a case in which it is silent, and one in which it fires."""
    cases = yaml.safe_load(CASES.read_text())["tests"]
    quiet = {test["alertname"] for test in cases[0]["alert_rule_test"] if "exp_alerts" not in test}
    fired = {
        test["alertname"]
        for case in cases
        for test in case.get("alert_rule_test", [])
        if test.get("exp_alerts")
    } | set(re.findall(r'alertname="(\w+)"', CASES.read_text()))
    assert quiet == fired == ALERTS.keys()


def test_the_dashboard_asks_what_prometheus_understands(tmp_path):
    """Each expression of the dashboard, with Grafana's words filled in, is one of PromQL."""
    rules = [
        {"record": "x", "expr": re.sub(r"\$__\w+", "5m", text).replace("$instance", ".*")}
        for title in PANELS
        for text in EXPRESSIONS[title]
    ]
    # Recording rules of one name need labels that differ.
    for number, rule in enumerate(rules):
        rule["labels"] = {"number": str(number)}
    path = tmp_path / "rules.yml"
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", str(path))


@pytest.fixture(scope="session")
def told(stack):
    """Return the names of all figures that the stack tells Prometheus, and their labels."""
    samples = [
        sample
        for target in ("nginx", "a", "b")
        for family in stack.figures(target).values()
        for sample in family.samples
    ]
    # What Prometheus itself adds.
    names = {"up": {"job", "instance"}}
    for sample in samples:
        names.setdefault(sample.name, {"job", "instance"}).update(sample.labels)
    return names


def test_an_instance_behind_nginx_tells_more(stack):
    """On its UNIX socket too an instance knows its queue; its master says what harakiri ended."""
    figures = stack.figures()
    assert figures["uwsgi_listen_queue_limit"].samples[0].value == 1024
    assert figures["uwsgi_listen_queue"].samples[0].value == 0
    assert [sample.value for sample in figures["uwsgi_harakiri"].samples] == [0, 0]
    (active,) = stack.figures("nginx")["nginx_connections"].samples[:1]
    assert active.labels == {"state": "active"}
    assert active.value >= 1


@pytest.mark.parametrize("title", EXPRESSIONS)
def test_they_are_about_figures_that_there_are(told, title):
    """Every figure in a rule or a panel, and every label of it, is one that the stack tells."""
    for text in EXPRESSIONS[title]:
        names = set(re.findall(r"\b(?:uwsgi|http|fib|nginx)_\w+|\bup\b", text))
        assert names
        assert names <= told.keys()
        labels = set(re.findall(r"(\w+)\s*[=!]~?\"", text))
        for group in re.findall(r"by \(([^)]*)\)", text):
            labels |= set(re.split(r",\s*", group))
        assert labels <= set().union(*(told[name] for name in names)), labels


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_says_what_to_do(name):
    """It has a severity, what is the matter in a line, and where to look."""
    rule = ALERTS[name]
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert rule["annotations"].keys() == {"summary", "description"}
    assert "\n" not in rule["annotations"]["summary"]


def test_limits_are_those_of_the_stack(nginx):
    """The bounds in rules are those of the histogram and of nginx's configuration."""
    slow = float(ALERTS["FibonacciSlow"]["expr"].rpartition(">")[2])
    assert slow in BOUNDS
    workers = int(re.search(r"worker_processes (\d+);", nginx)[1])
    connections = int(re.search(r"worker_connections (\d+);", nginx)[1])
    limit = int(ALERTS["FibonacciConnections"]["expr"].rpartition(">")[2])
    assert 0.7 < limit / (workers * connections / 2) < 0.9


def test_prometheus_finds_the_rules(compose):
    """compose.yaml puts the rules where prometheus.yml looks for them: beside itself."""
    (name,) = yaml.safe_load((ROOT / "deploy/prometheus.yml").read_text())["rule_files"]
    volumes = compose["services"]["prometheus"]["volumes"]
    assert f"./deploy/{name}:/etc/prometheus/{name}:ro" in volumes
    assert "./deploy/prometheus.yml:/etc/prometheus/prometheus.yml:ro" in volumes


def test_panels_have_names_and_places_of_their_own():
    """No two have one id or lie on one another; each says what it shows, of a chosen Prometheus."""
    assert (
        len({panel["id"] for panel in PANELS.values()}) == len(DASHBOARD["panels"]) == len(PANELS)
    )
    taken = set()
    for panel in PANELS.values():
        assert panel["description"]
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not taken & cells, panel["title"]
        taken |= cells


def test_the_dashboard_has_what_its_panels_name():
    """Every variable that a panel uses is one of the dashboard, or Grafana's own."""
    variables = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD["panels"])))
    assert used - {"__rate_interval"} == variables
