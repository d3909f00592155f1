"""What limited each profile, in words: the cause, how far it is proved, and by which figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.confirm import limited_by
from lab.analysis.summary import Summary
from lab.model.diagnosis import Diagnosis, Standing
from lab.model.measured import METRICS
from lab.report.numbers import ratio

UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class Group:
    """Profiles with the same cause in the same standing."""

    cause: str
    standing: Standing | None
    """None where nothing explains them."""
    first: bool
    """Whether it is what limits them, and not a further cause."""
    names: tuple[str, ...]
    """Profiles, in ladder order."""
    profiles: str
    """The same for a narrow table: "a to d" for four in a row."""
    trials: str
    """How many show it, of how many that could: "9/10", or the fewest and the most."""
    members: tuple[Diagnosis, ...]
    """One a profile; empty where nothing explains them."""

    @property
    def diagnosis(self) -> Diagnosis | None:
        """The one with a counter-run, or else the first profile's."""
        tested = (each for each in self.members if each.counter is not None)
        return next(tested, next(iter(self.members), None))

    @property
    def said(self) -> str:
        """The cause and its standing, with "also" before what does not limit them first."""
        if self.diagnosis is None:
            return self.cause
        further = not self.first and self.standing is not Standing.WITHDRAWN
        return f"{'also ' if further else ''}{standing_of(self.diagnosis)}"


def groups(summary: Summary) -> tuple[Group, ...]:
    """
    Return the causes, what limits a profile before what else fits, in ladder order.

    None where no trial was looked at for causes.
    """
    found: dict[tuple[bool, str, Standing], list[Diagnosis]] = {}
    unexplained = []
    for row in summary.rows:
        own = summary.diagnoses.get(row.profile.name, ())
        limits = limited_by(own)
        for each in own:
            key = (each is not limits, each.cause.name, each.standing)
            found.setdefault(key, []).append(each)
        # With no trial that counts, the gates explain it; of a constant reply nobody asks.
        if limits is None and row.values and row.profile.reply is None:
            unexplained.append(row.profile.name)
    if not summary.diagnoses:
        return ()
    result = []
    for (further, cause, standing), members in sorted(found.items(), key=lambda item: item[0][0]):
        names = tuple(each.profile for each in members)
        result.append(
            Group(
                cause,
                standing,
                not further,
                names,
                _named(names, summary),
                _counted(members),
                tuple(members),
            )
        )
    if unexplained:
        names = tuple(unexplained)
        result.append(Group(UNEXPLAINED, None, True, names, _named(names, summary), "", ()))
    return tuple(result)


def standing_of(diagnosis: Diagnosis) -> str:
    """
    Say how far it is proved: "cause: router", "consistent with: ...", "withdrawn: ...".

    A cause is only called one after its counter-run.
    """
    return f"{diagnosis.standing.value}: {diagnosis.cause.name}"


def tested(diagnosis: Diagnosis) -> str:
    """Say what the counter-run changed and what came of it; "none" without one."""
    counter, effect = diagnosis.counter, diagnosis.effect
    if counter is None:
        return "none"
    if effect is None or effect.ratio is None:
        return f"{counter.toggle}: too few trials count"
    title = METRICS[counter.metric].title
    return f"{counter.toggle}: {title} {ratio(effect.ratio)}, expected {counter.expects.value}"


def _named(names: Sequence[str], summary: Summary) -> str:
    """Name profiles; three or more that follow one another in the ladder by its ends."""
    ladder = [row.profile.name for row in summary.rows]
    runs: list[list[str]] = []
    for name in names:
        if runs and ladder.index(runs[-1][-1]) + 1 == ladder.index(name):
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)


def _counted(diagnoses: Sequence[Diagnosis]) -> str:
    shares = sorted(
        {(each.trials / max(1, each.of), f"{each.trials}/{each.of}") for each in diagnoses}
    )
    fewest, most = shares[0][1], shares[-1][1]
    return fewest if fewest == most else f"{fewest} to {most}"


def inert_reasons(inert: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    """Return why options have no effect, each sentence with its profiles."""
    where: dict[str, list[str]] = {}
    for profile, sentences in inert.items():
        for sentence in sentences:
            where.setdefault(sentence, []).append(profile)
    return where


def inert_notes(inert: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Say which options have no effect, a line for each reason with its profiles."""
    return [
        f"No effect in {', '.join(profiles)}: {sentence}{'' if sentence.endswith('.') else '.'}"
        for sentence, profiles in inert_reasons(inert).items()
    ]
