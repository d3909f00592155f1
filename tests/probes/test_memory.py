"""Memory of a tree: shared pages once."""

from __future__ import annotations

import pytest

from lab.bench.probes.memory import MemoryProbe, parse_pss
from lab.model.protocols import Subject
from tests.probes.trees import tree

ROLLUP = """\
55d0c0a00000-7ffd1b5f2000 ---p 00000000 00:00 0                          [rollup]
Rss:               12345 kB
Pss:                1000 kB
Pss_Dirty:           900 kB
"""


def test_pages_that_processes_share_count_once():
    """Three children of a process with 60 MB: a tree of 60 MB, not of 180."""
    with tree(
        """
        block = b"x" * 60_000_000
        for _ in range(3):
            child(sleep_forever)
        say("ready")
        sleep_forever()
        """
    ) as root:
        root.heard()
        probe, subject = MemoryProbe(), Subject(root.pid, 0)
        readings = probe.start(subject)()
    # The root holds a fourth of the block, and is not counted.
    assert 45e6 <= readings["server.pss"] <= 75e6


def test_a_tree_without_processes_has_no_memory():
    """Absent, not zero."""
    with tree('say("ready"); sleep_forever()') as root:
        root.heard()
        probe, subject = MemoryProbe(), Subject(root.pid, 0)
        assert probe.start(subject)() == {}


def test_the_proportional_size_is_parsed_in_bytes():
    """The kernel's kB are 1,024 bytes."""
    assert parse_pss(ROLLUP) == 1_024_000


@pytest.mark.parametrize("text", ["", "Rss: 12 kB\n", "Pss: 12 MB\n", "Pss: many kB\n"])
def test_a_rollup_without_it_is_refused(text):
    """No size is not a size of zero."""
    with pytest.raises(ValueError):
        parse_pss(text)
