"""Between all servers of ASGI: what is written starts, and what no option shows is true."""

from __future__ import annotations

import json
import signal
import socket
import stat
from contextlib import contextmanager, suppress

import pytest

from lab.bench.servers.ports import free_port
from lab.cli.migrate.migration import HIDDEN, migrated
from lab.config.servers import TRANSLATABLE
from lab.errors import ProfileError, UsageError
from tests.kit.client import ask, served
from tests.kit.lab_process import BIN, run, until
from tests.migrate.said import CASES, DOES
from tests.migrate.servers import begun, exchanged, exchanged_at, negotiated, request

APP = """
import asyncio, json, os

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            kind = (await receive())["type"]
            if os.environ.get("FAILS"):
                await send({"type": "lifespan.startup.failed", "message": "no database"})
                return
            await send({"type": f"{kind}.complete"})
            if kind.endswith("shutdown"):
                return
    if scope["path"] == "/slow":
        open("arrived", "w").close()
        await asyncio.sleep(1.5)
    headers = {name.decode(): value.decode()[:9] for name, value in scope["headers"]}
    client = scope["client"] and scope["client"][0]
    told = {"scheme": scope["scheme"], "client": client, "headers": headers, "pid": os.getpid()}
    body = json.dumps({**told, "path": scope["path"]}).encode()
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
"""

COMMANDS = {
    "uvicorn": "uvicorn --host 127.0.0.1 --port {port}",
    "gunicorn": "gunicorn -k asgi --bind 127.0.0.1:{port}",
    "granian": "granian --interface asgi --port {port}",
    "hypercorn": "hypercorn --bind 127.0.0.1:{port}",
}
"""Program -> its command, without the application."""

MUCH = {
    "uvicorn": "--workers 2 --timeout-keep-alive 9 --backlog 512 --limit-max-requests 5000 "
    "--limit-max-requests-jitter 500 --timeout-graceful-shutdown 9 --log-level warning --loop auto "
    "--lifespan on --ws-max-size 65536 --forwarded-allow-ips 10.0.0.1 --root-path /shop "
    "--no-server-header --limit-concurrency 99 --ws none --ws-per-message-deflate no",
    "gunicorn": "--workers 2 --keep-alive 9 --graceful-timeout 9 --log-level warning "
    "--max-requests 5000 --max-requests-jitter 500 --access-logfile - --root-path /shop",
    "granian": "--workers 2 --respawn-failed-workers --loop asyncio --log-level warning --no-ws "
    "--workers-kill-timeout 9 --url-path-prefix /shop --no-http1-keep-alive --access-log",
    "hypercorn": "-w 2 --keep-alive 9 --backlog 512 --max-requests 5000 --graceful-timeout 9 "
    "--log-level warning --root-path /shop --access-logfile - -k uvloop "
    "--websocket-ping-interval 9",
}
"""Program -> further options that have a meaning for others."""

PAIRS = [(one, to) for one in COMMANDS for to in COMMANDS if one != to]


@pytest.fixture(autouse=True)
def application(tmp_path):
    """Write the application."""
    (tmp_path / "shop.py").write_text(APP)


@contextmanager
def serving(program, folder, *options, target="shop:app"):
    """Run a server in a folder until the block ends; yield its port and its first process."""
    port = free_port()
    words = COMMANDS[program].format(port=port).split()
    with begun([BIN / words[0], *words[1:], *options, target], folder) as process:
        until(lambda: served(port), f"{program} serving")
        yield port, process


@pytest.mark.parametrize(("program", "to"), PAIRS)
@pytest.mark.parametrize("more", [False, True], ids=["plain", "many options"])
def test_what_is_written_starts_and_answers(tmp_path, program, to, more):
    """With the address of the old server; a factory, too."""
    (tmp_path / "shop.py").write_text(f"{APP}\ndef made():\n    return app\n")
    port = free_port()
    command = f"{COMMANDS[program].format(port=port)} {MUCH[program] if more else ''} shop:app"
    if not more:
        factory = "'shop:made()'" if program in {"gunicorn", "hypercorn"} else "--factory shop:made"
        command = command.replace("shop:app", factory)
    made = migrated(command, to, {})
    (tmp_path / made.file).write_text(made.text)
    if made.environment:
        (tmp_path / made.environment_file).write_text(made.environment)
    words = made.start.split()
    words[0] = {"sh": "sh"}.get(words[0], BIN / words[0])
    with begun(words, tmp_path):
        reply = until(lambda: served(port, path="/shop/x" if more else "/x"), "a reply")
        assert json.loads(reply.body)["scheme"] == "http"


