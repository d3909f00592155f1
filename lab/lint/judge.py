"""What counts of what the rules find: what is asked for, and not suppressed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab.config.configuration import Config
from lab.config.spot import Spot
from lab.config.templates import filled
from lab.lint.case import Case
from lab.lint.flaw import Flaw
from lab.lint.rules import flaws
from lab.lint.rules.rule import RULES
from lab.lint.suppress import Suppression, keys, suppressions
from lab.lint.syntax import is_command

UNUSED = "UW900"
"""The rule about suppressions, which is asked when all others have been."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Rules by code, or the beginning of several."""

    select: tuple[str, ...] = ()
    """Empty: all."""

    ignore: tuple[str, ...] = ()

    def __contains__(self, code: str) -> bool:
        return code.startswith(self.select or "") and not code.startswith(self.ignore)

    def all_of(self, beginning: str) -> bool:
        """Return whether each rule is asked whose code begins so."""
        return all(code in self for code in RULES if code.startswith(beginning))


def judged(
    config: Config, chosen: Chosen | None = None, every: Iterable[Flaw] | None = None
) -> list[Flaw]:
    """
    Return what is wrong with a configuration, in the order of the places.

    Args:
        config: As it was read.
        chosen: The rules that count; all without it.
        every: What all rules find, where they have been asked.
    """
    chosen, case = chosen or Chosen(), Case.of(config)
    wanted = (flaw for flaw in (flaws(case) if every is None else every) if flaw.code in chosen)
    # In an ini the name of the variable may be wrong; in a command a shell replaces it.
    unknown = {
        setting.spot
        for setting in case.unknown_numbers
        if case.server == "uWSGI" and is_command(case, setting.spot)
    }
    case_flaws = [
        _mendable(flaw, case)
        for flaw in wanted
        if flaw.spot not in unknown and not _templated(flaw.spot, case)
    ]
    meant = suppressions(case.texts)
    covered = {suppression.key for suppression in meant}
    counts = [flaw for flaw in case_flaws if covered.isdisjoint(keys(flaw, case.file))]
    if UNUSED in chosen:
        file_suppressions = [
            suppression for suppression in meant if suppression.spot.file == case.file
        ]
        counts += RULES[UNUSED].flaws(
            replace(case, unused=_unused(case, file_suppressions, chosen, case_flaws))
        )
    return sorted(dict.fromkeys(counts), key=lambda flaw: (flaw.spot, flaw.code))


def _templated(spot: Spot, config: Config) -> bool:
    """Return whether a place is in a line of an ini that a template fills; a shell is none."""
    inside = spot.line and spot.file in config.texts and config.server == "uWSGI"
    return bool(inside and not is_command(config, spot) and filled(config.line(spot)))


def _mendable(flaw: Flaw, config: Config) -> Flaw:
    """Return a flaw, without its fix if that changes no ini, or a line that a template fills."""
    edits = flaw.fix.edits if flaw.fix else ()
    kept = any(
        edit.spot.file in config.forms or (edit.old and _templated(edit.spot, config))
        for edit in edits
    )
    return replace(flaw, fix=None) if kept else flaw


def _unused(
    config: Config,
    file_suppressions: Sequence[Suppression],
    chosen: Chosen,
    case_flaws: Iterable[Flaw],
) -> tuple[Suppression, ...]:
    """Return which suppressions are of nothing that was found, or would be in a container."""
    if not file_suppressions:
        return ()
    # What was not looked for may well be there, and what is included may be for others.
    read = {(setting.spot.file, setting.spot.line) for setting in config.settings}
    skipped = {
        (line.spot.file, line.spot.line) for line in config.option_lines if line.inside
    } - read
    codes = {
        code
        for code in {suppression.code for suppression in file_suppressions}
        if chosen.all_of(code)
    }
    looked_for = (
        suppression
        for suppression in file_suppressions
        if suppression.code in codes and (suppression.spot.file, suppression.line) not in skipped
    )
    left = _uncovered(looked_for, case_flaws, config.file)
    unused = tuple(suppression.code for suppression in left)
    silent = [code for code in RULES if code.startswith(unused) and RULES[code].is_silent(config)]
    left = [item for item in left if not any(code.startswith(item.code) for code in silent)]
    if left and not config.known.container:  # all rules once more, so not without need
        container = replace(config.known, container=True)
        left = _uncovered(left, flaws(replace(config, known=container)), config.file)
    return tuple(left)


def _uncovered(
    file_suppressions: Iterable[Suppression], case_flaws: Iterable[Flaw], file: Path
) -> list[Suppression]:
    covering = {key for flaw in case_flaws for key in keys(flaw, file)}
    return [suppression for suppression in file_suppressions if suppression.key not in covering]
