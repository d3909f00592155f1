"""
Thresholds: what a script calls a failure, as in `--fail-if 'cpu(tuned/baseline) > 1.05'`.

    METRIC(PROFILE/PROFILE) OP NUMBER    a ratio; in `lab compare` that ratio, after over before
    METRIC(PROFILE) OP NUMBER            a count without noise: the largest of any trial

with OP one of > >= < <=. An absolute figure of a noisy metric has no threshold: it is the machine's
as much as the server's. `lab.analysis.judging` judges them.
"""

from __future__ import annotations

import difflib
import math
import operator
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import NoReturn

from lab.errors import UsageError
from lab.model.metric import METRICS

PLANNED = "in an open loop the plan sets the throughput; use cpu or p99"

ALIASES = {metric.alias: name for name, metric in METRICS.items() if metric.alias}
"""The field's short forms."""

_OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}

_TOKENS = (
    (r"(?P<metric>\w+)", "a metric, as in cpu(tuned/baseline) > 1.05"),
    (r"\(", "( and a profile"),
    (r"(?P<profile>[^\s()/]+)", "a profile's name"),
    (r"(?:/\s*(?P<against>[^\s()/]+)\s*)?\)", "/ and the profile to divide by, or )"),
    (r"(?P<op>>=|<=|>|<)", "one of > >= < <="),
    (r"(?P<limit>\S+)", "a number"),
    (r"\Z", "nothing more"),
)
"""What a threshold is made of, in order: each token, and what its absence is called."""


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
        return bool(_OPERATORS[self.op](value, self.limit))


def parse(text: str) -> Threshold:
    """
    Parse a threshold.

    Raises:
        UsageError: It is none; the message points at the place.

    >>> parse("rps(tuned/baseline) < 0.95").metric
    'throughput'
    """
    words, places = _tokens(text)
    metric = ALIASES.get(words["metric"], words["metric"])
    if metric not in METRICS:
        close = difflib.get_close_matches(metric, [*METRICS, *ALIASES], n=1, cutoff=0.6)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(METRICS)}"
        _refuse(text, places["metric"], f"there is no metric {metric}; {hint}")
    profile, against, exact = words["profile"], words.get("against"), METRICS[metric].exact
    if exact and against is not None:
        problem = f"{metric} is a count, usually 0, and has no ratio; write {metric}({profile})"
        _refuse(text, places["against"], problem)
    if not exact and against is None:
        _refuse(
            text,
            places["profile"] + len(profile),
            f"an absolute value depends on the machine; divide it by another profile's: "
            f"{metric}({profile}/baseline)",
        )
    limit = _limit(text, places["limit"], words["limit"], ratio=not exact)
    return Threshold(text.strip(), metric, profile, against, words["op"], limit)


def check(threshold: Threshold, profiles: Collection[str]) -> None:
    """
    Refuse a threshold on a profile that is not in the run, before the run takes its minutes.

    Raises:
        UsageError: With the profiles that are.
    """
    for name in (threshold.profile, threshold.against):
        if name is not None and name not in profiles:
            place = threshold.text.index(name, threshold.text.index("("))
            problem = f"{name} is not in this run; write one of: {', '.join(profiles)}"
            _refuse(threshold.text, place, problem)


def _tokens(text: str) -> tuple[dict[str, str], dict[str, int]]:
    """Return the parts of *text* by name, and where each begins; one that may be absent is."""
    words: dict[str, str] = {}
    places: dict[str, int] = {}
    place = 0
    for pattern, wanted in _TOKENS:
        place += len(text[place:]) - len(text[place:].lstrip())
        token = re.compile(pattern).match(text, place)
        if token is None:
            _refuse(text, place, f"expected {wanted}")
        for name, word in token.groupdict().items():
            if word is not None:
                words[name], places[name] = word, token.start(name)
        place = token.end()
    return words, places


def _limit(text: str, place: int, written: str, *, ratio: bool) -> float:
    try:
        limit = float(written)
    except ValueError:
        _refuse(text, place, f"{written} is no number; write a ratio such as 1.05, or a count")
    if not math.isfinite(limit) or limit < 0 or (ratio and limit == 0):
        _refuse(text, place, f"{written}: a ratio is above 0, a count is 0 or more")
    return limit


def _refuse(text: str, place: int, problem: str) -> NoReturn:
    raise UsageError(f"--fail-if: {problem}\n    {text}\n    {' ' * place}^")
