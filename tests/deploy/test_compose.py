"""compose.yaml: valid, contained, and stopped in the right order."""

import json
import re

import jsonschema
import pytest
import yaml

from tests.deploy.conftest import last_stage
from tests.kit.lab_process import ROOT


def services():
    """Return the names of all services."""
    return ["app-a", "app-b", "nginx", "prometheus", "locust"]


@pytest.fixture(params=services())
def service(request, compose):
    """Return one of the services."""
    return compose["services"][request.param]


def test_it_follows_the_specification(compose):
    """The specification's schema knows each of its keys, and refuses a misspelt one."""
    schema = json.loads((ROOT / "tests/deploy/compose-spec.json").read_text())
    jsonschema.validate(compose, schema)
    compose["services"]["nginx"] |= {"read_onyl": True}
    try:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(compose, schema)
    finally:
        del compose["services"]["nginx"]["read_onyl"]


def test_these_are_the_services(compose):
    """None is there that the tests below do not look at."""
    assert list(compose["services"]) == services()


def test_it_is_contained(service):
    """A service writes to no root file system, has no capability, and cannot get one."""
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]


def test_it_is_bounded(service):
    """A service has a share of the machine, and its log a part of the disk."""
    assert service["cpus"] > 0
    assert re.fullmatch(r"\d+m", service["mem_limit"])
    assert service["pids_limit"] > 0
    assert {"max-size", "max-file"} <= service["logging"]["options"].keys()


def test_it_is_looked_after(service):
    """A service starts again after it ended, says how it is, and has time to stop."""
    assert service["restart"] == "unless-stopped"
    assert "stop_grace_period" in service
    assert "healthcheck" in service


@pytest.mark.parametrize(
    ("service", "dockerfile"),
    [("app-a", "Dockerfile"), ("app-b", "Dockerfile"), ("nginx", "deploy/nginx.Dockerfile")],
)
def test_a_health_check_is_that_of_the_image(compose, service, dockerfile):
    """compose.yaml repeats it, so that another image of that name is not taken for healthy."""
    options, _, command = dict(last_stage(ROOT / dockerfile))["HEALTHCHECK"].partition("CMD ")
    check = {"test": ["CMD", *json.loads(command)]}
    for name, value in re.findall(r"--([a-z-]+)=(\S+)", options):
        check[name.replace("-", "_")] = value
    assert compose["services"][service]["healthcheck"] == check


def test_its_images_are_built_or_pinned(service):
    """No image is fetched by a name that means something else tomorrow."""
    assert "build" in service or re.search(r":v?\d+\.\d+\.\d+$", service["image"])


def test_only_this_machine_can_reach_it(service):
    """Ports are published on the loopback, until somebody says otherwise."""
    for port in service.get("ports", []):
        assert port.startswith(("127.0.0.1:", "${LISTEN:-127.0.0.1:")), port


def test_nginx_stops_before_the_instances(compose):
    """Compose stops dependents first, so nginx finishes while the instances still answer."""
    assert set(compose["services"]["nginx"]["depends_on"]) == {"app-a", "app-b"}


def test_each_instance_has_the_socket_that_nginx_looks_for(compose, nginx):
    """The two instances and nginx agree on where the sockets are."""
    sockets = {compose["services"][name]["environment"]["SOCKET"] for name in ("app-a", "app-b")}
    assert sockets == set(re.findall(r"server unix:(\S+)", nginx))
    folders = {str(compose["services"][name]["volumes"]) for name in ("app-a", "app-b", "nginx")}
    assert folders == {"['run:/run/fibonacci']"}
    assert "uid=65534" in compose["volumes"]["run"]["driver_opts"]["o"]


def test_published_ports_are_those_that_nginx_listens_on(compose, nginx):
    """What compose publishes or exposes of nginx, its configuration listens on."""
    listens = re.findall(r"listen (\d+)", nginx)
    nginx_service = compose["services"]["nginx"]
    assert [nginx_service["ports"][0].rpartition(":")[2], *nginx_service["expose"]] == listens


def seconds(text):
    """Return a duration of whole seconds."""
    return int(re.fullmatch(r"(\d+)s", text)[1])


def test_there_is_time_for_the_longest_request(compose, nginx):
    """Neither nginx nor an instance is killed while a request may still be under way."""
    instance = (ROOT / "profiles/production.ini").read_text()
    harakiri = int(re.search(r"^harakiri = (\d+)$", instance, re.MULTILINE)[1])
    longest = seconds(re.search(r"uwsgi_read_timeout (\w+);", nginx)[1])
    assert seconds(compose["services"]["app-a"]["stop_grace_period"]) > harakiri
    assert seconds(compose["services"]["nginx"]["stop_grace_period"]) > longest


def test_prometheus_asks_what_nginx_answers(nginx):
    """Each target of prometheus.yml is a location of the server that is for Prometheus."""
    jobs = yaml.safe_load((ROOT / "deploy/prometheus.yml").read_text())["scrape_configs"]
    targets = [group for job in jobs for group in job["static_configs"]]
    port = re.findall(r"listen (\d+)", nginx)[1]
    assert {group["targets"][0] for group in targets} == {f"nginx:{port}"}
    paths = [group["labels"]["__metrics_path__"] for group in targets]
    assert paths == re.findall(r"location = (/metrics/\w+)", nginx)
    assert len({group["labels"]["instance"] for group in targets}) == len(targets)
