"""How many requests and connections granian's workers take, and what it serves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lab.config.granian.command import TABLE
from lab.config.steps import Rename
from lab.lint.rules.granian import is_wsgi, threads_in_words
from lab.lint.rules.rule import Case, Edit, Fix, Flaw, Severity, rule


@rule(
    "GR010",
    Severity.DANGEROUS,
    "workers that are replaced behind a TCP port",
    why="connections that wait for a worker are reset when that worker is replaced, unless the "
    "kernel moves them to another; set the sysctl net.ipv4.tcp_migrate_req = 1, also in the "
    "container",
    source="granian/server/common.py:567 `self.lifetime_signal or self.rss_signal`; "
    "https://github.com/emmett-framework/granian#workers-and-threads",
    bad="granian --interface wsgi --blocking-threads 32 --workers-lifetime 3600 site:app",
    good="granian --interface wsgi --blocking-threads 32 --workers-kill-timeout 60 site:app",
    near_miss="granian --interface wsgi --blocking-threads 32 --workers-lifetime 3600 "
    "--uds /run/app.sock site:app",
    versions=">=2",
)
def reset(config: Case) -> Iterator[Flaw]:
    """Each worker has a queue of its own, which its socket takes along."""
    if config.last("uds") or config.known.migrates:
        return
    for setting in config.all("workers-lifetime", "workers-max-rss")[:1]:
        yield config.flaw(setting)


@rule(
    "GR011",
    Severity.DANGEROUS,
    "--runtime-threads for the application's threads",
    why="a WSGI application does not run in these threads, but in as many others as the backlog "
    "allows; write --blocking-threads with the number of requests that a worker serves at once",
    source="granian/server/common.py:173 `self.backpressure // 2`; overhangio/tutor#1321",
    bad="granian --interface wsgi --runtime-threads 4 site:app",
    good="granian --interface wsgi --blocking-threads 4 site:app",
    near_miss="granian --interface wsgi --runtime-threads 4 --blocking-threads 32 site:app",
    versions=">=2",
)
def wrong_threads(config: Case) -> Iterator[Flaw]:
    """What is called threads elsewhere is translated so in public."""
    setting = config.last("runtime-threads")
    limited = config.last("blocking-threads") or config.last("backpressure")
    if setting and is_wsgi(config) and not limited and config.number("runtime-threads") > 1:
        text = (
            "the application does not run in these threads, but in up to "
            f"{threads_in_words(config)} others of each worker; write --blocking-threads with the "
            "number of requests that a worker serves at once"
        )
        edit = Edit(setting.spot, "--runtime-threads", "--blocking-threads")
        there = config.line(setting.spot)[setting.spot.column - 1 :].startswith(edit.old)
        steps = (Rename("runtime-threads", "blocking-threads"),)
        fix = Fix((edit,), safe=False, description="--blocking-threads") if there else None
        yield config.flaw(setting, text, fix, steps=steps)


@rule(
    "GR012",
    Severity.DANGEROUS,
    "backpressure below the number of kept connections",
    why="--backpressure counts connections, including idle ones, and a worker at the limit accepts "
    "no other; write more, and limit the threads by --blocking-threads",
    source="granian/server/common.py:169 `backpressure or self.backlog`; "
    "https://github.com/emmett-framework/granian#backpressure",
    bad="granian --interface wsgi --backpressure 4 site:app",
    good="granian --interface wsgi --backpressure 256 --blocking-threads 4 site:app",
    near_miss="granian --interface wsgi --backpressure 4 --no-http1-keep-alive site:app",
    versions=">=2",
)
def full_of_idle(config: Case) -> Iterator[Flaw]:
    """Clients and proxies keep connections; where granian keeps none, none is idle."""
    setting, kept = config.last("backpressure"), config.last("http1-keep-alive")
    closes = config.last("no-http1-keep-alive") or (kept and not config.on("http1-keep-alive"))
    places = config.number("backpressure") * max(1, config.number("workers", 1))
    if setting and not closes and 0 < places < config.known.connections:
        many = f"{places} idle connections" if places > 1 else "an idle connection"
        text = (
            f"with {many} kept by clients or a proxy, no other connection is answered until one "
            "closes; write more than they keep"
        )
        if is_wsgi(config):
            text += ", and limit the threads by --blocking-threads"
        yield config.flaw(setting, text)


SCRIPTS = re.compile(r"(?:/(?:usr/(?:local/)?)?|(?:.*/)?\.?venv/)s?bin/[^/]+(?<!\.py)$")
"""Programs of a system or an environment, which are no modules; bin/shop may be bin/shop.py."""


@rule(
    "GR013",
    Severity.ERROR,
    "a target that is not a module",
    why="granian imports a module, or a file whose name ends with .py, which may be left out; name "
    "the module that the script imports, as in shop.wsgi:application",
    source="granian/_internal.py:23 `os.path.splitext(path)`; "
    "granian/_internal.py:64 `name or 'app'`",
    bad="granian --interface wsgi --blocking-threads 32 /usr/bin/shop-api:application",
    good="granian --interface wsgi --blocking-threads 32 shop.wsgi:application",
    near_miss="granian --interface wsgi --blocking-threads 32 /srv/bin/shop.py:application",
)
def no_module(config: Case) -> Iterator[Flaw]:
    """A script without .py; and a remark where no name says which object of it is meant."""
    served = TABLE.target(config)
    if served is None or "$" in served.value:
        return
    path, colon, _ = served.value.partition(":")
    is_file = config.known.is_file
    script = "/" in path and not path.endswith(".py") and is_file(Path(path))
    script = script and not is_file(Path(f"{path}.py"))
    if script or SCRIPTS.fullmatch(path):
        text = (
            f"{path}: granian imports {path}.py and does not start without that file; name the "
            "module that the script imports, as in shop.wsgi:application"
        )
        yield config.flaw(served.spot, text)
    elif not colon:
        text = (
            f"{path}: granian serves the object called app; write {path}:application if yours has "
            "that name"
        )
        yield config.flaw(served.spot, text, harmless=True)
