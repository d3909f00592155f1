"""
A summary as JSON, for scripts: the content of `summary.json`.

Each object of the document has the fields of its dataclass, except where `PROJECTION` says
otherwise: a new field of a class is in the document unless `PROJECTION` leaves it out. The
published schema (`tools/pages/schema.py`) is made of the same classes and of `PROJECTION`.

Numbers have six significant figures, keys are sorted, and a field that is None is left out. Nothing
says when or where the document was made, so the same run gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from lab.analysis.across import RunDifference
from lab.analysis.conclusion import Conclusion
from lab.analysis.judging import Judgement
from lab.analysis.limits import Limit
from lab.analysis.stats import half_width
from lab.analysis.summary import Part, Row, StepComparison, Tally
from lab.analysis.sweep import RunConclusion
from lab.model.comparison import Comparison, Estimate
from lab.model.diagnosis import Diagnosis
from lab.model.document import printable
from lab.model.metric import METRICS, Metric, shown
from lab.model.plan import CounterRun, Plan
from lab.model.wording import in_json
from lab.report import legend, notices_json, thresholds
from lab.report.headline import TRUSTED, Trusted
from lab.report.machine import machine_lines
from lab.report.remarks import notes
from lab.report.warnings import with_status

FORMAT = 3
"""
Version of the format; fields may be added within one, so a reader ignores what it does not know.

1: the first.
2: `diagnoses` and `inert`, the load's `rate`; later `shares`, `applications`, `below`, `level`
   and `conclusion`, which has all that a report says in words.
3: verdicts are "better", "worse", "no difference", "inconclusive" and "invalid".
"""

Source = str | Callable[[Any], Any]
"""
What a field is written from: the path of an attribute ("run.plan.load"), or a function of the
object. The schema takes the function's type and description from its signature and docstring.
"""


@dataclass(frozen=True, slots=True)
class Value:
    """A metric of a profile."""

    median: float
    trials: int
    """How many it is the median of."""
    at_least: bool | None = None
    """True where the true value may be higher, since the generator was at its limit; absent
    elsewhere."""


@dataclass(frozen=True, slots=True)
class Trials:
    """Slots of the plan."""

    measured: int
    """Those with a trial."""
    planned: int


@dataclass(frozen=True, slots=True)
class SummaryDocument:
    """What a run found."""

    conclusion: Conclusion
    """What the run comes to."""


def _format(_: SummaryDocument) -> int:
    """Version of the format; fields may be added within one."""
    return FORMAT


def _trials(document: SummaryDocument) -> Trials:
    summary = document.conclusion.summary
    return Trials(summary.measured, summary.planned)


def _environments(document: SummaryDocument) -> Sequence[str]:
    """Digests; `run.json` holds what they stand for."""
    return sorted(document.conclusion.summary.run.environments)


def _machine(document: SummaryDocument) -> Sequence[str]:
    """The machine and the versions, for people."""
    return machine_lines(document.conclusion.machine)


def _banners(document: SummaryDocument) -> Sequence[str]:
    """What a reader must know before any number."""
    return printable(map(with_status, document.conclusion.warnings))


def _notes(document: SummaryDocument) -> Sequence[str]:
    """The report's footnotes."""
    return printable(notes(document.conclusion))


def _metrics(_: SummaryDocument) -> Mapping[str, Metric]:
    return METRICS


def _shares(document: SummaryDocument) -> Mapping[str, Mapping[str, Comparison]] | None:
    """
    By profile and reference line of the same server: the line's CPU per request over the profile's,
    the share of it that its server cannot do without; absent without such a line.
    """
    return document.conclusion.summary.shares or None


def _applications(document: SummaryDocument) -> Mapping[str, str] | None:
    """What each profile serves, so that settings and application are not taken for one another."""
    return document.conclusion.summary.applications or None


def _trust(conclusion: Conclusion) -> Trusted:
    """How far the run can be believed."""
    return TRUSTED[conclusion.trust]


def _warnings(conclusion: Conclusion) -> Sequence[str]:
    """Kind of each warning that the reader must know before any number; `banners` words them."""
    return [warning.kind for warning in conclusion.warnings]


def _judged(conclusion: Conclusion) -> Sequence[str]:
    """By which changes are judged, and what is open is told."""
    return shown(conclusion.summary.run.plan.load)


def _lines(conclusion: Conclusion) -> Sequence[str]:
    """Names of the reference lines."""
    return legend.lines(conclusion.summary.run.plan)


def _terms(conclusion: Conclusion) -> Sequence[legend.Term]:
    """What the report says that needs a legend."""
    return list(legend.terms(conclusion.summary.run.plan))


def _baseline(plan: Plan) -> str:
    """The first profile of the ladder."""
    return plan.profiles[0].name


def _against_both(plan: Plan) -> bool | None:
    """True where ratios to the reference are to both of its trials of a block, and trimmed."""
    return plan.against_both or None


def _thresholds(plan: Plan) -> Sequence[str] | None:
    """The limits of `--fail-if`, as in "cpu(new/old) > 1.05"; absent without any."""
    return plan.thresholds or None


def _judgements(conclusion: Conclusion) -> Sequence[Judgement] | None:
    """What the run says to each limit; absent without any."""
    return conclusion.judgements or None


def _values(row: Row) -> Mapping[str, Value]:
    """By metric, in SI units; absent where it counts in no trial."""
    return {
        name: Value(value, row.counts[name], at_least=row.at_least(name) or None)
        for name, value in row.values.items()
    }


def _parts(row: Row) -> Sequence[Part] | None:
    """Of several requests what came of each, over the profile's trials."""
    return row.parts or None


def _withholds(tally: Tally) -> Sequence[str]:
    """Metrics that it makes meaningless."""
    return sorted(tally.withheld)


