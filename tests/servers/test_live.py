"""A user's ini that is in production on this machine: what runs is left alone."""

import os
import socket
import subprocess
import sys
from contextlib import suppress

import psutil
import pytest

from lab import profiles
from lab.errors import ProfileError
from lab.experiment.available import available
from lab.model import Expectation, Workload
from lab.profiles import resolve
from lab.servers.in_use import check_unused
from lab.system.programs import ROOT
from tests.kit.lab_process import until

PONG = Workload("x", "/", Expectation(body=b"Pong!"))

LOGS = """logto = {folder}/log
logger = file:{folder}/logger
log-master = true
log-encoder = json
log-prefix = shop
log-date = %%Y-%%m-%%d %%H:%%M:%%S %%Z - mine = 1
"""


@pytest.fixture
def mine(tmp_path):
    """Return a function that writes an ini with these lines and returns its profile."""

    def mine(lines):
        (tmp_path / "mine.ini").write_text(
            "[uwsgi]\nhttp-socket = 127.0.0.1:$(PORT)\n"
            f"chdir = {ROOT}\nmodule = app.hello:app\n{lines}\n"
        )
        return profiles.read(str(tmp_path / "mine.ini"))

    return mine


@pytest.fixture
def listener(tmp_path):
    """Return a listening socket at `live.sock`."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "live.sock"))
        server.listen(1)
        yield server


@pytest.fixture
def ended():
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


OPTIONS = ["socket", "uwsgi-socket", "http-socket", "fastcgi-nph-socket", "scgi-socket", "stats"]
OPTIONS += ["http", "stats-server", "shared-socket", "fastrouter", "http-stats", "zerg-server"]


@pytest.mark.parametrize("option", OPTIONS)
def test_socket_in_use(mine, listener, tmp_path, option):
    """A UNIX socket that is served is refused in one line that says what to do."""
    with pytest.raises(ProfileError) as caught:
        check_unused(mine(f"{option} = %dlive.sock"))
    assert str(caught.value) == (
        f"{tmp_path}/mine.ini: {option} = {tmp_path}/live.sock: a server accepts connections "
        "there, and a trial would take its place; stop that server, or test a copy of the file "
        "without this option"
    )


def test_socket_whose_queue_is_full(mine, listener, tmp_path):
    """A server that is too busy to accept is in use."""
    clients = []
    with suppress(BlockingIOError):
        while len(clients) < 9:
            clients.append(socket.socket(socket.AF_UNIX))
            clients[-1].setblocking(False)
            clients[-1].connect(str(tmp_path / "live.sock"))
    assert len(clients) < 9
    with pytest.raises(ProfileError, match="accepts connections"):
        check_unused(mine("socket = %dlive.sock"))
    for client in clients:
        client.close()


def test_socket_below_the_folder_of_the_application(mine, listener, monkeypatch, tmp_path):
    """A relative path is one below `chdir`."""
    with pytest.raises(ProfileError, match=r"socket = live\.sock: a server accepts"):
        check_unused(mine("chdir = %d\nsocket = live.sock"))


def test_datagram_socket_in_use(mine, tmp_path):
    """So is one that takes datagrams."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(str(tmp_path / "live.sock"))
        with pytest.raises(ProfileError, match="accepts connections"):
            check_unused(mine("subscription-server = %dlive.sock"))


def test_abstract_socket_in_use(mine):
    """So is a name that is not in the file system."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0lab-{os.getpid()}")
        server.listen()
        with pytest.raises(ProfileError, match="accepts connections"):
            check_unused(mine(f"socket = @lab-{os.getpid()}"))


@pytest.mark.parametrize("address", ["127.0.0.1:{}", ":{}", "$(BIND):{}"])
def test_port_in_use(mine, address):
    """So is a fixed TCP port, in whichever way it is written."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        value = address.format(server.getsockname()[1])
        with pytest.raises(ProfileError, match="a server listens there"):
            check_unused(mine(f"socket = {value}"))


def test_fifo_in_use(mine, tmp_path):
    """So is a FIFO that a master reads."""
    os.mkfifo(tmp_path / "fifo")
    check_unused(profile := mine("master-fifo = %dfifo"))
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(ProfileError, match=r"fifo: a server reads it"):
        check_unused(profile)
    os.close(reader)


@pytest.mark.parametrize("option", ["pidfile", "pidfile2", "safe-pidfile", "safe-pidfile2"])
def test_pidfile_of_a_running_process(mine, tmp_path, option):
    """So is a pidfile whose process runs."""
    (tmp_path / "live.pid").write_text(f"{os.getpid()}\n")
    with pytest.raises(ProfileError, match=r"live\.pid: its process runs"):
        check_unused(mine(f"{option} = %dlive.pid"))


