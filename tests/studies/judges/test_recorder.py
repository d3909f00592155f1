"""The recorder of studies.judges: what it makes, and what is left when it is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

import psutil
import pytest

from lab.bench.store.environment import read_environment
from lab.errors import ResultsError
from studies.judges import blocks, moods
from studies.judges.moods import Mood
from studies.judges.recording import (
    Recording,
    TrialSizes,
    next_block,
    read_blocks,
    require_same,
    runs,
    write_recording,
)
from studies.judges.trials import planted_turns
from tests.kit.lab_process import ROOT

TURNS, _ = planted_turns(100e-6, 10e-9)


def begun(folder, **changes):
    """Begin a recording of short trials, made here."""
    recording = Recording(
        format=Recording.FORMAT,
        seed=1,
        sizes=TrialSizes(warmup=0.0, window=0.1, connections=8),
        turns=TURNS,
        request=106e-6,
        environment=read_environment(),
    )
    recording = replace(recording, **changes)
    write_recording(folder, recording)
    return recording


def recorder(folder, *more, mood=Mood.QUIET, minutes="0.001"):
    """Start a recorder, which makes at least one block."""
    command = (sys.executable, "-m", "studies.judges", "record", "--mood", mood)
    command = (*command, "--minutes", minutes, "--at-once", "--recording", str(folder), *more)
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_block_has_three_comparisons_of_the_old_version_with_itself():
    """And 10 % more each time, while the others take turns; a duet has each version once."""
    held = [Counter(blocks.EFFECTS[name] for name in blocks.versions(n)) for n in range(60)]
    single = [counts for number, counts in enumerate(held) if not blocks.is_duet(number)]
    assert all((counts[0.0], counts[0.10]) == (9, 2) for counts in single)
    others = Counter(share for counts in single for share in counts if share not in {0.0, 0.10})
    assert others == {0.02: 16, 0.05: 16, -0.05: 16}
    assert all(set(blocks.order(1, "quiet", n)) == set(blocks.versions(n)) for n in (0, 7))
    names = [name for pair in blocks.duets(1, "quiet", 4) for name in pair]
    assert sorted(names) == sorted(set(names)) == sorted(blocks.versions(4))


def test_a_block_of_the_old_version_alone_has_its_pairs():
    """Nine trials of it, or as a duet two pairs."""
    assert sorted(blocks.order(1, "quiet", 0, blocks.OLDS)) == sorted(blocks.OLDS)
    pairs = blocks.duets(1, "quiet", 4, blocks.OLDS)
    names = sorted(name for pair in pairs for name in pair)
    assert names == sorted(blocks.versions(4, blocks.OLDS)) == [*blocks.OLDS[:4]]


def test_turns_make_the_share_that_is_planted():
    """Of the old version's request, which spins itself, so that one can need less."""
    turns, old = planted_turns(100e-6, 10e-9)
    assert old == pytest.approx(106e-6)
    for name, share in blocks.EFFECTS.items():
        request = 100e-6 + turns[name] * 10e-9
        assert request == pytest.approx(old * (1 + share), rel=1e-3)


@pytest.mark.parametrize("mood", Mood)
def test_what_a_neighbour_does_follows_from_seed_and_block(mood):
    """And never reaches beyond its limits."""
    planned = [moods.schedule(mood, 3, number) for number in range(100)]
    assert planned == [moods.schedule(mood, 3, number) for number in range(100)]
    assert any(planned) is (mood is not Mood.QUIET)
    for begin, _, share in (stretch for schedule in planned for stretch in schedule):
        assert 0 <= begin < moods.LASTS
        assert 0 < share <= 1


