"""What is said while a comparison runs, where it is no terminal."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from lab.experiment.conduct import Prepared
from lab.experiment.progress import Progress, announcement
from lab.model import Finding
from tests.kit import builders as make


@pytest.mark.parametrize(
    ("names", "blocks", "said"),
    [
        (["a"], 1, "1 profile, 1 block with a twice in it, "),
        (["a", "b"], 1, "2 profiles, 1 block with a twice in it, "),
        (["a", "b"], 10, "2 profiles, 10 blocks with a twice in each, "),
    ],
)
def test_one_is_not_several(names, blocks, said):
    """A run of one profile in one block is announced as that."""
    plan = make.plan(*map(make.profile, names), blocks=blocks)
    line, _cpus = announcement(Prepared(plan, {}, 60.0, None))
    assert line.startswith(said)


def printed(findings, again=()):
    """Return what is printed of a block with these *findings*; its first trial is made *again*."""
    stream = io.StringIO()
    run = make.ladder_run({"a": (2000, 4e-4), "b": (3000, 3e-4)}, blocks=1)
    progress = Progress(run.plan, Console(file=stream, width=40))
    for number, (trial, found) in enumerate(zip(run.trials, findings, strict=True)):
        progress.finished(trial, found)
        for attempt, later in enumerate(again if not number else (), start=1):
            progress.finished(replace(trial, attempt=attempt), later)
    return stream.getvalue()


NOTHING = frozenset()
OVERLOAD, MACHINE = Finding("overload", "", ""), Finding("machine", "", "", frozenset({"cpu"}))
MILD = Finding("remark", "", "", NOTHING)


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ([[], [], []], "done, 0 invalid trials, "),
        ([[OVERLOAD], [], []], "done, 1 invalid trial (overload), "),
        ([[OVERLOAD], [MACHINE, OVERLOAD], []], "done, 2 invalid trials (overload, machine), "),
        ([[MILD], [], []], "done, 0 invalid trials, "),
    ],
)
def test_invalid_trials_are_counted_with_the_reasons(findings, said):
    """Each gate once; a finding that withholds nothing makes no trial invalid."""
    assert said in printed(findings)


def test_of_a_trial_and_its_repeats_the_last_counts():
    """So no more trials are invalid than the block has."""
    assert "0 invalid trials" in printed([[MACHINE], [], []], again=([MACHINE], []))
    assert "1 invalid trial (machine)" in printed([[MACHINE], [], []], again=([MACHINE], [MACHINE]))


def test_a_block_is_one_line():
    """Also where a CI log is said to be narrow."""
    assert printed([[OVERLOAD], [MACHINE], []]).count("\n") == 1
