"""CPU of a tree: exact, whoever was born or died in between."""

from __future__ import annotations

import os
import resource
from itertools import pairwise

import pytest

from lab.bench.probes.cpu import CpuProbe, parse_switches, parse_wait
from lab.bench.probes.processes import TICK, cpu, parse_stat, read_snapshot
from lab.model.protocols import Subject
from tests.probes import trees
from tests.probes.trees import tree

STAT = (
    "4711 (a) b (c) S 42 4711 4711 0 -1 4194304 1 2 3 4 250 50 1200 30 20 0 7 0 98765 1 2 3 "
    "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
)


def measured(program):
    """Return the readings over what a tree does between its first and its second line, and that."""
    return trees.measured(CpuProbe(), program)


def used(root):
    """Return the CPU seconds of a tree so far."""
    return sum(cpu(read_snapshot(root.pid).tree(root.pid), root.pid))


def test_a_process_is_parsed_whatever_its_name():
    """A name may hold brackets and spaces; times are ticks of 10 ms."""
    process = parse_stat(STAT)
    assert (process.pid, process.parent, process.name) == (4711, 42, "a) b (c")
    assert (process.user, process.system) == (2.5, 0.5)
    assert (process.reaped_user, process.reaped_system) == (12.0, 0.3)
    assert process.key == (4711, 98765)
    assert not process.zombie


@pytest.mark.parametrize("text", ["", "4711", "4711 (a) S 1 2 3", STAT[:60]])
def test_half_a_process_is_refused(text):
    """What was cut short is no process with zeros in it."""
    with pytest.raises(ValueError):
        parse_stat(text)


def test_processes_that_are_born_and_die_in_the_window_are_counted():
    """Ten children that burn and end, orphans among them, and the kernel's own sum agree."""
    readings, line = measured(
        """
        say("ready"); input()
        def parent():
            child(burn, 0.06)  # left to the root when this one ends
            burn(0.04)
        for _ in range(5):
            child(parent)
        count = 0
        while True:
            try:
                _, _, used = os.wait3(0)
                count += 1
            except ChildProcessError:
                break
        import resource
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        say(count, used.ru_utime + used.ru_stime)
        sleep_forever()
        """
    )
    count, used = line.split()
    assert count == "10"  # the orphans were adopted
    total = readings["server.cpu_user"] + readings["server.cpu_system"]
    assert float(used) >= 0.5
    assert total == pytest.approx(float(used), abs=0.021)  # a tick for user and system each
    assert readings["server.processes"] == 0


def test_the_roots_own_time_is_left_out():
    """The guard's work is not the server's."""
    readings, _ = measured(
        """
        child(sleep_forever)
        say("ready"); input()
        burn(0.3)
        say("done")
        sleep_forever()
        """
    )
    assert readings["server.cpu_user"] + readings["server.cpu_system"] < 0.1
    assert readings["server.processes"] == 1


def test_the_busiest_process_is_told_from_the_others():
    """It is a share of one core, of the probe's own interval."""
    readings, line = measured(
        """
        def work(seconds):
            burn(seconds)
            os.write(w, b"x")
            sleep_forever()
        r, w = os.pipe()
        child(sleep_forever)
        say("ready"); input()
        child(work, 0.30); child(work, 0.10)
        assert len(os.read(r, 1) + os.read(r, 1)) == 2
        say("done")
        sleep_forever()
        """
    )
    assert line == "done"
    assert readings["server.processes"] == 3
    assert readings["server.busiest"] * readings["elapsed"] == pytest.approx(0.30, abs=0.05)


def test_the_threads_of_the_busiest_process_are_counted():
    """Of three threads, one in the idle process and two in the busy one: two."""
    readings, _ = measured(
        """
        import threading
        def work():
            threading.Thread(target=sleep_forever, daemon=True).start()
            os.read(a, 1)
            burn(0.1)
            os.write(d, b"x")
            sleep_forever()
        a, b = os.pipe(); c, d = os.pipe()
        def sleep_forever():
            while True:
                time.sleep(3600)
        child(sleep_forever)
        child(work)
        say("ready"); input()
        os.write(b, b"x")
        os.read(c, 1)
        say("done")
        sleep_forever()
        """
    )
    assert readings["server.busiest_threads"] == 2


def test_a_worker_that_was_replaced_is_told():
    """One of two ends and another takes its place: as many as before, one of them new."""
    readings, _ = measured(
        """
        child(sleep_forever)
        old = child(sleep_forever)
        say("ready"); input()
        os.kill(old, signal.SIGKILL); os.wait()
        child(sleep_forever)
        say("done")
        sleep_forever()
        """
    )
    assert (readings["server.processes"], readings["server.respawned"]) == (2, 1)


def test_voluntary_switches_are_counted_by_thread():
    """A process that sleeps a hundred times is switched out a hundred times."""
    readings, _ = measured(
        """
        def sleeper():
            os.read(a, 1)
            for _ in range(100):
                time.sleep(0.0002)
            os.write(d, b"x")
            sleep_forever()
        a, b = os.pipe(); c, d = os.pipe()
        child(sleeper)
        say("ready"); input()
        os.write(b, b"x")
        os.read(c, 1)
        say("done")
        sleep_forever()
        """
    )
    assert 100 <= readings["server.switches_voluntary"] <= 120
    assert readings["server.switches_involuntary"] >= 0
    assert readings.get("server.run_wait", 0.0) >= 0


def test_a_tree_that_is_gone_has_no_readings():
    """Absent, not zero."""
    with tree('say("ready"); sleep_forever()') as root:
        root.heard()
        probe, subject = CpuProbe(), Subject(root.pid, 0)
        stop = probe.start(subject)
    assert stop() == {}


def test_a_snapshot_agrees_with_the_kernel_while_processes_come_and_go():
    """Fifty short-lived workers: the sum over the tree never falls."""
    with tree(
        """
        say("ready"); input()
        for _ in range(50):
            child(burn, 0.004)
            child(burn, 0.002)
            os.wait(); os.wait()
        say("done")
        sleep_forever()
        """
    ) as root:
        root.heard()
        root.go()
        seen = [used(root) for _ in range(60)]
        assert root.heard() == "done"
        seen.append(used(root))
    assert all(later >= earlier - 2.01 * TICK for earlier, later in pairwise(seen))
    assert seen[-1] >= 0.25


def test_switches_are_parsed_from_a_status():
    """Both kinds, by their readings' names."""
    text = (
        "Name:\tuwsgi\nThreads:\t1\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n"
    )
    assert parse_switches(text) == {"switches_voluntary": 12.0, "switches_involuntary": 3.0}


def test_a_status_without_switches_has_none():
    """Absent, not zero."""
    assert parse_switches("Name:\tuwsgi\nThreads:\t1\n") == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1500000000 250000000 40\n", {"run_wait": 0.25}), ("0 0 0\n", {}), ("", {})],
)
def test_waiting_is_parsed_where_the_kernel_counts_it(text, expected):
    """Nanoseconds become seconds; three zeros mean that it does not count."""
    assert parse_wait(text) == expected


def test_this_process_is_seen_as_the_kernel_sees_it():
    """Own CPU agrees with getrusage to the tick."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu_seconds = read_snapshot(os.getpid()).processes[os.getpid()].cpu_seconds
    assert cpu_seconds == pytest.approx(used.ru_utime + used.ru_stime, abs=0.05)
