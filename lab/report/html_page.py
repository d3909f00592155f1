"""
A report as one page: it opens without a network, prints, and holds the run that it is made of.

The words and tables are those of the terminal and of Markdown; what is added is the figures, every
single trial, and the raw data, from which `lab report` makes the same page again. The same run
gives the same bytes.
"""

from __future__ import annotations

import base64
import lzma
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lab.analysis.conclusion import Conclusion
from lab.analysis.limits import STANDINGS, Limit
from lab.analysis.summary import Summary
from lab.analysis.sweep import SweepConclusion
from lab.bench.store.folder import FORMAT, RunHeader, encode_header, encode_trial
from lab.config.difference import difference
from lab.model.document import Topic
from lab.model.measurement import Window
from lab.model.metric import METRICS
from lab.model.nested import flatten
from lab.model.profile import Profile
from lab.model.wording import ended, visible
from lab.report import headline, opening, summary_json, sweep
from lab.report.causes import UNEXPLAINED, also, tested
from lab.report.drawing import load_matplotlib
from lab.report.palette import DARK, LIGHT, declarations
from lab.report.tables import document

INTERVAL = re.compile(r"x \[[\d.,]+, [\d.,]+\]")
"""The end of a ratio, which is not to be broken over two lines."""


def _whole(text: str) -> str:
    return INTERVAL.sub(lambda match: match[0].replace(" ", "\u00a0"), text)


def _shown(value: Any) -> Any:
    """Return what stands between two braces of a template, with its texts made visible."""
    return value if value is None or isinstance(value, Markup) else visible(str(value))