def test_a_neighbour_arrives_for_as_many_blocks_as_it_was_away():
    """Counted in blocks of single trials, as a judge takes them."""
    single = [number for number in range(100) if not blocks.is_duet(number)]
    there = [bool(moods.schedule(Mood.ARRIVING, 1, number)) for number in single]
    assert there == [number // moods.AWAY % 2 == 1 for number in range(len(single))]


def neighbours():
    """Return the processes that copy memory."""
    pids = set()
    for process in psutil.process_iter(["pid", "cmdline"]):
        if str(moods.NEIGHBOUR) in (process.info["cmdline"] or ()):
            pids.add(process.info["pid"])
    return pids


def test_a_neighbour_is_nobodys_child_and_leaves():
    """The lab takes it for a stranger, and no later block meets it."""
    before, cpu = neighbours(), min(os.sched_getaffinity(0))
    with moods.neighbour(((0.0, 60.0, 0.2),), cpu):
        ours = neighbours() - before
        assert ours
        for pid in ours:
            assert psutil.Process(pid).ppid() != os.getpid()
    assert not neighbours() & ours


def test_a_neighbour_does_not_outlive_who_planted_it():
    """SIGKILL included: its input ends with the process that held it."""
    code = (
        "import os, signal\nfrom studies.judges import moods\n"
        f"with moods.neighbour(((0.0, 60.0, 0.2),), {min(os.sched_getaffinity(0))}):\n"
        "    print(flush=True)\n    signal.pause()\n"
    )
    before = neighbours()
    with subprocess.Popen((sys.executable, "-c", code), cwd=ROOT, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        ours = neighbours() - before
        child.kill()
    assert ours
    wait_for(lambda: not neighbours() & ours)


def test_another_machines_blocks_are_refused(tmp_path):
    """With what differs; a few pages of memory are no other machine."""
    recording = begun(tmp_path)
    here = dict(recording.environment)
    require_same(recording, tmp_path, here | {"now": {"load": [9.0]}})
    other = here | {"cpu": here["cpu"] | {"model": "another"}}
    with pytest.raises(ResultsError, match=r"another machine(?s:.)*cpu\.model: .* / another"):
        require_same(recording, tmp_path, other)


@pytest.mark.slow
def test_a_recorder_that_was_killed_goes_on(tmp_path):
    """It loses the block under way and nothing else, and never has a block twice."""
    begun(tmp_path)
    first = recorder(tmp_path, minutes="5")
    wait_for(lambda: lines(tmp_path) > len(blocks.versions(0)) + 2, seconds=120)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    kept = next_block(tmp_path, Mood.QUIET)
    assert kept == 1
    again = recorder(tmp_path)
    output, problem = again.communicate(timeout=120)
    assert again.returncode == 0, problem
    assert output == b"1 blocks of the mood quiet\n"
    made = [block.number for block in read_blocks(tmp_path, Mood.QUIET)]
    assert made == [0, 1]
    for run in runs(tmp_path, Mood.QUIET):
        planned = [json.loads(line) for line in (run / "planted.ndjson").read_text().splitlines()]
        assert all(record["load"] == [] for record in planned)


@pytest.mark.slow
def test_a_block_may_hold_the_old_version_alone(tmp_path):
    """It is whole then, and the next has all of them again."""
    begun(tmp_path)
    for more in (("--alike",), ()):
        made = recorder(tmp_path, *more)
        _, problem = made.communicate(timeout=120)
        assert made.returncode == 0, problem
    first, second = (
        {trial.slot.arm.name for trial in block.trials}
        for block in read_blocks(tmp_path, Mood.QUIET)
    )
    assert first == {*blocks.OLDS}
    assert second == {*blocks.versions(1)}


@pytest.mark.slow
def test_a_duet_loads_two_servers_at_once(tmp_path, monkeypatch):
    """Each has its window and its CPU, and says to which pair it belongs."""
    begun(tmp_path)
    made = recorder(tmp_path, minutes="5")
    wait_for(lambda: next_block(tmp_path, Mood.QUIET) >= blocks.ROUND, seconds=240)
    made.send_signal(signal.SIGKILL)
    made.communicate()
    (duet,) = (block for block in read_blocks(tmp_path, Mood.QUIET) if block.is_duet)
    assert Counter(trial.facts["duet"] for trial in duet.trials) == dict.fromkeys("01234", 2)
    assert all(trial.total("ok") and trial.readings["elapsed"] for trial in duet.trials)


def lines(folder):
    """Return how many trials are recorded."""
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("*/*/trials.ndjson"))


def wait_for(condition, seconds=10.0):
    """Wait until it holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