@pytest.mark.parametrize("program", COMMANDS)
def test_what_a_request_shows(tmp_path, program):
    """Its headers, whom the server takes for the client, and what it calls itself."""
    sent = {"X-Forwarded-For": "6.6.6.6", "X-Forwarded-Proto": "https", "X_USER": "a"}
    with serving(program, tmp_path) as (port, _):
        reply = ask(("127.0.0.1", port), headers=sent)
        long = exchanged(port, request("GET", "/", f"X-Long: {'a' * 66_000}"))
        raw = exchanged(port, request())
    scope = json.loads(reply.body)
    arrives = "x_user" in scope["headers"]
    assert DOES["asgi-underscore"][program].startswith(("is dropped", "reaches")[arrives])
    scheme = "comes from" if scope["scheme"] == "https" else "is http"
    assert DOES["asgi-scheme"][program].startswith(scheme)
    client = "is the last of" if scope["client"] == "6.6.6.6" else "is the proxy's"
    assert DOES["asgi-client"][program].startswith(client)
    fits = "is answered" if b" 200 " in long[:20] else "gets 431"
    assert DOES["asgi-header"][program].startswith(fits)
    name = next((n for n in raw.split(b"\r\n") if n.lower().startswith(b"server:")), b"")
    name = name.partition(b":")[2].strip().decode()
    assert DOES["asgi-name"][program] == (f"is {name}" if name else "is not sent")


@pytest.mark.costly
@pytest.mark.parametrize(
    ("program", "options", "fact"),
    [
        ("uvicorn", (), "one worker"),
        ("uvicorn", ("--workers", "2"), "several workers"),
        ("gunicorn", ("--workers", "2"), ""),
        ("granian", (), ""),
        ("hypercorn", (), ""),
        ("hypercorn", ("--workers", "2"), ""),
    ],
)
def test_the_status_of_a_start_that_fails(tmp_path, program, options, fact):
    """Whether it is 0, with which a supervisor takes it for the end of the work."""
    words = COMMANDS[program].format(port=free_port()).split()
    with begun([BIN / words[0], *words[1:], *options, "shop:app"], tmp_path, {"FAILS": "1"}) as it:
        status = it.wait(timeout=60)
    claim = (
        CASES["asgi-failed-start"].get(program, {}).get(fact, DOES["asgi-failed-start"][program])
    )
    if program == "hypercorn":
        # Of several workers it depends on which of them has ended when the first is noticed.
        assert claim == "is 0, or may be with several workers"
        assert not status or options
    else:
        assert claim == ("is not 0" if status else "is 0")


@pytest.mark.parametrize("program", COMMANDS)
def test_a_request_in_flight_at_sigterm_is_answered(tmp_path, program):
    """And what SIGHUP does: one worker of uvicorn ends, and so does its service."""
    with serving(program, tmp_path) as (port, process):
        with socket.create_connection(("127.0.0.1", port), 60) as client:
            client.sendall(request("GET", "/slow"))
            until((tmp_path / "arrived").exists, "the request")
            process.send_signal(signal.SIGTERM)
            assert client.recv(99).startswith(b"HTTP/1.1 200")
        process.wait(timeout=60)
    assert DOES["asgi-term"][program].startswith("finishes")
    with serving(program, tmp_path) as (port, process):
        old = json.loads(served(port).body)["pid"]
        process.send_signal(signal.SIGHUP)
        if program == "uvicorn":
            assert process.wait(timeout=60)
            assert "ends the server" in CASES["asgi-hup"][program]["one worker"]
        else:
            until(lambda: _other(port, old), "another worker")
            assert DOES["asgi-hup"][program] == "restarts the workers"


PREFIX = {
    "uvicorn": ("--root-path", "/shop"),
    "gunicorn": ("--root-path", "/shop"),
    "granian": ("--url-path-prefix", "/shop"),
    "hypercorn": ("--root-path", "/shop"),
}
"""Program -> its option for the URL prefix."""


@pytest.mark.parametrize("program", PREFIX)
def test_a_path_behind_the_prefix(tmp_path, program):
    """uvicorn puts the prefix before each path; of others a framework takes it off."""
    with serving(program, tmp_path, *PREFIX[program]) as (port, _):
        reply = ask(("127.0.0.1", port), path="/shop/x")
    twice = json.loads(reply.body)["path"] == "/shop/shop/x"
    assert CASES["asgi-prefix"][program]["prefix"].startswith(("is the same", "gets the")[twice])


