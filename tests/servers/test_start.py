"""Starting: other people's applications, and what is said when it goes wrong."""

import os
import socket
import sys
from dataclasses import replace

import psutil
import pytest

from lab.bench import profiles
from lab.bench.machine import project
from lab.bench.servers import ports, process, readiness, runner
from lab.bench.servers.fetch import fetch
from lab.bench.servers.readiness import wait_until_ready
from lab.bench.servers.runner import ServerRunner
from lab.errors import ProfileError, ServerStartError
from lab.model.profile import Peer
from lab.model.protocols import Endpoint
from lab.model.request import Expectation
from lab.model.workload import Workload
from tests.kit import builders as make
from tests.kit.lab_process import ROOT, descendants, until
from tests.kit.replies import PONG
from tests.kit.socket_server import replying

from .conftest import FIB, site

HELLO = Workload("hello", "/", Expectation(body=b"Pong!"), app="loadtests.workloads.hello:app")


@pytest.mark.parametrize("name", ["baseline", "tuned"])
def test_flask(start, name):
    """A user's Flask application is served by the article's profile and by ours."""
    workload = site("flask_site:application", "/where/Ulm", body=b'{"city":"Ulm"}\n')
    with start(name, workload) as server:
        assert fetch(server.endpoint, "/where/Bonn", 5.0)[2] == b'{"city":"Bonn"}\n'


@pytest.mark.costly
@pytest.mark.parametrize("name", ["tuned", "gunicorn-sync"])
def test_django(start, name):
    """A user's Django application is served by uWSGI and by a peer."""
    with start(name, site("django_site:application", "/price/5/", body=b"5 ct")) as server:
        assert fetch(server.endpoint, "/price/77/", 5.0)[2] == b"77 ct"


def test_peer_serves_hello(start):
    """gunicorn serves another application of this project than its own default."""
    with start("gunicorn-sync", HELLO) as server:
        status, headers, body = fetch(server.endpoint, "/any", 5.0)
    assert (status, headers["content-length"], body) == (200, "5", b"Pong!")


def test_pattern(start):
    """A reply that varies can be required by a regular expression."""
    workload = site("flask_site:application", "/where/Ulm", pattern='"city": ?"U')
    with start("baseline", workload) as server:
        assert server.ended() is None


def test_incomplete_expectation(start):
    """Where no body is known yet, a whole reply with the expected status is readiness."""
    with start("baseline", site("flask_site:application", "/", status=404)) as server:
        assert fetch(server.endpoint, "/", 5.0)[0] == 404


def test_own_ini(start, tmp_path):
    """A user's own ini is run as it is when it obeys PORT."""
    (tmp_path / "mine.ini").write_text(
        f"[uwsgi]\nhttp-socket = 127.0.0.1:$(PORT)\nchdir = {ROOT}\nmodule = {HELLO.app}\n"
    )
    with start(
        str(tmp_path / "mine.ini"), Workload("x", "/", Expectation(body=b"Pong!"))
    ) as server:
        assert server.ended() is None


def test_application_that_cannot_be_imported(start):
    """An application that cannot be imported ends the start: the exception first, then its end."""
    with (
        pytest.raises(ServerStartError, match=r"'nosuch'[\s\S]*ended with exit status 22"),
        start("tuned", site("nosuch:application", "/", body=b"")),
    ):
        pass


def test_application_that_answers_something_else(start, monkeypatch):
    """A wrong reply is no readiness, and the message has both replies."""
    monkeypatch.setattr(readiness, "PATIENCE", 0.2)
    wrong = Workload("hello", "/", Expectation(body=b"Ping?"), app="loadtests.workloads.hello:app")
    with (
        pytest.raises(ServerStartError, match=r"/ with 200 'Pong!'; expected is 'Ping\?'"),
        start("baseline", wrong),
    ):
        pass


def test_application_that_fails(start, monkeypatch):
    """An application that fails every request is no readiness; its exception comes first."""
    monkeypatch.setattr(readiness, "PATIENCE", 0.2)
    with (
        pytest.raises(ServerStartError, match=r"the database is gone[\s\S]*no whole reply"),
        start("baseline", site("broken:application", "/")),
    ):
        pass


def test_port_in_use(start, monkeypatch):
    """A port that another server holds is named as the reason."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        monkeypatch.setattr(ports, "free_port", lambda _host: port)
        monkeypatch.setattr(process, "PORT_ATTEMPTS", 1)
        wanted = f"port {port} is in use by another process"
        with pytest.raises(ServerStartError, match=wanted), start("baseline"):
            pass


def test_lost_race_for_a_port(start, monkeypatch):
    """A port that is taken between choosing and binding it costs another try, not the trial."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        free = [ports.free_port(), taken]
        monkeypatch.setattr(ports, "free_port", lambda _host: free.pop())
        with start("baseline") as server:
            assert server.endpoint.port != taken


def test_foreign_server_never_passes(monkeypatch):
    """The right reply from a process outside the tree is not readiness."""

    class Stale:
        pid = 1 << 30

        def ended(self):
            return None

        def log_tail(self, lines=20):
            return ""

    monkeypatch.setattr(readiness, "PATIENCE", 0.1)
    with replying(PONG) as server:
        stale = Stale()
        stale.endpoint = Endpoint(*server.address)
        wanted = f"from another server: process {os.getpid()}"
        with pytest.raises(ServerStartError, match=wanted):
            wait_until_ready("stale", stale, HELLO)


