"""What is said around the tables: the plan above, footnotes and the legend below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lab.analysis.compare import BELOW
from lab.analysis.conclusion import Conclusion, Term
from lab.analysis.footnotes import GateFired, GeneratorLimit, More, SentLate
from lab.analysis.gates.common import BUSY
from lab.analysis.looks import EARLY, SMALL
from lab.analysis.stats import CONFIDENCE
from lab.analysis.undecided import Outlook, Undecided
from lab.model.comparison import at_limit
from lab.model.measurement import Run
from lab.model.metric import METRICS
from lab.model.numbers import figure, levels, percent, share
from lab.model.plan import SMALLEST, Plan
from lab.model.wording import counted
from lab.model.workload import Wire
from lab.report.causes import inert_notes

MORE = {
    More.ENGINE: "the lab's engine instead of ab",
    More.PROCESSES: "--processes {} where the generator has a CPU for each",
    More.GENERATORS: "--generators {} where the generator has a CPU for each",
    More.CORES: "a machine with more cores",
}
"""What gives a load more, with {} for their number."""


def plan_line(found: Conclusion) -> str:
    """Say what load the servers had, and how often."""
    run = found.summary.run
    plan = run.plan
    said = counted(run.allotted, "block")
    each = "" if plan.load.requests is not None else f" of {plan.window:g} s"
    time = "" if plan.minutes is None else f", in at most {plan.minutes:g} minutes,"
    cores = ""
    if plan.server_cores is not None:
        beside = "" if run.hosts else f", load on {plan.generator_cores}"
        cores = f"; server on {plan.server_cores}{beside}"
    cores += ", cores shared" if run.shares_cores else ""
    how = f"{said}{each}{time} {order(plan)}; generator: {run.generator}{cores}"
    return f"{load_words(plan)}; {how}"


def load_words(plan: Plan) -> str:
    """Say what load the servers had."""
    load = plan.load
    kept = "keep-alive offered" if load.keepalive else "a connection for each request"
    if load.rate is not None:
        return (
            f"open loop: {load.rate:,g} requests/s, each due on the clock whatever the server "
            f"does, on at most {counted(load.connections, 'connection')}, {kept}"
        )
    if load.requests is None:
        return f"{counted(load.connections, 'client')} at full load, {kept}"
    return f"{load.requests:,} requests, {load.connections:,} at once, {kept}"


def order(plan: Plan) -> str:
    """Say how trials followed one another, and which differences they are for if anybody said."""
    said = "in random order"
    if plan.smallest != SMALLEST:
        said += f", for differences of {percent(plan.smallest)} or more"
    return said


def notes(found: Conclusion) -> list[str]:
    """Return the footnotes: gates by number, what is open, what has no effect, what was not run."""
    plan = found.summary.run.plan
    said = [_gate(gate, number) for number, gate in enumerate(found.gates, 1)]
    if found.made_again:
        said.append(_made_again(found.made_again))
    if found.left_early:
        said.append(_left_early(found.left_early))
    if found.outlook is not None:
        said.append(outlook(found.outlook))
    said += map(_undecided, found.undecided)
    if found.fragile:
        said.append(
            "fragile: an estimate by ranks disagrees with the mean, so one or two blocks decide "
            "it. Give the run more blocks."
        )
    if found.generator_limit is not None:
        said += _generator_limit(found.generator_limit)
    if found.sent_again:
        said.append(_sent_again(found.sent_again))
    said += [
        f"{each.profile} / {each.before}: more than one setting; {each.profile} is one step from "
        f"{each.instead_of}, which is not in this run."
        for each in found.several_settings
    ]
    if found.sent_late is not None:
        said.append(_sent_late(found.sent_late))
    said += [
        f"{asked}: {asked.expect.varies}" for asked in plan.workload.asks if asked.expect.varies
    ]
    if found.telling:
        said.append(
            f"Before you share it: the values of {', '.join(found.telling)} stand in this run's "
            "folder, and those of a query in its report. Ask with values that may be known."
        )
    said += inert_notes(found.no_effect)
    if found.protocols:
        said.append(protocols(found.protocols))
    return said + around(found.summary.run)


def around(run: Run) -> list[str]:
    """Say what ran beside the servers, and what was not run."""
    beside = [f"Backing service {each}." for each in run.plan.backing]
    return beside + [f"Not run: {name}: {why}." for name, why in sorted(run.skipped.items())]


def of_both(plan: Plan) -> str:
    """Say what the ratios of a plan are of that has its reference's two trials count."""
    name = plan.reference
    return (
        f"Each ratio is to {name}'s two trials in a block (if only one of them counts, to that "
        "one); of all blocks' ratios the eighth at each end is left out of the mean."
    )


def legend(found: Conclusion) -> tuple[str, ...]:
    """Explain the tables in a few lines."""
    said = {
        Term.MEDIAN: (
            "Medians over the trials that count; -: not known, or withheld for the reason given "
            "last."
        ),
        Term.RATIO: (
            "1.42x [1.31, 1.55]: mean ratio within a block, so not of the medians above, and its "
            f"{_level_words(found.levels)} over n blocks; ~: it may be 1."
        ),
        Term.BOTH: of_both(found.summary.run.plan),
        Term.VERDICT: (
            "better, worse: all beyond the noise (at least 2%); same: within; undecided: neither."
        ),
        Term.BELOW: "undecided, but below 5%: a change of 5% or more is excluded.",
        Term.ALL_REQUESTS: (
            "all requests: until the last had its outcome; shown for trials that do not count, too."
        ),
        Term.DUE: (
            "p50, p90, p99: from when a request was due, as a user waits; service: from sending it."
        ),
        Term.SATURATED: (
            "p50, p99: measured at saturation, so not what a user sees at normal load."
        ),
        Term.REFERENCE_LINE: (
            f"{', '.join(found.lines)}: reference lines, the same reply to every request: what the "
            "server itself needs."
        ),
    }
    return tuple(said[term] for term in found.terms)


