"""Workers that serve many requests at a time: gevent, asyncio, async."""

from __future__ import annotations

from lab.lint.rules.alike import present, with_line, without

present(
    "UW105",
    "gevent asyncio",
    "uWSGI exits when it loads the application, because the loop needs at least 2 concurrent "
    "requests; write a larger number",
    title="gevent or asyncio below 2",
    source="plugins/asyncio/asyncio.c:315 `async < 2`; plugins/gevent/gevent.c:410 `async < 2`",
    bad="asyncio = 1",
    good="asyncio = 100\ngreenlet = true",
    near_miss="asyncio = 2\ngreenlet = true",
    when=lambda config: max(map(config.number, ("gevent", "asyncio"))) < 2,
)


present(
    "UW106",
    "asyncio",
    "uWSGI asks for an event loop from outside of Python, and since Python 3.12 exits by that: "
    "'call stack is not deep enough'; import a module that makes a loop after each fork "
    "(uwsgidecorators)",
    title="asyncio with Python 3.12 or later",
    source="plugins/asyncio/asyncio.c:340 `get_event_loop`; docs/explanation/non-blocking.md",
    bad="asyncio = 100\ngreenlet = true",
    good="asyncio = 100\ngreenlet = true\nimport = event_loop",
    near_miss="asyncio = 100\ngreenlet = true\nshared-import = event_loop",
    when=lambda config: (
        config.known.python is not None
        and config.known.python >= (3, 12)
        and not config.all("import", "shared-import")
    ),
)


present(
    "UW115",
    "threads",
    "uWSGI allocates room for as many requests as there are threads, and the loop writes beyond "
    "it, so workers die by segmentation faults; leave it out",
    title="threads with an event loop",
    source="core/init.c:437 `uwsgi.threads`; core/init.c:432 `uwsgi.async`; "
    "docs/explanation/non-blocking.md",
    bad="gevent = 100\nthreads = 2",
    good="gevent = 100",
    near_miss="gevent = 100\nthreads = 1",
    when=lambda config: (
        config.number("threads") > 1 and max(map(config.number, ("gevent", "asyncio", "async"))) > 1
    ),
    fix=without,
)


present(
    "UW218",
    "gevent",
    "unless the application patches Python itself, a request that waits holds up all others of "
    "its worker; add gevent-early-monkey-patch = true",
    title="gevent without monkey patching",
    source="plugins/gevent/gevent.c:429 `ugevent.monkey`",
    bad="gevent = 100",
    good="gevent = 100\ngevent-early-monkey-patch = true",
    near_miss="gevent = 100\ngevent-monkey-patch = true",
    when=lambda config: (
        not config.on("gevent-monkey-patch") and not config.on("gevent-early-monkey-patch")
    ),
    fix=with_line("gevent-early-monkey-patch = true"),
)
