"""
What uWSGI counts anyway, as Prometheus text: for all workers, and at no cost for a request.

uWSGI keeps these figures in memory that its processes share, so whichever worker answers `/metrics`
answers for all of them. Other servers do not have them, and there is no `/metrics` there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

COUNTERS = (
    ("uwsgi_requests", "requests", 1.0, "Requests that a worker has answered."),
    ("uwsgi_exceptions", "exceptions", 1.0, "Exceptions that the application let out."),
    ("uwsgi_request_seconds", "running_time", 1e-6, "Time that a worker has spent in requests."),
    ("uwsgi_sent_bytes", "tx", 1.0, "Bytes that a worker has sent."),
    ("uwsgi_respawns", "respawn_count", 1.0, "Times that a worker was started again."),
)
"""Name, without its suffix _total; key of `uwsgi.workers()`; its unit in ours; help."""


class Workers(Collector):
    """
    The workers as `uwsgi` reports them.

    Args:
        uwsgi: The module that uWSGI lends to its applications.
        build: Labels of `fib_build_info`.
    """

    def __init__(self, uwsgi: Any, build: dict[str, str]) -> None:
        self._uwsgi = uwsgi
        self._build = build

    def collect(self) -> Iterable[Metric]:
        """Read the figures now."""
        # One that has not started yet, as with `cheaper`, has no process.
        workers = [worker for worker in self._uwsgi.workers() if worker["pid"]]
        for name, key, unit, text in COUNTERS:
            family = CounterMetricFamily(name, text, labels=["worker"])
            for worker in workers:
                family.add_metric([str(worker["id"])], worker[key] * unit)
            yield family
        yield from self._gauges(workers)
        yield InfoMetricFamily("fib_build", "Which build of the sequence answers.", self._build)

    def _gauges(self, workers: Iterable[dict[str, Any]]) -> Iterator[Metric]:
        busy = GaugeMetricFamily(
            "uwsgi_worker_busy", "Whether a worker is in a request.", labels=["worker"]
        )
        for worker in workers:
            busy.add_metric([str(worker["id"])], float(worker["status"] == b"busy"))
        yield busy
        # The master reads it, of the first socket, and of a TCP socket only; behind the HTTP router
        # that one is not the public one.
        if "master" in self._uwsgi.opt:
            text = "Connections that wait on the first socket; of a UNIX socket 0."
            yield GaugeMetricFamily("uwsgi_listen_queue", text, self._uwsgi.listen_queue())


def render(uwsgi: Any, build: dict[str, str]) -> bytes:
    """Return the text that Prometheus reads; see `Workers`."""
    registry = CollectorRegistry()
    registry.register(Workers(uwsgi, build))
    return generate_latest(registry)
