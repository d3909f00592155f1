"""What changes the reading of a figure or a table, in a sentence each: it stands in a picture."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.conclusion import Conclusion
from lab.analysis.sweep import SweepConclusion
from lab.model.wording import counted
from lab.report.headline import same_twice

ONE_CORE = "The server had one core: adding processes or threads cannot show a gain here."

SHARED = (
    "Server and load shared their cores: requests/s are known only as a range, so CPU per "
    "request decides."
)


def of_cores(conclusion: Conclusion) -> Iterator[str]:
    """Yield what the server's cores do to the reading of one load's comparisons."""
    if conclusion.summary.run.shares_cores:
        yield SHARED
    elif conclusion.on_one_core:
        yield ONE_CORE


def caveats(conclusion: Conclusion) -> tuple[str, ...]:
    """Return what a reader of one load's comparisons must know; nothing where that is nothing."""
    said = [*of_cores(conclusion)]
    if conclusion.noise is None:
        said.append("The noise check could not be made, so no difference here is trustworthy.")
    elif not conclusion.noise.passed:
        said.append(f"Noise check failed: {same_twice(conclusion.noise)}.")
    return tuple(said)


def caveats_of_sweep(sweep: SweepConclusion) -> tuple[str, ...]:
    """Return the same of a run at several values."""
    said = [ONE_CORE] if sweep.single_core else []
    if sweep.noisy:
        values = f"{len(sweep.noisy)} of {counted(len(sweep.values), 'value')} (grey)"
        said.append(f"Noise check not passed at {values}: only large differences count there.")
    return tuple(said)