@pytest.mark.parametrize("program", COMMANDS)
def test_the_permissions_of_a_socket(tmp_path, program):
    """Which decide whether nginx as another user may use it."""
    path = tmp_path / "s"
    words = COMMANDS[program].format(port=1).split()
    binds = program in {"gunicorn", "hypercorn"}
    bind = ("--bind", f"unix:{path}") if binds else ("--uds", path)
    kept = words[:1] if program in {"uvicorn", "hypercorn"} else words[:3]

    def reply():
        with suppress(OSError):
            return exchanged_at(str(path), request())

    with begun([BIN / kept[0], *kept[1:], *bind, "shop:app"], tmp_path):
        until(reply, "a reply")
        mode = stat.S_IMODE(path.stat().st_mode)
    assert CASES["asgi-socket"][program]["unix"].startswith(f"are {mode:o}")


CLOSES = {
    "uvicorn": ("--timeout-keep-alive", "1"),
    "gunicorn": ("--keep-alive", "1"),
    "granian": ("--http1-header-read-timeout", "1000"),
    "hypercorn": ("--keep-alive", "1"),
}
"""Program -> the option by which it closes an idle connection after 1 s."""


@pytest.mark.parametrize("program", CLOSES)
def test_an_idle_connection_is_closed(tmp_path, program):
    """By the option that the table names."""
    served_by = serving(program, tmp_path, *CLOSES[program])
    with served_by as (port, _), socket.create_connection(("127.0.0.1", port), 60) as client:
        client.sendall(request(keep=True))
        while client.recv(1 << 12):
            pass
    assert DOES["asgi-keep"][program].startswith("is closed after")


def _other(port, old):
    """Return whether another process than the old one answers."""
    reply = served(port)
    return reply and json.loads(reply.body)["pid"] != old


@pytest.mark.parametrize(
    ("program", "fact"),
    [("uvicorn", ""), ("gunicorn", ""), ("granian", "ends"), ("hypercorn", "ends")],
)
def test_a_worker_that_dies(tmp_path, program, fact):
    """
    Is replaced, or ends the server.

    When both workers have answered: granian overlooks the death of one while it starts the other.
    """
    with serving(program, tmp_path, "--workers", "2") as (port, process):
        until(lambda: len(pids(port)) == 2, "both workers")
        old = json.loads(served(port).body)["pid"]
        signal.pidfd_send_signal(_pidfd(old), signal.SIGKILL)
        if fact:
            process.wait(timeout=60)
        else:
            until(lambda: _other(port, old), "another worker")
            assert process.poll() is None
    ends = DOES["asgi-dead-worker"][program].startswith("ends the server")
    assert ends == bool(fact)


def _pidfd(pid):
    import os

    return os.pidfd_open(pid)


def test_only_what_differs_is_listed():
    """A setting that both servers then have in common is no difference."""
    made = migrated("uvicorn --timeout-graceful-shutdown 9 --workers 2 a:b", "gunicorn", {})
    listed = {note.was: note.becomes for note in made.lists[HIDDEN]}
    assert "an idle connection" not in listed  # both close it after 5 s
    assert "uvicorn: is cancelled after 9 s" in listed["a request in flight at SIGTERM"]
    assert "gunicorn: finishes, unless it takes more than 9 s" in str(listed)


def test_a_worker_of_uvicorn_alone_has_no_parent():
    """So nobody replaces it."""
    alone = migrated("gunicorn -k asgi a:b", "uvicorn", {})
    assert "no parent" in str(alone.lists["no equivalent"])
    assert "no parent" not in str(migrated("gunicorn -k asgi -w 2 a:b", "uvicorn", {}).lists)
    one = migrated("uvicorn a:b", "granian", {})
    assert "--respawn-failed-workers" not in one.text
    assert "--respawn-failed-workers" in migrated("uvicorn --workers 2 a:b", "granian", {}).text


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("gunicorn -w 2 a:b", "serves a WSGI application, which uvicorn cannot serve: translate"),
        ("granian a:b", "serves an RSGI application, which uvicorn cannot serve: write"),
    ],
)
def test_uvicorn_serves_asgi_alone(command, said):
    """In one line, with a way out."""
    with pytest.raises(UsageError, match=said):
        migrated(command, "uvicorn", {})


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("uvicorn --interface wsgi a:b", "--to", "gunicorn"), 2, "lab translates its ASGI alone"),
        (("uvicorn --fd 3 a:b", "--to", "granian"), 4, "it is a socket that is already open"),
        (("uvicorn a", "--to", "granian"), 4, "this is not the name of a module"),
        (("uvicorn --ws none --http2 a:b", "--to", "granian"), 4, "--no-ws"),
        (("granian --interface asginl a:b", "--to", "uvicorn"), 0, "--lifespan off"),
        (("uvicorn --lifespan off a:b", "--to", "granian"), 4, "--interface asginl"),
    ],
)
def test_what_is_special(tmp_path, words, status, said):
    """Each in its list, or refused."""
    done = run("lab", "migrate", *words, cwd=tmp_path)
    assert done.returncode == status
    assert said in done.stdout + done.stderr


