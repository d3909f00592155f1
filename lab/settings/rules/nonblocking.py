"""Workers that serve many requests at a time: gevent, asyncio, async."""

from __future__ import annotations

from collections.abc import Iterator

from lab.settings.rules.rule import Config, Flaw, Severity, rule


@rule(
    "UW219",
    Severity.NO_EFFECT,
    "a worker's age with gevent or asyncio",
    why="the master tells a worker that it is too old, and an event loop does not notice",
    seen="core/master_checks.c:254",
    bad="""
master = true
gevent = 100
max-worker-lifetime = 3600
""",
    good="""
master = true
max-worker-lifetime = 3600
""",
)
def lifetime_with_loop(config: Config) -> Iterator[Flaw]:
    """Workers are not replaced."""
    setting = config.last("max-worker-lifetime")
    if setting and config.on("max-worker-lifetime") and config.all("gevent", "asyncio"):
        text = "a worker with gevent or asyncio does not notice its age; leave it out"
        yield config.flaw(setting, text, config.drop(setting))
