"""A watch in words, for a terminal or a pipe."""

from __future__ import annotations

import time
from collections.abc import Iterator

from lab.analysis.in_flight import Level
from lab.cli.watch.result import Period, WatchResult, WorkerUse
from lab.cli.watch.target import WatchTarget
from lab.model.document import Block, table
from lab.model.wording import counted, in_a_line
from lab.report import plain

HEADS = ("time", "in flight", "in workers", "waiting inside", "accept queue", "oldest unread")
WIDTHS = (8, 9, 13, 14, 13, 13)
GAP = "  "

FEW = 0.05
"""Threads on average, below which a place is not shown."""


def head(target: WatchTarget) -> str:
    """Return the lines above the seconds."""
    process = "" if target.root is None else f"process {target.root}"
    parts = ", ".join(filter(None, (in_a_line(target.settings.name), process)))
    server = f": {parts}" if parts else ""
    titles = GAP.join((HEADS[0].ljust(WIDTHS[0]), *map(str.rjust, HEADS[1:], WIDTHS[1:])))
    place = in_a_line(target.name)
    return f"{place[0].upper()}{place[1:]}{server}. Reads, and does nothing else.\n{titles}\n"


def second(period: Period) -> str:
    """Return the line of a second."""
    figures = period.figures
    of = "" if period.capacity is None else f" of {period.capacity}"
    cells = (
        time.strftime("%H:%M:%S", time.localtime(period.at)),
        f"{figures.in_flight.mean:.1f}",
        f"{figures.in_workers.mean:.1f}{of}",
        f"{figures.waiting_inside.mean:.1f}",
        f"{figures.queue.mean:.0f} of {figures.limit}",
        f"{1000 * figures.oldest_unread:.0f} ms" if figures.oldest_unread else "-",
    )
    return GAP.join(map(str.rjust, cells, WIDTHS)) + "\n"


def ending(watch_result: WatchResult) -> str:
    """Return what is below the seconds."""
    return "\n" + plain.render(_blocks(watch_result))


def _blocks(watch_result: WatchResult) -> Iterator[Block]:
    whole, figures = watch_result.whole, watch_result.whole.figures
    capacity = "" if whole.capacity is None else f"of {whole.capacity}"
    rows = [
        _row("in flight", figures.in_flight, ""),
        _row("in workers", figures.in_workers, capacity),
        _row("waiting inside", figures.waiting_inside, ""),
        _row("accept queue", figures.queue, f"of {figures.limit}"),
    ]
    yield table("", ("requests", "mean", "p95", "most", ""), rows)
    if whole.workers:
        heads = ("worker", "in flight", "request time", "data received", "CPU")
        yield table("", heads, [*_workers(whole)])
    if any(use.threads for use in whole.workers):
        rows = [(str(use.pid), _threads(use)) for use in whole.workers]
        yield table("", ("worker", "threads, on average"), rows)
    lines = [*_sentences(watch_result)]
    yield "\n".join(lines)


def _row(name: str, level: Level, of: str) -> tuple[str, ...]:
    return name, f"{level.mean:.1f}", str(level.p95), str(level.most), of


def _workers(whole: Period) -> Iterator[tuple[str, ...]]:
    for use in whole.workers:
        yield (
            str(use.pid),
            "-" if use.in_flight is None else f"{use.in_flight:.1f}",
            *("-" if share is None else f"{share:.0%}" for share in (use.time, use.segments)),
            "-" if use.cpu is None else f"{use.cpu:.0%}",
        )


def _threads(use: WorkerUse) -> str:
    """Return where the threads of a worker were; those that were there for a moment only not."""
    shown = [f"{number:.1f} {place}" for place, number in use.threads if number >= FEW]
    return ", ".join(in_a_line(place) for place in shown) or "-"


def _sentences(watch_result: WatchResult) -> Iterator[str]:
    whole, figures = watch_result.whole, watch_result.whole.figures
    for notice in watch_result.verdict:
        yield f"{notice.sentence()} See docs/{notice.page}."
    if whole.started:
        yield f"{counted(whole.started, 'worker')} started meanwhile."
    if watch_result.target.is_unix:
        yield "Not counted: what a full queue refuses; the kernel counts it for TCP only."
    elif whole.dropped is None:
        yield "Dropped connections: unknown, another server here defers its accepts, too."
    else:
        dropped = counted(whole.dropped, "handshake") if whole.dropped else "no connection"
        yield f"Dropped from the accept queue: {dropped}."
    yield f"For a load test: `lab tune CONFIG --busy {watch_result.busy}`, the p95 in flight."
    for unknown in watch_result.not_known:
        yield f"Not known: {unknown}."
    looks = f"{figures.looks} looks in {whole.seconds:.0f} s"
    yield f"This watch cost {whole.cost:.1%} of a core ({looks})."
