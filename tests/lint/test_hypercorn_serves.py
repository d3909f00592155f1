"""What rules say of hypercorn, tried on hypercorn."""

import pytest

from tests.kit.client import ask, served
from tests.kit.lab_process import BIN, until
from tests.kit.linting import codes
from tests.lint.test_asgi_serves import kept, started

BIND = 'bind = "127.0.0.1:PORT"\n'

CHECKED = "HC"


def with_file(folder, text, *options, name="hypercorn.toml", **variables):
    """Start hypercorn with a file, in whose text PORT stands for the port."""
    prefix = "file:" if name.endswith(".py") else ""
    script = f'sed -i "s/PORT/$0/" {name}; exec {BIN}/hypercorn "$@"'
    (folder / name).write_text(text)
    command = ("sh", "-c", script, "{port}", "-c", f"{prefix}{name}", *options, "shop_asgi:app")
    return started(folder, *command, **variables)


@pytest.mark.parametrize(
    ("text", "code", "name"),
    [
        (f'{BIND}workers = "2"', "HC003", "hypercorn.toml"),
        (f'{BIND}backlog = "100"', "HC003", "hypercorn.toml"),
        (f"{BIND}loglevel = 10", "HC003", "hypercorn.toml"),
        (f"{BIND}accesslog = true", "HC003", "hypercorn.toml"),
        (f'{BIND}worker_class = "uvlop"', "HC003", "hypercorn.toml"),
        ('bind = "127.0.0.1:$ADDRESS"', "HC004", "hypercorn.toml"),
        (f"def helper():\n    pass\n\n\n{BIND}", "HC005", "hypercorn.conf.py"),
    ],
)
def test_what_does_not_start(text, code, name, tmp_path):
    """HC003, HC004, HC005: the process ends."""
    assert code in codes(text.replace("PORT", "1"), CHECKED)
    with with_file(tmp_path, text, name=name) as (_, process):
        process.wait(60)
    assert "rror: " in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    ("text", "code", "status", "name"),
    [
        (f"{BIND}timeout = 1\nworker_connections = 1", "HC001", 200, "hypercorn.toml"),
        (f'{BIND}application_path = "no:such"', "HC006", 200, "hypercorn.toml"),
        (f'{BIND}certfile = "no-such.pem"', "HC009", 200, "hypercorn.toml"),
        (f"{BIND}user = 1000", "HC016", 200, "hypercorn.toml"),
        (f'{BIND}server_names = ["other.example"]', "HC017", 404, "hypercorn.toml"),
        (f"def helper():\n    pass\n\n\n{BIND}workers = 0", "", 200, "hypercorn.conf.py"),
        (f"import os\n\nhelper = 4\n{BIND}workers = helper", "", 200, "hypercorn.conf.py"),
    ],
)
def test_what_starts(text, code, status, name, tmp_path):
    """HC001, HC006, HC009, HC016, HC017: without a word, by plain HTTP."""
    assert not code or code in codes(text.replace("PORT", "1"), CHECKED)
    with with_file(tmp_path, text, name=name) as (port, process):

        def reply():
            try:
                return ask(("127.0.0.1", port))
            except OSError:
                return None

        assert until(reply, "a reply").status == status
        assert process.poll() is None


def test_a_text_for_seconds_closes_each_connection(tmp_path):
    """HC003: it starts, and answers nothing."""
    text = f'{BIND}keep_alive_timeout = "5"'
    assert "HC003" in codes(text.replace("PORT", "1"), CHECKED)
    with with_file(tmp_path, text) as (port, process):
        until(lambda: "Running on" in (tmp_path / "log").read_text(), "its start")
        assert served(port) is None
        assert process.poll() is None


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("--keep-alive-timeout", "75"), 2, "unrecognized arguments"),
        (("--workers", "many"), 2, "invalid int value"),
        (("--worker-class", "uvlop"), 1, "No worker of class"),
    ],
)
def test_a_command_that_does_not_start(words, status, says, tmp_path):
    """HC002: an option that is none, and a value that is refused."""
    command = ("hypercorn", "--bind", "127.0.0.1:{port}", *words, "shop_asgi:app")
    assert "HC002" in codes(" ".join(command), CHECKED)
    with started(tmp_path, *command) as (_, process):
        assert process.wait(60) == status
    assert says in (tmp_path / "log").read_text()


def test_a_failed_start_has_the_status_of_a_success(tmp_path):
    """HC011: of one worker always; of several it is chance (HC010)."""
    command = ("hypercorn", "--bind", "127.0.0.1:{port}", "--workers", "1", "shop_asgi:nothing")
    with started(tmp_path, *command) as (_, process):
        assert process.wait(60) == 0


def test_without_a_worker_process_a_failed_start_has_another_status(tmp_path):
    """HC011: as the first process itself serves."""
    command = ("hypercorn", "--bind", "127.0.0.1:{port}", "--workers", "0", "shop_asgi:nothing")
    with started(tmp_path, *command) as (_, process):
        assert process.wait(60) != 0


def test_an_idle_connection_is_closed(tmp_path):
    """HC012: by itself, while a client keeps it."""
    command = ("hypercorn", "--bind", "127.0.0.1:{port}", "--keep-alive", "1", "shop_asgi:app")
    with started(tmp_path, *command) as (port, _):
        until(lambda: served(port), "a reply")
        with kept(port) as client:
            while client.recv(999):
                pass


@pytest.mark.parametrize(
    ("options", "module"), [((), b"asyncio"), (("--worker-class", "uvloop"), b"uvloop")]
)
def test_which_loop_is_taken(options, module, tmp_path):
    """HC013: uvloop, which is installed here, only by name."""
    command = ("hypercorn", "--bind", "127.0.0.1:{port}", *options, "shop_asgi:loop")
    with started(tmp_path, *command) as (port, _):
        assert until(lambda: served(port), "a reply").body.startswith(module)
