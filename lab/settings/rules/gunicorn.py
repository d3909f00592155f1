"""gunicorn's settings."""

from __future__ import annotations

from collections.abc import Iterator

from lab.settings.rules.rule import Config, Flaw, Severity, rule


@rule(
    "GU002",
    Severity.NO_EFFECT,
    "keepalive with sync workers",
    why="sync workers close after every reply",
    seen="workers/sync.py; gunicorn#2330",
    bad="keepalive = 75",
    good="""
worker_class = "gthread"
keepalive = 75
""",
)
def keepalive_with_sync(config: Config) -> Iterator[Flaw]:
    """No connection is kept."""
    setting = config.last("keepalive")
    worker, threads = config.last("worker_class"), config.last("threads")
    # With more than one thread gunicorn takes gthread instead. A value that is computed is unknown.
    sync = worker is None or worker.value == "sync"
    if setting and sync and (threads is None or threads.value == "1"):
        text = (
            "gunicorn's sync workers close after every reply; leave it out, or set worker_class = "
            '"gthread"'
        )
        yield config.flaw(setting, text)
