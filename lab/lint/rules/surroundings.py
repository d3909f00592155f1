"""What is around the command that starts a server."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator
from pathlib import PurePath

from lab.config import fastapi_run, servers, sources
from lab.config.shell import unknown_options
from lab.config.sources import DEVELOPMENT, dockerfile
from lab.config.start import seconds_of
from lab.config.steps import Put
from lab.config.words import command_of, operators, with_literals
from lab.config.wrappers import INITS
from lab.lint.rules.command_options import is_for_development, only_of_uvicorn
from lab.lint.rules.gunicorn import worker_class
from lab.lint.rules.meanings import options_of, service_of, setting_of
from lab.lint.rules.rule import WHY, Case, Flaw, Severity, rule

PROXIES = re.compile(
    "nginx|caddy|haproxy|traefik|envoy|apache|httpd|cloudflared|supervisor|s6-|network_mode",
    re.IGNORECASE,
)
"""Words in a file by which a process of the same container, or of its network, may ask."""

NAMES_VARIABLE = re.compile(r"(?:[^$]*:)?\$(?:\w+|\{\w+(?::-[^}]*)?\})")
"""A value, or its port, that is a variable."""

SECRETS = re.compile("raw_env|.*password|.*format|.*fmt")
"""Options whose value may have a dollar."""

SERVICES = {
    "celery": {"worker", "beat", "flower"},
    "ollama": {"serve"},
    "rq": {"worker"},
    "arq": set(),
    "dramatiq": set(),
    "huey_consumer": set(),
    "redis-server": set(),
    "taskiq": {"worker", "scheduler"},
}
"""Program that serves until it is stopped -> the words behind it with which it does; none: any."""


@rule(
    "ST001",
    Severity.DANGEROUS,
    "a shell that does not pass SIGTERM on",
    why="the shell stays the first process of the container and ignores SIGTERM, so a stop waits "
    "for its timeout and then kills the server with its requests",
    source="https://docs.docker.com/reference/dockerfile/#shell-form-entrypoint-example",
    bad="FROM python:3.12-slim\nCMD gunicorn --worker-tmp-dir /dev/shm shop:app",
    good="FROM python:3.12-slim\nCMD exec gunicorn --worker-tmp-dir /dev/shm shop:app",
    near_miss="FROM python:3.12-alpine\nCMD gunicorn --worker-tmp-dir /dev/shm shop:app",
)
def kept_by_shell(config: Case) -> Iterator[Flaw]:
    """By -c, bash and the shell of Alpine become their last command; dash does not."""
    around, start = config.known.surroundings, config.start
    caller = around.waits
    is_kept = caller or (around.in_shell and around.shell == "dash")
    if not (start and is_kept and around.is_first_process):
        return
    text = config.known.read(caller.file) if caller else ""
    if text and re.search(r"\btrap\b", text) and re.search(r"\bwait\b", text):
        return  # which together may pass it on
    advice = "write exec before the command"
    if around.in_background:
        advice = "start it in the foreground with exec, or pass the signal on with trap and wait"
    elif caller and caller.file != start.spot.file:
        advice = f"write exec before the command in line {caller.line} of {caller.file}"
    command = command_of(start.text, config.file, start.program)
    spot = command.program.spot if command else config.top
    yield config.flaw(spot, f"no exec: {WHY}; {advice}")


@rule(
    "ST004",
    Severity.ERROR,
    "a variable that no shell replaces",
    why="no shell reads this command, so the server gets the name of the variable instead of its "
    'value; write ["sh", "-c", "exec ..."] with the command in one string',
    source="https://docs.docker.com/reference/dockerfile/#shell-and-exec-form",
    bad='FROM python:3.12-slim\nCMD ["granian", "--interface", "asgi", "--host", "0.0.0.0", '
    '"--port", "$PORT", "shop:app"]',
    good='FROM python:3.12-slim\nCMD ["sh", "-c", "exec granian --interface asgi --host 0.0.0.0 '
    '--port $PORT shop:app"]',
    near_miss="FROM python:3.12-slim\nCMD exec granian --interface asgi --host 0.0.0.0 "
    "--port $PORT shop:app",
)
def not_replaced(config: Case) -> Iterator[Flaw]:
    """Of a value that is a variable, or has one for its port; a password may have a dollar."""
    if config.start is None or config.known.surroundings.in_shell is not False:
        return
    for setting in config.settings:
        if NAMES_VARIABLE.fullmatch(setting.value) and not SECRETS.fullmatch(setting.option):
            text = config.line(setting.spot) if setting.spot.file in config.texts else ""
            if "$" in text and "$" not in with_literals(text[setting.spot.column - 1 :]):
                yield config.flaw(setting)


@rule(
    "ST005",
    Severity.DANGEROUS,
    "a server that only its container reaches",
    why="127.0.0.1 is the container itself, so neither a published port nor the platform's proxy "
    "reaches the server; listen on 0.0.0.0",
    source="gunicorn/config.py:711 `127.0.0.1:8000`; granian/cli.py:116 `127.0.0.1`",
    bad='FROM python:3.12-slim\nCMD ["granian", "--interface", "asgi", "--host", "127.0.0.1", '
    '"shop:app"]',
    good='FROM python:3.12-slim\nCMD ["granian", "--interface", "asgi", "--host", "0.0.0.0", '
    '"shop:app"]',
    near_miss='FROM nginx:1\nCMD ["granian", "--interface", "asgi", "--host", "127.0.0.1", '
    '"shop:app"]',
)
def unreachable(config: Case) -> Iterator[Flaw]:
    """Silent where a proxy may be beside it. A default is a remark: a variable may set another."""
    start, around = config.start, config.known.surroundings
    if not (start and around.container) or around.supervisor == "kubernetes":
        return
    service = service_of(config)
    addresses = service.addresses if service else ()
    text = config.known.read(start.spot.file) or ""
    if not addresses or PROXIES.search(text) or not start.alone:
        return
    if any(address.path or address.lost or not address.local for address in addresses):
        return
    setting = config.last("bind", "host", "http-socket", "http", "socket")
    if setting:
        yield config.flaw(setting)
    elif config.server != "uWSGI" and around.supervisor != "render":
        option = "bind" if config.server in {"gunicorn", "hypercorn"} else "host"
        variable = {"gunicorn": "PORT", "hypercorn": ""}.get(
            config.server, f"{start.program.upper()}_HOST"
        )
        unless = f"unless {variable} is set, " if variable else ""
        text = f"no --{option}: {unless}the server listens on 127.0.0.1, which only its container "
        text += "reaches; listen on 0.0.0.0"
        yield config.flaw(config.top, text, harmless=True, steps=(Put(option, "0.0.0.0"),))


@rule(
    "ST007",
    Severity.DANGEROUS,
    "a service in the background of a server's script",
    why="nothing restarts this process when it ends, and a stop of the container kills it with its "
    "work, because SIGTERM reaches only the server; start it in a container of its own",
    source="https://docs.docker.com/engine/containers/multi-service_container/",
    bad='FROM python:3.12-slim\nCMD ["sh", "-c", "celery -A shop worker & exec granian --interface '
    'asgi --host 0.0.0.0 shop:app"]',
    good='FROM python:3.12-slim\nCMD ["granian", "--interface", "asgi", "--host", "0.0.0.0", '
    '"shop:app"]',
    near_miss='FROM python:3.12-slim\nCMD ["sh", "-c", "./warm-cache & exec granian --interface '
    'asgi --host 0.0.0.0 shop:app"]',
)
def background(config: Case) -> Iterator[Flaw]:
    """Silent where an init may pass SIGTERM on, or a shell waits for it."""
    start = config.start
    if start is None or not config.known.container:
        return
    text = config.known.read(start.spot.file) or ""
    if re.search(rf"\b(?:trap|wait|{'|'.join(INITS)})\b", f"{start.before}\n{text}"):
        return
    at = 0
    for begins, ends in operators(start.before):
        words = _words(start.before[at:begins])
        if start.before[begins:ends] == "&" and (name := _service(words)):
            yield config.flaw(config.top, f"{name} in the background: {WHY}")
        at = ends


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is not closed
        return []


def _service(words: list[str]) -> str:
    """Return the service that a command starts; empty: none that is known."""
    for at, word in enumerate(words):
        name, behind = PurePath(word).name, SERVICES.get(PurePath(word).name)
        if behind is not None and (not behind or behind.intersection(words[at:])):
            return name
    return ""


@rule(
    "ST008",
    Severity.REMARK,
    "a last stage for development",
    why="docker build takes the last stage unless --target names another; put the stage that is "
    "served last",
    source="https://docs.docker.com/build/building/multi-stage/#stop-at-a-specific-build-stage",
    bad='FROM python:3.12-slim AS served\nCMD ["granian", "--interface", "asgi", "--host", '
    '"0.0.0.0", "shop:app"]\nFROM served AS development\nCMD ["granian", "--interface", "asgi", '
    '"--host", "0.0.0.0", "shop:app"]',
    good='FROM python:3.12-slim AS development\nCMD ["granian", "--interface", "asgi", "--host", '
    '"0.0.0.0", "shop:app"]\nFROM development AS served\nCMD ["granian", "--interface", "asgi", '
    '"--host", "0.0.0.0", "shop:app"]',
    near_miss='FROM python:3.12-slim AS development\nCMD ["granian", "--interface", "asgi", '
    '"--host", "0.0.0.0", "shop:app"]',
)
def development_last(config: Case) -> Iterator[Flaw]:
    """A Dockerfile with one stage that starts a server has no other."""
    start = config.start
    file = start.spot.file if start else config.file
    if not (start and start.is_default and re.fullmatch(dockerfile.CALLED, file.name)):
        return
    starts = sources.starts_of(file, config.known.read(file) or "")
    if DEVELOPMENT.fullmatch(start.name) and any(
        not DEVELOPMENT.fullmatch(other.name) for other in starts
    ):
        yield config.flaw(config.top)


@rule(
    "ST010",
    Severity.ERROR,
    "an option that fastapi run does not have",
    why="fastapi run prints `No such option` and does not start; start uvicorn itself, with "
    "--host 0.0.0.0",
    source="https://fastapi.tiangolo.com/fastapi-cli/",
    bad='FROM python:3.12-slim\nCMD ["fastapi", "run", "--timeout-graceful-shutdown", "20"]',
    good='FROM python:3.12-slim\nCMD ["uvicorn", "--host", "0.0.0.0", '
    '"--timeout-graceful-shutdown", "20", "main:app"]',
    near_miss='FROM python:3.12-slim\nCMD ["fastapi", "run", "--workers", "2"]',
)
def unknown_of_fastapi(config: Case) -> Iterator[Flaw]:
    """It has few of uvicorn's options."""
    words = config.start.words if config.start else ()
    if words[:1] == (fastapi_run.PROGRAM,):
        for name in fastapi_run.unknown(words):
            yield config.flaw(config.top, f"{name}: {WHY}")


