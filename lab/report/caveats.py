"""What changes the reading of a figure or a table, in a sentence each: it stands in a picture."""

from __future__ import annotations

from collections.abc import Iterator

from lab.analysis.conclusion import Conclusion
from lab.analysis.sweep import SweepConclusion
from lab.model.wording import counted
from lab.report.headline import same_twice

ONE_CORE = "The server had ONE core: steps that add processes or threads cannot show a gain here."

SHARED = (
    "Server and load shared their cores: requests/s are known between two bounds only, and CPU per "
    "request decides."
)


def of_cores(found: Conclusion) -> Iterator[str]:
    """Yield what the server's cores do to the reading of one load's comparisons."""
    if found.summary.run.shares_cores:
        yield SHARED
    elif found.on_one_core:
        yield ONE_CORE


def caveats(found: Conclusion) -> tuple[str, ...]:
    """Return what a reader of one load's comparisons must know; nothing where that is nothing."""
    said = [*of_cores(found)]
    if found.noise is None:
        said.append("The noise check could not be made, so no difference here is to be trusted.")
    elif not found.noise.passed:
        said.append(f"Noise check failed: {same_twice(found.noise)}.")
    return tuple(said)


def caveats_of_sweep(found: SweepConclusion) -> tuple[str, ...]:
    """Return the same of a run at several values."""
    said = [ONE_CORE] if found.single_core else []
    if found.noisy:
        values = f"{len(found.noisy)} of {counted(len(found.values), 'value')} (grey)"
        said.append(f"Noise check not passed at {values}: only large differences stand there.")
    return tuple(said)
