"""What rules say of how uWSGI starts, tried on it."""

import os
import signal
import socket
import subprocess
from contextlib import suppress

import pytest

from lab.bench.servers.ports import free_port
from lab.config.configuration import Known
from lab.lint.lint import lint
from tests.kit.client import accepts, ask
from tests.kit.lab_process import until
from tests.kit.linting import codes
from tests.lint.test_uwsgi_serves import APPLICATION, UWSGI, serving

HERE = Known(here=True, root=True)
"""The machine that serves, as --uwsgi says of this one."""

BARE = {name: value for name, value in os.environ.items() if not name.startswith("UWSGI_")}

of_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")


def ended(folder, text):
    """Start uWSGI with these options; return its status when its first process has ended."""
    (folder / "served.py").write_text(APPLICATION)
    (folder / "uwsgi.ini").write_text(f"[uwsgi]\nmodule = served:one\nmaster = true\n{text}\n")
    command = [UWSGI, folder / "uwsgi.ini"]
    started = subprocess.run(
        command, cwd=folder, env=BARE, capture_output=True, text=True, timeout=30, check=False
    )
    return started.returncode, started.stderr


@pytest.mark.parametrize("option", ["ini", "include", "inherit", "yaml"])
def test_it_ends_where_an_include_is_missing(option, tmp_path):
    """UW020: whichever option asks for the file."""
    line = f"{option} = {tmp_path}/nosuch.{'yaml' if option == 'yaml' else 'ini'}"
    assert "UW020" in codes(line, known=HERE)
    status, log = ended(tmp_path, f"{line}\nhttp-socket = {tmp_path}/http")
    assert (status, "No such file or directory" in log) == (1, True)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("uid = nosuch", marks=of_root),
        pytest.param("gid = nosuch", marks=of_root),
        pytest.param("immediate-uid = nosuch", marks=of_root),
        pytest.param("immediate-gid = nosuch", marks=of_root),
        "chown-socket = nosuch",
        "chown-socket = nobody:nosuch",
    ],
)
def test_it_ends_where_there_is_no_such_user(line, tmp_path):
    """UW119: nor such a group."""
    assert "UW119" in codes(line, known=HERE)
    assert ended(tmp_path, f"{line}\nhttp-socket = {tmp_path}/http")[0] == 1


@pytest.mark.parametrize(
    ("line", "mode"), [("", 0o666), ("umask = 027", 0o640)], ids=["alone", "umask"]
)
def test_its_first_process_ends_and_all_may_write_to_its_files(line, mode, tmp_path):
    """UW323 and UW410: whoever watches that process sees the server's end, and it serves on."""
    text = f"daemonize = {tmp_path}/log\npidfile = {tmp_path}/pid\n{line}"
    assert ("UW410" in codes(text)) is not bool(line)
    try:
        assert ended(tmp_path, f"{text}\nhttp-socket = {tmp_path}/http")[0] == 0
        until(lambda: accepts(tmp_path / "http"), "the socket")
        assert ask(tmp_path / "http").body == b"one /"
        assert (tmp_path / "pid").stat().st_mode & 0o777 == mode
    finally:
        _stop(tmp_path)


@pytest.mark.parametrize("word", ["true", "false"])
def test_a_word_for_no_is_a_file_s_name_too(word, tmp_path):
    """UW021: it goes to the background, and its log is called so."""
    text = f"daemonize = {word}\npidfile = {tmp_path}/pid"
    assert "UW021" in codes(text)
    try:
        assert ended(tmp_path, f"{text}\nhttp-socket = {tmp_path}/http")[0] == 0
        until(lambda: "spawned" in (tmp_path / word).read_text(), "its log")
    finally:
        _stop(tmp_path)


def _stop(folder):
    """End the server that has gone to the background."""
    with suppress(FileNotFoundError, ProcessLookupError):
        os.killpg(os.getpgid(int((folder / "pid").read_text())), signal.SIGKILL)


@pytest.mark.parametrize(
    ("address", "made"),
    [
        ("{port}", "{port}"),
        ("127.0.0.1", "127.0.0.1"),
        ("{folder}/a.sock;", "a.sock;"),
        ("unix:{folder}/b.sock", None),
        ("tcp://127.0.0.1:{port}", None),
    ],
)
def test_an_address_means_another_one(address, made, tmp_path):
    """UW022: a port without its colon, a host without port, a semicolon, a host called unix."""
    port = free_port()
    value = address.format(port=port, folder=tmp_path)
    assert "UW022" in codes(f"socket = {value}")
    with serving(tmp_path, f"module = served:one\nsocket = {value}"):
        sockets = {path.name for path in tmp_path.iterdir() if path.is_socket()} - {"http"}
        assert sockets == ({made.format(port=port)} if made else set())
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


