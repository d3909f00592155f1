"""The machine around the experiment: whose CPU it was."""

from __future__ import annotations

import os
import time
from types import SimpleNamespace

import pytest

from lab.bench.probes import pressure
from lab.bench.probes.cgroup import parse_max, parse_throttled, read_quota
from lab.bench.probes.pressure import (
    CpuTimes,
    PressureProbe,
    ours,
    parse_cores,
    parse_pressure,
    strangers,
)
from lab.bench.probes.processes import ProcessState, Snapshot
from lab.model.protocols import Subject
from tests.probes.trees import tree

STAT = """\
cpu  300 0 100 1000 20 30 40 50 0 0
cpu0 100 0 50 600 10 10 30 0 0 0
cpu1 200 0 50 400 10 20 10 50 0 0
intr 490913 0 0
"""

BURNER = """
say("ready"); input()
{work}
say("done")
sleep_forever()
"""


def process(pid, parent, user=0.0, *, reaped=0.0, name="x", started=1):
    """Return a process with so much CPU."""
    return ProcessState(pid, parent, started, name, False, user, 0.0, reaped, 0.0)


def snapshot(at, *processes):
    """Return these processes at one moment."""
    return Snapshot(at, {the_process.pid: the_process for the_process in processes})


def measured(*, as_generator):
    """Return the readings while a program beside the server burns 0.4 s, and the cores that is."""
    with (
        tree('say("ready"); sleep_forever()') as server,
        tree(BURNER.format(work="burn(0.4)")) as burner,
    ):
        server.heard()
        burner.heard()
        subject = Subject(server.pid, 0, (burner.pid,) if as_generator else ())
        probe = PressureProbe()
        started = time.monotonic()
        stop = probe.start(subject)
        burner.go()
        assert burner.heard() == "done"
        readings = stop()
        return readings, 0.4 / (time.monotonic() - started)


def test_a_strangers_cpu_is_foreign():
    """A program beside the experiment is seen, with about the CPU that it used."""
    readings, used = measured(as_generator=False)
    assert readings["machine.foreign_cpu"] > 0.8 * used
    assert readings["machine.busy"] > 0.8 * used


def test_the_generators_cpu_is_not_foreign():
    """The same program as the generator: of what the machine was busy with, that much is ours."""
    readings, used = measured(as_generator=True)
    assert readings["machine.busy"] - readings["machine.foreign_cpu"] > 0.6 * used
    assert 0 <= readings["machine.steal"] <= 1


def test_idle_cores_are_told_of_the_machine_and_of_the_server():
    """A server that may use one CPU has at most that one idle, whatever its guard may use."""
    with tree(
        """
        def pinned():
            os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
            say("ready")
            sleep_forever()
        child(pinned)
        sleep_forever()
        """
    ) as server:
        server.heard()
        probe, subject = PressureProbe(), Subject(server.pid, 0)
        started = time.monotonic()
        stop = probe.start(subject)
        while time.monotonic() - started < 0.1:  # several ticks
            pass
        readings = stop()
    assert readings["machine.cores"] == len(os.sched_getaffinity(0))
    assert 0 <= readings["machine.idle"] <= readings["machine.cores"] + 0.3  # ticks are coarse
    assert 0 <= readings["server.idle"] <= 1.3


def test_a_short_window_tells_nothing_of_strangers():
    """Ticks of 10 ms are too coarse for it; the rest is told."""
    probe, subject = PressureProbe(), Subject(os.getpid(), 0)
    readings = probe.start(subject)()
    assert "machine.foreign_cpu" not in readings
    assert "machine.busy" in readings


def test_our_own_cpu_includes_children_that_ended():
    """A load tool that ends in the window moves its CPU to the lab's account."""
    before = snapshot(0, process(1, 0, 5.0), process(10, 1, 2.0), process(11, 10, 0.5))
    after = snapshot(1, process(1, 0, 9.0), process(10, 1, 2.1, reaped=0.9))
    assert ours(before, after, [10]) == pytest.approx(0.5)


def test_a_strangers_dead_children_are_not_charged_to_the_window():
    """A job of ten hours that ends now did not use ten hours now."""
    before = snapshot(0, process(1, 0), process(10, 1), process(20, 1), process(21, 20, 36000.0))
    after = snapshot(
        1,
        process(1, 0),
        process(10, 1, 0.7),
        process(20, 1, 0.1, reaped=36000.2),
        process(30, 1, 0.2),
    )
    assert strangers(before, after, [10]) == pytest.approx(0.3)


