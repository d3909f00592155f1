"""What a server writes, and where its log goes."""

from __future__ import annotations

import pytest

from lab.bench.probes.output import OutputProbe, parse_writes
from tests.probes import trees

IO = "rchar: 8\nwchar: 9\nsyscr: 3\nsyscw: 7\nread_bytes: 0\nwrite_bytes: 4096\n"

WRITER = """
def output(descriptor, target):
    os.dup2(target, descriptor)

def worker(target, lines):
    output(1, target); output(2, target)
    os.write(d, b"x")
    os.read(a, 1)
    for _ in range(lines):
        os.write(1, b"a line of 20 bytes.\\n")
    os.write(d, b"x")
    sleep_forever()

a, b = os.pipe(); c, d = os.pipe()
"""


def measured(program):
    """Return the readings over what a tree does between its first and its second line."""
    readings, _ = trees.measured(OutputProbe(), WRITER + program)
    return readings


def test_writes_to_a_log_are_counted_and_its_growth_is_told(tmp_path):
    """Two processes share one file: 150 lines of 20 bytes, counted once."""
    path = tmp_path / "log"
    path.write_text("said before\n")
    readings = measured(
        f"""
log = os.open({str(path)!r}, os.O_WRONLY | os.O_APPEND)
child(worker, log, 100); child(worker, log, 50)
os.read(c, 1); os.read(c, 1)
say("ready"); input()
os.write(b, b"xx")
os.read(c, 1); os.read(c, 1)
say("done")
sleep_forever()
"""
    )
    assert readings["server.logged"] == 3000
    # Three bytes from process to process besides, and up to three lines to the test.
    assert 150 <= readings["server.writes"] <= 156
    assert readings["server.log_pipe"] == 0


def test_a_log_that_is_a_pipe_is_told():
    """Its reader may make the server wait; how much went through is not known."""
    readings = measured(
        """
r, w = os.pipe()
child(worker, w, 5)
os.read(c, 1)
say("ready"); input()
os.write(b, b"x")
os.read(c, 1)
say("done")
sleep_forever()
"""
    )
    assert readings["server.log_pipe"] == 1
    assert "server.logged" not in readings


def test_writes_of_a_process_that_ended_are_not_lost_or_charged_twice(tmp_path):
    """What it wrote before the window is not its parent's doing in the window."""
    readings = measured(
        f"""
log = os.open({str(tmp_path / "log")!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(b, b"x")
pid = child(worker, log, 500)
os.read(c, 1); os.read(c, 1)
say("ready"); input()
os.kill(pid, signal.SIGKILL); os.wait()
for _ in range(40):
    os.write(log, b"x")
say("done")
sleep_forever()
"""
    )
    assert 40 <= readings["server.writes"] <= 45


def test_writes_are_parsed():
    """From the line of system calls, not of bytes."""
    assert parse_writes(IO) == 7


@pytest.mark.parametrize("text", ["", "rchar: 8\n"])
def test_half_an_io_is_refused(text):
    """No figure is not a figure of zero."""
    with pytest.raises(ValueError):
        parse_writes(text)