DROPS = frozenset({"INT", "2", "QUIT", "3"})
"""Signals on which gunicorn stops without its graceful timeout."""


@rule(
    "ST011",
    Severity.DANGEROUS,
    "a systemd Type= that does not fit the server",
    why="systemd waits, then stops the server after TimeoutStartSec (default: 90 s)",
    source="https://www.freedesktop.org/software/systemd/man/systemd.service.html#Type=; "
    "Kludex/uvicorn#678; emmett-framework/granian#381",
    bad="[Service]\nType=notify\nExecStart=/srv/venv/bin/granian --interface asgi shop:app",
    good="[Service]\nType=exec\nExecStart=/srv/venv/bin/granian --interface asgi shop:app",
    near_miss="[Service]\nType=notify\nExecStart=/srv/venv/bin/gunicorn shop:app",
)
def never_started(config: Case) -> Iterator[Flaw]:
    """An application may send READY=1 itself."""
    expected, server = config.known.surroundings.unit_type, config.server
    tells = servers.of_config(config).tells_systemd
    instead = "notify" if tells else "exec"
    start = config.start
    may_have_more = start and unknown_options(start.text, start.program)
    is_daemon = may_have_more or config.last("daemon", "daemonize", "daemonize2")
    if expected == "forking" and not is_daemon:
        text = f"Type=forking: {server} stays in the foreground, so {WHY}; write Type={instead}"
        yield config.flaw(config.top, text)
    elif expected in {"notify", "notify-reload"} and not tells:
        text = f"Type={expected}: {server} does not tell systemd that it has started. Unless your "
        text += f"application sends READY=1, {WHY}; write Type={instead}"
        yield config.flaw(config.top, text)


