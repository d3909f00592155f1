"""Instructions as a judge: each version is counted with what is planted in it."""

from types import SimpleNamespace

import pytest

from lab.bench.servers.counting import Cost
from lab.errors import UsageError
from studies.judges import counts
from studies.judges.counts import CountedInstructions, count, over_old, read_counts
from studies.judges.trials import planted_turns
from studies.pages import judges as page

TURNS, _ = planted_turns(100e-6, 10e-9)


def test_each_version_is_counted_with_its_own_turns(tmp_path, monkeypatch):
    """And the counts lie beside the recording."""

    def counted(sought, request, status, runtime):
        assert (sought.module, request.path, status) == ("studies.judges.planted", "/9000", 200)
        spun = int(runtime.variables.reveal()["SPIN"])
        return Cost(1_000_000.0 + 100 * spun, 0.0)

    monkeypatch.setattr(counts, "cost", counted)
    monkeypatch.setattr(counts, "require_tools", lambda: None)
    instructions = count(tmp_path, TURNS)
    assert read_counts(tmp_path) == instructions
    spun = {
        name: (figures[0] - 1_000_000) // 100 for name, figures in instructions.requests.items()
    }
    assert spun["10 % more"] == TURNS["more-10-a"]
    assert spun["5 % less"] == TURNS["less-5"]
    assert all(len(figures) == counts.TIMES for figures in instructions.requests.values())


@pytest.mark.slow
def test_more_turns_are_more_instructions(tmp_path, monkeypatch):
    """Counted for real, with the programs that `lab ab --count` needs."""
    monkeypatch.setattr(counts, "TIMES", 1)
    instructions = count(tmp_path, TURNS)
    figures = [
        instructions.requests[name][0] for name in ("5 % less", "alike", "2 % more", "10 % more")
    ]
    assert figures == sorted(figures)


def test_without_a_count_there_is_none(tmp_path):
    """It takes minutes of its own, and is no part of a recording's turns."""
    assert read_counts(tmp_path) is None


COUNTED = CountedInstructions(1, {"alike": (1000, 1001, 999), "10 % more": (1100, 1101, 1100)}, 1.0)


def test_the_old_version_is_compared_with_itself(monkeypatch):
    """Time against time; others with its median."""
    assert over_old(COUNTED, "alike") == [1.001, 0.999]
    assert over_old(COUNTED, "10 % more") == [1.1, 1.101, 1.1]
    result = SimpleNamespace(instructions=COUNTED)
    monkeypatch.setattr(page, "stored", lambda: result)
    assert "| 10 % more | 1,100 | 1.1000 to 1.1010 | 3 of 3 |" in page.counted()
    assert "| alike | 999 | 0.9990 to 1.0010 | 0 of 2 |" in page.counted()


def test_a_page_without_counts_is_refused(monkeypatch):
    """It would show an empty table."""
    monkeypatch.setattr(page, "stored", lambda: SimpleNamespace(instructions=None))
    with pytest.raises(UsageError, match="count them"):
        page.counted()