_PAGES = Environment(
    loader=PackageLoader("lab.report"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    undefined=StrictUndefined,
    finalize=_shown,
)
_PAGES.filters |= {"whole": _whole, "ended": ended}


@dataclass(frozen=True, slots=True)
class Chip:
    """What limits some profiles."""

    profiles: tuple[tuple[str, str], ...]
    """Name, and in how many of its trials it shows: "9/10"."""
    kind: str
    """Class of the chip: the name of a standing in lower case, or "none"."""
    chip: str
    text: str = ""
    """The evidence of one of them."""
    rules_out: str = ""
    tested: tuple[str, ...] = ()
    """What came of each counter-run."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A profile and the options in which it differs from the one that it is compared with."""

    profile: Profile
    before: str | None
    lines: tuple[tuple[str, str], ...]
    """Sign (+, -, ~ or nothing) and text."""


def render(conclusion: Conclusion) -> str:
    """Return the report as an HTML page; it ends with a newline."""
    # matplotlib takes half a second to import, and most commands draw nothing.
    load_matplotlib()
    from lab.report import details, figures, svg  # noqa: PLC0415
    from lab.report.plots import percentiles  # noqa: PLC0415

    summary, run = conclusion.summary, conclusion.summary.run
    drawn = {
        name: Markup(svg.inline(name, picture))  # noqa: S704 - drawn here, its text is escaped
        for name, picture in figures.pictures(
            conclusion, figures.FIGURES.keys() - {"forest"}
        ).items()
    }
    changed = {
        METRICS[name].title: Markup(svg.inline(f"forest_{name}", picture))  # noqa: S704 - as above
        for name, picture in ({} if conclusion.alone else figures.of_changes(conclusion)).items()
    }
    sentence = headline.first(conclusion)
    lines = percentiles.curves(summary)
    page = document(conclusion)
    return _PAGES.get_template("report.html").render(
        page=page,
        measured=next(table for table in page.tables if table.topic is Topic.MEASURED),
        parts=[table for table in page.tables if table.topic is Topic.PARTS],
        opening=list(opening.sections(conclusion)),
        thresholds=[table for table in page.tables if table.topic is Topic.THRESHOLDS],
        context=opening.context(conclusion),
        banners=[banner for banner in opening.banners(conclusion) if f"{banner}." != sentence],
        # What limited each profile is shown as chips instead.
        changes=[table for table in page.tables if table.topic is Topic.CHANGES],
        sentence=sentence,
        trust=conclusion.trust,
        trusted=headline.TRUSTED[conclusion.trust],
        facts=headline.facts(conclusion),
        changed=changed,
        figures=drawn,
        limits=_limits(conclusion),
        spent=details.spent_table(summary),
        curves=details.curves_table(lines),
        lines=[curve.profile for curve in percentiles.chosen(summary, lines)],
        all_lines=len(lines),
        trials=details.trials_table(summary),
        configurations=_configurations(conclusion),
        environment=_environment(run.environments),
        environments=len(run.environments),
        open_loop=run.plan.load.rate is not None,
        run=run,
        light=declarations(LIGHT),
        dark=declarations(DARK),
        data=_packed(_data(summary)),
        summary=_packed(summary_json.document(conclusion).encode()),
    )


def render_sweep(sweep_conclusion: SweepConclusion) -> str:
    """Return the report of all values of a sweep as an HTML page; it ends with a newline."""
    load_matplotlib()
    from lab.report import figures, svg  # noqa: PLC0415

    picture = figures.of_sweep(sweep_conclusion)
    template = _PAGES.get_template("sweep.html")
    return template.render(
        page=sweep.document(sweep_conclusion),
        sentence=sweep.first(sweep_conclusion),
        banners=opening.banners_of_sweep(sweep_conclusion),
        differing=list(sweep.differing(sweep_conclusion)),
        figure=picture and Markup(svg.inline("sweep", picture)),  # noqa: S704 - as above
        run=sweep_conclusion.run,
        light=declarations(LIGHT),
        dark=declarations(DARK),
    )


def _limits(conclusion: Conclusion) -> tuple[Chip, ...]:
    """Return a row for all profiles with the same cause, as the other reports do."""
    chips = [_limit(limit) for limit in conclusion.limits]
    if conclusion.silent:
        chips.append(_plain(conclusion.silent, "no valid trial"))
    return tuple(chips)


def _plain(profiles: Sequence[str], chip: str, text: str = "") -> Chip:
    return Chip(tuple((name, "") for name in profiles), "none", chip, text)


def _limit(limit: Limit) -> Chip:
    shown = limit.example
    if shown is None:
        return _plain(limit.profiles, UNEXPLAINED)
    several = len(limit.members) > 1
    return Chip(
        profiles=tuple(
            (member.profile, f"{member.trials}/{member.of}") for member in limit.members
        ),
        kind=shown.standing.name.lower(),
        chip=f"{also(limit)}{shown.cause.name}: {STANDINGS[shown.standing]}",
        text=f"{shown.profile}: {shown.cause.evidence}" if several else shown.cause.evidence,
        # Made to stand behind a colon; here it is a sentence.
        rules_out=shown.cause.rules_out[:1].upper() + shown.cause.rules_out[1:],
        tested=tuple(
            f"{member.profile}, {tested(member)}" if several else tested(member)
            for member in limit.members
            if member.counter is not None
        ),
    )


def _configurations(conclusion: Conclusion) -> tuple[Configuration, ...]:
    before = {step.profile: step.before for step in conclusion.summary.steps}
    profiles = {profile.name: profile for profile in conclusion.summary.run.plan.profiles}
    shown = []
    for name, profile in profiles.items():
        against = profiles.get(before.get(name) or "")
        if against is None:
            lines = [("", f"{key} = {value}") for key, value in profile.options]
        else:
            change = difference(profile, against)
            lines = [("-", f"{key} = {value}") for key, value in change.removed]
            lines += [("~", f"{key} = {old} → {new}") for key, old, new in change.changed]
            lines += [("+", f"{key} = {value}") for key, value in change.added]
        shown.append(Configuration(profile, before.get(name), tuple(lines)))
    return tuple(shown)


def _environment(environments: Mapping[str, Mapping[str, object]]) -> list[tuple[str, str]]:
    """Return the environment in which the run began, as dotted keys; no distributions of Python."""
    first = next(iter(environments.values()), {})
    known = flatten({key: value for key, value in first.items() if key != "distributions"})
    return [
        (key, " ".join(map(str, item)) if isinstance(item, list | tuple) else str(item))
        for key, item in known
    ]


def _data(summary: Summary) -> bytes:
    """Return the run's two files in one: `run.json` in the first line, then `trials.ndjson`."""
    run = summary.run
    header = RunHeader(
        format=FORMAT,
        command=run.command,
        generator=run.generator,
        started_at=run.trials[0].started_at if run.trials else 0.0,
        plan=run.plan,
        environments=run.environments,
        skipped=run.skipped,
        counters=run.counters,
        ended=run.ended,
        hosts=run.hosts,
    )
    trials = (replace(trial, windows=tuple(map(_sorted, trial.windows))) for trial in run.trials)
    return b"".join(line + b"\n" for line in (encode_header(header), *map(encode_trial, trials)))


def _sorted(window: Window) -> Window:
    """Return *window* with its histograms in order: that halves what they are packed to."""
    return replace(
        window,
        latency=dict(sorted(window.latency.items())),
        service=dict(sorted(window.service.items())),
    )


def _packed(content: bytes) -> str:
    """Return *content* as base64 of xz: gzip's would be twice as long."""
    # No larger dictionary than the content: to set up one of 64 MiB takes 50 ms of CPU.
    size = max(4096, min(len(content), 64 << 20))
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": size}]
    return base64.b64encode(lzma.compress(content, filters=filters)).decode()