def _half_width(comparison: Comparison) -> float | None:
    """Of the interval from *low* to *high*, as a share."""
    return None if comparison.ratio is None else half_width(comparison.ratio)


def _rules_out(diagnosis: Diagnosis) -> str | None:
    """What speaks against the other causes, with numbers."""
    return diagnosis.cause.rules_out or None


PROJECTION: Mapping[type, Mapping[str, Source | None]] = {
    SummaryDocument: {
        "format": _format,
        "run": "conclusion.summary.run.name",
        "command": "conclusion.summary.run.command",
        "generator": "conclusion.summary.run.generator",
        "workload": "conclusion.summary.run.plan.workload.name",
        "path": "conclusion.summary.run.plan.workload.path",
        "load": "conclusion.summary.run.plan.load",
        "plan": "conclusion.summary.run.plan",
        "trials": _trials,
        "environments": _environments,
        "machine": _machine,
        "banners": _banners,
        "notes": _notes,
        "metrics": _metrics,
        "profiles": "conclusion.summary.rows",
        "skipped": "conclusion.summary.run.skipped",
        "shares": _shares,
        "applications": _applications,
        **{
            name: f"conclusion.summary.{name}"
            for name in ("steps", "aa", "floors", "exit_code", "diagnoses", "inert")
        },
    },
    Plan: {
        "baseline": _baseline,
        "against_both": _against_both,
        "thresholds": _thresholds,
        "arms": None,
        "backing": None,
        "inert": None,
        "warm": None,
    },
    Metric: dict.fromkeys({field.name for field in fields(Metric)} - {"title", "better", "exact"}),
    Row: {
        "name": "profile.name",
        "summary": "profile.summary",
        "server": "profile.server",
        "digest": "profile.digest",
        "against": "profile.against",
        "trials": "total",
        "values": _values,
        "findings": "tallies",
        "parts": _parts,
        **dict.fromkeys(("profile", "total", "counts", "tallies", "never_kept", "generator")),
    },
    StepComparison: dict.fromkeys(("other_than_before", "other_than_baseline")),
    Tally: {
        "gate": "gate.name",
        "reason": "example.reason",
        "advice": "example.advice",
        "withholds": _withholds,
        "outside": "gate.outside",
        "example": None,
    },
    Comparison: {
        "ratio": "ratio.value",
        "low": "ratio.low",
        "high": "ratio.high",
        "n": "ratio.n",
        "level": "ratio.level",
        "half_width": _half_width,
        # `floors` has those of the whole run.
        **dict.fromkeys(("metric", "floor")),
    },
    Diagnosis: {
        "cause": "cause.name",
        "evidence": "cause.evidence",
        "rules_out": _rules_out,
        "profile": None,
    },
    Conclusion: {
        "trust": _trust,
        "warnings": _warnings,
        "judgements": _judgements,
        "limited_by": "limit.cause.name",
        "standing": "limit.standing",
        # `profiles` has the findings of the gates, and `notes` the notices.
        **dict.fromkeys(("summary", "limit", "gates", "notices")),
        # `steps` has the comparisons.
        "opening": None,
        "made_again": "summary.run.made_again",
        "metrics": _judged,
        "lines": _lines,
        "terms": _terms,
        "no_effect": notices_json.no_effect,
        "undecided": notices_json.undecided,
        "outlook": notices_json.outlook,
        "left_early": notices_json.left_early,
        "fragile": notices_json.fragile,
        "generator_limit": notices_json.generator_limit,
        "sent_again": notices_json.sent_again,
        "sent_late": notices_json.sent_late,
        "several_settings": notices_json.several_settings,
        "protocols": notices_json.protocols,
        "telling": notices_json.telling,
    },
    Limit: {"profiles": "profiles", "trials": "trials", "stretches": None, "members": None},
    CounterRun: {"profile": "arm.name", **dict.fromkeys(("of", "cause", "arm"))},
    Estimate: {"ratio": "value", "value": None},
    RunDifference: {"change": "ratio", "ratio": None},
    Judgement: {
        "threshold": "threshold.text",
        "sentence": thresholds.why,
        "why": None,
        "bound": None,
    },
}
"""Class -> fields of its objects that are not the class's own; None for a field to leave out."""


def sources(kind: type) -> Mapping[str, Source]:
    """Return the fields that an object of *kind* has in JSON, and what each is written from."""
    field_sources = {
        **{field.name: field.name for field in fields(kind)},
        **PROJECTION.get(kind, {}),
    }
    return {name: source for name, source in field_sources.items() if source is not None}


def render(run_conclusion: RunConclusion) -> str:
    """Return a run's summary as JSON, that of several values as a list; it ends with a newline."""
    return joined([document(point) for point in run_conclusion.points])


def document(conclusion: Conclusion) -> str:
    """Return the summary of one load as JSON; it ends with a newline."""
    return to_json(SummaryDocument(conclusion))


def joined(documents: Sequence[str]) -> str:
    """Return one JSON document as it is, several as a list; each ends with a newline."""
    return documents[0] if len(documents) == 1 else f"[\n{','.join(documents)}]\n"


def to_json(value: object) -> str:
    """Return *value*, of dataclasses and built-in types, as JSON; it ends with a newline."""
    plain = json.dumps(_plain(value), ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False)
    return in_json(plain) + "\n"


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        value = {name: _read(value, source) for name, source in sources(type(value)).items()}
    if isinstance(value, float):
        # Beyond six figures is noise, and the last bits differ between C libraries.
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _read(value: Any, source: Source) -> Any:
    if not isinstance(source, str):
        return source(value)
    for name in source.split("."):
        value = None if value is None else getattr(value, name)
    return value
