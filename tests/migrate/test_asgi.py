"""Of an ASGI application nothing is said that holds for WSGI alone, and what is written starts."""

from __future__ import annotations

import pytest

from lab.bench.servers.ports import free_port
from lab.cli.migrate import measure
from lab.cli.migrate.measure import TrialSettings
from lab.cli.migrate.migration import HIDDEN, migrated
from lab.cli.migrate.text import FORMS
from lab.cli.options.table import Job
from tests.kit.client import served
from tests.kit.lab_process import BIN, run, until
from tests.migrate.servers import begun

APP = """
async def app(scope, receive, send):
    assert scope["type"] == "http"
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})
"""
CLASSES = ("asgi", "uvicorn.workers.UvicornWorker", "uvicorn_worker.UvicornWorker")
AT_ONCE = "requests in your code at once, so connections to a database at most"
ONLY_WSGI = (
    *("blocking-threads", "At once", "wsgi", "WSGI", "environ", "HTTP_X_USER", "uwsgi_param"),
    *("REMOTE_ADDR", "sync", "gthread", "WhiteNoise", "SCRIPT_NAME"),
    "a longer request",
)
"""What is said of applications of WSGI, of their servers and of gunicorn's classes for them."""


@pytest.fixture
def configured(tmp_path):
    """Return what writes a gunicorn.conf.py of some class of workers beside its application."""
    (tmp_path / "shop.py").write_text(APP)

    def written(kind, more=""):
        path = tmp_path / "gunicorn.conf.py"
        port = free_port()
        text = f'bind = "127.0.0.1:{port}"\nworker_class = "{kind}"\nwsgi_app = "shop:app"\n'
        path.write_text(f"{text}threads = 4\n{more}")
        return path, port

    return written


@pytest.mark.parametrize("kind", CLASSES)
def test_what_granian_is_told_starts(configured, tmp_path, kind):
    """It refuses an ASGI application with more than one blocking thread."""
    path, port = configured(kind, "workers = 2\n")
    (tmp_path / "granian.sh").write_text(migrated(str(path), "granian", {}).text)
    with begun(["sh", "granian.sh"], tmp_path):
        assert until(lambda: served(port), "a reply").body == b"ok"


def test_what_gunicorn_is_told_starts(configured, tmp_path):
    """With its own workers of ASGI, and no warning of threads."""
    path, port = configured("sync")
    command = f"granian --interface asgi --port {port} --blocking-threads 1 --workers 2 shop:app"
    path.write_text(migrated(command, "gunicorn", {}).text)
    with begun([BIN / "gunicorn", "-c", path], tmp_path):
        assert until(lambda: served(port), "a reply").body == b"ok"
    assert "threads" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize("kind", CLASSES)
def test_nothing_is_said_that_holds_for_wsgi_alone(configured, kind):
    """Neither how many are served at once, nor the differences that no option shows."""
    more = (
        "keepalive = 75\nbacklog = 99\nworker_connections = 9\nforwarded_allow_ips = '10.0.0.1'\n"
        "limit_request_field_size = 4000\nlimit_request_line = 99\nlimit_request_fields = 9\n"
    )
    made = migrated(str(configured(kind, more)[0]), "granian", {})
    text = FORMS["text"](made, None)
    assert [phrase for phrase in ONLY_WSGI if phrase in text.replace("wsgi_app", "")] == []
    assert "the exit status" not in str(made.lists[HIDDEN])  # of no server of the two it is 0
    assert "the Server header" in str(made.lists[HIDDEN])


def test_the_same_holds_on_the_way_to_gunicorn():
    """Of what granian's command may have."""
    command = (
        "granian --interface asgi --http1-keep-alive --backpressure 9 --url-path-prefix /shop "
        "--http1-header-read-timeout 9 --static-path-mount /srv --backlog 999 shop:app"
    )
    made = migrated(command, "gunicorn", {})
    text = FORMS["text"](made, None).replace("wsgi_app", "")
    assert [phrase for phrase in ONLY_WSGI if phrase in text] == []
    assert "the new one does not need it" not in text
    assert "timeout = 0" not in made.text
    assert "backlog" not in made.text


def test_an_event_loop_closes_connections_where_granian_does():
    """By keepalive = 0, with which gunicorn's ASGI workers send Connection: close."""
    command = "granian --interface asgi {}http1-keep-alive shop:app"
    assert "\nkeepalive = 0\n" in migrated(command.format("--no-"), "gunicorn", {}).text
    kept = migrated(command.format("--"), "gunicorn", {})
    assert "keepalive" not in kept.text
    changed = {note.was: note.becomes for note in kept.lists["behaves differently"]}
    assert changed["http1-keep-alive"].endswith("2 by default")


@pytest.mark.parametrize(
    ("kind", "limits"), [("asgi", "behaves differently"), (CLASSES[1], "the same")]
)
def test_what_its_workers_do_not_read_has_no_effect(configured, kind, limits):
    """Threads in any class; limits of a request where uvicorn reads it; gunicorn's backlog."""
    path, _ = configured(kind, "limit_request_field_size = 4000\nbacklog = 999\n")
    made = migrated(str(path), "granian", {})
    same = {note.was: note.becomes for note in made.lists["the same"]}
    assert same["threads = 4"] == "left out: it has no effect"
    kept = "--backlog 999" if kind != "asgi" else "left out: it has no effect"
    assert same["backlog = 999"] == kept
    assert "limit_request_field_size = 4000" in [note.was for note in made.lists[limits]]


@pytest.mark.parametrize("command", ["migrate", "tune"])
def test_uwsgi_is_refused_in_a_line(configured, tmp_path, command):
    """By whichever command it is asked for; the status is 2."""
    path, _ = configured("asgi")
    words = ("--to", "uwsgi") if command == "migrate" else ("--dry-run", "--server", "uwsgi")
    done = run("lab", command, path.name, *words, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "translate it to granian" in done.stderr


@pytest.mark.slow
@pytest.mark.peers
def test_it_is_measured_with_the_hook(configured, tmp_path, monkeypatch):
    """Imports and requests in the application are counted, and no request is answered 500."""
    path, _ = configured("asgi")
    monkeypatch.chdir(tmp_path)
    few = {name: measure.FAULTS[name] for name in ("none", "drain")}
    monkeypatch.setattr(measure, "FAULTS", few)
    job = Job(blocks=2, window=0.3, warmup=0.1, path=("/",))
    comparison = measure.tried(
        TrialSettings(str(path), migrated(str(path), "granian", {}), job, None)
    )
    rows = {contrast.question: contrast for contrast in comparison.contrasts}
    assert rows["HEAD"].before.startswith("200")
    assert rows["imports of the application"].after == "1"
    assert " and more, on " in rows[AT_ONCE].before
    assert measure.AT_THE_DOOR in comparison.notes