@rule(
    "ST012",
    Severity.DANGEROUS,
    "a stop signal by which gunicorn's sync workers drop requests",
    why="gunicorn's sync workers end at once on this signal, and drop the requests in flight; stop "
    "gunicorn with SIGTERM",
    source="gunicorn/arbiter.py:322 `def handle_int(self):`",
    bad="FROM python:3.12-slim\nSTOPSIGNAL SIGINT\n"
    'CMD ["gunicorn", "--worker-tmp-dir", "/dev/shm", "--bind", "0.0.0.0", "shop:app"]',
    good="FROM python:3.12-slim\nSTOPSIGNAL SIGTERM\n"
    'CMD ["gunicorn", "--worker-tmp-dir", "/dev/shm", "--bind", "0.0.0.0", "shop:app"]',
    near_miss="FROM python:3.12-slim\nSTOPSIGNAL SIGINT\n"
    'CMD ["granian", "--interface", "asgi", "--host", "0.0.0.0", "shop:app"]',
)
def dropped_by_stop(config: Case) -> Iterator[Flaw]:
    """Fly sends SIGINT where its file names no signal."""
    name = config.known.surroundings.stop_signal
    if config.start and _drops(config):
        where = ': write kill_signal = "SIGTERM"' * (config.known.surroundings.supervisor == "fly")
        yield config.flaw(config.top, f"the stop signal is {name}: {WHY}{where}")


