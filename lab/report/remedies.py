"""The texts of remedies, with options of `lab`."""

from __future__ import annotations

from collections.abc import Mapping

from lab.model.notice import Means, Notice, Remedy

OPTIONS: Mapping[Means, str] = {
    Means.BLOCKS: "--blocks {:,}",
    Means.MINUTES: "--minutes {}",
    Means.ENGINE: "the lab's engine instead of ab",
    Means.PROCESSES: "--processes {} if the load generator has a CPU for each",
    Means.GENERATORS: "--generators {} if the load generator has a CPU for each",
    Means.CORES: "a machine with more cores",
}
"""Kind of remedy -> what to use, with {} for the number."""

LOAD = "Use {}, or read CPU per request, which does not depend on it."

SENTENCES: Mapping[Means, str] = {
    Means.BLOCKS: "Use about --blocks {}, or a quieter machine.",
    Means.MINUTES: f"Use {OPTIONS[Means.MINUTES]}.",
    Means.QUIETER_MACHINE: "Use a quieter machine.",
    Means.LATER_WINDOWS: (
        "Use a longer --warmup and --window if the application defers work until after the reply."
    ),
    **{
        means: LOAD.format(OPTIONS[means])
        for means in (Means.ENGINE, Means.PROCESSES, Means.GENERATORS, Means.CORES)
    },
}
"""Kind of remedy -> sentence to append to that of the notice."""


def option(remedy: Remedy) -> str:
    """Return what to use."""
    return OPTIONS[remedy.means].format(remedy.number)


def with_remedy(notice: Notice) -> str:
    """Return the sentence of a notice, followed by its remedy."""
    if notice.remedy is None:
        return notice.sentence()
    return f"{notice.sentence()} {SENTENCES[notice.remedy.means].format(notice.remedy.number)}"
