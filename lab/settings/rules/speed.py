"""What costs time, or is meant to save it."""

from __future__ import annotations

from collections.abc import Iterator

from lab.settings.rules.rule import Config, Flaw, Severity, rule


@rule(
    "UW207",
    Severity.NO_EFFECT,
    "thunder-lock where nobody takes it",
    why="it keeps processes from waiting for connections at the same time",
    seen="uwsgi.h:43",
    bad="thunder-lock = true",
    good="""
master = true
processes = 4
thunder-lock = true
""",
)
def thunder_lock_alone(config: Config) -> Iterator[Flaw]:
    """There is one process, or its kind of socket takes no lock."""
    setting = config.last("thunder-lock")
    if setting is None or not config.on("thunder-lock"):
        return
    fix = config.drop(setting, safe=True)
    if config.processes == 1:
        text = "it keeps processes apart, and there is one; leave it out, or add processes"
        yield config.flaw(setting, text, fix)
    elif config.sockets("http11"):
        text = "workers of http11-socket do not take the lock; leave it out"
        yield config.flaw(setting, text, fix)