def test_silent_server():
    """A server that never answers is given up at the deadline, with what was seen last."""

    class Silent:
        pid = 1 << 30
        endpoint = Endpoint("127.0.0.1", ports.free_port())

        def ended(self):
            return None

        def log_tail(self, lines=20):
            return "still loading"

    with pytest.raises(ServerStartError, match=r"nothing listens[\s\S]*still loading"):
        wait_until_ready("silent", Silent(), FIB, deadline=0.1)


def test_missing_command(start, tmp_path):
    """A peer whose program is not installed fails with the program's name."""
    (tmp_path / "gone.toml").write_text('summary = "G"\nrun = [["no-such-server", "{port}"]]\n')
    with (
        pytest.raises(ServerStartError, match=r"cannot be started: .*no-such-server"),
        start(str(tmp_path / "gone.toml")),
    ):
        pass


BUILT = """
summary = "A"
build = ["install", "-m", "755", "{here}/own.sh", "{built}"]
run = [["{built}", "{port}"]]
"""


def test_a_program_that_is_compiled_is_so_once(tmp_path, monkeypatch):
    """For the same source; another source is another program, and one that fails is none."""
    monkeypatch.setattr(project, "environments", lambda: tmp_path / "made")
    (tmp_path / "own.toml").write_text(BUILT)
    programs = []
    for status in (3, 3, 4):
        (tmp_path / "own.sh").write_text(f"#!/bin/sh\nexit {status}\n")
        profile = profiles.read(str(tmp_path / "own.toml"))
        programs.append(runner.built(profile))
    assert programs[0] == programs[1] != programs[2]
    assert sorted((tmp_path / "made" / "built").iterdir()) == sorted(set(programs))
    with (
        pytest.raises(ServerStartError, match="ended with exit status 4"),
        ServerRunner().start(profile, FIB, tmp_path, None),
    ):
        pass
    (tmp_path / "own.sh").unlink()
    with pytest.raises(ProfileError, match=r"own\.toml: install fails: .*own\.sh"):
        ServerRunner().check(profiles.read(str(tmp_path / "own.toml")))


def test_unknown_word(start, tmp_path):
    """A word in braces that nobody fills in is refused, with those that are known."""
    (tmp_path / "odd.toml").write_text('summary = "O"\nrun = [["server", "{prot}"]]\n')
    with (
        pytest.raises(ProfileError, match=r"it has \{prot\}, which is none of .*\{port\}"),
        start(str(tmp_path / "odd.toml")),
    ):
        pass


def test_second_command_counts(start, tmp_path):
    """When any of a peer's commands ends, the start has failed with that command's name."""
    (tmp_path / "two.toml").write_text(
        'summary = "T"\nrun = [["sleep", "60"], ["sh", "-c", "echo no disk >&2; exit 7"]]\n'
    )
    with (
        pytest.raises(ServerStartError, match=r"sh ended with exit status 7[\s\S]*no disk"),
        start(str(tmp_path / "two.toml")),
    ):
        pass


def test_cores(start):
    """The whole tree runs on the cores that it was given."""
    with start("baseline", cores=[0]) as server:
        tree = psutil.Process(server.pid).children(recursive=True)
        assert {tuple(child.cpu_affinity()) for child in tree} == {(0,)}


def test_a_command_that_ends_is_told(start):
    """A server whose first process was killed has ended, by that signal."""
    with start("baseline") as server:
        assert server.ended() is None
        psutil.Process(server.pid).children()[0].kill()
        assert until(server.ended, "its end") == "uwsgi ended with signal 9"


def test_a_second_command_that_ends_is_told(start, tmp_path):
    """As in `production`: nginx lives on and answers, while the service behind it is gone."""
    (tmp_path / "two.toml").write_text(
        'summary = "T"\n'
        'run = [["{python}", "-m", "gunicorn", "-b", "127.0.0.1:{port}", "app.wsgi:app"], '
        '["sleep", "60"]]\n'
    )
    with start(str(tmp_path / "two.toml")) as server:
        (second,) = [child for child in descendants(server.pid) if child.name() == "sleep"]
        second.kill()
        assert until(server.ended, "its end") == "sleep ended with signal 9"
        assert fetch(server.endpoint, "/9000", 5.0)[2] == FIB.expect.body


LOADING = """\
import http.server, os, sys, time

if os.fork() == 0:  # a worker that loads for a while, and then forks another one
    for _ in range(2):
        until = time.process_time() + 0.4
        while time.process_time() < until:
            pass
        if os.fork():
            break
    open(sys.argv[2], "w").close()
    time.sleep(60)


class Pong(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"Pong!")


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Pong).serve_forever()
"""


def test_workers_that_still_load_are_waited_for(tmp_path):
    """As those of gunicorn without preload: else a trial of 64 would measure how they come up."""
    script, mark = tmp_path / "loading.py", tmp_path / "loaded"
    script.write_text(LOADING)
    words = (sys.executable, str(script), "{port}", str(mark))
    profile = replace(make.profile("loading"), server="command", peer=Peer(commands=(words,)))
    with ServerRunner().start(profile, HELLO, tmp_path, None):
        assert mark.exists()
