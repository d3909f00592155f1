"""
The facts among the published claims: each test finds out whether an article's statement holds.

It fails unless that is what claims.toml says, so `lab claims` prints what was seen here.
"""

import asyncio
import os
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from lab.bench import profiles
from lab.bench.machine import project
from lab.bench.profiles.backing import missing, read
from lab.bench.servers import backing
from lab.model.request import Expectation
from lab.model.workload import Workload
from loadtests.workloads.numbers import DELAY
from tests.kit.client import ask
from tests.kit.lab_process import BIN, SITES, until
from tests.kit.running import read_installed, running
from tests.kit.socket_server import replying


@pytest.fixture
def started(tmp_path):
    """Return a function that runs an application of tests/sites by the lines of an ini."""

    def started(site, lines, workers=1):
        path = tmp_path / "mine.ini"
        app = f"{site}:application"
        path.write_text(
            f"[uwsgi]\nhttp-socket = 127.0.0.1:$(PORT)\nchdir = {SITES}\nmodule = {app}\n"
            f"processes = {workers}\n{lines}\n"
        )
        workload = Workload(site, "/", Expectation(body=b"ready"), app, SITES)
        return running(profiles.read(str(path)), workload, workers=workers)

    return started


def said_by(command):
    """Return what a program says that ends by itself."""
    done = subprocess.run(command, cwd=SITES, capture_output=True, timeout=10, check=False)
    return (done.stdout + done.stderr).decode()


def at_once(address, path, number):
    """Return the bodies of so many replies, asked for at the same time."""
    with ThreadPoolExecutor(number) as clients:
        return [
            reply.body for reply in clients.map(lambda _: ask(address, path=path), range(number))
        ]


COLON = """[uwsgi]
http-socket = 127.0.0.1:0
wsgi-file = {file}
callable{sign} app
no-server = true
need-app = true
"""


def test_a_colon_names_no_callable(tmp_path):
    """Of the walkthrough's ini as it is printed: a slip of the page, and no claim."""
    file, ini = tmp_path / "app.py", tmp_path / "uwsgi.ini"
    file.write_text("def app(environ, start_response):\n    return []\n")
    outcomes = {}
    for sign in (" =", ":"):
        ini.write_text(COLON.format(file=file, sign=sign))
        outcomes[sign] = "callable not found" not in said_by([BIN / "uwsgi", ini])
    assert outcomes == {" =": True, ":": False}


def test_processes_without_threads_are_kept_on_one_cpu(started, holds):
    """Whether four processes share one CPU where the lab may use several, and threads free them."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU: every process is kept on it")
    kept = {}
    for threads in (1, 2):
        with started("meeting", f"threads = {threads}", workers=4) as server:
            allowed = [os.sched_getaffinity(pid) for pid in server.spawned()]
        assert len(allowed) == 4
        kept[threads] = len(set.union(*allowed)) == 1
    assert (kept == {1: True, 2: False}) is holds


def test_threads_wait_for_enable_threads(started, holds):
    """Whether two threads of one process, without that option, cannot answer at the same time."""
    with started("meeting", "threads = 2") as server:
        replies = at_once(server.address, "/meet", 2)
    assert (replies != [b"met", b"met"]) is holds


def test_the_kernel_recycles_ports(holds):
    """Whether Linux has the setting; its neighbour shows that such settings can be seen here."""
    settings = Path("/proc/sys/net/ipv4")
    if not (settings / "tcp_tw_reuse").exists():
        pytest.skip("the kernel's settings cannot be seen here")
    assert (settings / "tcp_tw_recycle").exists() is holds


def test_asyncio_needs_two_cores(holds):
    """Whether uWSGI ends, and says that it has no async mode, where its loop has one core."""
    uwsgi = [BIN / "uwsgi", "--http-socket", "127.0.0.1:0", "--module", "meeting:application"]
    if "\nasyncio\n" not in said_by([BIN / "uwsgi", "--plugin-list"]):
        pytest.skip("this uWSGI has no plug-in asyncio")
    log = said_by([*uwsgi, "--asyncio", "1", "--greenlet"])
    assert ("the greenlet suspend engine requires async mode" in log) is holds


def test_work_that_is_left_for_later_is_not_done_in_a_short_run():
    """Of the handlers of the non-blocking article, whose run ended before that work was due."""
    printed, due = {}, {}
    for name, handler in (("blocking", "before"), ("asyncio", "after")):
        body = Expectation(body=b"Hello World")
        workload = Workload("numbers", "/", body, f"loadtests.workloads.numbers:{handler}")
        with running(read_installed(name), workload) as server:
            times = []
            for _ in range(300):  # Python writes what it has printed in blocks of 8 KiB
                times.append(time.monotonic())
                assert ask(server.address).body == b"Hello World"
            printed[name] = server.log().count(":ten\n")
        # On a busy machine the first ones were asked so long ago that their work is due.
        due[name] = sum(time.monotonic() - timestamp >= DELAY for timestamp in times)
    assert printed["blocking"] > 100
    assert printed["asyncio"] <= 100 + due["asyncio"]


def test_async_mode_switches_three_times(started, holds):
    """Whether uWSGI counts three switches for each request, whatever it asks in between."""
    with started("meeting", "async = 4\nugreen = true") as server:
        for _ in range(3):
            ask(server.address)
        log = until(lambda: (text := server.log()).count(" switches on core") > 3 and text, "logs")
    assert ({"3"} == set(re.findall(r"\((\d+) switches on core", log))) is holds


def test_gevent_ends_uwsgi_under_load(started, holds):
    """Whether replies fail, or a worker ends, while a hundred requests ask another server."""
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndone"
    lines = "gevent = 50\ngevent-early-monkey-patch = true\nmaster = true"
    with replying(reply, close=True) as other, started("fetching", lines) as server:
        bodies = [
            body for _ in range(5) for body in at_once(server.address, f"/?{other.address[1]}", 20)
        ]
        failed = set(bodies) != {b"done"} or len(server.spawned()) > 1
    assert failed is holds


RUN = """
import asyncio, uvloop
async def main():
    print(asyncio.get_running_loop())
