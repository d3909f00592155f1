"""What rules say of servers of ASGI, and of what is around a server, tried on the servers."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress

import psutil
import pytest

from lab.bench.servers.ports import free_port
from lab.config.configuration import Known
from lab.lint.lint import lint
from tests.kit.client import ask, served
from tests.kit.lab_process import BIN, environment, until
from tests.kit.linting import codes

ASGI = """
import asyncio
import os
from pathlib import Path

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            event = (await receive())["type"]
            if event == "lifespan.shutdown":
                Path(f"down.{os.getpid()}").touch()
            await send({"type": f"{event}.complete"})
            if event == "lifespan.shutdown":
                return
    text = scope["root_path"].encode() or b"none"
    length = (b"content-length", str(len(text)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": text})

async def scheme(scope, receive, send):
    text = scope.get("scheme", "").encode()
    length = (b"content-length", str(len(text)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": text})

async def loop(scope, receive, send):
    text = type(asyncio.get_running_loop()).__module__.encode()
    length = (b"content-length", str(len(text)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": text})
"""

WSGI = """
import time
from pathlib import Path

def slow(environ, start_response):
    if environ["PATH_INFO"] == "/slow":
        Path("began").touch()
        time.sleep(2)
    return app(environ, start_response)

def app(environ, start_response):
    text = environ["SCRIPT_NAME"].encode() or b"none"
    start_response("200 OK", [("Content-Length", str(len(text)))])
    return [text]
"""


@contextmanager
def started(folder, *command, **variables):
    """Run a command, with {port} for a port of its own; give the port and the process."""
    (folder / "shop_asgi.py").write_text(ASGI)
    (folder / "shop_wsgi.py").write_text(WSGI)
    port = free_port()
    words = [word.replace("{port}", str(port)) for word in command]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [BIN / words[0], *words[1:]] if (BIN / words[0]).exists() else words,
            cwd=folder,
            env={**environment(), **variables},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield port, process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def gunicorn(*options):
    """Return a gunicorn command."""
    return ("gunicorn", "--bind", "127.0.0.1:{port}", "--no-control-socket", *options)


@pytest.mark.parametrize(
    ("times", "is_held"), [((30, 1), True), ((1, 30), False)], ids=["longer", "shorter"]
)
def test_an_idle_connection_takes_the_time_of_the_applications_shutdown(times, is_held, tmp_path):
    """GU027: gunicorn kills the worker that waits, and the lifespan's shutdown has not run."""
    options = ("-k", "asgi", "--keep-alive", str(times[0]), "--graceful-timeout", str(times[1]))
    assert ("GU027" in codes(f"gunicorn {' '.join(options)} a:b", "GU")) is is_held
    with started(tmp_path, *gunicorn(*options, "shop_asgi:app")) as (port, process):
        until(lambda: served(port), "a reply")
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert client.recv(999).startswith(b"HTTP/1.1 200")
            process.terminate()
            assert process.wait(60) == 0
    assert bool(list(tmp_path.glob("down.*"))) is not is_held


@pytest.mark.parametrize(
    ("options", "variables", "prefix"),
    [
        (("-k", "asgi", "--root-path", "/shop", "shop_asgi:app"), {}, b"/shop"),
        (("-k", "gthread", "--root-path", "/shop", "shop_wsgi:app"), {}, b"none"),
        (("-k", "asgi", "shop_asgi:app"), {"SCRIPT_NAME": "/shop"}, b"none"),
        (("-k", "gthread", "shop_wsgi:app"), {"SCRIPT_NAME": "/shop"}, b"/shop"),
    ],
)
def test_which_workers_read_the_prefix(options, variables, prefix, tmp_path):
    """GU025 and GU026: root_path those of ASGI, SCRIPT_NAME those of WSGI."""
    with started(tmp_path, *gunicorn(*options), **variables) as (port, _):
        reply = until(lambda: served(port, "/shop/"), "a reply")
        assert reply.body == prefix


@pytest.mark.parametrize(
    ("command", "variables", "status", "text"),
    [
        (gunicorn("-w", "2", "shop_wsgi:app"), {"WEB_CONCURRENCY": ""}, 1, "ValueError"),
        (("gunicorn", "--bind", "127.0.0.1:$PORT", "shop_wsgi:app"), {}, 1, "not a valid port"),
        (("granian", "--port", "$PORT", "shop_wsgi:app"), {}, 2, "not a valid integer"),
        (("uvicorn", "--port", "$PORT", "shop_asgi:app"), {}, 2, "not a valid integer"),
        (("uvicorn", "shop_asgi:app"), {"WEB_CONCURRENCY": ""}, 1, "ValueError"),
    ],
    ids=["ST003", "ST004", "ST004, granian", "ST004, uvicorn", "ST003, uvicorn"],
)
def test_what_keeps_a_server_from_starting(command, variables, status, text, tmp_path):
    """An empty WEB_CONCURRENCY, and the name of a variable in the place of its value."""
    with started(tmp_path, *command, **variables) as (_, process):
        assert process.wait(60) == status
        assert text in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    ("command", "workers"),
    [
        (gunicorn("-w", "1", "shop_wsgi:app"), 1),
        (gunicorn("shop_wsgi:app"), 3),
        (("granian", "--interface", "wsgi", "--port", "{port}", "shop_wsgi:app"), 1),
    ],
)
def test_who_reads_web_concurrency(command, workers, tmp_path):
    """ST002: gunicorn, where no option sets the workers; granian never."""
    with started(tmp_path, *command, WEB_CONCURRENCY="3") as (port, process):
        until(lambda: served(port), "a reply")
        until(lambda: len(children(process)) >= workers, "its workers")
        assert len(children(process)) == workers


def children(process):
    """Return the worker processes, without Python's tracker of resources."""
    processes = psutil.Process(process.pid).children()
    return [one for one in processes if "resource_tracker" not in " ".join(one.cmdline())]


@pytest.mark.parametrize(
    "command",
    [
        gunicorn("shop_asgi:app"),
        gunicorn("--threads", "2", "shop_asgi:app"),
        gunicorn("-k", "asgi", "shop_wsgi:app"),
        ("granian", "--interface", "wsgi", "--port", "{port}", "shop_asgi:app"),
        ("granian", "--interface", "asgi", "--port", "{port}", "shop_wsgi:app"),
        ("uvicorn", "--port", "{port}", "shop_wsgi:app"),
    ],
    ids=["sync", "gthread", "asgi", "granian wsgi", "granian asgi", "uvicorn"],
)
def test_an_application_of_another_interface_answers_500(command, tmp_path):
    """ST006: the server starts, so that nothing but a request shows it."""

    def status():
        with suppress(OSError):
            return ask(("127.0.0.1", port)).status
        return None

    with started(tmp_path, *command) as (port, process):
        assert until(status, "a reply") == 500
        assert process.poll() is None


def test_a_service_in_the_background_gets_no_signal(tmp_path):
    """ST007: SIGTERM ends the server, and what the script has started before goes on."""
    script = (
        f"{sys.executable} -c 'import signal; signal.pause()' & echo $! > pid; "
        f"exec {BIN}/gunicorn --bind 127.0.0.1:$PORT --no-control-socket shop_wsgi:app"
    )
    port = str(free_port())
    with started(tmp_path, "sh", "-c", script, PORT=port) as (_, process):
        until(lambda: served(int(port)), "a reply")
        other = psutil.Process(int((tmp_path / "pid").read_text()))
        process.terminate()
        assert process.wait(60) == 0
        assert other.is_running()
        assert other.status() != psutil.STATUS_ZOMBIE


@pytest.mark.parametrize(
    ("number", "options", "is_answered"),
    [
        (signal.SIGINT, (), False),
        (signal.SIGQUIT, (), False),
        (signal.SIGTERM, (), True),
        (signal.SIGINT, ("--threads", "2"), True),
        (signal.SIGQUIT, ("--threads", "2"), True),
    ],
)
def test_on_which_signals_gunicorn_drops_a_request(number, options, is_answered, tmp_path):
    """ST012: sync workers do on those of a quick stop; threads finish their requests."""
    unit = tmp_path / "shop.service"
    command = " ".join(gunicorn(*options, "shop_wsgi:slow"))
    unit.write_text(f"[Service]\nKillSignal={number.name}\nExecStart={command}\n")
    assert ("ST012" in {flaw.code for flaw in lint(str(unit), Known()).flaws}) is not is_answered
    reply = b""
    with started(tmp_path, *gunicorn(*options, "shop_wsgi:slow")) as (port, process):
        until(lambda: served(port), "a reply")
        with socket.create_connection(("127.0.0.1", port), 60) as client, suppress(OSError):
            client.sendall(b"GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            until((tmp_path / "began").exists, "the request under way")
            process.send_signal(number)
            while part := client.recv(999):
                reply += part
    assert reply.startswith(b"HTTP/1.1 200") is is_answered


UWSGI = ("uwsgi", "--http-socket", "127.0.0.1:{port}", "--module", "shop_wsgi:app")

READY = [
    (UWSGI, True),
    ((*UWSGI, "--master"), True),
    (gunicorn("shop_wsgi:app"), True),
    (("granian", "--interface", "wsgi", "--port", "{port}", "shop_wsgi:app"), False),
    (("uvicorn", "--port", "{port}", "shop_asgi:app"), False),
    (("hypercorn", "--bind", "127.0.0.1:{port}", "shop_asgi:app"), False),
]


@pytest.mark.parametrize(("command", "tells"), READY)
def test_who_tells_systemd_that_it_has_started(command, tells, tmp_path):
    """ST011: by READY=1 to the socket that the unit's process is given."""
    unit = tmp_path / "shop.service"
    unit.write_text(f"[Service]\nType=notify\nExecStart={' '.join(command)}\n")
    assert ("ST011" in {flaw.code for flaw in lint(str(unit), Known()).flaws}) is not tells
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.setblocking(False)
        messages = []

        def ready():
            with suppress(BlockingIOError):
                messages.append(systemd.recv(999))
            return any(b"READY=1" in message for message in messages)

        variables = {"NOTIFY_SOCKET": str(tmp_path / "notify")}
        with started(tmp_path, *command, **variables) as (port, process):
            until(lambda: served(port), "a reply")
            if tells:
                until(ready, "READY=1")
            else:
                process.terminate()
                process.wait(60)
                assert not ready()


@pytest.mark.parametrize(
    ("options", "scheme"), [([], b"http"), (["--forwarded-allow-ips", "*"], b"https")]
)
def test_uvicorn_trusts_no_proxy_over_a_unix_socket(options, scheme, tmp_path):
    """UV008: unless it trusts all, it takes X-Forwarded-Proto of nobody."""
    command = ("uvicorn", "--uds", "app.sock", *options, "shop_asgi:scheme")
    assert ("UV008" in codes(" ".join(command), "UV")) is (scheme == b"http")
    headers = {"X-Forwarded-Proto": "https"}

    def reply():
        with suppress(OSError):
            return ask(tmp_path / "app.sock", headers=headers)
        return None

    with started(tmp_path, *command):
        assert until(reply, "a reply").body == scheme


def test_uvicorn_ends_with_its_limit_of_requests(tmp_path):
    """UV009: with status 0, and nothing starts it again."""
    command = ("uvicorn", "--port", "{port}", "--limit-max-requests", "3", "shop_asgi:app")
    with started(tmp_path, *command) as (port, process):
        until(lambda: served(port) is None and process.poll() is not None, "its end")
        assert process.returncode == 0
        assert "Maximum request limit" in (tmp_path / "log").read_text()


@pytest.mark.parametrize(("workers", "fails"), [("1", True), ("2", False)])
def test_a_failed_start_of_several_workers_of_uvicorn_is_a_success(workers, fails, tmp_path):
    """UV011: one worker ends with another status."""
    command = ("uvicorn", "--port", "{port}", "--workers", workers, "shop_asgi:nothing")
    with started(tmp_path, *command) as (_, process):
        assert bool(process.wait(60)) is fails


def kept(port):
    """Return a connection that has asked once, and that the client keeps."""
    client = socket.create_connection(("127.0.0.1", port), timeout=60)
    client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert client.recv(999).startswith(b"HTTP/1.1 200")
    return client


def test_uvicorn_closes_an_idle_connection(tmp_path):
    """UV012: by itself, while a client keeps it."""
    assert "UV012" in codes("uvicorn --root-path /shop a:b", "UV")
    with started(tmp_path, "uvicorn", "--port", "{port}", "shop_asgi:app") as (port, _):
        until(lambda: served(port), "a reply")
        with kept(port) as client:
            while piece := client.recv(999):
                assert piece == b"none"


@pytest.mark.parametrize(
    ("options", "scheme"),
    [
        ((), b"http"),
        (("--proxy-headers",), b"http"),
        (("--forwarded-allow-ips", "127.0.0.2"), b"https"),
    ],
)
def test_whose_proxy_headers_uvicorn_believes(options, scheme, tmp_path):
    """UV013, UV016: of another address none without --forwarded-allow-ips."""
    with started(tmp_path, "uvicorn", "--port", "{port}", *options, "shop_asgi:scheme") as (
        port,
        _,
    ):
        until(lambda: served(port), "a reply")
        from_proxy = http.client.HTTPConnection("127.0.0.1", port, 60, ("127.0.0.2", 0))
        from_proxy.request("GET", "/", headers={"X-Forwarded-Proto": "https"})
        assert from_proxy.getresponse().read() == scheme
        from_proxy.close()


def test_uvicorn_answers_503_while_idle_connections_fill_its_limit(tmp_path):
    """UV014: one less than the limit is too many for one more."""
    command = ("uvicorn", "--port", "{port}", "--limit-concurrency", "3", "shop_asgi:app")
    with started(tmp_path, *command, "--timeout-keep-alive", "600") as (port, _):
        until(lambda: served(port), "a reply")
        with kept(port):
            with kept(port):
                assert ask(("127.0.0.1", port)).status == 503
            assert until(lambda: served(port), "a reply of 200")


@pytest.mark.parametrize(("is_there", "module"), [(True, b"uvloop"), (False, b"asyncio")])
def test_what_uvicorn_takes_without_uvloop(is_there, module, tmp_path):
    """UV015: asyncio and h11, without a warning."""
    for package in () if is_there else ("uvloop", "httptools"):
        (tmp_path / f"{package}.py").write_text("raise ImportError")
    command = ("uvicorn", "--port", "{port}", "shop_asgi:loop")
    with started(tmp_path, *command, PYTHONPATH=str(tmp_path)) as (port, _):
        reply = until(lambda: served(port), "a reply")
        assert reply.body.startswith(module)
        assert "arning" not in (tmp_path / "log").read_text()


def test_a_jitter_without_a_limit_ends_no_worker_of_uvicorn(tmp_path):
    """UV017: whatever the number of requests."""
    command = ("uvicorn", "--port", "{port}", "--limit-max-requests-jitter", "1", "shop_asgi:app")
    with started(tmp_path, *command) as (port, _):
        until(lambda: served(port), "a reply")
        assert all(served(port) for _ in range(20))


COMPOSE = """
services:
  web:
    image: {image}
  shop:
    build: .
    command: uvicorn --host 0.0.0.0 --timeout-graceful-shutdown 20 shop:app
"""


@pytest.mark.parametrize(
    ("image", "found"), [("nginx:1.29-alpine", {"UV012", "UV016"}), ("redis", set())]
)
def test_a_proxy_beside_a_service_is_one(image, found, tmp_path):
    """UV012, UV016: by its image."""
    (tmp_path / "compose.yaml").write_text(COMPOSE.format(image=image))
    flaws = lint(str(tmp_path / "compose.yaml"), Known()).flaws
    assert {flaw.code for flaw in flaws if flaw.code.startswith("UV0")} == found


FREEZE = "click==8.3.1\nh11==0.16.0\nuvicorn==0.54.0\n"
LOCK = '[[package]]\nname = "uvicorn"\nversion = "0.54.0"\n'


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("uv.lock", LOCK, "uv.lock does not have uvloop and httptools: "),
        ("uv.lock", f'{LOCK}\n[[package]]\nname = "uvloop"\n', "uv.lock does not have httptools: "),
        ("requirements.txt", FREEZE, "requirements.txt does not have uvloop and httptools: "),
        ("requirements.txt", f"{FREEZE}uvloop==0.23.0\nhttptools==0.9.0\n", ""),
        ("requirements.txt", f"-r base.txt\n{FREEZE}", ""),
        ("requirements.txt", "fastapi\nuvicorn\n", ""),
    ],
)
def test_what_is_installed_with_uvicorn(name, text, says, tmp_path):
    """UV015: only of a file that has all packages."""
    (tmp_path / name).write_text(text)
    (tmp_path / "Procfile").write_text("web: uvicorn shop:app\n")
    flaws = lint(str(tmp_path / "Procfile"), Known()).flaws
    messages = [flaw.message for flaw in flaws if flaw.code == "UV015"]
    assert bool(messages) is bool(says)
    assert all(message.startswith(says) for message in messages)


def test_uvicorn_run_takes_no_object_for_several_workers(tmp_path):
    """UV018: it exits with status 3."""
    call = "if __name__ == '__main__':\n    uvicorn.run(app, workers=2)\n"
    call = f"import uvicorn\nfrom shop_asgi import app\n\n{call}"
    assert "UV018" in codes(call, "UV")
    (tmp_path / "main.py").write_text(call)
    with started(tmp_path, sys.executable, "main.py") as (_, process):
        assert process.wait(60) == 3
    assert "as an import string" in (tmp_path / "log").read_text()