@pytest.mark.parametrize(
    ("door", "option"),
    [("http", "http-enable-proxy-protocol"), ("http-socket", "enable-proxy-protocol")],
)
def test_a_client_says_where_it_comes_from(door, option, tmp_path):
    """UW409: the application gets an address that the client has made up."""
    port = free_port()
    assert "UW409" in codes(f"{door} = :{port}\n{option} = true")
    source = 'start("200 OK", [])\n    return [environ["REMOTE_ADDR"].encode()]'
    text = f"module = told:app\n{door} = 127.0.0.1:{port}\n{option} = true\nmaster = true"
    if door == "http":
        text += f"\nsocket = {tmp_path}/workers\nhttp-to = {tmp_path}/workers"
    (tmp_path / "told.py").write_text(f"def app(environ, start):\n    {source}\n")
    with serving(tmp_path, text):
        until(lambda: _replies(port), "the door")
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            client.sendall(b"PROXY TCP4 203.0.113.9 127.0.0.1 1 2\r\nGET / HTTP/1.0\r\n\r\n")
            assert client.makefile("rb").read().endswith(b"203.0.113.9")


def _replies(port):
    with suppress(OSError):
        return ask(("127.0.0.1", port)).status == 200
    return False


@pytest.mark.parametrize(
    ("option", "lazy", "runs"),
    [
        ("hook-pre-app", False, 1),
        ("hook-pre-app", True, 3),
        ("exec-post-app", True, 3),
        ("hook-accepting", False, 3),
        ("hook-accepting1", True, 1),
        ("exec-asap", True, 1),
    ],
)
def test_a_migration_is_run_by_each_worker_or_once(option, lazy, runs, tmp_path):
    """UW329: with lazy-apps what stands before the application stands before each worker's."""
    lines = "lazy-apps = true\nprocesses = 3" if lazy else "processes = 3"
    command = f"echo manage.py migrate >> {tmp_path}/ran"
    text = f"{lines}\n{option} = {'exec:' if option.startswith('hook') else ''}{command}"
    (flaw,) = [candidate for candidate in found_in(tmp_path, text) if candidate.code == "UW329"]
    assert (flaw.severity == "dangerous") is (runs > 1)
    with serving(tmp_path, f"module = served:one\nmaster = true\n{text}") as (path, log):
        until(lambda: log.read_text().count("spawned uWSGI worker") == 3, "all workers")
        until(lambda: _lines(tmp_path / "ran") == runs, f"{runs} runs")
        ask(path)
        assert _lines(tmp_path / "ran") == runs


def _lines(file):
    return len(file.read_text().splitlines()) if file.exists() else 0


def found_in(folder, text, name="shop.ini", **how):
    """Return what is found in a file of a folder."""
    (folder / name).write_text(f"[uwsgi]\n{text}\n")
    return lint(str(folder / name), Known(), **how).flaws


@pytest.mark.parametrize(
    ("name", "text", "watched"),
    [
        ("shop.service", "[Service]\nExecStart=/venv/bin/uwsgi \\\n  --ini /srv/shop.ini\n", True),
        ("shop.service", "[Service]\nType=forking\nExecStart=/venv/bin/uwsgi shop.ini\n", False),
        ("shop.service", "[Service]\nExecStart=/venv/bin/uwsgi /srv/webshop.ini\n", False),
        ("supervisord.conf", "[program:shop]\ncommand = uwsgi shop.ini\n", True),
        ("Procfile", "web: uwsgi shop.ini\n", True),
        ("Makefile", "web: uwsgi shop.ini\n", False),
    ],
)
def test_a_file_beside_it_says_who_watches(name, text, watched, tmp_path):
    """UW323: a unit, Supervisor's file or a Procfile that starts this file."""
    (tmp_path / name).write_text(text)
    flaws = found_in(tmp_path, "daemonize = /var/log/shop.log")
    assert any(flaw.code == "UW323" and name in flaw.message for flaw in flaws) is watched


def test_a_missing_include_is_a_remark_only_by_its_whole_path_in_a_container(tmp_path):
    """UW020: the image may have a file of that path."""
    in_a_container = {"container": True}
    for include, known, severity in (
        ("%dbase.ini", {}, "error"),
        ("base.ini", in_a_container, "error"),
        (f"{tmp_path}/base.ini", {}, "error"),
        (f"{tmp_path}/base.ini", in_a_container, "remark"),
    ):
        flaws = found_in(tmp_path, f"ini = {include}", **known)
        assert [flaw.severity for flaw in flaws if flaw.code == "UW020"] == [severity], include
