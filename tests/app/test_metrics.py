"""What `/metrics` tells: of replies and their durations, of the queue, of the build."""

import os
import platform
import signal
import socket
import threading
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from app import create_app, metrics
from app.backlog import read_backlog
from app.durations import BOUNDS
from lab.model.workload import Workload
from tests.faults.prober import ask
from tests.faults.stacks import FIB, production
from tests.kit.lab_process import ROOT, until

from .conftest import served

HISTOGRAM = "http_request_duration_seconds"


def families(body):
    """Return the metric families of a reply by their names."""
    return {family.name: family for family in text_string_to_metric_families(body.decode())}


def counts(ask):
    """Return how many replies of each status class `/metrics` tells."""
    samples = families(ask("GET", "/metrics").body)[HISTOGRAM].samples
    return {
        sample.labels["status"]: sample.value
        for sample in samples
        if sample.name == f"{HISTOGRAM}_count"
    }


def test_each_reply_is_counted_by_its_class(tuned):
    """Replies 200, 304, 400, 404 and 405 are added to 2xx, 3xx and 4xx."""
    before = counts(tuned)
    for _ in range(3):
        tuned("GET", "/9000")
        tuned("HEAD", "/9000")
        tuned("GET", "/9000", {"If-None-Match": '"f21"'})
        for request in (("GET", "/abc"), ("GET", "/a/b"), ("POST", "/9000")):
            tuned(*request)
    after = counts(tuned)
    # The first /metrics itself is a 200, too.
    assert {name: after[name] - before[name] for name in after} == {
        "2xx": 7, "3xx": 3, "4xx": 9, "5xx": 0,
    }  # fmt: skip


def test_a_failure_of_a_view_is_counted():
    """A view that raises is a 5xx."""
    service = create_app()

    @service.get("/a/failure")
    def failure():
        raise ValueError

    assert service.test_client().get("/a/failure").status_code == 500
    assert {histogram.status: histogram.buckets[-1] for histogram in service.durations.read()} == {
        "2xx": 0, "3xx": 0, "4xx": 0, "5xx": 1,
    }  # fmt: skip


def test_a_duration_is_in_the_buckets_above_it():
    """A reply that takes 30 ms is in no bucket up to 25.6 ms, and in those from its own on."""
    service = create_app()
    over = threading.Event()

    @service.get("/a/wait")
    def wait():
        over.wait(0.03)
        return "done"

    assert service.test_client().get("/a/wait").status_code == 200
    (good, *_) = service.durations.read()
    assert dict(zip(BOUNDS, good.buckets, strict=False))[0.0256] == 0
    assert list(good.buckets) == sorted(good.buckets)
    assert good.buckets[-1] == 1


def test_buckets_and_count_agree(tuned):
    """Of a class no bucket has less than the one below, and the last has as many as the count."""
    tuned("GET", "/9000")
    samples = families(tuned("GET", "/metrics").body)[HISTOGRAM].samples
    good = [sample for sample in samples if sample.labels["status"] == "2xx"]
    buckets = [sample.value for sample in good if "le" in sample.labels]
    assert buckets == sorted(buckets)
    assert good[-1].name.endswith("_count")
    assert buckets[-1] == good[-1].value > 0
    assert [float(sample.labels["le"]) for sample in good[:-1]] == [*BOUNDS, float("inf")]


# pytest-xdist's workers have a thread of their own; the child touches nothing of it.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_what_a_process_counted_outlives_it():
    """Memory that processes share: what a forked one counted is read by the one that forked it."""
    service = create_app()
    pid = os.fork()
    if not pid:
        service.test_client().get("/9000")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    (good, *_) = service.durations.read()
    assert good.buckets[-1] == 1


@pytest.mark.slow
def test_a_killed_worker_takes_no_figure_with_it():
    """What the workers had counted stays, and goes on, when they were killed and replaced."""
    with served("tuned") as ask:
        for _ in range(10):
            ask("GET", "/9000")
        before = counts(ask)["2xx"]
        victims = ask.spawned()
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        until(lambda: len(ask.spawned()) == 2 * len(victims), "new workers")
        assert counts(ask)["2xx"] == before + 1


def test_the_build_is_named(tuned):
    """`fib_build_info` has the versions of the service, of Python and of uWSGI, and the build."""
    (sample,) = families(tuned("GET", "/metrics").body)["fib_build_info"].samples
    assert sample.labels.keys() == {"build", "python", "uwsgi", "version"}
    assert sample.labels["python"] == platform.python_version()
    assert sample.labels["uwsgi"].startswith("2.0.")


@pytest.mark.parametrize(
    ("family", "address"),
    [
        (socket.AF_UNIX, "queue.sock"),
        (socket.AF_INET, ("127.0.0.1", 0)),
        (socket.AF_INET6, ("::1", 0)),
    ],
)
def test_the_queue_of_a_socket(tmp_path, monkeypatch, family, address):
    """The kernel says how many connections wait on a TCP or a UNIX socket, and its limit."""
    monkeypatch.chdir(tmp_path)
    with socket.socket(family) as listening:
        try:
            listening.bind(address)
        except OSError as error:
            pytest.skip(f"no {family.name} here: {error}")
        listening.listen(17)
        assert read_backlog(listening.fileno()) == (0, 17)
        clients = [socket.socket(family) for _ in range(3)]
        for client in clients:
            client.connect(listening.getsockname())
        assert read_backlog(listening.fileno()) == (3, 17)
        for client in clients:
            client.close()
        assert listening.fileno() >= 0


def test_what_is_no_listening_socket_has_no_queue():
    """A socket of another family has none, and a pair's UNIX socket no connection that waits."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4) as other:
        assert read_backlog(other.fileno()) is None


def told_by(**opt):
    """Return the names of what an instance with these options would tell."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        uwsgi = SimpleNamespace(opt=opt, workers=list, sockets=[listening.fileno()], numproc=1)
        service = create_app()
        return families(metrics.render(uwsgi, service.durations, {})).keys()


def test_figures_that_cannot_be_had_are_left_out(tmp_path):
    """No figure stands for nothing: not with lazy-apps, and not where no statistics answer."""
    always = told_by(master=b"true")
    assert HISTOGRAM in always
    assert "uwsgi_harakiri" not in always
    assert told_by(**{"lazy-apps": b"true"}) == always - {HISTOGRAM}
    for stats in (bytes(tmp_path / "none"), b"127.0.0.1:1", [b"/a", b"/b"], True):
        assert told_by(stats=stats) == always


@pytest.mark.slow
def test_harakiri_is_counted(tmp_path):
    """A worker that harakiri ended stands in the figures of its instance, and no reply does."""
    load = Workload("troubled", "/9000", FIB.expect, "troubled:application", ROOT / "tests/sites")
    with production(tmp_path, load, options="harakiri = 2") as stack:
        reply = ask(stack.address, "/a/stuck", b"")
        assert "502" in reply.failure
        ended = [
            sum(sample.value for sample in stack.figures(name)["uwsgi_harakiri"].samples)
            for name in "ab"
        ]
        # nginx gives it to the other instances in turn, where it is ended as well.
        assert sum(ended) >= 1
        samples = stack.figures()[HISTOGRAM].samples
        assert [sample.value for sample in samples if sample.labels["status"] == "5xx"] == [0] * 23