def _level_words(found: Sequence[float]) -> str:
    """Say which level the intervals have, as in a legend: the noise check's where it is another."""
    usual, steps = percent(CONFIDENCE), levels(found)
    if steps == usual:
        return f"{usual} interval"
    return f"interval ({steps}; the noise check's {usual})"


def _gate(fired: GateFired, number: int) -> str:
    """Say where a gate fired, with the numbers of one trial, and what to do."""
    where = ", ".join(f"{name} {trials}/{of}" for name, trials, of in fired.where)
    names, these = fired.example.withholds, "these trials" if fired.alike else "a trial"
    if names is None:
        effect = f"nothing of {these} counts"
    elif names:
        titles = (metric.title for name, metric in METRICS.items() if name in names)
        effect = f"withheld: {', '.join(titles)}"
    else:
        effect = "the trials count"
    worst = "" if fired.alike else "at worst: "
    return (
        f"[{number}] {fired.gate.name} ({where}; {worst}{effect}). {fired.worst}: "
        f"{fired.example.reason}. {fired.example.advice}"
    )


def _made_again(trials: int) -> str:
    were = "trial was" if trials == 1 else "trials were"
    return (
        f"{trials} {were} made again, as a tenth of all may be: "
        "something outside disturbed the first attempt; the last one counts, all are kept."
    )


def _left_early(counts: Sequence[int]) -> str:
    *most, last = map(str, counts)
    blocks = " or ".join(filter(None, (", ".join(most), last)))
    return (
        f"Rows with {blocks} blocks left early: their intervals are {percent(EARLY)}. "
        "Limits are judged by all pairs."
    )


def outlook(found: Outlook) -> str:
    """Say how many steps are decided, and what more minutes would do for the others."""
    ended = f"decided, or below {SMALL:.0%}"
    if not found.undecided:
        return f"All {found.decided} steps {ended}."
    text = f"{found.decided} {ended}; {found.undecided} open"
    if found.nearest is None or found.nearest.ratio is None:
        return f"{text}: too few of their trials count."
    low, high = figure(found.nearest.ratio.low), figure(found.nearest.ratio.high)
    text += f": the nearest, {found.nearest.changed}, is between {low}x and {high}x"
    if found.more is None:
        most = f"{found.blocks} blocks, the most that there may be"
        return f"{text}; {most}, would hardly decide it."
    of = "it" if found.undecided == 1 else f"about {found.more.decides} of them"
    minutes = counted(found.more.minutes, "more minute")
    return f"{text}; {minutes} would decide {of}. Use --minutes {found.more.total}."


def _undecided(found: Undecided) -> str:
    """Say how many steps stay open, what would have been found, and what decides next."""
    span = " to ".join(f"{figure(each)}x" for each in found.detectable)
    below = f", {found.below} of them below {max(BELOW):.0%}" if found.below else ""
    text = (
        f"{METRICS[found.metric].title}: {found.undecided} of {found.steps} steps undecided"
        f"{below}. This many blocks detect changes of {span} with 80% power."
    )
    if found.soonest is None:
        return text
    return f"{text} Soonest decided: {found.soonest}, with about {found.blocks:,} blocks."


def _generator_limit(found: GeneratorLimit) -> list[str]:
    """Say which throughputs and ratios are no more than bounds, and what would help."""
    said = []
    if found.more is not None:
        busy = ", ".join(f"{name} {share(each)}" for name, each in found.busy.items())
        said.append(
            f"at least: the busiest generator process was at its limit, {BUSY:.0%} of the time or "
            f"more ({busy}), so the server may be faster still. "
            f"Use {MORE[found.more].format(found.number)}, or read CPU per request, which does not "
            "depend on it."
        )
    if found.bounded:
        which = "; ".join(
            f"{at_limit(each.limited, each.may_be)} ({', '.join(map(' / '.join, each.ratios))})"
            for each in found.bounded
        )
        said.append(f"Ratios: {which}.")
    return said


def _sent_again(shares: Mapping[str, float]) -> str:
    who = ", ".join(f"{name} {share(each)}" for name, each in shares.items())
    return (
        "Requests sent again, because the server closed a connection that the client meant to "
        f"keep: {who}. Its clients pay for new connections."
    )


def _sent_late(found: SentLate) -> str:
    """Say for an open loop how many requests its own generator sent late."""
    if found.share == 0:
        return "The generator sent every request when it was due."
    said = "Sent late by the generator itself, and not for want of a connection: at most"
    return f"{said} {found.share:.2%} of the requests ({found.profile})."


def protocols(asked: Mapping[Wire, Sequence[str]]) -> str:
    """Say who is asked in which protocol."""
    who = "; ".join(f"{wire.manner.called}: {', '.join(names)}" for wire, names in asked.items())
    return f"Asked in two protocols, so a ratio across holds their difference as well: {who}."