def test_a_pid_used_again_begins_at_zero():
    """Another process with the same number owes nothing to the first."""
    before = snapshot(0, process(10, 1), process(20, 1, 50.0, started=1))
    after = snapshot(1, process(10, 1), process(20, 1, 0.4, started=2))
    assert strangers(before, after, [10]) == pytest.approx(0.4)


def test_network_work_of_the_kernel_is_not_foreign():
    """ksoftirqd carries on with the packets that the load sends."""
    before = snapshot(0, process(10, 1), process(20, 2, 0.0, name="ksoftirqd/0"))
    after = snapshot(1, process(10, 1), process(20, 2, 0.4, name="ksoftirqd/0"))
    assert strangers(before, after, [10]) == 0


def test_what_cpus_did_is_parsed_in_seconds():
    """Waiting for I/O is idle time; both kinds of interrupts are one sum."""
    cores = parse_cores(STAT, ())
    assert cores.count == 2
    assert (cores.idle, cores.interrupts, cores.steal) == pytest.approx((10.2, 0.7, 0.5))


def test_only_usable_cpus_count():
    """Those that neither server nor generator may use do not disturb them."""
    cores = parse_cores(STAT, {1})
    assert (cores.count, cores.idle, cores.steal) == pytest.approx((1, 4.1, 0.5))


@pytest.mark.parametrize("text", ["", "cpu  1 2 3\n", "cpu0 1 2 3\n"])
def test_a_stat_without_complete_cpus_is_refused(text):
    """A missing column is not zero."""
    with pytest.raises(ValueError):
        parse_cores(text, ())


def test_pressure_is_parsed_in_seconds():
    """The total of "some", not the averages."""
    text = "some avg10=0.08 avg60=0.10 avg300=0.13 total=5660815\nfull avg10=0.00 total=7\n"
    assert parse_pressure(text) == 5.660815


@pytest.mark.parametrize("text", ["", "full avg10=0.00 total=7\n", "some avg10=0.08\n"])
def test_pressure_that_is_not_told_is_refused(text):
    """Absent, not zero."""
    with pytest.raises(ValueError):
        parse_pressure(text)


@pytest.mark.parametrize(("text", "cores"), [("150000 100000\n", 1.5), ("max 100000\n", None)])
def test_a_quota_is_parsed_in_cores(text, cores):
    """The word "max" is none."""
    assert parse_max(text) == cores


def test_a_quota_that_makes_no_sense_is_refused():
    """One number is not two."""
    with pytest.raises(ValueError):
        parse_max("100000\n")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("usage_usec 9\nnr_throttled 3\nthrottled_usec 250000\n", 0.25),
        ("nr_periods 9\nnr_throttled 3\nthrottled_time 250000000\n", 0.25),
        ("usage_usec 9\n", None),
    ],
)
def test_throttled_time_is_parsed_of_both_versions(text, seconds):
    """Microseconds in version 2, nanoseconds in version 1."""
    assert parse_throttled(text) == seconds


def test_the_tightest_quota_above_a_process_holds(tmp_path):
    """A container may have two cores and the group around it one and a half."""
    # Whatever groups this process is in, both are looked at: the mount point is above them all.
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    (tmp_path / "cpu.stat").write_text("nr_throttled 3\nthrottled_usec 250000\n")
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("200000\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    quota = read_quota(mount=tmp_path)
    assert quota is not None
    assert (quota.cores, quota.throttled) == (1.5, 0.25)


def test_without_a_quota_there_is_none(tmp_path):
    """Absent, not all the cores."""
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert read_quota(mount=tmp_path) is None


@pytest.mark.parametrize(
    ("idle", "foreign"), [(0.4, 0.6), (0.9, 0.1), (1.1, 0.0)], ids=["here", "partly", "elsewhere"]
)
def test_strangers_on_other_cpus_take_nothing(monkeypatch, idle, foreign):
    """Of 0.6 s of theirs counts what was done on two CPUs that were busy with 1 s of ours."""
    clock, cores = iter((0.0, 1.0)), iter((CpuTimes(2, 0.0, 0.0, 0.0), CpuTimes(2, idle, 0.0, 0.0)))
    snapshots = iter(
        (
            snapshot(0, process(10, 1), process(20, 1)),
            snapshot(1, process(10, 1, 1.0), process(20, 1, 0.6)),
        )
    )
    monkeypatch.setattr(pressure, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(pressure, "read_snapshot", lambda *_: next(snapshots))
    monkeypatch.setattr(pressure, "_read_cores", lambda *_: (next(cores), None))
    probe, subject = PressureProbe(), Subject(10, 0)
    readings = probe.start(subject)()
    assert readings["machine.foreign_cpu"] == pytest.approx(foreign)
