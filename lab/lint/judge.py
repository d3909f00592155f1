"""What counts of what the rules find: what is asked for, and not suppressed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab.dialects.config import Config
from lab.dialects.spot import Spot
from lab.dialects.templates import filled
from lab.lint.case import Case
from lab.lint.flaw import Flaw, Severity
from lab.lint.rules import flaws
from lab.lint.rules.rule import RULES
from lab.lint.suppress import Suppression, keys, suppressions

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
    config: Config,
    chosen: Chosen | None = None,
    shared: Collection[Path] = (),
    every: Sequence[Flaw] | None = None,
) -> list[Flaw]:
    """
    Return what is wrong with a configuration, in the order of the places.

    Args:
        config: As it was read.
        chosen: The rules that count; all without it.
        shared: Files, by their real paths, that another configuration includes.
        every: What all rules find, where they have been asked.
    """
    chosen, case = chosen or Chosen(), Case.of(config)
    every = list(flaws(case)) if every is None else every
    broken = {(each.spot.file, each.spot.line, each.code) for each in every if _ends(each)}
    wanted = (flaw for flaw in every if flaw.code in chosen)
    found = [
        _unless_it_counts(_mendable(flaw, case), case, broken, shared)
        for flaw in wanted
        if not _templated(flaw.spot, case)
    ]
    meant = list(suppressions(case.texts))
    covered = {each.key for each in meant}
    counts = [flaw for flaw in found if covered.isdisjoint(keys(flaw, case.file))]
    if UNUSED in chosen:
        asked = [each for each in meant if each.spot.file == case.file]
        counts += RULES[UNUSED].flaws(replace(case, unused=_unused(case, asked, chosen, found)))
    return sorted(dict.fromkeys(counts), key=lambda flaw: (flaw.spot, flaw.code))


def _templated(spot: Spot, config: Config) -> bool:
    """Return whether a place is in a line of an ini that a template fills."""
    inside = spot.line and spot.file in config.texts and config.server == "uWSGI"
    return bool(inside and filled(config.line(spot)))


def _mendable(flaw: Flaw, config: Config) -> Flaw:
    """Return a flaw, without its fix if that changes no ini, or a line that a template fills."""
    edits = flaw.fix.edits if flaw.fix else ()
    kept = any(
        edit.spot.file in config.forms or (edit.old and _templated(edit.spot, config))
        for edit in edits
    )
    return replace(flaw, fix=None) if kept else flaw


def _ends(flaw: Flaw) -> bool:
    return flaw.severity is Severity.ERROR


def _unless_it_counts(
    flaw: Flaw, case: Case, broken: Collection[tuple[Path, int, str]], shared: Collection[Path]
) -> Flaw:
    """
    Return a flaw, its fix as unsafe where a line that it takes away may count after all.

    A line is without effect because of all the others. So they must be known; the line must be no
    other configuration's as well; and a server must not end at it (*broken*), for without the line
    it would start.
    """
    taken = [edit.spot for edit in flaw.fix.edits if edit.new is None] if flaw.fix else []
    if not (flaw.fix and flaw.fix.safe and taken) or case.server != "uWSGI":
        return flaw
    lines = {(spot.file, spot.line) for spot in taken}
    ends = any((file, line) in lines and code != flaw.code for file, line, code in broken)
    others = any(spot.file != case.file or spot.file.resolve() in shared for spot in taken)
    safe = case.whole and not (ends or others)
    return flaw if safe else replace(flaw, fix=replace(flaw.fix, safe=False))


def _unused(
    config: Config, asked: Sequence[Suppression], chosen: Chosen, found: Iterable[Flaw]
) -> tuple[Suppression, ...]:
    """Return which suppressions are of nothing that was found, or would be in a container."""
    if not asked:
        return ()
    # What was not looked for may well be there, and what is included may be for others.
    read = {(each.spot.file, each.spot.line) for each in config.settings}
    skipped = {
        (each.spot.file, each.spot.line) for each in config.option_lines if each.inside
    } - read
    codes = {code for code in {each.code for each in asked} if chosen.all_of(code)}
    looked_for = (
        each for each in asked if each.code in codes and (each.spot.file, each.line) not in skipped
    )
    left = _uncovered(looked_for, found, config.file)
    if left and not config.known.container:  # all rules once more, so not without need
        container = replace(config.known, container=True)
        left = _uncovered(left, flaws(replace(config, known=container)), config.file)
    return tuple(left)


def _uncovered(
    asked: Iterable[Suppression], found: Iterable[Flaw], file: Path
) -> list[Suppression]:
    covering = {key for flaw in found for key in keys(flaw, file)}
    return [each for each in asked if each.key not in covering]
