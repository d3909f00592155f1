"""Workers that serve many requests at a time: gevent, asyncio, async."""

from __future__ import annotations

from collections.abc import Iterator

from lab.settings.rules.alike import written
from lab.settings.rules.rule import Config, Flaw, Severity, rule

LOOPS = ("gevent", "asyncio", "async")


@rule(
    "UW105",
    Severity.ERROR,
    "an event loop with one place",
    why="gevent and asyncio need two requests at a time at the least, or uWSGI ends",
    seen="plugins/asyncio/asyncio.c:315 `async < 2`; plugins/gevent/gevent.c:410 `async < 2`",
    bad="asyncio = 1",
    good="asyncio = 100\ngreenlet = true",
)
def one_place(config: Config) -> Iterator[Flaw]:
    """The start fails after the application was loaded."""
    for setting in written(config, "gevent", "asyncio"):
        if config.number(setting.option) < 2:
            text = (
                "uWSGI ends at once, because a loop needs 2 places or more; write a larger number"
            )
            yield config.flaw(setting, text)


@rule(
    "UW106",
    Severity.ERROR,
    "asyncio on Python 3.12 or later",
    why="uWSGI asks asyncio for a loop from outside of Python, which Python 3.12 refuses",
    seen="plugins/asyncio/asyncio.c:340 `get_event_loop`",
    bad="asyncio = 100\ngreenlet = true",
    good="asyncio = 100\ngreenlet = true\nimport = event_loop",
)
def no_loop(config: Config) -> Iterator[Flaw]:
    """Another module may make a loop for each worker first."""
    modern = config.known.python is not None and config.known.python >= (3, 12)
    for setting in written(config, "asyncio"):
        if modern and not config.all("import", "shared-import", "spooler-import"):
            text = (
                "on this Python uWSGI ends with 'call stack is not deep enough'; import a module "
                "that sets an event loop after each fork (uwsgidecorators.postfork)"
            )
            yield config.flaw(setting, text)


@rule(
    "UW115",
    Severity.ERROR,
    "threads with an event loop",
    why="uWSGI makes room for as many requests as threads, and the loop writes behind it: workers "
    "die by segmentation faults",
    seen="core/init.c:437 `uwsgi.threads`; core/init.c:432 `uwsgi.async`",
    bad="gevent = 100\nthreads = 2",
    good="gevent = 100",
)
def threads_with_loop(config: Config) -> Iterator[Flaw]:
    """Whichever is larger."""
    loop = next((each for each in written(config, *LOOPS) if config.number(each.option) > 1), None)
    for setting in written(config, "threads"):
        if loop and config.number("threads") > 1:
            text = f"with {loop.option} workers write behind their memory and die; leave it out"
            yield config.flaw(setting, text, config.drop(setting))


@rule(
    "UW218",
    Severity.NO_EFFECT,
    "gevent without monkey patching",
    why="what blocks then blocks all requests of its process",
    seen="plugins/gevent/gevent.c:429 `ugevent.monkey`",
    bad="gevent = 100",
    good="gevent = 100\ngevent-early-monkey-patch = true",
)
def unpatched(config: Config) -> Iterator[Flaw]:
    """A remark, because the application may do it itself."""
    for setting in written(config, "gevent"):
        if not (config.on("gevent-monkey-patch") or config.on("gevent-early-monkey-patch")):
            line = "gevent-early-monkey-patch = true"
            text = (
                "unless the application patches Python itself, one request waits for the other: "
                f"19 requests/s of 50 ms each instead of 1,150 (measured once); add {line}"
            )
            yield config.flaw(setting, text, config.add(line, after=setting), harmless=True)