STOP_TIMES = {
    "compose": "compose (stop_grace_period)",
    "fly": "Fly (kill_timeout)",
    "kubernetes": "Kubernetes (terminationGracePeriodSeconds)",
    "render": "Render (maxShutdownDelaySeconds)",
    "supervisord": "Supervisor (stopwaitsecs)",
    "systemd": "systemd (TimeoutStopSec)",
}
"""What starts a server -> its name, with its option for the time of a stop."""

SUGGESTED = 20
"""Seconds of a limit to a stop that are suggested, where nothing kills the server earlier."""


def _suggested(config: Case) -> str:
    """Return a limit to a stop, in seconds, that ends before the server is killed."""
    killed = config.known.surroundings.stop_time or math.inf
    return f"{max(1, int(min(SUGGESTED, killed * 0.8)))}"


def _drops(config: Case) -> bool:
    """Return whether the stop signal ends gunicorn's workers at once."""
    drops = _stop_signal(config) in DROPS
    return config.server == "gunicorn" and drops and worker_class(config) == "sync"


def _stop_signal(config: Case) -> str:
    """Return the signal of a stop without "SIG", as "TERM"; empty: unknown."""
    return config.known.surroundings.stop_signal.upper().removeprefix("SIG")


@rule(
    "ST009",
    Severity.REMARK,
    "a stop without a time limit",
    why="one long request or WebSocket holds up a stop until the platform kills the server "
    "without the shutdown of the application; write a limit below the platform's",
    source="granian/server/common.py:386 `else None`",
    bad='FROM python:3.12-slim\nCMD ["granian", "--interface", "asgi", "--host", "0.0.0.0", '
    '"shop:app"]',
    good='FROM python:3.12-slim\nCMD ["granian", "--interface", "asgi", "--host", "0.0.0.0", '
    '"--workers-kill-timeout", "20", "shop:app"]',
    near_miss='FROM python:3.12-slim\nCMD ["gunicorn", "--bind", "0.0.0.0:80", "--worker-tmp-dir", '
    '"/dev/shm", "shop:app"]',
)
def stops_without_limit(config: Case) -> Iterator[Flaw]:
    """Of granian by WSGI, too: a request that hangs is never ended."""
    if is_for_development(config) or not config.known.container:
        return
    waits = servers.of_config(config).stop_time == math.inf
    if waits and not setting_of(config, "stop-time"):
        limit = _suggested(config)
        text = f"no limit to a stop: {WHY}, such as {limit} s{only_of_uvicorn(config)}"
        yield config.flaw(config.top, text, steps=(Put(options_of(config, "stop-time")[0], limit),))


