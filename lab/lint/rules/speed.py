"""What is meant to save time, and does not."""

from __future__ import annotations

from collections.abc import Iterator

from lab.lint.rules.alike import present, without, written
from lab.lint.rules.rule import Case, Flaw, Severity, rule

present(
    "UW206",
    "enable-threads",
    "threads are always enabled since uWSGI 2.0.27; keep it where an older uWSGI may run",
    source="core/init.c:435 `has_threads = 1`; core/uwsgi.c:200 `true by default`",
    bad="enable-threads = true",
    good="threads = 2",
    near_miss="enable-threads = false",
    when=lambda config: config.known.version >= (2, 0, 27),
)


@rule(
    "UW207",
    Severity.NO_EFFECT,
    "thunder-lock that no worker takes",
    why="the lock keeps processes from waiting for connections at the same time",
    source="uwsgi.h:43 `is_et`",
    bad="thunder-lock = true",
    good="master = true\nprocesses = 4\nthunder-lock = true",
    near_miss="thunder-lock = true\nmaster = true\nworkers = 4",
)
def thunder_lock_alone(config: Case) -> Iterator[Flaw]:
    """There is one process, or its kind of socket takes no lock."""
    for setting in written(config, "thunder-lock"):
        fix = config.drop(setting)
        if config.one_process:
            text = (
                "the lock is between processes, and there is only one; leave it out, or add "
                "processes"
            )
            yield config.flaw(setting, text, fix)
        elif config.sockets("http11"):
            text = "workers of http11-socket do not take the lock; leave it out"
            yield config.flaw(setting, text, fix)


present(
    "UW209",
    "reuse-port",
    "the workers share one socket anyway, and this only lets another server use the same port; "
    "leave it out, unless there is one",
    title="reuse-port without map-socket",
    source="core/socket.c:699 `reuse_port`",
    bad="processes = 4\nsocket = :3031\nreuse-port = true",
    good="processes = 2\nsocket = :3031\nsocket = :3031\nreuse-port = true\nmap-socket = 0:1",
    near_miss="processes = 4\nsocket = :3031\nif-env = TWO_AT_A_TIME\nreuse-port = true\nendif =",
    when=lambda config: not config.all("map-socket"),
    fix=without,
)
