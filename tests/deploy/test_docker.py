"""
The images and compose.yaml on a Docker engine, by the lines of the documentation.

`make test-docker` starts the engine in a network of its own and runs these tests there, one after
the other: the later ones use what the earlier ones built and started. They print what they measure.
"""

import http.client
import json
import os
import re
import subprocess
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from tests.documented import ELSEWHERE
from tests.faults.prober import Clients
from tests.kit.lab_process import ROOT, until

MACHINE = os.environ.get("DOCKER_MACHINE", "")
"""Folder of the system that the engine runs in; see tools/docker.sh."""

CLONE = "/root/lab"
"""Folder of a clone of this project on that system."""

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(not MACHINE, reason="make test-docker starts an engine for it"),
    pytest.mark.timeout(1800),
]

HERE = "tests/deploy/test_docker.py::"
BUILDS = ELSEWHERE[f"{HERE}test_an_image_is_built"]
(RUN,) = ELSEWHERE[f"{HERE}test_the_image_serves_by_itself"]
(UP,) = ELSEWHERE[f"{HERE}test_compose_starts_the_stack"]
REPLACE = ELSEWHERE[f"{HERE}test_new_code_loses_no_get"]

ADDRESS = "127.0.0.1", 8080
ANSWER = (
    "[0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181, 6765, "
    "10946]"
)
STACK = {"app-a", "app-b", "nginx", "prometheus"}

QUIET = re.compile(r"^(docker (inspect|exec|top)|for)| (ps|logs) ")
"""Lines that ask; how long they take is not printed."""

CONTAINED = {
    "Uid": "65534 65534 65534 65534",
    "CapEff": "0000000000000000",
    "CapBnd": "0000000000000000",
    "NoNewPrivs": "1",
    "Seccomp": "2",
}
"""What the kernel says of each process of the stack."""


# -- the machine with the engine -------------------------------------------------------------------