@rule(
    "ST013",
    Severity.DANGEROUS,
    "a server that is killed before its stop has ended",
    why="its requests in flight are lost; allow the stop more time, or the server less",
    source="https://www.freedesktop.org/software/systemd/man/systemd.service.html#TimeoutStopSec=; "
    "https://docs.docker.com/reference/compose-file/services/#stop_grace_period",
    bad="[Service]\nTimeoutStopSec=10\nExecStart=/srv/venv/bin/gunicorn --graceful-timeout 60 "
    "shop:app",
    good="[Service]\nTimeoutStopSec=70\nExecStart=/srv/venv/bin/gunicorn --graceful-timeout 60 "
    "shop:app",
    near_miss="[Service]\nExecStart=/srv/venv/bin/gunicorn --graceful-timeout 60 shop:app",
)
def killed_before_its_end(config: Case) -> Iterator[Flaw]:
    """A remark where the server's time is its default."""
    around, server = config.known.surroundings, servers.of_config(config)
    killed, setting = around.stop_time, setting_of(config, "stop-time")
    limit = seconds_of(setting.value) if setting else server.stop_time
    if killed is None or server.stop_time is None or limit is None or not killed < limit < math.inf:
        return
    if _drops(config) or _stop_signal(config) in {"KILL", "9"}:
        return  # nothing waits
    option = options_of(config, "stop-time")[0]
    text = f"a stop may take {limit:g} s, but {STOP_TIMES[around.supervisor]} kills the server "
    text += f"after {killed:g} s: {WHY} ({option} below {killed:g})"
    steps = (Put(option, _suggested(config)),)
    yield config.flaw(setting or config.top, text, harmless=setting is None, steps=steps)


@rule(
    "ST014",
    Severity.ERROR,
    "a command that is one entry of a list",
    why="the container looks for a program whose name is the whole entry, options included, and "
    "does not start; write each word as an entry",
    source="https://docs.docker.com/reference/dockerfile/#exec-form",
    bad='FROM python:3.12-slim\nCMD ["granian --interface asgi --host 0.0.0.0 '
    '--workers-kill-timeout 20 shop:app"]',
    good='FROM python:3.12-slim\nCMD ["granian", "--interface", "asgi", "--host", "0.0.0.0", '
    '"--workers-kill-timeout", "20", "shop:app"]',
    near_miss='FROM python:3.12-slim\nENTRYPOINT ["sh", "-c"]\nCMD ["exec granian --interface asgi '
    '--host 0.0.0.0 --workers-kill-timeout 20 shop:app"]',
)
def is_one_entry(config: Case) -> Iterator[Flaw]:
    """Of an image whose ENTRYPOINT is unknown it may be right: a script may take it apart."""
    around = config.known.surroundings
    if config.start and around.is_one_entry and around.is_first_process:
        yield config.flaw(config.top)