def test_pidfile_of_an_earlier_process(mine, tmp_path):
    """A number that has been given to another process since is no reason to refuse."""
    (tmp_path / "live.pid").write_text(f"{os.getpid()}\n")
    before = psutil.Process().create_time() - 3600
    os.utime(tmp_path / "live.pid", (before, before))
    check_unused(mine("pidfile = %dlive.pid"))


def test_pidfile_of_a_zombie(mine, tmp_path):
    """Nor is the number of a process that has ended, and that its parent has not asked about."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE, "its end")
    (tmp_path / "live.pid").write_text(f"{process.pid}\n")
    check_unused(mine("pidfile = %dlive.pid"))
    process.wait()


def test_an_address_that_is_only_asked(mine, listener):
    """An option that connects to a server takes nothing from it."""
    check_unused(mine("log-socket = %dlive.sock\nsubscribe-to = %dlive.sock:x"))


def test_live_server(start, mine, listener, tmp_path):
    """A profile that names a served socket is not started, and the server keeps it."""
    mine("socket = %dlive.sock\nmaster = true\nvacuum = true")
    with (
        pytest.raises(ProfileError, match="accepts connections"),
        start(str(tmp_path / "mine.ini"), PONG),
    ):
        pass
    listener.accept()[0].close()  # the connection of the look
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(tmp_path / "live.sock"))
        listener.accept()[0].close()


def test_a_run_is_refused_before_its_first_trial(mine, listener):
    """Not when the profile's turn comes, with other trials made for nothing."""
    profile = mine("socket = %dlive.sock")
    with pytest.raises(ProfileError, match="accepts connections"):
        available(["tuned", str(profile.path)], PONG)
    listener.accept()[0].close()


def test_what_a_killed_server_left(start, mine, tmp_path, ended):
    """A socket that nobody answers and the pidfile of a dead process are no reason to refuse."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "live.sock"))
    (tmp_path / "live.pid").write_text(f"{ended}\n")
    mine("socket = %dlive.sock\npidfile = %dlive.pid")
    with start(str(tmp_path / "mine.ini"), PONG) as server:
        assert server.ended() is None


def test_reading_touches_nothing(mine, tmp_path):
    """To read a profile writes no pidfile, runs no command, and removes nothing afterwards."""
    for name in ("live.pid", "safe.pid", "live.sock"):
        (tmp_path / name).write_text("1\n")
    mine(
        "pidfile = %dlive.pid\nsafe-pidfile = %dsafe.pid\nsocket = %dlive.sock\nvacuum = true\n"
        "master = true\nunlink = %dlive.sock\nhook-asap = exec:touch %dhook\n"
        "exec-asap = touch %dran\nstats = %dstats\nmaster-fifo = %dfifo"
    )
    left = {path.name: path.read_text() for path in tmp_path.iterdir() if path.suffix != ".ini"}
    assert left == {"live.pid": "1\n", "safe.pid": "1\n", "live.sock": "1\n"}


def test_logs_of_its_own(start, mine, tmp_path):
    """An ini whose log goes elsewhere, or has another form, is read and run like any other."""
    lines = LOGS.format(folder=tmp_path)
    options = dict(mine(lines + "buffer-size = 8192").options)
    assert (options["log-encoder"], options["buffer-size"]) == ("json", "8192")
    assert options["log-date"] == "%Y-%m-%d %H:%M:%S %Z - mine = 1"
    with start(str(tmp_path / "mine.ini"), PONG) as server:
        assert server.ended() is None


@pytest.mark.parametrize("option", ["daemonize", "daemonize2"])
def test_daemon(start, mine, tmp_path, option):
    """An ini that goes to the background is read, refused before it is started, and leaves none."""
    profile = mine(f"{option} = %dlog")
    assert dict(profile.options)[option] == "{here}/log"
    with (
        pytest.raises(ProfileError, match=rf"{option} takes it to the background.* without it"),
        start(str(profile.path), PONG),
    ):
        pass
    assert not [
        process
        for process in psutil.process_iter()
        if str(profile.path) in _words(process) and process.pid != os.getpid()
    ]


def test_silent_refusal(mine, monkeypatch):
    """Where uWSGI ends without a word, the message says so."""
    monkeypatch.setattr(resolve, "program", lambda *_: "/bin/true")
    with pytest.raises(ProfileError, match=r"mine\.ini: uWSGI ended while it read it and said not"):
        mine("")


def _words(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []
