"""What a report opens with: who won and by how much, whether that can be trusted, and why."""

from __future__ import annotations

import enum
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from lab.analysis.compare import surely
from lab.analysis.confirm import limited_by
from lab.analysis.health import HEADLINE, told_apart
from lab.analysis.summary import Row, Summary
from lab.model.comparison import Comparison, MayBe, Verdict
from lab.model.diagnosis import Standing
from lab.model.measured import METRICS
from lab.report.numbers import UNKNOWN, bounded, centre, figure, interval, ratio, share

ANOTHER = "another application"
"""What is said beside a comparison of two profiles that do not serve the same one."""


class Trust(enum.StrEnum):
    """How far a run can be believed."""

    YES = "can be trusted"
    CARE = "with care"
    NO = "not to be trusted"


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure of the run as a whole."""

    label: str
    value: str
    note: str = ""


def trust(summary: Summary) -> Trust:
    """Return how far the run can be believed: by its A/A arm and its warnings."""
    if summary.aa[HEADLINE].ratio is None or not any(row.values for row in summary.rows):
        return Trust.NO
    return Trust.CARE if summary.warnings else Trust.YES


def metric(summary: Summary) -> str:
    """Return the name of the metric that a run is judged by: throughput where it tells anything."""
    if summary.run.plan.load.rate is not None:
        return "cpu"
    # A step's ratio to the baseline is there whenever both have a trial that counts.
    if not _against(summary, "throughput"):
        return "cpu"
    return "cpu" if _at_limit(summary) else "throughput"


def sentence(summary: Summary) -> str:
    """
    Return the verdict in one sentence, after another on whom it does not speak of.

    What changed most, what limits that, and whether the machine passed the noise check.
    """
    parts = (_won(summary), _limit(summary), _stands(summary))
    return f"{_withheld(summary)}{'; '.join(filter(None, parts))}."


def facts(summary: Summary) -> tuple[Fact, ...]:
    """Return what the verdict rests on."""
    plan = summary.run.plan
    names = ("cpu",) if plan.load.rate is not None else ("throughput", "cpu")
    found = []
    for name in names:
        aa = summary.aa[name].ratio
        value, within = (centre(aa), f"{interval(aa)}, ") if aa is not None else (UNKNOWN, "")
        note = f"{within}{plan.reference} against itself"
        found.append(Fact(f"A/A, {METRICS[name].title}", value, note))
    known = (share(summary.floors[each]) if summary.aa[each].ratio else UNKNOWN for each in names)
    floors = ", ".join(known)
    titles = ", ".join(METRICS[name].title for name in names)
    found.append(Fact("Floor", floors, f"{titles}: a change must be wholly beyond it"))
    judged = metric(summary)
    sizes = [
        each.detectable * (1 + summary.floors[judged])
        for step in summary.steps
        if (each := step.step.get(judged)) is not None and each.detectable is not None
    ]
    if sizes:
        note = f"in {METRICS[judged].title}, with 80% power; the median step's"
        found.append(
            Fact("Smallest detectable change", f"{figure(statistics.median(sizes))}x", note)
        )
    valid, total = (sum(getattr(row, key) for row in summary.rows) for key in ("valid", "total"))
    found.append(
        Fact(
            "Trials that count",
            f"{valid} of {total}",
            f"{summary.measured} of {summary.planned} planned slots, the A/A arm's included",
        )
    )
    again = sum(trial.attempt > 0 for trial in summary.run.trials)
    found.append(
        Fact("Repeated trials", str(again), "after a disturbance from outside; all are kept")
    )
    return tuple(found)


def _farthest(summary: Summary) -> Comparison | None:
    """Return what changed most against the baseline: the best, else the worst; None if nothing."""
    against = _against(summary, metric(summary)).values()
    better = [each for each in against if each.verdict is Verdict.FASTER]
    worse = [each for each in against if each.verdict is Verdict.SLOWER]
    return max(better or worse, key=surely, default=None)


def _limit(summary: Summary) -> str:
    """Say what limits what changed most, else the baseline; nothing where that is not known."""
    farthest = _farthest(summary)
    who = farthest.changed if farthest is not None else summary.run.plan.profiles[0].name
    found = limited_by(summary.diagnoses.get(who, ()))
    if found is None:
        return ""
    if found.standing is Standing.CONFIRMED:
        return f"{who} is limited by {found.cause.name}"
    return f"what limits {who} is {found.standing.value} {found.cause.name}"


def _won(summary: Summary) -> str:
    baseline = summary.run.plan.profiles[0].name
    name = metric(summary)
    title = METRICS[name].title
    if not _against(summary, name):
        if not summary.steps:
            return f"{baseline} ran alone, so there is nothing to compare it with"
        return "Nothing can be compared"
    farthest = _farthest(summary)
    if farthest is None:
        return f"No profile differs measurably from {baseline} by {title}"
    if farthest.verdict is Verdict.SLOWER:
        moved = _moved(summary, farthest)
        return f"No profile is better than {baseline} by {title}, and {moved}"
    text = _moved(summary, farthest)
    if summary.another_application(farthest.changed, baseline):
        return f"{text[0].upper()}{text[1:]}"
    cpu = _against(summary, "cpu").get(farthest.changed)
    if name == "throughput" and cpu and cpu.ratio and cpu.verdict is not Verdict.UNDECIDED:
        text += f", for {ratio(cpu.ratio)} the CPU per request"
    return text


def _moved(summary: Summary, farthest: Comparison) -> str:
    """
    Say how a profile compares with the baseline, settings and application each by themselves.

    They are told apart where its line of descent is in the run: up to the last profile that serves
    what the baseline serves only settings differ, and the next one serves another application.
    """
    baseline, name = farthest.reference, farthest.metric
    if not summary.another_application(farthest.changed, baseline):
        return _times(farthest)
    steps = {step.profile: step for step in summary.steps}
    step = steps[farthest.changed]
    while step.before is not None and summary.another_application(step.before, baseline):
        step = steps[step.before]
    if step.before is None:
        return f"by {ANOTHER} and more, {_times(farthest)}"
    more = f" and more ({step.instead_of} is not in this run)" if step.instead_of else ""
    parts = [f"by {ANOTHER}{more}, {_times(summary.compare(name, step.profile, step.before))}"]
    if step.before != baseline:
        settings = _times(summary.compare(name, step.before, baseline))
        parts.insert(0, f"by settings, {settings}")
    if step.profile != farthest.changed:
        parts.append(_times(summary.compare(name, farthest.changed, step.profile)))
    return "; ".join(parts)


def _against(summary: Summary, name: str) -> dict[str, Comparison]:
    """Return how each profile compares with the baseline, of those that can be compared."""
    found = {step.profile: step.baseline[name] for step in summary.steps}
    return {profile: each for profile, each in found.items() if each.ratio is not None}


def _at_limit(summary: Summary) -> bool:
    """Return whether the generator's limit leaves all throughputs undecided, and CPU can tell."""
    found = _against(summary, "throughput").values()
    open_ = all(each.verdict is Verdict.UNDECIDED for each in found)
    limited = any(each.may_be is not None for each in found)
    return open_ and limited and bool(_against(summary, "cpu"))


