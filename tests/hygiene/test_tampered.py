"""Runs that somebody has changed: they are refused, or read; nothing else comes of them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from lab.analysis.points import summaries
from lab.analysis.together import conclude_run
from lab.errors import LabError
from lab.report import markdown, opening
from lab.report.files import files
from lab.report.sweep import documents
from lab.report.terminal import render_document
from lab.runs.folder import read_run
from tests.kit.lab_process import ROOT
from tests.kit.tampered import Tampered, Tamperer

STORED = [
    ROOT / "docs/runs" / name
    for name in (
        "lifetime", "keep-alive", "open-loop", "echo-sizes", "walkthrough", "numbers",
        "tuned-granian-close", "payload-rate",
    )
] + [ROOT / "tests/hygiene/format_2/lifetime"]  # fmt: skip
"""A closed loop, one of minutes with a counter-run, an open loop at several rates, a sweep, a
counted load, peers, a short one, an open loop at one rate, and one of an earlier format."""

NO_NUMBER = re.compile(r"(?<![\w./-])(?:nan|inf)(?![\w./-])", re.IGNORECASE)
WAY = opening.Way("lab", "run")
SEED = 47


def outcome(run: Tampered, folder: Path, *, whole: bool) -> str:
    """
    Return what comes of a run that is read and reported: "read", "refused", or what is wrong.

    Args:
        run: What is read.
        folder: Where it is written.
        whole: Whether pages and figures are made of it as well.
    """
    run.write(folder)
    try:
        conclusion = conclude_run(summaries(read_run(folder)))
        texts = [markdown.render(conclusion)]
        texts += map(render_document, documents(conclusion))
        texts += map(render_document, opening.documents(conclusion, WAY))
        if whole:
            texts += [text for name, text in files(conclusion) if not name.endswith("html")]
    except LabError:
        return "refused"
    except Exception as error:  # noqa: BLE001 - it is what is looked for
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = trace and f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        return f"{type(error).__name__} at {place}"
    if any(match := NO_NUMBER.search(text) for text in texts):
        return (
            f"no number: {match and match.string[max(0, match.start() - 60) : match.end() + 20]!r}"
        )
    return "read, and contradicts itself" if run.contradicts else "read"


def judged(count: int, folder: Path, *, whole: bool) -> Counter[tuple[str, str]]:
    """Return how often each kind of change had which outcome, in *count* runs."""
    outcomes: Counter[tuple[str, str]] = Counter()
    wrong = []
    for number, stored in enumerate(STORED):
        share = count // len(STORED) + (number < count % len(STORED))
        for run in Tamperer(stored, SEED).runs(share):
            result = outcome(run, folder, whole=whole)
            outcomes[run.kind, result] += 1
            if result not in ("read", "refused"):
                wrong.append(f"{stored.name}: {run.change}: {result}")
    assert not wrong, "\n".join(wrong)
    return outcomes


def test_a_tampered_run_is_refused_or_read(tmp_path):
    """Nothing but an error of the lab's comes of it, and no figure that is no number."""
    outcomes = judged(60, tmp_path / "run", whole=False)
    assert {result for _, result in outcomes} == {"read", "refused"}


@pytest.mark.slow
def test_two_thousand_tampered_runs_are_refused_or_read(tmp_path):
    """The same in each form of a report."""
    judged(2000, tmp_path / "run", whole=True)
