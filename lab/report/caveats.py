"""What changes the reading of a figure or a table, in a sentence each: it stands in a picture."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.conclusion import Conclusion
from lab.analysis.sweep import SweepConclusion
from lab.model.measurement import Run
from lab.model.plan import Role
from lab.model.wording import counted
from lab.report.headline import same_twice

ONE_CORE = "The server had one core: adding processes or threads cannot show a gain here."

SHARED = (
    "Server and load shared their cores: requests/s are known only as a range, so CPU per "
    "request decides."
)


def of_cores(conclusion: Conclusion) -> Iterator[str]:
    """Yield what the server's cores do to the reading of one load's comparisons."""
    run = conclusion.summary.run
    if run.plan.share < 1:
        yield slow_machine(run)
    elif run.shares_cores:
        yield SHARED
    elif conclusion.on_one_core and _differ_in_workers(run):
        yield ONE_CORE


def slow_machine(run: Run) -> str:
    """Say to which machine the figures of a run with a slowed server belong."""
    cores = max((trial.readings.get("server.cores", 0) for trial in run.trials), default=0)
    return (
        f"The figures are those of {counted(round(cores), 'CPU')} at {run.plan.share:.0%} of this "
        "machine's speed, with the load elsewhere; percentiles are in the time of that machine."
    )


def _differ_in_workers(run: Run) -> bool:
    """Return whether the servers may differ in their numbers of processes or threads."""
    counts = set()
    for trial in run.trials:
        profile = trial.slot.arm.profile
        if profile.reply is not None or trial.slot.arm.role is Role.COUNTER:
            continue
        if profile.commands or "processes" not in trial.facts:
            return True
        threads = [value for option, value in profile.options if option == "threads"]
        counts.add((trial.facts["processes"], *threads[-1:]))
    return len(counts) > 1


def caveats(conclusion: Conclusion) -> tuple[str, ...]:
    """Return what a reader of one load's comparisons must know; nothing where that is nothing."""
    sentences = [*of_cores(conclusion)]
    if conclusion.noise is None:
        sentences.append("The noise check could not be made, so no difference here is trustworthy.")
    elif not conclusion.noise.passed:
        sentences.append(f"Noise check failed: {same_twice(conclusion.noise)}.")
    return tuple(sentences)


def caveats_of_sweep(sweep: SweepConclusion) -> tuple[str, ...]:
    """Return the same of a run at several values."""
    sentences = [ONE_CORE] if sweep.single_core else []
    if sweep.noisy:
        values = f"{len(sweep.noisy)} of {counted(len(sweep.values), 'value')} (grey)"
        sentences.append(f"Noise check not passed at {values}: only large differences count there.")
    return tuple(sentences)