uvloop.run(main())
"""

POLICY = """
import asyncio, uvloop
asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
print(asyncio.get_event_loop())
"""


def test_a_policy_gives_a_program_uvloop(holds):
    """Whether the article's two lines still do; else nothing made a loop for them."""
    output = said_by([BIN / "python", "-W", "ignore", "-c", POLICY])
    assert ("<uvloop.Loop " in output) is holds, output
    assert holds or "RuntimeError: There is no current event loop" in output


def test_uvloop_makes_a_loop(holds):
    """Whether the article's second way still does."""
    output = said_by([BIN / "python", "-c", "import uvloop; print(uvloop.new_event_loop())"])
    assert ("<uvloop.Loop " in output) is holds, output


def test_uvloop_is_for_python_3_5_alone(holds):
    """Whether it fails on the Python that the lab has, which is a later one."""
    output = said_by([BIN / "python", "-c", RUN])
    assert ("<uvloop.Loop " not in output) is holds, output


def test_uvloop_takes_cython(holds):
    """Whether it fails where Cython cannot be imported."""
    output = said_by([BIN / "python", "-c", f"import sys; sys.modules['Cython'] = None{RUN}"])
    assert ("<uvloop.Loop " not in output) is holds, output


SLEEP = """
import asyncio
from tornado.ioloop import IOLoop
async def slept():
    await asyncio.sleep(0.01)
    return "slept"
print(IOLoop.current().run_sync(slept, timeout=0.9))
"""


def test_asyncio_cannot_sleep_on_tornado_s_loop(holds):
    """Whether a coroutine on the loop that Tornado gives fails where it waits by asyncio."""
    pytest.importorskip("tornado", reason="tornado is not installed: make peers")
    output = said_by([BIN / "python", "-c", SLEEP])
    assert (output != "slept\n") is holds, output


def test_asyncio_could_not_sleep_on_tornado_s_loop():
    """In Tornado 4.5, which the article had: the coroutine never goes on."""
    old = project.environments() / "tornado45" / "bin" / "python"
    if not old.exists():
        pytest.skip("Tornado 4.5 is not installed: make peers, with Python 3.6")
    assert "Operation timed out after 0.9 seconds" in said_by([old, "-c", SLEEP])


@pytest.mark.peers
def test_a_database_refuses_500_connections_at_once(holds):
    """Whether PostgreSQL as it is by default says that they are too many."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed: make peers")
    service = read(project.backing() / "postgres.toml")
    if (reason := missing(service)) is not None:
        pytest.skip(reason)
    refused = ""
    with backing.running([service], None), ExitStack() as clients:
        try:
            for _ in range(500):
                clients.enter_context(psycopg.connect(os.environ["POSTGRES_URL"]))
        except psycopg.OperationalError as error:
            refused = str(error)
    assert ("sorry, too many clients already" in refused) is holds


@pytest.mark.peers
def test_one_connection_is_for_one_coroutine(holds):
    """Whether asyncpg refuses a query while another one is under way on its connection."""
    asyncpg = pytest.importorskip("asyncpg", reason="asyncpg is not installed: make peers")
    service = read(project.backing() / "postgres.toml")
    if (reason := missing(service)) is not None:
        pytest.skip(reason)

    async def two_at_once():
        connection = await asyncpg.connect(os.environ["POSTGRES_URL"])
        queries = (connection.fetch("SELECT pg_sleep(0.1)") for _ in range(2))
        answers = await asyncio.gather(*queries, return_exceptions=True)
        await connection.close()
        return [type(answer) for answer in answers]

    with backing.running([service], None):
        answers = asyncio.run(two_at_once())
    assert (asyncpg.InterfaceError in answers) is holds
