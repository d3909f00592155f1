"""The judges of studies.judges, on data in which what they are to find is planted."""

import random
from dataclasses import replace

import pytest

from lab.errors import LabError
from studies.judges import change_points, others
from studies.judges.change_points import Otava
from studies.judges.cut import Row, Sample, sample
from studies.judges.others import BaseThenHead
from studies.judges.own import LabAb
from studies.judges.paired import DuetJudge
from tests.kit import builders

CPU, SPREAD = 150e-6, 0.01


def seen(cost, chance, noise=SPREAD):
    """Return what a trial of such a cost shows, with a little noise."""
    cost *= chance.lognormvariate(0, noise)
    latency = {int(64 * cost * 1e6 * part / 10): 100 for part in range(5, 16)}
    return Sample((), cost, 1 / cost, latency)


def rows(ratio, count=40, noise=SPREAD, moods=lambda _at: 1.0):
    """Return rows in which new costs *ratio* times what old does, all of it times the mood's."""
    chance = random.Random(1)
    made = []
    for at in range(count):
        old, again, new = (seen(CPU * part * moods(at), chance, noise) for part in (1, 1, ratio))
        made.append(Row(at, 0.0, old, again, new))
    return made


def judge_of(verdict, metric="cpu"):
    """Return a judge that takes base, then head."""
    return BaseThenHead("judge", verdict, metric)


@pytest.mark.parametrize(
    ("verdict", "finds", "passes"),
    [
        (others.bencher, 1.35, 1.15),
        (others.best, 1.10, 1.01),
        (others.median_beyond, 1.10, 1.00),
        (others.welch, 1.10, 1.01),
        (others.mann_whitney, 1.10, 0.98),
    ],
    ids=lambda argument: getattr(argument, "__name__", ""),
)
def test_a_judge_finds_what_is_beyond_its_limit(verdict, finds, passes):
    """And calls nothing slower that is within it, or faster."""
    judge = judge_of(verdict)
    assert judge.judge(rows(finds)).red
    assert not judge.judge(rows(passes)).red
    assert not judge.judge(rows(0.8)).red


def arrives(at):
    """Slow down by half when the head is measured."""
    return 1.5 if at // others.TRIALS % 2 else 1.0


@pytest.mark.parametrize(
    "verdict", [others.bencher, others.best, others.welch, others.mann_whitney]
)
def test_what_arrives_with_the_head_is_taken_for_the_head(verdict):
    """A judge that takes the base first cannot know; the pairs of a duet do."""
    assert judge_of(verdict).judge(rows(1.0, moods=arrives)).red
    assert not DuetJudge("duet", "cpu").judge(rows(1.0, moods=arrives)).red


def test_a_duet_finds_what_pairs_show():
    """On a machine that gets slower and slower, too."""
    judge = DuetJudge("duet", "time")
    assert judge.judge(rows(1.1, moods=lambda at: 1 + at / 10)).red
    assert not judge.judge(rows(0.9)).red


def test_a_judge_says_nothing_of_less_than_it_takes():
    """The end of the recording is no verdict."""
    assert judge_of(others.best).judge(rows(1.5, count=19)) is None
    assert DuetJudge("duet", "cpu").judge(rows(1.5, count=9)) is None


def test_without_a_figure_a_judge_cannot_tell():
    """As where no trial of the head was measured to its end."""
    empty = Sample((), None, None, {})
    gone = [replace(row, new=empty) for at, row in enumerate(rows(1.0))]
    for verdict in (others.bencher, others.best, others.median_beyond, others.welch):
        assert judge_of(verdict).judge(gone).told is False


@pytest.mark.skipif(not change_points.PYTHON.exists(), reason="Otava is not in .judges")
def test_a_change_point_is_the_heads_only_where_it_begins():
    """Otava finds the planted change; one in the middle of the history is somebody else's."""
    with Otava() as otava:
        judge = BaseThenHead("judge", others.change_point(otava), "cpu", base=20, head=10)
        assert judge.judge(rows(1.1)).red
        assert not judge.judge(rows(1.0)).red
        assert not judge.judge(rows(1.0, moods=lambda at: 1.3 if at >= 10 else 1.0)).red
        assert not judge.judge(rows(0.8)).red


def test_without_otava_the_message_says_how_to_install_it(tmp_path):
    """It has an environment of its own, which nothing else needs."""
    with pytest.raises(LabError, match=r"python3 -m venv \.judges"):
        Otava(tmp_path / "python")


def trials(ratio, count, noise):
    """Return rows of whole trials, for the lab's own judgement."""
    chance = random.Random(2)
    made = []
    for block in range(count):
        sides = []
        for position, part in enumerate((1, 1, ratio)):
            cpu = CPU * part * chance.lognormvariate(0, noise)
            name = f"old-{position + 1}"
            trial = builders.paced(0.9 / cpu, cpu, name=name, block=block, position=position)
            sides.append(sample((trial,)))
        made.append(Row(block, 0.0, *sides))
    return made


@pytest.mark.parametrize(("ratio", "red"), [(1.0, False), (1.10, True), (0.95, False)])
def test_lab_ab_ends_at_a_look_once_the_limit_is_decided(ratio, red):
    """By the product's own looks: at 2 % of noise after a few blocks."""
    decision = LabAb("lab ab", "cpu", 1.2).judge(trials(ratio, 30, 0.02))
    assert (decision.red, decision.told) == (red, True)
    assert decision.rows in {6, 9, 13, 19}
    assert decision.trials == 3 * decision.rows


def test_a_confirming_run_has_blocks_of_its_own():
    """Those after the first run's; without enough of them nothing was decided."""
    judge = LabAb("lab ab --confirm", "cpu", 1.2, confirm=True)
    whole = trials(1.10, 60, 0.02)
    once = LabAb("lab ab", "cpu", 1.2).judge(whole)
    twice = judge.judge(whole)
    assert twice.red
    assert twice.rows > once.rows
    assert judge.judge(whole[: once.rows + 3]) is None


def test_what_a_second_run_does_not_see_is_not_red():
    """It then says that it cannot tell."""
    judge = LabAb("lab ab --confirm", "cpu", 1.2, confirm=True)
    once = LabAb("lab ab", "cpu", 1.2).judge(trials(1.10, 60, 0.02))
    slower, alike = trials(1.10, once.rows, 0.02), trials(1.0, 60, 0.02)
    decision = judge.judge([*slower, *alike])
    assert (decision.red, decision.told) == (False, False)


def test_lab_ab_takes_ten_minutes_at_the_most():
    """What is open then is judged; with long trials that is after few blocks."""
    decision = LabAb("lab ab", "cpu", 20.0).judge(trials(1.05, 80, 0.05))
    assert decision.rows <= 10


def test_rows_without_a_new_version_are_passed_over():
    """A version that takes turns is not in every block, and is not waited for by its own time."""
    whole = trials(1.10, 60, 0.02)
    gaps = [row if at % 3 == 0 else replace(row, new=None) for at, row in enumerate(whole)]
    decision = LabAb("lab ab", "cpu", 1.2).judge(gaps)
    assert decision.red
    assert decision.rows > decision.trials / 3
