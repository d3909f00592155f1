"""
Which settings to look at next: a climb from the user's own, one change at a time.

All changes of one setting race against the champion. The best of each group that wins is taken, all
of them together are the next champion, and the next round begins beside it; first of all with each
of them taken back, as what gains by itself may be worth nothing beside the others. It was simulated
against a factorial, random search, one factor at a time, a screen, and a Parzen estimator
(`tests/tune/test_surfaces.py` has the surfaces): with a proof behind it none of them finds much
more, and this one stays near what the user has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lab.cli.tune.race import Gain

BACK = "back"
"""Group of who goes back: to the champion before, as what looked better may not have been; or where
several changes were taken together to the best of them alone, or to all but one of them."""

Values = Mapping[str, str]
"""What differs from the user's configuration: meaning of an option -> value."""


@dataclass(frozen=True, slots=True)
class Contender:
    """What may be better than the champion."""

    group: str
    """Of these one at most is taken: "front", "workers"."""

    values: Values
    """All that differs from the user's configuration."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One race, and who came out of it as champion."""

    champion: Values
    contenders: tuple[Contender, ...]
    gains: tuple[Gain, ...]
    """Of each contender."""

    winner: Values
    """The next champion; the same where nobody won."""


Moves = Callable[[Values, bool], Iterable[Contender]]
"""Returns who may be better than a champion; of the first round more are tried."""

Racing = Callable[[Values, Sequence[Contender]], Sequence[Gain] | None]
"""Lets contenders race, the first of them where time is short, and returns their gains; None where
no time is left."""


Allowing = Callable[[Values], bool]
"""Returns whether what differs may be tried together."""


def climb(moves: Moves, race: Racing, allowed: Allowing = lambda _: True) -> list[Pass]:
    """Return the rounds; the last one's winner is the best that was found."""
    champion: Values = {}
    backs: Sequence[Values] = ()
    lost: tuple[Values, ...] = ()
    rounds: list[Pass] = []
    while True:
        contenders = [Contender(BACK, back) for back in backs]
        contenders = _distinct([*contenders, *moves(champion, not rounds)], champion, *lost)
        gains = race(champion, contenders) if contenders else None
        if gains is None:
            return rounds
        winner, backs = _winner(champion, contenders, gains, allowed)
        rounds.append(Pass(champion, tuple(contenders), tuple(gains), winner))
        if winner == champion:
            return rounds
        lost = () if backs else (champion,)
        champion = winner


def _distinct(contenders: Iterable[Contender], *others: Values) -> list[Contender]:
    """Return each of them once, and none of the *others*."""
    by_values: dict[frozenset[tuple[str, str]], Contender] = {}
    for contender in contenders:
        by_values.setdefault(frozenset(contender.values.items()), contender)
    for values in others:
        by_values.pop(frozenset(values.items()), None)
    return [*by_values.values()]


def _winner(
    champion: Values, contenders: Sequence[Contender], gains: Sequence[Gain], allowed: Allowing
) -> tuple[Values, Sequence[Values]]:
    """
    Return the champion with the best change of each group that wins, and what it may go back to.

    That is nothing where it has gone back and done nothing else: the champion before has lost then.
    """
    order = sorted(range(len(contenders)), key=lambda number: -gains[number].mean)
    best: dict[str, int] = {}
    for number in order:
        if gains[number].wins:
            best.setdefault(contenders[number].group, number)
    taken: list[Values] = []
    for number in best.values():
        changed = contenders[number].values
        together = _together(champion, [*taken, changed])
        if not taken or (_keeps(together, champion, taken) and allowed(together)):
            taken.append(changed)  # each is allowed by itself
    if len(taken) < 2:
        back = [*best][:1] == [BACK]
        return _together(champion, taken), () if back else (champion,)
    less = [[change for change in taken if change is not one] for one in taken]
    backs = [_together(champion, those) for those in (taken[:1], *less)]
    return _together(champion, taken), [back for back in backs if allowed(back)]


def _keeps(together: Values, champion: Values, taken: Sequence[Values]) -> bool:
    """Return whether all is in it that better changes have made: one that goes back may undo it."""
    before = _together(champion, taken)
    keys = champion.keys() | before.keys()
    changed = [key for key in keys if champion.get(key) != before.get(key)]
    return all(together.get(key) == before.get(key) for key in changed)


def _together(champion: Values, changes: Sequence[Values]) -> Values:
    """Return a champion with all that each of several changes makes of it."""
    combination = dict(champion)
    for changed in changes:
        for key in champion.keys() - changed.keys():
            combination.pop(key, None)
        combination |= {key: value for key, value in changed.items() if champion.get(key) != value}
    return combination
