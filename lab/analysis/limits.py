"""What limits the profiles of a run: each cause with all that share it, and what does nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.confirm import limited_by
from lab.analysis.summary import Summary
from lab.model.diagnosis import Diagnosis, Standing
from lab.model.notice import Notice
from lab.model.wording import ended

STANDINGS = {
    Standing.CONFIRMED: "verified by a counter-run",
    Standing.CONSISTENT: "likely",
    Standing.WITHDRAWN: "refuted by a counter-run",
}
"""How far a cause is proved, in words."""


@dataclass(frozen=True, slots=True)
class Limit(Notice):
    """Profiles with the same cause in the same standing."""

    stretches: tuple[tuple[str, ...], ...]
    """Their names in ladder order, those together that follow one another in it."""

    cause: str | None = None
    """None where nothing explains them."""

    standing: Standing | None = None

    first: bool = True
    """Whether it is what limits them, and not a further cause."""

    members: tuple[Diagnosis, ...] = ()
    """One a profile; empty where nothing explains them."""

    @property
    def profiles(self) -> tuple[str, ...]:
        """In ladder order."""
        return tuple(name for names in self.stretches for name in names)

    @property
    def trials(self) -> tuple[tuple[int, int], ...]:
        """How many show it, of how many that could: the smallest share, and the largest if that is
        another one.
        """
        shares = sorted(
            {
                (member.trials / max(1, member.of), member.trials, member.of)
                for member in self.members
            }
        )
        return tuple(dict.fromkeys(share[1:] for share in (*shares[:1], *shares[-1:])))

    @property
    def example(self) -> Diagnosis | None:
        """The one with a counter-run, or else the first profile's."""
        tested = (member for member in self.members if member.counter is not None)
        return next(tested, next(iter(self.members), None))

    def sentence(self) -> str:
        shown = self.example
        if shown is None:
            return "not known"
        return ended(f"{shown.cause.name} ({STANDINGS[shown.standing]}): {shown.cause.evidence}")


@dataclass(frozen=True, slots=True)
class NoEffect(Notice):
    """Options that do nothing where they stand."""

    reason: str
    """As the linter's rule gives it."""

    profiles: tuple[str, ...]

    def sentence(self) -> str:
        return f"No effect in {', '.join(self.profiles)}: {ended(self.reason)}"


def limits(summary: Summary) -> tuple[Limit, ...]:
    """
    Return the causes, what limits a profile before what else fits, in ladder order.

    None where no trial was looked at for causes.
    """
    groups: dict[tuple[bool, str, Standing], list[Diagnosis]] = {}
    unexplained = []
    for row in summary.rows:
        diagnoses = summary.diagnoses.get(row.profile.name, ())
        limit = limited_by(diagnoses)
        for diagnosis in diagnoses:
            groups.setdefault(
                (diagnosis is not limit, diagnosis.cause.name, diagnosis.standing), []
            ).append(diagnosis)
        # With no trial that counts, the gates explain it; of a constant reply nobody asks.
        if limit is None and row.values and row.profile.reply is None:
            unexplained.append(row.profile.name)
    if not summary.diagnoses:
        return ()
    ladder = [row.profile.name for row in summary.rows]
    result = [
        Limit(
            _stretches([member.profile for member in members], ladder),
            cause,
            standing,
            not further,
            tuple(members),
        )
        for (further, cause, standing), members in sorted(
            groups.items(), key=lambda item: item[0][0]
        )
    ]
    if unexplained:
        result.append(Limit(_stretches(unexplained, ladder)))
    return tuple(result)


def silent(summary: Summary) -> tuple[str, ...]:
    """Return the profiles of which no trial could show a cause, where others' could."""
    if not summary.diagnoses:
        return ()
    names = (row.profile.name for row in summary.rows if not row.values)
    return tuple(name for name in names if name not in summary.diagnoses)


def no_effect(inert: Mapping[str, Sequence[str]]) -> tuple[NoEffect, ...]:
    """Return the reasons of options without effect, each with its profiles; see `Summary.inert`."""
    where: dict[str, list[str]] = {}
    for profile, reasons in inert.items():
        for reason in reasons:
            where.setdefault(reason, []).append(profile)
    return tuple(NoEffect(reason, tuple(names)) for reason, names in where.items())


def _stretches(names: Sequence[str], ladder: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    stretches: list[list[str]] = []
    for name in names:
        if stretches and ladder.index(stretches[-1][-1]) + 1 == ladder.index(name):
            stretches[-1].append(name)
        else:
            stretches.append([name])
    return tuple(map(tuple, stretches))
