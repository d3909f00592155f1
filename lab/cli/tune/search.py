"""The course of a tune: look, race, climb, prove, take back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.health import failures, is_broken
from lab.analysis.summary import Summary
from lab.cli.tune.climb import Contender, Pass, Values, climb
from lab.cli.tune.measure import Attempt, Measurer
from lab.cli.tune.moves import SERVER, Facts, moves, without_idle_lock
from lab.cli.tune.race import Gain
from lab.model.comparison import Comparison, Verdict


@dataclass(frozen=True, slots=True)
class Proven:
    """A winner beside the user's configuration, in fresh trials."""

    step: str
    """Of the tune, whose run it is."""
    values: Values
    """What it has otherwise."""
    summary: Summary
    comparison: Comparison
    """By the goal's metric."""
    broken: str
    """Which limit it is above, or that its server fails; empty where all holds."""

    @property
    def better(self) -> bool:
        """Whether it is better, and all holds that must."""
        return self.comparison.verdict is Verdict.BETTER and not self.broken


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a tune has found."""

    facts: Facts
    rounds: Sequence[Pass]
    attempts: Sequence[Attempt]
    proven: Proven | None
    """None where nothing was worth a proof."""
    taken_back: Mapping[str, Comparison]
    """Each change -> the winner without it, over the winner."""
    not_minimal: str = ""
    """Why lines are in it that are not shown to matter, though they were to be left out."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched, and who is told of it."""

    measurer: Measurer
    facts: Facts
    allowed: Callable[[Values], bool]
    """Whether a configuration with these values has no new fault: the linter's word."""
    fixed: frozenset[str]
    """Groups that are not moved."""
    minimal: bool
    """Whether what is not shown to matter is left out, and the rest proved again."""
    on_step: Callable[[str], None]

    def discover(self) -> Discovery:
        """
        Return what came of it.

        Raises:
            LabError: The narrow one that says why it could not be measured.
        """
        make = self.measurer
        facts = make.look(self.facts)
        self.on_step("look")
        rounds = climb(self._moves(facts), self._race, self.allowed)
        winner = _best(rounds)
        if winner is None:
            return Discovery(facts, rounds, make.attempts, None, {})
        self.on_step("proof")
        proven = self._proven(winner, "proof")
        if not proven.better:
            return Discovery(facts, rounds, make.attempts, proven, {})
        if len(winner) > 1:
            self.on_step("taken-back")
        taken_back, not_minimal = make.take_back(winner), ""
        if self.minimal:
            proven, not_minimal = self._shorter(proven, taken_back)
        return Discovery(facts, rounds, make.attempts, proven, taken_back, not_minimal)

    def _shorter(self, proven: Proven, taken_back: Mapping[str, Comparison]) -> tuple[Proven, str]:
        """Return a winner without what is not shown to matter, if it is proven; and why not."""
        winner = proven.values
        if len(winner) > 1 and not taken_back:
            return proven, "no time was left to test each change by itself"
        matters = {key: value for key, value in winner.items() if _matters(taken_back.get(key))}
        if matters == winner:
            return proven, ""
        if not matters:
            return proven, "no single change has a proven effect"
        self.on_step("minimal")
        again = self._proven(matters, "minimal")
        if again.better:
            return again, ""
        return proven, "without the lines that have no proven effect, it was not proven again"

    def _proven(self, winner: Values, step: str) -> Proven:
        summary, comparison = self.measurer.prove(winner, step)
        changed = [
            observation
            for observation in summary.observations
            if observation.trial.slot.arm.name == comparison.changed
        ]
        broken, (failed, trials) = "", failures(changed)
        if is_broken(failed, trials):
            broken = f"its server failed in {failed} of {trials} trials"
        broken = broken or self.measurer.goal.broken(changed, surely=True)
        return Proven(step, winner, summary, comparison, broken)

    def _moves(self, facts: Facts) -> Callable[[Values, bool], Iterator[Contender]]:
        make = self.measurer

        def tried(champion: Values, first: bool) -> Iterator[Contender]:
            now = facts if first else make.facts(facts, champion)
            ground = make.grounds[champion.get(SERVER, make.ground.program)]
            if first:
                others = (program for program in make.grounds if program != ground.program)
                yield from (Contender(SERVER, {SERVER: program}) for program in others)
            every = moves(ground, now, self.fixed, champion, first=first)
            allowed = (move for move in every if self.allowed(move.values))
            yield from without_idle_lock(ground, champion, allowed)

        return tried

    def _race(self, champion: Values, contenders: Sequence[Contender]) -> Sequence[Gain] | None:
        gains = self.measurer.race(champion, contenders)
        if gains is not None:
            self.on_step("race")
        return gains


def _best(rounds: Sequence[Pass]) -> Values | None:
    """Return the winner; where nobody won, who looked best: the proof says that of it."""
    if not rounds:
        return None
    if rounds[-1].winner:
        return rounds[-1].winner
    last = rounds[-1]
    order = sorted(range(len(last.gains)), key=lambda number: -last.gains[number].mean)
    seen = (last.contenders[number].values for number in order if last.gains[number].blocks > 1)
    return next(filter(None, seen), None)


def _matters(taken_back: Comparison | None) -> bool:
    """Return whether a change is shown to matter, or nobody has looked."""
    return taken_back is None or taken_back.verdict is Verdict.WORSE
