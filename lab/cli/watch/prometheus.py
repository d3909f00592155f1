"""A watch in the text format of Prometheus, as the textfile collector of node_exporter reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.cli.watch.result import Period, WatchResult
from lab.cli.watch.target import WatchTarget
from lab.model.wording import in_a_line

PREFIX = "pyserver_"

Sample = tuple[str, float]
"""Labels besides the port, and the value."""


def head(_target: WatchTarget) -> str:
    """Return nothing: a page is of one moment."""
    return ""


def second(_period: Period) -> str:
    """Return nothing, as above."""
    return ""


def ending(watch_result: WatchResult) -> str:
    """Return the page."""
    place, lines = _escaped(watch_result.target.name.removeprefix("port ")), []
    for name, kind, meaning, samples in _metrics(watch_result):
        if samples:
            lines += [f"# HELP {PREFIX}{name} {meaning}", f"# TYPE {PREFIX}{name} {kind}"]
            lines += [
                f'{PREFIX}{name}{{port="{place}"{labels}}} {value:g}' for labels, value in samples
            ]
    return "".join(f"{line}\n" for line in lines)


def _escaped(text: str) -> str:
    """Return the value of a label as the format wants it."""
    return in_a_line(text).replace("\\", "\\\\").replace('"', '\\"')


def _metrics(watch_result: WatchResult) -> Iterator[tuple[str, str, str, Sequence[Sample]]]:
    whole, figures = watch_result.whole, watch_result.whole.figures
    yield (
        "requests_in_flight", "gauge", "Requests that have arrived and are not answered.",
        [("", figures.in_flight.mean)],
    )  # fmt: skip
    yield (
        "requests_in_flight_p95", "gauge", "The same: at most so many for 95 % of the time.",
        [("", figures.in_flight.p95)],
    )  # fmt: skip
    yield (
        "requests_in_worker", "gauge", "Requests that a worker has accepted.",
        [(f',worker="{use.pid}"', use.in_flight) for use in whole.workers
         if use.in_flight is not None],
    )  # fmt: skip
    yield (
        "requests_processed", "gauge", "Requests that the workers work on.",
        [("", figures.in_workers.mean)],
    )  # fmt: skip
    yield (
        "capacity", "gauge", "Requests that the workers can work on at once.",
        [] if whole.capacity is None else [("", whole.capacity)],
    )  # fmt: skip
    yield (
        "requests_waiting_inside", "gauge", "Requests that are accepted and not worked on.",
        [("", figures.waiting_inside.mean)],
    )  # fmt: skip
    yield "accept_queue", "gauge", "Connections to accept.", [("", figures.queue.mean)]
    yield "accept_queue_limit", "gauge", "Connections that may wait.", [("", figures.limit)]
    yield (
        "accept_dropped", "gauge", "Handshakes that a full accept queue dropped in the watch.",
        [] if whole.dropped is None else [("", whole.dropped)],
    )  # fmt: skip
    yield "worker_starts", "gauge", "Workers that started in the watch.", [("", whole.started)]
    yield "watch_seconds", "gauge", "Duration of the watch.", [("", whole.seconds)]