def shell(line):
    """Return the words that type a line in the clone, without variables of this shell."""
    environment = ("env", "-i", "HOME=/root", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
    return ["chroot", MACHINE, *environment, "sh", "-c", f"cd {CLONE} && {line}"]


def typed(line, *statuses, timeout=1500):
    """Type a line that ends with 0, or as named; print how long it took, return what it printed."""
    began = time.monotonic()
    done = subprocess.run(
        shell(line), capture_output=True, text=True, timeout=timeout, check=False
    )  # fmt: skip
    if not QUIET.search(line):
        print(f"\n  {time.monotonic() - began:6.1f} s  $ {line}")
    printed = done.stdout + done.stderr
    assert done.returncode in (statuses or (0,)), f"{line}: {done.returncode}: {printed[-3000:]}"
    return printed


def inspect(container, template):
    """Return what the engine knows of a container."""
    return typed(f"docker inspect --format '{{{{{template}}}}}' {container}").strip()


def container(service):
    """Return the name of a service's container."""
    return f"fibonacci-{service}-1"


def health(name):
    """Return the state of a container, its health included."""
    line = f"docker inspect --format '{{{{json .State.Health.Status}}}}' {name}"
    return typed(line, 0, 1).strip('"\n')


def healthy(*names):
    """Wait until containers are healthy."""
    for name in names:
        until(lambda name=name: health(name) == "healthy", f"{name} is healthy", 90)


def processes(name):
    """Return the ids of a container's processes, in the namespace that these tests run in."""
    return typed(f"docker top {name} -eo pid").split()[1:]


def get(url, data=None):
    """Return the body of a reply, without a proxy of the environment."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, data, timeout=20) as reply:
        return reply.read().decode()


def answers(path="/9000", body=ANSWER):
    """Return whether the service answers with a body."""
    try:
        return get(f"http://127.0.0.1:8080{path}").strip() == body
    except (OSError, http.client.HTTPException):
        return False


def contained(name):
    """Assert that no process of a container has a privilege, and that its root is read-only."""
    for pid in processes(name):
        status = Path(f"/proc/{pid}/status").read_text()
        lines = {
            field: re.search(rf"^{field}:\s+(.*)$", status, re.MULTILINE)[1] for field in CONTAINED
        }
        assert {field: value.replace("\t", " ") for field, value in lines.items()} == CONTAINED
    line = f"docker exec --user 0 {name} touch /written"
    assert "Read-only file system" in typed(line, 1)


def steady(**options):
    """Return clients that ask about 150 times a second."""
    return Clients(ADDRESS, "/9000", ANSWER.encode(), threads=3, pause=0.02, **options)


def lost(name, clients):
    """Print how many requests were lost, and when; return these."""
    print(f"  {name}: {clients.account()}")
    return clients.failed


@pytest.fixture(scope="session", autouse=True)
def clone():
    """Return the folder of a new clone, with what is not committed yet."""
    folder = Path(MACHINE + CLONE)
    subprocess.run(["rm", "-rf", folder], check=True)
    folder.mkdir()
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
    packed = subprocess.run(
        ["tar", "--null", "--ignore-failed-read", "-T", "-", "-c"],
        cwd=ROOT, input=files, capture_output=True, check=True,
    ).stdout  # fmt: skip
    subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)
    print(
        "\n"
        + typed("docker version --format 'engine {{.Server.Version}}' && docker compose version")
    )
    return folder


# -- images ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", BUILDS)
def test_an_image_is_built(line):
    """As README and the pages build it."""
    typed(line)
    name = line.split()[3]
    size = int(inspect(name, ".Size")) - int(inspect("python:3.13-slim", ".Size"))
    print(f"  {name}: {size / 1e6:.1f} MB on its base")


@pytest.fixture
def alone():
    """Return a function that starts the page's `docker run`, and yields its process."""
    started = []

    def start(*options):
        line = RUN.replace("docker run", " ".join(["exec docker run --name alone", *options]))
        began = time.monotonic()
        started.append(
            subprocess.Popen(shell(line), stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        )
        return began, started[-1]

    yield start
    for process in started:
        subprocess.run(shell("docker rm --force alone"), capture_output=True, check=False)
        process.wait(30)


def test_the_image_serves_by_itself(alone):
    """The page's line starts it; it is healthy, contained, and ends with 0."""
    began, process = alone()
    until(answers, "an answer", 60)
    print(f"  first answer after {time.monotonic() - began:.1f} s")
    healthy("alone")
    print(f"  healthy after {time.monotonic() - began:.1f} s")
    status = Path(f"/proc/{processes('alone')[0]}/status").read_text()
    assert "CapBnd:\t0000000000000000" in status
    assert "Read-only file system" in typed("docker exec --user 0 alone touch /x", 1)
    typed("docker stop alone")
    assert process.wait(30) == 0


SLOW = (
    f"--env WSGI_APP=loadtests.workloads.waiting:app --volume {CLONE}/loadtests:/srv/loadtests:ro"
)


def in_flight(line):
    """Stop by a line while two requests of three seconds are in flight: both are answered."""
    with Clients(ADDRESS, "/3000", b"3000\n", threads=2) as clients:
        time.sleep(1)
        clients._stop.set()
        typed(line)
    assert not lost(line, clients)
    assert len(clients.outcomes) == 2


def test_docker_stop_answers_what_is_in_flight(alone):
    """Within the 10 s that `docker stop` grants."""
    _, process = alone(SLOW)
    until(lambda: answers("/0", "0"), "an answer", 60)
    in_flight("docker stop alone")
    assert process.wait(30) == 0


def test_the_image_of_the_lab_compares():
    """By the line of its Dockerfile, without a registry's tag."""
    line = re.search(
        r"^#   (docker run .*) \\\n#\s+(.*)$",
        (ROOT / "deploy/lab.Dockerfile").read_text(),
        re.MULTILINE,
    )
    printed = typed(f"{line[1]} {line[2]} --blocks 1 --window 0.4 --warmup 0.1", 0, 3)
    assert "Traceback" not in printed


def test_an_image_that_does_not_exist_is_named():
    """The engine looks for it here, then in the registry."""
    assert "Unable to find image 'fibonacci:none' locally" in typed(
        "docker run fibonacci:none", 125
    )


# -- the stack -------------------------------------------------------------------------------------


def test_compose_starts_the_stack(compose):
    """Every service is healthy, contained, and has the limits of compose.yaml."""
    typed(UP)
    typed("curl localhost:8080/9000")
    assert answers()
    for service in STACK:
        name = container(service)
        assert health(name) == "healthy"
        contained(name)
        limits = ".HostConfig.NanoCpus}} {{.HostConfig.Memory}} {{.HostConfig.PidsLimit"
        wanted = compose["services"][service]
        memory = int(wanted["mem_limit"].removesuffix("m")) << 20
        assert inspect(name, limits) == f"{wanted['cpus'] * 10**9} {memory} {wanted['pids_limit']}"
    # A master and two workers: the launcher counts the CPUs of the limit.
    assert len(processes(container("app-a"))) == 3


def test_prometheus_scrapes_both_instances():
    """And nginx."""
    targets = "http://127.0.0.1:9090/api/v1/targets"
    until(lambda: get(targets).count('"health":"up"') == 3, "three targets", 60)


def new_code(clone, mark):
    """Change the application: its replies name the code that made them."""
    path = clone / "app/wsgi.py"
    text = path.read_text().partition("\n# Changed by a test.")[0]
    added = f'app.after_request(lambda reply: (reply.headers.set("X-Code", "{mark}"), reply)[1])'
    path.write_text(f"{text}\n# Changed by a test.\n{added}\n")


def codes():
    """Return the codes that twenty replies name."""
    reply = typed("for n in $(seq 20); do curl --silent --include localhost:8080/9000; done")
    return set(re.findall(r"^X-Code: (\w+)", reply, re.MULTILINE))


def test_new_code_loses_no_get(clone):
    """
    The page's lines replace one instance after the other, under steady GETs.

    One of them was killed before. nginx's line is judged by itself: nobody listens between the old
    one and the new one.
    """
    healthy(*map(container, STACK))
    # Not started again: the first line must see to it, or both would be down at once.
    typed(f"docker kill {container('app-b')}")
    new_code(clone, "first")
    configuration = clone / "profiles/production.nginx.conf"
    configuration.write_text(f"# Changed by a test.\n{configuration.read_text()}")
    *instances, front = REPLACE
    with steady() as fresh, steady(keepalive=True) as kept:
        for line in instances:
            fresh.wait_for(100)
            typed(line)
        fresh.wait_for(100)
    assert codes() == {"first"}
    failed = lost("one connection a request", fresh) + lost("connections kept alive", kept)
    assert failed == []
    with steady() as fresh:
        fresh.wait_for(100)
        typed(front)
        fresh.wait_for(100)
    refused = lost("while nginx is replaced", fresh)
    began = [outcome.began for outcome in refused]
    print(f"  from the first to the last: {max(began) - min(began):.1f} s")
    # Those that reach the engine's proxy in that moment are accepted and then closed.
    unanswered = ("ConnectionRefused", "ConnectionReset", "RemoteDisconnected")
    assert all(outcome.failure.startswith(unanswered) for outcome in refused)


def test_the_load_profile_loads_it():
    """Locust's page starts a load, and no request of it fails."""
    typed("docker compose --profile load up --build --wait")
    contained(container("locust"))
    page = "http://127.0.0.1:8089"
    wanted = {"user_count": 8, "spawn_rate": 8, "host": "http://nginx:8080"}
    assert json.loads(get(f"{page}/swarm", urllib.parse.urlencode(wanted).encode()))["success"]
    time.sleep(5)
    get(f"{page}/stop", b"")
    total = json.loads(get(f"{page}/stats/requests"))["stats"][-1]
    print(f"  Locust: {total['num_requests']} requests, {total['num_failures']} failed")
    assert total["num_requests"] > 100
    assert total["num_failures"] == 0
    typed("docker compose --profile load rm --stop --force locust")


@pytest.mark.parametrize("service", ["app-a", "app-b"])
def test_a_killed_instance_loses_no_get(service):
    """The other one answers. For the engine that was a stop by hand; `up` starts it again."""
    name = container(service)
    with steady() as fresh, steady(keepalive=True) as kept:
        fresh.wait_for(100)
        typed(f"docker kill {name}")
        fresh.wait_for(300)
        assert inspect(name, ".State.Status") == "exited"
        typed(f"docker compose up --detach --no-deps --wait {service}")
        fresh.wait_for(100)
    assert not lost("one connection a request", fresh) + lost("connections kept alive", kept)


@pytest.mark.parametrize("service", ["app-a", "app-b"])
def test_an_instance_that_dies_starts_again(service):
    """The restart policy: SIGKILL to the master, as the kernel does when memory is short."""
    name = container(service)
    before = int(inspect(name, ".RestartCount"))
    with steady() as fresh, steady(keepalive=True) as kept:
        fresh.wait_for(100)
        began = time.monotonic()
        os.kill(int(inspect(name, ".State.Pid")), 9)
        until(lambda: int(inspect(name, ".RestartCount")) == before + 1, "it starts again", 30)
        healthy(name)
        print(f"  healthy again after {time.monotonic() - began:.1f} s")
        fresh.wait_for(100)
    assert not lost("one connection a request", fresh) + lost("connections kept alive", kept)


def override(clone, name, **sections):
    """Write a file that changes services, and return compose's words for the stack with it."""
    (clone / name).write_text(json.dumps(sections))
    return f"docker compose --file compose.yaml --file {name}"


def another_program(clone):
    """An image of the right name that holds something else."""
    typed("docker tag prom/prometheus:v3.5.0 fibonacci-other")
    return override(clone, "other.yaml", services={"app-a": {"image": "fibonacci-other"}})


def unreadable_secret(clone):
    """A file of root's alone; the service runs as uid 65534."""
    (clone / "key").write_text("secret")
    (clone / "key").chmod(0o600)
    (clone / "keyed.py").write_text("open('/run/secrets/key')\nfrom app.wsgi import app\n")
    service = {
        "environment": {"WSGI_APP": "keyed:app"},
        "volumes": ["./keyed.py:/srv/keyed.py:ro"],
        "secrets": ["key"],
    }
    secrets = {"key": {"file": "./key"}}
    return override(clone, "secret.yaml", services={"app-a": service}, secrets=secrets)


def little_memory(clone):
    """Less than Python needs to import the application."""
    return override(clone, "small.yaml", services={"app-a": {"mem_limit": "16m"}})


@pytest.mark.parametrize(
    ("mistake", "status", "log"),
    [
        (another_program, "Restarting (1)", "error: unexpected production"),
        (unreadable_secret, "Restarting (22)", "Permission denied: '/run/secrets/key'"),
        (little_memory, "Restarting (137)", "getting INI configuration"),
    ],
)
def test_an_instance_that_cannot_start_is_named_and_costs_nothing(clone, mistake, status, log):
    """`up --wait` ends with 1 and names it; the other one serves, and the right one comes back."""
    compose = mistake(clone)
    with steady() as fresh:
        printed = typed(f"{compose} up --detach --no-deps --wait app-a", 1)
        assert re.search(r"container fibonacci-app-a-1 (is unhealthy|exited)", printed)
        until(lambda: status in typed(f"{compose} ps --all app-a"), status, 60)
        assert log in typed(f"{compose} logs --tail 40 app-a")
        typed("docker compose up --detach --no-deps --wait app-a")
        fresh.wait_for(50)
    assert not lost(mistake.__name__, fresh)


def test_compose_stop_answers_what_is_in_flight(clone):
    """nginx first, then the instances; all end with 0."""
    service = {
        "environment": {"WSGI_APP": "loadtests.workloads.waiting:app"},
        "volumes": ["./loadtests:/srv/loadtests:ro"],
    }
    compose = override(clone, "slow.yaml", services={"app-a": service, "app-b": service})
    typed(f"{compose} up --detach app-a app-b nginx")
    until(lambda: answers("/0", "0"), "an answer", 60)
    in_flight(f"{compose} stop")
    for service in ("app-a", "app-b", "nginx"):
        assert inspect(container(service), ".State.ExitCode") == "0"