def test_every_program_of_asgi_is_tried_here():
    """A further server has its command in the table."""
    serving_it = {name for name, server in TRANSLATABLE.items() if "asgi" in server.interfaces}
    assert COMMANDS.keys() == serving_it


def test_several_workers_of_hypercorn_end_together(tmp_path):
    """At SIGTERM the first worker that has ended takes the request of the other along."""
    with serving("hypercorn", tmp_path, "--workers", "2") as (port, process):
        until(lambda: len(pids(port)) == 2, "both workers")
        with socket.create_connection(("127.0.0.1", port), 60) as client:
            client.sendall(request("GET", "/slow"))
            until((tmp_path / "arrived").exists, "the request")
            process.send_signal(signal.SIGTERM)
            assert client.recv(99) == b""
        assert process.wait(timeout=60) == 0
    claim = CASES["asgi-term"]["hypercorn"]["several workers"]
    assert claim == "ends without a reply as soon as another worker has ended"


def pids(port):
    """Return the processes that answer some requests."""
    replies = [served(port) for _ in range(20)]
    return {json.loads(reply.body)["pid"] for reply in replies if reply}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("hypercorn wsgi:shop:app", "lab translates hypercorn's ASGI alone"),
        ("hypercorn -c python:shop.settings shop:app", "lab imports nothing"),
        ("hypercorn -c gone.toml shop:app", "the file does not exist here"),
    ],
)
def test_what_of_hypercorn_is_not_read(command, said):
    """In one line."""
    with pytest.raises(ProfileError, match=said):
        migrated(command, "uvicorn", {})


TOML = """
bind = ["127.0.0.1:8000", "unix:/run/shop.sock"]
workers = 4
keep_alive_timeout = 75
websocket_max_message_size = 65_536
include_server_header = false
timeout = 30
"""

PYTHON = """
import os

bind = f"127.0.0.1:{os.environ['PORT']}"
workers = int(os.getenv("WORKERS", "4"))
keep_alive_timeout = 75
backlog = choose()
"""


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "hypercorn.toml",
            TOML,
            ["--timeout-keep-alive 75", "--workers 4", "--ws-max-size 65536", "--no-server-header"],
        ),
        (
            "hypercorn.conf.py",
            PYTHON,
            ["--timeout-keep-alive 75", '--port "${PORT}"', "--workers"],
        ),
    ],
)
def test_a_file_of_hypercorn_is_translated(name, text, words, tmp_path, monkeypatch):
    """By itself, and where a command names it; the command wins."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    made = migrated(name, "uvicorn", {})
    assert [word for word in words if word not in made.text] == []
    lists = str(made.lists)
    assert "listens on one address" in lists or "lab does not run it" in lists
    prefix = "file:" if name.endswith(".py") else ""
    command = f"hypercorn -c {prefix}{name} -w 2 shop:app"
    assert "--workers 2" in migrated(command, "uvicorn", {}).text


@pytest.mark.parametrize("program", COMMANDS)
def test_the_version_of_http_that_tls_clients_get(tmp_path, tls, program):
    """The best that both have, with no option of it."""
    port = free_port()
    words = COMMANDS[program].format(port=port).split()
    with begun([BIN / words[0], *words[1:], *tls[program], "shop:app"], tmp_path):
        protocol = negotiated(port)
    claim = CASES["asgi-http2"][program]["tls"]
    assert claim == ("gets HTTP/2" if protocol == "h2" else "gets HTTP/1.1")


def test_the_loss_of_http2_is_named():
    """Of a server with TLS, unless it is told which versions to speak."""
    tls = "--certfile a.pem --keyfile b.pem"
    made = migrated(f"hypercorn {tls} --bind 127.0.0.1:8443 shop:app", "uvicorn", {})
    assert "HTTP/2" in str(made.lists[HIDDEN])
    made = migrated("hypercorn --bind 127.0.0.1:8443 shop:app", "uvicorn", {})
    assert "HTTP/2" not in str(made.lists[HIDDEN])
