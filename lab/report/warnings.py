"""The words of what a run warns of, and the warnings of several reports, each kind said once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import singledispatch

from lab.analysis.compare import LEAST_FLOOR
from lab.analysis.looks import STOPPED
from lab.analysis.same_work import ALIKE
from lab.analysis.warning import (
    EndedEarly,
    Failing,
    NeverStarted,
    Noise,
    NoiseUnknown,
    NotEnded,
    NothingCompared,
    OtherWork,
    RunWarning,
    SharedCeiling,
)
from lab.model.comparison import Estimate
from lab.model.metric import METRICS
from lab.model.numbers import percent, share
from lab.model.wording import counted

STATUS = " Exit status 3 stands for this: measured, but noisier than wanted."


def told(warning: RunWarning) -> str:
    """Return a warning of a whole run, with what the exit status has to do with it."""
    decides = isinstance(warning, Noise) and warning.decides
    return words(warning) + STATUS * decides


@singledispatch
def words(warning: RunWarning) -> str:
    """Return a warning in words, without the exit status, which is that of the whole run."""
    raise NotImplementedError(type(warning).__name__)


@words.register
def _(warning: NeverStarted) -> str:
    return f"Never started: {', '.join(warning.profiles)}. The reason is below."


@words.register
def _(warning: Failing) -> str:
    return (
        f"Failed {_shares(warning.failed)}. The server did not start, died, or failed so many "
        "requests that nothing of the trial counts. The reason is below."
    )


def _shares(failed: Mapping[str, tuple[int, int]]) -> str:
    """Say who failed how often, in as few words as there are different shares."""
    names: dict[str, list[str]] = {}
    for name, (times, trials) in failed.items():
        share = "every trial" if times == trials else f"{times} of {trials} trials"
        names.setdefault(share, []).append(name)
    return "; ".join(f"in {share}: {', '.join(of)}" for share, of in names.items())


@words.register
def _(_: NothingCompared) -> str:
    return (
        "Nothing can be compared: fewer than two profiles have a trial that counts. "
        "More blocks alone will not help. The reasons are below."
    )


@words.register
def _(warning: SharedCeiling) -> str:
    work = ""
    if warning.cpu is not None:
        least, most = (each * 1e6 for each in warning.cpu)
        work = f", although a request costs {least:,.0f} to {most:,.0f} µs"
    return (
        f"{len(warning.profiles)} profiles reach the same throughput within {warning.spread:.2%}"
        f"{work} ({', '.join(warning.profiles)}): something that they share is measured, such "
        "as the client, the network, a log, a rate limit or a service behind them. Look for it "
        "before comparing them."
    )


@words.register
def _(warning: NoiseUnknown) -> str:
    return (
        f"The check of this machine is missing: {warning.reference} needs at least two blocks "
        "in which both of its runs count. Give the run more blocks."
    )


@words.register
def _(warning: Noise) -> str:
    seen = " and ".join(_came_out(metric, ratio) for metric, ratio in warning.seen.items())
    noise, wanted = share(warning.reach), f"(wanted: {percent(warning.smallest)})"
    if not warning.reference:
        return (
            f"Noisy machine: over all values the same server against itself came out at {seen}, "
            f"and the noise of one value is {noise}: smaller differences cannot be seen there "
            f"{wanted}."
        )
    text = (
        f"Noisy machine: the same server against itself, {warning.reference} twice in every "
        f"block, came out at {seen}."
    )
    if warning.apart:
        return (
            f"{text} That is {noise} noise, beyond the {LEAST_FLOOR:.0%} floor, so a "
            "difference of that size between profiles means nothing. Stop other work and run again."
        )
    more = "Only a" if warning.blocks is None else f"About --blocks {warning.blocks}, or a"
    return (
        f"{text} That is {noise} noise: smaller differences cannot be seen in this run "
        f"{wanted}; larger ones stand. {more} quieter machine would do."
    )


def _came_out(metric: str, ratio: Estimate) -> str:
    return f"{METRICS[metric].title} {ratio.value:.3g}x [{ratio.low:.3g}, {ratio.high:.3g}]"


@words.register
def _(warning: EndedEarly) -> str:
    return f"Ended early: {warning.measured} of {warning.planned} planned trials were measured."


@words.register
def _(warning: NotEnded) -> str:
    return (
        f"{counted(warning.blocks, 'block')}, and the run has not ended by itself: what is open is "
        f"judged more strictly, at {percent(STOPPED)}, since a run that somebody watches may be "
        "stopped at the moment that pleases."
    )


@words.register
def _(warning: OtherWork) -> str:
    figures = ", ".join(f"{name} {each:.3g}" for name, each in warning.per_reply.items())
    return (
        f"Not the same work: {warning.work} per reply is {figures}. Ratios of "
        f"profiles more than {ALIKE - 1:.0%} apart are withheld, but for memory. Work that is "
        "put off until after the reply needs a longer --warmup and --window."
    )


def by_kind(
    warned: Iterable[tuple[str, RunWarning]],
) -> Iterator[tuple[tuple[str, ...], str]]:
    """
    Yield where each kind of warning stands, and its words; of several places those of the first.

    Args:
        warned: The place of each warning, and the warning.

    >>> list(by_kind([("1k", EndedEarly(1, 9)), ("10k", EndedEarly(2, 9))]))
    [(('1k', '10k'), 'Ended early: 1 of 9 planned trials were measured.')]
    """
    kinds: dict[type[RunWarning], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for place, warning in warned:
        said, text = kinds[type(warning)][place], words(warning)
        if text not in said:
            said.append(text)
    for places in kinds.values():
        for text in next(iter(places.values())):
            yield tuple(places), text


def example(places: Sequence[str]) -> str:
    """Say whose words stand for all *places*; nothing where there is one place alone."""
    return f" (the words are those of {places[0]})" if len(places) > 1 else ""