def _withheld(summary: Summary) -> str:
    """Say of which profiles the throughput does not count, and why; nothing in an open loop."""
    if summary.run.plan.load.rate is not None:
        return ""
    if _at_limit(summary):
        rows = [row for row in summary.rows if row.at_least("throughput")]
        return (
            f"Requests/s of {_first(rows)} are the generator's limit, so CPU per request decides. "
        )
    compared = {summary.run.plan.profiles[0].name, *(step.profile for step in summary.steps)}
    rows = [
        row
        for row in summary.rows
        if row.profile.name in compared and "throughput" not in row.values
    ]
    if not rows:
        return ""
    found = (each for row in rows for each in row.tallies if "throughput" in each.withheld)
    gates = {each.gate: each.example.reason for each in found}
    nothing = not any(row.values for row in summary.rows)
    why = ", ".join(f"{gate}: {said}" if nothing else gate for gate, said in gates.items())
    return f"Requests/s of {_first(rows)} do not count ({why or 'no reply'}). "


def _first(rows: Sequence[Row]) -> str:
    """Name the first profile, and count the others; name both of two."""
    if len(rows) == 2:
        return " and ".join(row.profile.name for row in rows)
    others = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{rows[0].profile.name}{others}"


def _stands(summary: Summary) -> str:
    aa = summary.aa[HEADLINE]
    if aa.ratio is None:
        return "the machine's noise is not known, so nothing here is to be trusted"
    names = ("cpu",) if metric(summary) == "cpu" else ("throughput", "cpu")
    ratios = (each for name in names if (each := summary.aa[name].ratio) is not None)
    # How far from 1 it may lie: the half-width alone forgets that the middle may be off it, too.
    noise = share(max(max(each.high, 1 / each.low) - 1 for each in ratios))
    known = (summary.aa[name] for name in names if summary.aa[name].ratio)
    if all(told_apart(each, summary.run.plan.smallest) for each in known):
        return f"noise check passed: the same server twice stayed within {noise} of itself"
    return (
        f"noise check failed: the same server twice differed by up to {noise}, more than wanted, "
        "so only what is larger stands"
    )


def _times(comparison: Comparison) -> str:
    """Say how a profile compares, as the subject of a sentence."""
    title = METRICS[comparison.metric].title
    if comparison.ratio is None:
        return f"{comparison.changed} cannot be compared with {comparison.reference}"
    verb = "serves" if comparison.metric == "throughput" else "takes"
    told = comparison.verdict in (Verdict.FASTER, Verdict.SLOWER)
    times = bounded(comparison) + ("" if told else f" ({comparison.said})")
    aside = ", both at the generator's limit" if comparison.may_be is MayBe.EITHER else ""
    return f"{comparison.changed} {verb} {times} the {title} of {comparison.reference}{aside}"
