"""All probes together, on a real server under load."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from lab.bench.probes import facts, probes
from lab.bench.probes.facts import classify
from lab.bench.servers.ports import free_port
from lab.model.protocols import Subject
from tests.kit.lab_process import BIN, ROOT, descendants, until
from tests.probes.clients import connect, until_answered
from tests.probes.trees import tree

UWSGI = """
env = {{**os.environ, "PORT": "{port}", "FIB_PURE_PYTHON": "{pure}"}}
subprocess.Popen([{uwsgi!r}, {profile!r}], env=env, stdin=subprocess.DEVNULL,
                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
say("started")
sleep_forever()
"""

REQUEST = b"GET /9000 HTTP/1.1\r\nHost: x\r\n\r\n"


@contextmanager
def tuned(pure=""):
    """Run the profile `tuned` until the block ends; yield what a probe is told of it."""
    port = free_port()
    paths = {"uwsgi": str(BIN / "uwsgi"), "profile": str(ROOT / "profiles" / "tuned.ini")}
    with tree(UWSGI.format(port=port, pure=pure, **paths)) as root:
        root.heard()
        until_answered(port, REQUEST)
        # The second worker may be there later than the first reply.
        until(lambda: len(descendants(root.pid)) == 3, "a master and two workers")
        yield Subject(root.pid, port)


@pytest.mark.alone
def test_a_loaded_server_gives_every_reading():
    """Started in order and ended in reverse, they tell what it used."""
    with tuned() as subject:

        def burst():
            stops = [probe.start(subject) for probe in probes()]
            for _ in range(5):  # CPU comes in ticks of 10 ms
                with connect(subject.port, 200, send=REQUEST, until=lambda c: c.answered() == 200):
                    pass
            readings = {}
            for stop in reversed(stops):
                readings.update(stop())
            # Absent while other programs' drops could hide ours.
            return readings if "listener.drops" in readings else None

        readings = until(burst, "a burst beside which nobody else dropped connections")
    assert readings["elapsed"] > 0
    assert readings["server.cpu_user"] + readings["server.cpu_system"] > 0
    assert readings["server.processes"] == 3
    assert readings["server.respawned"] == 0
    assert readings["server.busiest_threads"] >= 1
    assert readings["server.writes"] >= 1000
    assert readings["server.log_pipe"] == 0
    assert readings["machine.cores"] >= 1
    assert readings["tcp.ports"] >= 1
    assert readings["server.switches_voluntary"] >= 0
    assert 5e6 < readings["server.pss"] < 300e6
    assert readings["listener.public.limit"] == 1024
    assert readings["listener.drops"] == 0
    assert not {"server.router", "server.logged"} & readings.keys()  # it has neither
    assert all(isinstance(value, float) for value in readings.values())


def test_the_cpu_lies_next_to_the_window():
    """It is started last, so that it is ended first; memory, the slowest, is ended last."""
    names = [type(probe).__name__ for probe in probes()]
    assert names[-1] == "CpuProbe"
    assert names[0] == "MemoryProbe"


def test_the_build_that_a_server_loaded_is_seen_from_outside():
    """A fallback to plain Python does not go unnoticed."""
    with tuned(pure="1") as subject:
        subject_facts = facts(subject)
    assert subject_facts == {"fib": "pure", "listeners": "1", "processes": "3", "threads": "3"}


def test_a_program_without_python_has_no_build():
    """Absent: nothing is known of its fib."""
    with tree(
        """
        subprocess.Popen(["sleep", "60"])
        say("started")
        sleep_forever()
        """
    ) as root:
        root.heard()
        subject_facts = facts(Subject(root.pid, 1))
    assert subject_facts == {"listeners": "0", "processes": "1", "threads": "1"}


def test_a_compiled_module_of_another_package_is_not_ours():
    """The folder and the name count."""
    line = "7f00-7f01 r-xp 0 08:01 7 {}\n"
    python = line.format("/usr/lib/libpython3.11.so.1.0")
    assert classify(python + line.format("/x/other/_core_c.cpython-311.so")) == "pure"
    assert classify(python + line.format("/x/fib/_core_c.cpython-311.so")) == "cython"
    assert classify(line.format("/usr/sbin/nginx")) is None
