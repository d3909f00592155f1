"""The words of a remedy: the options of `lab` that a reader may use, and other means."""

from __future__ import annotations

from collections.abc import Mapping

from lab.model.notice import Means, Remedy

WORDS: Mapping[Means, str] = {
    Means.BLOCKS: "About --blocks {}, or a quieter machine would do.",
    Means.QUIETER_MACHINE: "Only a quieter machine would do.",
    Means.LATER_WINDOWS: (
        "Work that is put off until after the reply needs a longer --warmup and --window."
    ),
}
"""By means, with {} for the number."""


def words(remedy: Remedy) -> str:
    """Return a remedy as a sentence behind the one of its notice."""
    return WORDS[remedy.means].format(remedy.number)
