"""A lab that is ended at any moment, not only at a convenient one, leaves nothing but results."""

from __future__ import annotations

import json
import random
import signal
import socket
import time
from dataclasses import dataclass

import pytest

from tests.hygiene.conftest import ports
from tests.kit.lab_process import ROOT, SMALL, run, started, trials, until

LAB = ("lab", "run")
LOCUST = ("locust", "-f", str(ROOT / "loadtests"), "--headless", "-u", "8", "--profiles")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
ASKING = (*LAB, "--workload", "outbound-fast")
"""With a backing service beside the server."""

PROFILES = ("baseline", "tuned")
"""Without and with a master process."""

BLOCKS = ("--blocks", "50")
"""So many that the run is under way at any moment: it would last for a minute and more."""

FIRST = 0.1
"""Seconds after a run's start: Python has begun to import, and listens to no signal yet."""

LAST = {LAB: 3.0, LOCUST: 5.0}
"""Seconds after a run's start: two or three trials have ended, on a busy machine one."""

GONE = 1.0
"""Seconds, from the end of the lab's own process, for everything else to have ended."""


@dataclass(frozen=True)
class Moment:
    """A run, and when it is ended by what."""

    door: tuple[str, ...]
    profile: str
    signal: signal.Signals
    at: float | None
    """Seconds after its start; None for when a trial has ended and a server is up again."""

    def __str__(self):
        at = "served" if self.at is None else f"{self.at:.2f}s"
        return f"{self.door[0]}-{self.profile}-{self.signal.name}-{at}"


def moments(count, seed, *doors):
    """Return *count* moments by chance, with each signal in turn."""
    chance = random.Random(seed)
    for number in range(count):
        door = chance.choice(doors)
        at = chance.uniform(FIRST, LAST[door])
        yield Moment(door, chance.choice(PROFILES), SIGNALS[number % len(SIGNALS)], at)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Return the folder for temporary files, of this test alone."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def interrupt(lab, number, marked):
    """Send a signal, wait for the end of all that the run had started, return its status."""
    lab.send_signal(number)
    code = lab.wait(15)
    until(lambda: not marked(), "the end of all that it had started", GONE)
    return code


def end(folder, temporary, marked, moment):
    """End a run at *moment*, and look at what is left."""
    with started(*moment.door, moment.profile, *SMALL, *BLOCKS, cwd=folder) as lab:
        if moment.at is None:
            until(lambda: trials(folder), "the first trial")
            wanted = 2 if moment.door == ASKING else 1
            served = until(
                lambda: len(open_ports := ports(marked())) >= wanted and open_ports, "a server"
            )
        else:
            time.sleep(moment.at)
            served = ports(marked())
        assert lab.poll() is None, (folder / "output").read_text()
        finished = trials(folder)
        code = interrupt(lab, moment.signal, marked)
    ended = {-moment.signal}  # before the lab listened to it
    if moment.signal is not signal.SIGKILL:
        ended.add(130)
    if moment.signal is signal.SIGINT and not (folder / "results").exists():
        ended.add(1)  # Python's own Ctrl-C, while something is imported
    assert code in ended, (folder / "output").read_text()
    # At most an empty folder, where the signal came while it was being removed.
    assert not [path for path in temporary.rglob("*") if not path.is_dir()]
    for port in served:
        with socket.create_server(("127.0.0.1", port)):
            pass
    assert trials(folder)[: len(finished)] == finished
    report = run("lab", "report", "--json", cwd=folder)
    assert "Traceback" not in report.stderr
    if finished:
        kept = {(trial["slot"]["block"], trial["slot"]["position"]) for trial in trials(folder)}
        assert json.loads(report.stdout)["trials"]["measured"] == len(kept)
    else:
        assert report.returncode in {0, 1, 3}, report.stderr


@pytest.mark.costly
@pytest.mark.parametrize(
    "moment",
    [
        *moments(1, 36, LAB),
        Moment(LAB, "tuned", signal.SIGKILL, None),
        Moment(ASKING, "tuned", signal.SIGKILL, None),
        Moment(ASKING, "tuned", signal.SIGINT, None),
    ],
    ids=str,
)
def test_a_moment(tmp_path, temporary, marked, moment):
    """
    Nothing runs, the port is free, every finished trial is kept and can be reported.

    And no temporary file is left.
    """
    end(tmp_path, temporary, marked, moment)


@pytest.mark.slow
def test_a_signal_while_the_report_is_written(tmp_path, temporary, marked):
    """The trials and what is written of the report are whole; the rest can be made from them."""
    with started(*LAB, "baseline", *SMALL, cwd=tmp_path) as lab:
        page = until(lambda: next(tmp_path.glob("results/*/report.md"), None), "the report")
        code = interrupt(lab, signal.SIGTERM, marked)
    # The signal's own: when everything was written and said.
    assert code in {130, -signal.SIGTERM}, (tmp_path / "output").read_text()
    assert not [path for path in temporary.rglob("*") if not path.is_dir()]
    assert not list(page.parent.glob("*.part"))
    assert len(trials(tmp_path)) >= 2
    report = run("lab", "report", "--markdown", cwd=tmp_path)
    assert report.stdout == page.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("moment", [*moments(40, 3, LAB, LAB, LOCUST)], ids=str)
def test_many_moments(tmp_path, temporary, marked, moment):
    """The same, at forty of them."""
    end(tmp_path, temporary, marked, moment)
