"""
Thresholds: what a script calls a failure, as in `--fail-if 'cpu(tuned/baseline) > 1.05'`.

    METRIC(PROFILE/PROFILE) OP NUMBER    a ratio; in `lab compare` that ratio, after over before
    METRIC(PROFILE) OP NUMBER            a count without noise: the largest of any trial

with OP one of > >= < <=. An absolute figure of a noisy metric has no threshold: it is the machine's
as much as the server's. `lab.analysis.thresholds` judges.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import NoReturn

from lab.errors import UsageError
from lab.model import METRICS

ALIASES = {"rps": "throughput"}
"""The field's short forms."""

_FORM = re.compile(
    r"\s*(?P<metric>\w+)\s*"
    r"\(\s*(?P<profile>[^\s()/]+)\s*(?:/\s*(?P<against>[^\s()/]+)\s*)?\)\s*"
    r"(?P<op>>=|<=|>|<)\s*"
    r"(?P<limit>\S+)\s*"
)
_PARTS = (
    (re.compile(r"\s*\w+"), "a metric, as in cpu(tuned/baseline) > 1.05"),
    (re.compile(r"\s*\("), "( and a profile"),
    (re.compile(r"\s*[^\s()/]+"), "a profile's name"),
    (re.compile(r"(?:\s*/\s*[^\s()/]+)?\s*\)"), "/ and the profile to divide by, or )"),
    (re.compile(r"\s*(?:>=|<=|>|<)"), "one of > >= < <="),
    (re.compile(r"\s*\S+"), "a number"),
    (re.compile(r"\s*\Z"), "nothing more"),
)
"""What the form is made of, in order, to say where a text leaves it."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A condition under which a script should fail."""

    text: str
    """As it was given."""
    metric: str
    profile: str
    against: str | None
    """Profile to divide by; None for a count."""
    op: str
    """One of > >= < <=."""
    limit: float
    """A ratio, or a count."""

    @property
    def above(self) -> bool:
        """Whether values above the limit fail."""
        return self.op.startswith(">")

    def crossed(self, value: float) -> bool:
        """Return whether *value* fails."""
        beyond = value > self.limit if self.above else value < self.limit
        return beyond or (self.op.endswith("=") and value == self.limit)


def parse(text: str) -> Threshold:
    """
    Parse a threshold.

    Raises:
        UsageError: It is none; the message points at the place.

    >>> parse("rps(tuned/baseline) < 0.95").metric
    'throughput'
    """
    found = _FORM.fullmatch(text)
    if found is None:
        _refuse_form(text)
    metric = ALIASES.get(found["metric"], found["metric"])
    if metric not in METRICS:
        close = difflib.get_close_matches(metric, [*METRICS, *ALIASES], n=1, cutoff=0.6)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(METRICS)}"
        _refuse(text, found.start("metric"), f"there is no metric {metric}; {hint}")
    exact = METRICS[metric].exact
    if exact and found["against"] is not None:
        _refuse(
            text,
            found.start("against"),
            f"{metric} is a count, mostly 0, and has no ratio; write {metric}({found['profile']})",
        )
    if not exact and found["against"] is None:
        _refuse(
            text,
            found.end("profile"),
            f"an absolute figure is the machine's, too; divide it by another profile's: "
            f"{metric}({found['profile']}/baseline)",
        )
    return Threshold(
        text=text.strip(),
        metric=metric,
        profile=found["profile"],
        against=found["against"],
        op=found["op"],
        limit=_limit(text, found.start("limit"), found["limit"], ratio=not exact),
    )


def check(threshold: Threshold, profiles: Collection[str]) -> None:
    """
    Refuse a threshold on a profile that is not in the run, before the run takes its minutes.

    Raises:
        UsageError: With the profiles that are.
    """
    for name in (threshold.profile, threshold.against):
        if name is not None and name not in profiles:
            place = threshold.text.index(name, threshold.text.index("("))
            _refuse(threshold.text, place, f"{name} is not compared; {', '.join(profiles)} are")


def _limit(text: str, place: int, written: str, *, ratio: bool) -> float:
    try:
        limit = float(written)
    except ValueError:
        _refuse(text, place, f"{written} is no number; write a ratio such as 1.05, or a count")
    if not math.isfinite(limit) or limit < 0 or (ratio and limit == 0):
        _refuse(text, place, f"{written}: a ratio is above 0, a count is 0 or more")
    return limit


def _refuse_form(text: str) -> NoReturn:
    place = 0
    for pattern, wanted in _PARTS:
        found = pattern.match(text, place)
        if found is None:
            place += len(text[place:]) - len(text[place:].lstrip())
            _refuse(text, place, f"expected {wanted}")
        place = found.end()
    raise AssertionError("the parts are the form's")


def _refuse(text: str, place: int, problem: str) -> NoReturn:
    raise UsageError(f"--fail-if: {problem}\n    {text}\n    {' ' * place}^")
