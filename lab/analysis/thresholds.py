"""
Thresholds: what a script calls a failure, as in `--fail-if 'cpu(tuned/baseline) > 1.05'`.

    METRIC(PROFILE/PROFILE) OP NUMBER    a ratio; in `lab compare` that ratio, after over before
    METRIC(PROFILE) OP NUMBER            a count without noise: the largest of any trial

with OP one of > >= < <=. An absolute figure of a noisy metric has no threshold: it is the machine's
as much as the server's.

A threshold is never red on noise, and never green without saying what it could have seen: a ratio
fails where its *whole* interval lies beyond the limit, and beyond the A/A noise where the limit is
a change that noise could make. A count has no noise, and its largest value is judged.
"""

from __future__ import annotations

import difflib
import enum
import math
import operator
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from lab.analysis import swept
from lab.analysis.across import Across, Change, change
from lab.analysis.health import gravest
from lab.analysis.metrics import derive
from lab.analysis.stats import half_width
from lab.analysis.summary import Summary
from lab.errors import UsageError
from lab.model.comparison import Comparison, Estimate
from lab.model.metric import METRICS
from lab.model.plan import Load, Role

FAILED = 99
"""Exit status of a crossed threshold; k6's, and none of ours."""

UNJUDGED = 3
"""Exit status where the run cannot tell: this machine could not measure it."""

PLANNED = "in an open loop throughput is the plan's, whatever the servers do; ask for cpu or p99"

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


class Judged(enum.StrEnum):
    """What a run says to a threshold."""

    PASSED = "passed"
    FAILED = "failed"
    UNJUDGED = "cannot be judged"


STATUSES = {Judged.PASSED: 0, Judged.FAILED: FAILED, Judged.UNJUDGED: UNJUDGED}


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


