"""uvicorn's command line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.config.uvicorn.command import TABLE, target
from lab.lint.rules.command_options import (
    cut_backlog,
    missing_files,
    refused_values,
    reload_on,
    unknown_options,
)
from lab.lint.rules.rule import WHY, Case, Flaw, Severity, rule

INSTEAD = {
    "-w": "--workers",
    "worker": "--workers",
    "threads": "",
    "timeout": "",
    "keep-alive": "--timeout-keep-alive",
    "graceful-timeout": "--timeout-graceful-shutdown",
    "max-requests": "--limit-max-requests",
    "max-requests-jitter": "--limit-max-requests-jitter",
    "access-logfile": "--access-log",
    "bind": "--host and --port",
    "-b": "--host and --port",
    "-k": "",
    "worker-class": "",
    "preload": "",
    "respawn-failed-workers": "",
}
"""Option of another server -> what to write; "" for nothing like it."""


@rule(
    "UV001",
    Severity.ERROR,
    "an option that uvicorn does not have",
    why="uvicorn prints `No such option` and does not start",
    source="uvicorn/main.py:61 `@click.command`",
    bad="uvicorn app:app --worker 4",
    good="uvicorn app:app --workers 4",
    near_miss="uvicorn app:app --workers=4",
)
def unknown_option(config: Case) -> Iterator[Flaw]:
    """It does not start."""
    yield from unknown_options(config, TABLE, INSTEAD)


@rule(
    "UV002",
    Severity.ERROR,
    "a value that uvicorn refuses",
    why="uvicorn prints `Invalid value` and does not start",
    source="uvicorn/main.py:214 `type=LEVEL_CHOICES`",
    bad="uvicorn app:app --log-level INFO",
    good="uvicorn app:app --log-level info",
    near_miss="uvicorn app:app --loop shop.loops:new_loop",
)
def refused(config: Case) -> Iterator[Flaw]:
    """It is none of those that the option takes; of choices, capitals count."""
    yield from refused_values(config, TABLE)


@rule(
    "UV003",
    Severity.ERROR,
    "a target that is not MODULE:ATTRIBUTE",
    why="uvicorn imports a module, takes an attribute of it, and exits with status 3 without one",
    source="uvicorn/importer.py:13 `import_str.partition`",
    bad="uvicorn app.py",
    good="uvicorn app:app",
    near_miss="uvicorn --factory app:create_app",
)
def no_target(config: Case) -> Iterator[Flaw]:
    """A file's name is none, and nor is a module alone."""
    served = target(config)
    if served is None or "$" in served.value:
        return
    module, colon, attribute = served.value.partition(":")
    name = re.sub(r"\.py$", "", module).strip("./").replace("/", ".")
    if not colon or not attribute or "/" in module or module.endswith(".py"):
        meant = f"{name}:{attribute or 'app'}"
        yield config.flaw(served.spot, f"{served.value}: {WHY}; write {meant}")


@rule(
    "UV004",
    Severity.REMARK,
    "a backlog longer than the kernel allows",
    why="the kernel shortens the queue to net.core.somaxconn without a warning",
    source="https://man7.org/linux/man-pages/man2/listen.2.html",
    bad="uvicorn app:app --backlog 8192",
    good="uvicorn app:app --backlog 1024",
    near_miss="uvicorn app:app --backlog 4096",
)
def cut(config: Case) -> Iterator[Flaw]:
    """The queue is shorter than written."""
    yield from cut_backlog(config)


@rule(
    "UV005",
    Severity.DANGEROUS,
    "reload",
    why="a changed file stops the server and starts it again, there is one worker whatever "
    "--workers is, and one process more; leave it out in production",
    source="uvicorn/config.py:385 `self.reload or self.workers > 1`",
    bad="uvicorn app:app --reload",
    good="uvicorn app:app",
    near_miss="uvicorn app:app --reload-dir shop",
)
def reloads(config: Case) -> Iterator[Flaw]:
    """It is for who writes the application."""
    yield from reload_on(config)


@rule(
    "UV006",
    Severity.DANGEROUS,
    "proxy headers trusted from every address",
    why="the client's address is then the first of X-Forwarded-For, which any client that reaches "
    "the port may write; write the proxy's address or network, or listen on a UNIX socket",
    source="uvicorn/middleware/proxy_headers.py:24 `trusted_hosts`",
    bad="uvicorn app:app --host 0.0.0.0 --forwarded-allow-ips '*' --timeout-keep-alive 75",
    good="uvicorn app:app --host 0.0.0.0 --forwarded-allow-ips 10.0.0.1 --timeout-keep-alive 75",
    near_miss="uvicorn app:app --uds /run/app.sock --forwarded-allow-ips '*' --timeout-keep-alive "
    "75",
)
def any_proxy(config: Case) -> Iterator[Flaw]:
    """Limits, bans and logs then have what clients say."""
    setting, host = config.last("forwarded-allow-ips"), config.last("host")
    local = host is None or host.value in {"127.0.0.1", "localhost", "::1"} or "$" in host.value
    if config.last("uds", "fd", "no-proxy-headers") or local or setting is None:
        return
    if "*" in setting.value.replace(" ", "").split(","):
        yield config.flaw(setting)


@rule(
    "UV007",
    Severity.ERROR,
    "a file that does not exist",
    why="uvicorn prints `Invalid value` and does not start without the file",
    source="uvicorn/main.py:207 `type=click.Path(exists=True)`",
    bad="uvicorn app:app --log-config /srv/no-such-file.json",
    good="uvicorn app:app --log-config /etc/hostname",
    near_miss='uvicorn app:app --log-config "$LOGGING"',
)
def no_such_file(config: Case) -> Iterator[Flaw]:
    """Only on the machine that serves it."""
    yield from missing_files(config, TABLE)


@rule(
    "UV018",
    Severity.ERROR,
    "several workers of an application that is an object",
    why="uvicorn.run prints `You must pass the application as an import string` and exits with "
    'status 3; write the text "MODULE:NAME", as in "main:app"',
    source="uvicorn/main.py:617 `You must pass the application as an import string`",
    bad='import uvicorn\n\napp = object()\nif __name__ == "__main__":\n'
    "    uvicorn.run(app, workers=2)",
    good='import uvicorn\n\napp = object()\nif __name__ == "__main__":\n'
    '    uvicorn.run("main:app", workers=2)',
    near_miss='import uvicorn\n\napp = object()\nif __name__ == "__main__":\n'
    "    uvicorn.run(app, workers=1)",
)
def object_of_workers(config: Case) -> Iterator[Flaw]:
    """Also where it reloads: each worker imports the application."""
    start, served = config.start, TABLE.target(config)
    if start is None or served is None or start.spot.file.suffix != ".py":
        return
    place = start.place(served.spot)
    line = (config.known.read(place.file) or "").split("\n")[place.line - 1]
    at = place.column - 1
    is_object = not re.search("[\"']", line[max(0, at - 1) : at + 1])
    workers = config.last("workers")
    several = workers is not None and config.knows("workers") and config.number("workers") > 1
    if is_object and (several or config.on("reload")):
        yield config.flaw(config.top, f"{served.value.partition(':')[2]}: {WHY}")
