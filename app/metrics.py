"""
What uWSGI, the kernel and this service count, as Prometheus text: for all workers of an instance.

uWSGI keeps its figures, and `app.durations` those of this service, in memory that the processes
share, so whichever worker answers `/metrics` answers for all of them. The rest is asked for now: of
the kernel how many connections wait, of the master how many workers `harakiri` has ended. Other
servers do not have them, and there is no `/metrics` there. docs/reference/service.md has a table of
it all.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from app.backlog import read_backlog
from app.durations import BOUNDS, Durations

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

COUNTERS = (
    ("uwsgi_requests", "requests", 1.0, "Requests that a worker has answered."),
    ("uwsgi_exceptions", "exceptions", 1.0, "Exceptions that the application let out."),
    ("uwsgi_request_seconds", "running_time", 1e-6, "Time that a worker has spent in requests."),
    ("uwsgi_sent_bytes", "tx", 1.0, "Bytes that a worker has sent."),
    ("uwsgi_respawns", "respawn_count", 1.0, "Times that a worker was started again."),
)
"""Name, without its suffix _total; key of `uwsgi.workers()`; its unit in ours; help."""

TIMEOUT = 1.0
"""Seconds for the master to say how it is. Prometheus waits for ten."""


class Figures(Collector):
    """
    All that one instance of uWSGI can tell.

    Args:
        uwsgi: The module that uWSGI lends to its applications.
        durations: The service's own counters.
        build: Labels of `fib_build_info`.
    """

    def __init__(self, uwsgi: Any, durations: Durations, build: dict[str, str]) -> None:
        self._uwsgi = uwsgi
        self._durations = durations
        self._build = build

    def collect(self) -> Iterable[Metric]:
        """Read the figures now; what cannot be read is left out."""
        yield from self._workers()
        yield from self._harakiri()
        yield from self._backlog()
        # Loaded by each worker for itself, the service has counters of that worker alone.
        if not {"lazy", "lazy-apps"} & self._uwsgi.opt.keys():
            yield self._histogram()
        yield InfoMetricFamily("fib_build", "What answers here, and what it runs on.", self._build)

    def _workers(self) -> Iterator[Metric]:
        # One that has not started yet, as with `cheaper`, has no process.
        workers = [worker for worker in self._uwsgi.workers() if worker["pid"]]
        for name, key, unit, text in COUNTERS:
            family = CounterMetricFamily(name, text, labels=["worker"])
            for worker in workers:
                family.add_metric([str(worker["id"])], worker[key] * unit)
            yield family
        text = "Whether a worker is in a request."
        busy = GaugeMetricFamily("uwsgi_worker_busy", text, labels=["worker"])
        for worker in workers:
            busy.add_metric([str(worker["id"])], float(worker["status"] == b"busy"))
        yield busy

    def _harakiri(self) -> Iterator[Metric]:
        path = self._uwsgi.opt.get("stats")
        if not (isinstance(path, bytes) and path.startswith(b"/")):  # none, a port, or several
            return
        try:
            workers = _ask_master(path)["workers"]
        except (OSError, ValueError):  # it is busy, or about to end
            return
        text = "Times that harakiri ended a worker, whose request had taken too long."
        family = CounterMetricFamily("uwsgi_harakiri", text, labels=["worker"])
        for worker in workers:
            if worker["pid"]:
                family.add_metric([str(worker["id"])], worker["harakiri_count"])
        yield family

    def _backlog(self) -> Iterator[Metric]:
        try:
            backlog = read_backlog(self._uwsgi.sockets[0])
        except OSError:  # a sandbox that forbids netlink
            return
        if backlog is not None:
            text = "Connections that no worker has accepted yet, of the first socket."
            yield GaugeMetricFamily("uwsgi_listen_queue", text, backlog.waiting)
            text = "Connections that the first socket has room for."
            yield GaugeMetricFamily("uwsgi_listen_queue_limit", text, backlog.limit)

    def _histogram(self) -> Metric:
        name = "http_request_duration_seconds"
        text = "Seconds in the application, until status and headers are known, by status class."
        family = Metric(name, text, "histogram")
        for ended in self._durations.read():
            label = {"status": ended.status}
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), ended.buckets, strict=True):
                family.add_sample(f"{name}_bucket", {**label, "le": bound}, count)
            family.add_sample(f"{name}_count", label, ended.buckets[-1])
        return family


def _ask_master(path: bytes) -> dict[str, Any]:
    """Return what uWSGI's master says of itself on its socket of statistics."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(TIMEOUT)
        connection.connect(path)
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        with connection.makefile("rb") as stream:
            reply = stream.read()
    # After HTTP's headers with `stats-http`, at once without.
    document: dict[str, Any] = json.loads(reply[reply.index(b"{") :])
    return document


def render(uwsgi: Any, durations: Durations, build: dict[str, str]) -> bytes:
    """Return the text that Prometheus reads; see `Figures`."""
    registry = CollectorRegistry()
    registry.register(Figures(uwsgi, durations, build))
    return generate_latest(registry)
