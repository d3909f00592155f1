"""What is stored of the judges, and what the page and its picture make of it."""

import random
import subprocess
import sys
from contextlib import closing
from dataclasses import replace

import pytest

from lab.bench.store.environment import digest
from lab.bench.store.folder import FORMAT, RunHeader, RunWriter, read_json, write_json
from lab.errors import UsageError
from lab.report import svg
from studies.judges import blocks
from studies.judges import result as result_of
from studies.judges.counted import Counted, JudgesResult
from studies.judges.made import MoodMade, made
from studies.judges.picture import draw, interval
from studies.judges.recording import Recording, TrialSizes, write_recording
from studies.judges.result import judged
from studies.judges.trials import plan_of
from studies.pages import judges as page
from tests.kit import builders
from tests.kit.lab_process import ROOT
from tests.studies.judges.test_cut import recorded

NONE, SOME = Counted(20, 0, 0, 1, 0.5, 1.0), Counted(20, 7, 2, 0, 0.5, 1.0)
KINDS = ("alike", "2 % more", "5 % more", "10 % more", "5 % less")


@pytest.fixture
def result(monkeypatch, tmp_path):
    """Return a stored result of two judges in two moods."""
    by_judge = {
        "lab ab, cpu": dict.fromkeys(KINDS, NONE),
        "best of ten, cpu": dict.fromkeys(KINDS, SOME),
    }
    mood = MoodMade(10, 120, 2.5, 1.2, 0.25, 0.02, {"10 % more": (1.1, 1.09, 1.11)})
    judges_result = JudgesResult(
        format=1,
        command="judge",
        seed=1,
        sizes={"window": 0.6},
        turns={"old-1": 10},
        request=1e-4,
        machine={},
        recorded={"quiet": mood, "bursts": mood},
        moods=dict.fromkeys(("quiet", "bursts", "all"), by_judge),
    )
    path = tmp_path / "judges.json"
    write_json(path, judges_result)
    read = read_json(path, JudgesResult)
    assert read == judges_result
    monkeypatch.setattr(page, "stored", lambda: read)
    return read


def test_a_sentence_has_what_is_stored(result):
    """And a judge that is not stored is refused."""
    assert page.said("best of ten, cpu", "alike", "quiet") == "7 of 20 (2 inconclusive)"
    with pytest.raises(UsageError, match="no 'another'"):
        page.said("another", "alike", "quiet")


def test_the_tables_have_each_judge_and_mood(result):
    """And what was recorded."""
    assert "| best of ten, cpu | 7 of 20 (2 inconclusive) |" in page.by_planted()
    assert "| quiet | 2 | 120 | 25% | 2.0% | - | - | 1.100 [1.090, 1.110] | - |" in page.recorded()


def test_the_picture_says_what_it_shows(result):
    """Both axes from none to all, in words too, with colours of light and dark pages."""
    judges = tuple(result.moods["all"])
    picture = draw(result, judges)
    assert "best of ten, cpu, alike: quiet 7 of 20, bursts 7 of 20" in picture.description
    for axes in picture.figure.axes:
        assert axes.get_xlim() == (-0.02, 1.02)
        assert [text.get_text() for text in axes.get_yticklabels()] == list(judges)
    text = svg.standalone("judges", picture)
    assert "prefers-color-scheme:dark" in text
    assert text == svg.standalone("judges", draw(result, judges))


@pytest.mark.parametrize(
    ("red", "of", "ends"),
    [(0, 20, (0.0, 0.161)), (20, 20, (0.839, 1.0)), (5, 10, (0.237, 0.763))],
)
def test_the_interval_of_a_share_is_wilsons(red, of, ends):
    """Within 0 and 1, and not empty where all comparisons agree."""
    assert interval(red, of) == pytest.approx(ends, abs=1e-3)


def test_what_was_made_is_read_from_the_trials():
    """All trials of `recorded` cost the same: no noise, and nothing is planted in them."""
    mood = made(recorded(20), 1.2)
    assert (mood.blocks, mood.trials) == (20, 16 * 12 + 4 * 10)
    assert mood.noise == pytest.approx(0.0)
    assert mood.disturbed == 0
    assert mood.planted["10 % more"] == pytest.approx((1.0, 1.0, 1.0))


class Deaf:
    """What finds no change point: Otava has an environment of its own."""

    def __enter__(self):
        """Return itself."""
        return self

    def __exit__(self, *_):
        """Leave."""

    def worse(self, *_):
        """Say no."""
        return False


def stored_recording(folder, count):
    """Write a recording of so many quiet blocks, in which versions cost what is planted."""
    sizes, chance = TrialSizes(0.0, 0.6, 64), random.Random(3)
    recording = Recording(1, 1, sizes, dict.fromkeys(blocks.EFFECTS, 10), 1e-3, {})
    write_recording(folder, recording)
    plan = plan_of(recording.turns, recording.seed, sizes)
    header = RunHeader(FORMAT, "record", "engine", 0.0, plan, {digest({}): {}}, {})
    with closing(RunWriter(folder / "quiet", header)) as writer:
        writer.write_header()
        for block in recorded(count):
            for at, trial in enumerate(block.trials):
                arm = builders.under(trial, plan).slot.arm
                cpu = (1 + blocks.EFFECTS[arm.name]) * 1e-3 * chance.lognormvariate(0, 0.02)
                place = {
                    "block": block.number,
                    "position": trial.slot.position,
                    "facts": trial.facts,
                    "environment": digest({}),
                }
                made = builders.paced(0.9 / cpu, cpu, started_at=block.number * 20.0 + at, **place)
                slot = replace(trial.slot, arm=arm)
                writer.append(replace(made, slot=slot, digest=arm.profile.digest))
    return recording


@pytest.mark.slow
def test_a_whole_recording_is_judged(tmp_path, monkeypatch):
    """Every judge in every mood that was recorded, and the moods together."""
    monkeypatch.setattr(result_of, "Otava", Deaf)
    recording = stored_recording(tmp_path, 45)
    judges_result = judged(tmp_path, recording, "judge")
    assert set(judges_result.moods) == {"quiet", "all"}
    assert judges_result.moods["all"] == judges_result.moods["quiet"]
    assert set(page.DRAWN) < set(judges_result.moods["quiet"])
    for name, counts in judges_result.moods["quiet"].items():
        assert set(counts) == set(KINDS), name
    lab_ab_counts = judges_result.moods["quiet"]["lab ab, cpu"]
    assert lab_ab_counts["alike"].red == 0
    assert lab_ab_counts["10 % more"].red == lab_ab_counts["10 % more"].comparisons > 0
    assert judges_result.recorded["quiet"].planted["10 % more"][0] == pytest.approx(1.10, abs=0.01)
    assert judges_result.recorded["quiet"].blocks == 45


def test_without_a_recording_there_is_nothing_to_judge(tmp_path):
    """The message says how to make one."""
    command = (sys.executable, "-m", "studies.judges", "judge", "--recording", str(tmp_path))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "holds no recording" in done.stderr
