"""What only a real socket, a real file and a half request show of the servers."""

import socket
import stat

import pytest

from lab.cli.migrate.migration import migrated
from tests.kit.client import ask
from tests.kit.lab_process import BIN, SITES, until

from .said import says
from .servers import begun, exchanged_at, request, server

MODES = [
    ("uwsgi", "--chmod-socket=660", "chmod-socket = 660"),
    ("gunicorn", "--umask 0o117", "umask = 0o117"),
    ("granian", "--uds-permissions 0660", "--uds-permissions 0660"),
]
SERVES = {
    "uwsgi": "--protocol http --socket {socket} --pythonpath {sites} --module open_book",
    "gunicorn": "--bind unix:{socket} --pythonpath {sites} open_book:application",
    "granian": "--interface wsgi --uds {socket} --working-dir {sites} open_book:application",
}
FROM = {
    "uwsgi": "gunicorn --umask 0o117 --bind unix:/run/x open_book:application",
    "gunicorn": "granian --interface wsgi --uds-permissions 432 --uds /run/x open_book:application",
    "granian": "uwsgi --chmod-socket=660 --http-socket /run/x --module open_book",
}
"""Program -> a command of another one that asks for the same mode, in its own words."""


def there(path):
    """Return whether a server answers at a UNIX socket."""
    try:
        return exchanged_at(str(path), request()).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def mode(path):
    """Return the permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.peers
@pytest.mark.parametrize(("program", "option", "written"), MODES)
def test_the_permissions_of_a_unix_socket(program, option, written, tmp_path):
    """They are 660 by the option as it is translated; files of the application keep theirs."""
    path, notes = tmp_path / "socket", tmp_path / "notes"
    (tmp_path / "plain").touch()
    words = [*option.split(), *SERVES[program].format(socket=path, sites=SITES).split()]
    with begun([BIN / program, *words], tmp_path, {"NOTES": str(notes)}):
        until(lambda: there(path), f"{program} serving")
        assert mode(path) == 0o660
        assert mode(notes) == mode(tmp_path / "plain")
    assert written in migrated(FROM[program], program, {}).text


@pytest.mark.peers
def test_a_decimal_mode_of_granian(tmp_path):
    """Without a 0 in front 660 is 1224 in octal."""
    path = tmp_path / "socket"
    words = SERVES["granian"].format(socket=path, sites=SITES).split()
    with begun([BIN / "granian", "--uds-permissions", "660", *words], tmp_path):
        until(lambda: path.exists() and mode(path) == 0o1224, "the mode")
    assert "660 would be decimal, which is 1224" in says("socket-mode", "granian")


HALVES = [
    ("uwsgi", "--socket-timeout 1", True, ""),
    ("gunicorn", "--timeout 1", True, "sync waits for `timeout`"),
    ("gunicorn", "--timeout 3 --threads 2", False, "gthread forever"),
    ("granian", "--http1-header-read-timeout 1000", True, "for the headers only"),
]


@pytest.mark.peers
@pytest.mark.parametrize(("program", "option", "ends", "claim"), HALVES)
def test_half_a_request(program, option, ends, claim, tmp_path):
    """It is waited for as long as is said; the option as it is for one server, or without end."""
    with (
        server(program, tmp_path, *option.split()) as instance,
        socket.create_connection(("127.0.0.1", instance.port), 20) as client,
    ):
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        if ends:
            assert b" 200 " not in client.recv(1 << 16)
        else:
            client.settimeout(6)
            with pytest.raises(TimeoutError):
                client.recv(1)
    assert claim in says("read-time", program)


STATIC = "--static-path-route /files --static-path-mount {folder}/files"


@pytest.mark.peers
@pytest.mark.parametrize(("option", "seconds"), [("", 86_400), ("--static-path-expires 60", 60)])
def test_how_long_clients_may_keep_a_file_of_granian(option, seconds, tmp_path):
    """A day by default, and as long as --static-path-expires says."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.css").write_text("b { color: red }")
    words = [*option.split(), *STATIC.format(folder=tmp_path).split()]
    with server("granian", tmp_path, *words) as instance:
        reply = ask(("127.0.0.1", instance.port), path="/files/a.css")
    assert reply.body == b"b { color: red }"
    assert f"max-age={seconds}" in reply.headers["cache-control"]
    assert "86,400 s by default" in says("static", "granian")


@pytest.mark.peers
def test_granian_without_the_folder_of_its_files(tmp_path):
    """It does not start, and names the option."""
    words = STATIC.format(folder=tmp_path).split()
    serves = SERVES["granian"].format(socket=tmp_path / "socket", sites=SITES).split()
    with begun([BIN / "granian", *words, *serves], tmp_path) as process:
        assert process.wait(60) != 0
    assert "--static-path-mount" in (tmp_path / "log").read_text()
    assert "granian does not start if the folder does not exist" in says("static", "granian")