@dataclass(frozen=True, slots=True)
class Judgement:
    """A threshold, judged."""

    threshold: Threshold
    outcome: Judged
    sentence: str
    """Why, with the figures."""
    ratio: Estimate | None = None


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
        problem = f"{metric} is a count, mostly 0, and has no ratio; write {metric}({profile})"
        _refuse(text, places["against"], problem)
    if not exact and against is None:
        _refuse(
            text,
            places["profile"] + len(profile),
            f"an absolute figure is the machine's, too; divide it by another profile's: "
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
            _refuse(threshold.text, place, f"{name} is not compared; {', '.join(profiles)} are")


def judge_run(threshold: Threshold, summary: Summary) -> Judgement:
    """Judge *threshold* within one run, which has its profiles: see `check`."""
    if threshold.against is None:
        return _judge_count(threshold, summary)
    floor = summary.floors[threshold.metric]
    found = summary.compare_whole(threshold.metric, threshold.profile, threshold.against)
    missing = "" if found.ratio is not None else _reasons(threshold, summary)
    return _judge_noisy(threshold, summary, found, floor, missing)


def judge_points(
    found: Sequence[Summary], thresholds: Sequence[Threshold]
) -> tuple[tuple[Judgement, ...], int]:
    """Return what a run says to *thresholds* at each of its values, and its exit status."""
    judgements = tuple(judge_run(each, summary) for summary in found for each in thresholds)
    return judgements, exit_code(judgements, swept.exit_code(found))


def judge_across(threshold: Threshold, found: Across) -> Judgement:
    """
    Judge *threshold* on what changed between two runs; a count on the second run.

    Its profiles are in both runs: see `check`.
    """
    if threshold.against is None:
        return _judge_count(threshold, found.after)
    sides = found.before, found.after
    moved = change(*sides, threshold.metric, threshold.profile, threshold.against)
    missing = "; ".join(
        f"in {side.run.name} {_reasons(threshold, side)}"
        for side, ratio in zip(sides, (moved.before, moved.after), strict=True)
        if ratio is None
    )
    return _judge_noisy(threshold, found.after, moved, moved.floor, missing)


def judge_ratio(
    threshold: Threshold, ratio: Estimate, floor: float, detectable: float
) -> Judgement:
    """
    Judge a ratio.

    Args:
        threshold: With a profile to divide by.
        ratio: The ratio, or the ratio of ratios.
        floor: Share below which a change is not told from noise.
        detectable: Smallest ratio above 1 that so many blocks tell from 1, 4 times out of 5.
    """
    above, limit = threshold.above, threshold.limit
    nearest, farthest = (ratio.low, ratio.high) if above else (ratio.high, ratio.low)
    edge = _edge(threshold, floor)
    failed = False
    if threshold.crossed(nearest):
        failed = nearest > edge if above else nearest < edge
        said = f"the whole interval lies beyond {limit:g}"
        if not failed:
            said = f"beyond {limit:g}, and within the {floor:.1%} by which this machine's noise "
            said += "moves two identical servers apart"
    else:
        inside = threshold.crossed(farthest)
        margin = 0.0 if inside else math.expm1(abs(math.log(limit / farthest)))
        said = f"the interval {'holds' if inside else f'ends {margin:.1%} from'} {limit:g}"
        if half_width(ratio) > margin:
            side, seen = ("below", edge * detectable) if above else ("above", edge / detectable)
            said += f". A true ratio {side} {seen:.3g} would mostly pass unseen"
    outcome = Judged.FAILED if failed else Judged.PASSED
    sentence = f"{figures(ratio)} over {ratio.n} blocks: {said}"
    return Judgement(threshold, outcome, sentence, ratio)


def figures(ratio: Estimate) -> str:
    """Return a ratio with its interval, for a sentence."""
    return f"{ratio.value:.3g}x [{ratio.low:.3g}, {ratio.high:.3g}]"


def planned(metric: str, load: Load) -> bool:
    """Return whether *load* sets *metric*, so that it says nothing of a server."""
    return metric == "throughput" and load.rate is not None


def exit_code(judgements: Iterable[Judgement], otherwise: int) -> int:
    """
    Return the exit status of a run: the gravest of its own, *otherwise*, and its thresholds'.

    That is 99 when one failed, 1 when a server is broken, 3 when one cannot be judged.
    """
    said = (STATUSES[judgement.outcome] for judgement in judgements)
    return gravest(otherwise, *said)


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


def _edge(threshold: Threshold, floor: float) -> float:
    """
    Return what the interval must lie beyond.

    A limit on the far side of 1, such as "cpu > 0.8", asks for an improvement, and noise around 1
    has nothing to do with it.
    """
    limit = threshold.limit
    if threshold.above:
        return max(limit, 1 + floor) if limit >= 1 else limit
    return min(limit, 1 / (1 + floor)) if limit <= 1 else limit


def _judge_noisy(
    threshold: Threshold, summary: Summary, found: Comparison | Change, floor: float, missing: str
) -> Judgement:
    """Judge what was found of a ratio; *missing* says why there may be none."""
    if planned(threshold.metric, summary.run.plan.load):
        return Judgement(threshold, Judged.UNJUDGED, PLANNED)
    if found.ratio is None:
        return Judgement(threshold, Judged.UNJUDGED, missing)
    judged = judge_ratio(threshold, found.ratio, floor, found.detectable or math.inf)
    if isinstance(found, Comparison) and found.caveat:
        return replace(judged, sentence=f"{judged.sentence}; {found.caveat}")
    return judged


def _judge_count(threshold: Threshold, summary: Summary) -> Judgement:
    name = threshold.profile
    trials = [
        item.trial
        for item in summary.observations
        if item.trial.slot.arm.name == name and item.trial.slot.arm.role is not Role.COUNTER
    ]
    # From the trials themselves: a count stands whatever gate its trial fails.
    read = [derive(trial).get(threshold.metric) for trial in trials]
    counts = [count for count in read if count is not None]
    title = METRICS[threshold.metric].title
    outcome = Judged.PASSED
    if counts and threshold.crossed(max(counts)):
        outcome = Judged.FAILED
        sentence = f"{title}: {max(counts):,.0f} in one of {len(counts)} trials of {name}"
    elif not counts or len(counts) < len(read):
        outcome = Judged.UNJUDGED
        missing = len(read) - len(counts)
        sentence = f"{missing} of {len(read)} trials of {name} have no {title}"
    else:
        sentence = f"{title}: at most {max(counts):,.0f} in {len(counts)} trials of {name}"
    return Judgement(threshold, outcome, sentence)


def _reasons(threshold: Threshold, summary: Summary) -> str:
    """Say which gates leave less than two blocks with a value of both profiles."""
    parts = []
    for row in summary.rows:
        if row.profile.name in (threshold.profile, threshold.against):
            have = row.counts.get(threshold.metric, 0)
            text = f"{row.profile.name} has {METRICS[threshold.metric].title} in {have}/{row.total}"
            gates = "; ".join(
                f"{tally.gate.name}: {tally.example.reason}"
                for tally in row.tallies
                if threshold.metric in tally.withheld
            )
            parts.append(f"{text} trials" + (f" ({gates})" if gates else ""))
    return " and ".join(parts) + "; two blocks with both are needed"
