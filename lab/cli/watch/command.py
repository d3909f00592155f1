"""`lab watch`: how busy a running server is, and whether requests wait in it."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import click

from lab.analysis.in_flight import Look
from lab.bench.probes.sock_diag import SocketDiagnosis
from lab.bench.probes.watching import ServerEndedError, Watching
from lab.cli.types import NAME, duration
from lab.cli.watch import prometheus, record, text
from lab.cli.watch.result import SECOND, WatchResult, not_known, period_of, verdict_of
from lab.cli.watch.target import ARGUMENT, WatchTarget, find_target
from lab.errors import Interrupted
from lab.report.edge import say_form

FORMS: dict[str, ModuleType] = {"text": text, "json": record, "prometheus": prometheus}
"""Form -> the module that writes it."""


@click.command("watch")
@click.argument("server", metavar=ARGUMENT, required=False, type=NAME)
@click.option(
    "--for",
    "seconds",
    type=duration,
    metavar="TIME",
    help="Watch for this time, as in 60s or 10m.  [default: until Ctrl-C]",
)
@click.option(
    "--format", "form", type=click.Choice(list(FORMS)), default="text", help="Output format."
)
def watch_command(*, server: str | None, seconds: float | None, form: str) -> int:
    """
    Print how many requests a running server has in flight, and where they wait.

    Works in production, for any server on TCP, and for uWSGI and sync workers of gunicorn on a
    UNIX socket. It needs no restart: `lab` asks the kernel about the connections. It reads and does
    nothing else: it sends no signal, stops no process, opens no connection to the server, writes
    nothing, and uses at most 1 % of a core.

    PORT is a TCP port (8000, or :8000 if there is also a process 8000), PID a process, also in a
    container (pid:4711), UNIT a unit of systemd (shop.service), SOCKET the path of a UNIX socket
    (/run/shop.sock).

    Each second prints a line; the end prints mean, p95 and most, and the number for
    `lab tune --busy`. With --format json each second is a JSON object, and the last one has
    "whole": true. With --format prometheus the end is a page for the textfile collector of
    node_exporter.
    """
    target = find_target(server)
    with SocketDiagnosis(target.space) as diagnosis:
        watching = Watching(target, diagnosis)
        say_form(FORMS[form].head(target), "text")
        return _watch(watching, seconds, FORMS[form], form)


def _watch(
    watching: Watching[WatchTarget], seconds: float | None, writer: ModuleType, form: str
) -> int:
    """Print each second and the end; return the exit status."""
    looks: list[Look] = []
    ended: Interrupted | ServerEndedError | None = None

    def show_second(part: Sequence[Look]) -> None:
        watching.waits.sample(watching.workers.shown(()))
        if line := writer.second(period_of(watching, part)):
            say_form(line, form)

    first = 0
    try:
        for look in watching.looks(seconds):
            if looks and look.at - looks[first].at >= SECOND:
                show_second(looks[first:])
                first = len(looks)
            looks.append(look)
    except (Interrupted, ServerEndedError) as error:
        ended = error
    if looks:
        show_second(looks[first:])
        whole = period_of(watching, looks)
        notices = verdict_of(watching, looks, whole)
        unknown = [*not_known(watching, whole)]
        say_form(writer.ending(WatchResult(watching.target, whole, notices, unknown)), form)
    if ended and (seconds is not None or isinstance(ended, ServerEndedError)):
        raise ended
    return 0
