"""The climb: which champion follows which."""

from __future__ import annotations

import math

from lab.tune.climb import Contender, climb
from lab.tune.race import Gain


def gain(ratio):
    """Return a clear gain."""
    return Gain(math.log(ratio), 0.001, 5)


def test_the_best_of_each_group_is_taken_together():
    """Of one group one, and of another one, too; the next round begins beside both."""
    seen = []

    def moves(champion, first):
        seen.append((dict(champion), first))
        return [
            Contender("workers", {"workers": "2"}),
            Contender("workers", {"workers": "4"}),
            Contender("log", {"access-log": "false"}),
            Contender("lock", {"turns": "true"}),
        ] * first

    def race(champion, contenders):
        return [gain({"2": 1.1, "4": 1.5}.get(each.values.get("workers"), 1.05)
                     if "turns" not in each.values else 0.9) for each in contenders]  # fmt: skip

    rounds = climb(moves, race)
    assert rounds[0].winner == {"workers": "4", "access-log": "false"}
    assert seen[1] == (rounds[0].winner, False)


def test_a_champion_that_turns_out_worse_gives_way_to_the_one_before():
    """The champion before races in the round after."""

    def moves(champion, first):
        return [Contender("workers", {"workers": "4"})] if first else []

    def race(champion, contenders):
        return [gain(1.2) for _ in contenders]  # 4 looked better, and then the one before did

    rounds = climb(moves, race)
    assert [each.winner for each in rounds] == [{"workers": "4"}, {}]


def test_what_gains_nothing_beside_the_others_is_taken_back():
    """As a second process, once the router that it served is gone."""

    def moves(champion, first):
        return [Contender(key, {key: "1"}) for key in ("front", "workers", "log")] if first else []

    def race(champion, contenders):
        raced.append([sorted(each.values) for each in contenders])
        if not champion:
            return [gain(1.7), gain(1.2), gain(1.1)]
        return [gain(1.05 if sorted(each.values) == ["front", "log"] else 0.95)
                for each in contenders]  # fmt: skip

    raced = []
    rounds = climb(moves, race)
    assert raced[1] == [["front"], ["log", "workers"], ["front", "log"], ["front", "workers"]]
    assert [*rounds[-1].winner] == ["front", "log"]
    assert len(raced) == 2  # who has gone back once does not go on to another


def test_the_climb_ends_when_nobody_wins_or_no_time_is_left():
    """With the champion that it has."""

    def moves(champion, first):
        return [Contender("workers", {**champion, "workers": str(len(champion) + 2)})]

    assert climb(moves, lambda champion, them: [gain(1.0) for _ in them])[-1].winner == {}
    assert climb(moves, lambda champion, them: None) == []


def test_who_is_the_champion_itself_is_no_contender():
    """Nor is anybody twice."""
    asked = []

    def moves(champion, first):
        return [Contender("a", {}), Contender("a", {"x": "1"}), Contender("b", {"x": "1"})]

    climb(moves, lambda champion, them: asked.append(len(them)))
    assert asked == [1]


def test_changes_that_do_not_go_together_are_not_taken_together():
    """The best of them stays: the linter has the last word, as of threads with greenlets."""

    def moves(champion, first):
        each = (("a", "x"), ("b", "y"), ("c", "z"))
        return [Contender(group, {key: "1"}) for group, key in each] if first else []

    def race(champion, contenders):
        gains = {"x": 1.2, "y": 1.5, "z": 1.1}
        return [gain(gains[min(each.values)] if each.values else 0.5) for each in contenders]

    first, *_ = climb(moves, race, lambda values: not {"x", "y"} <= values.keys())
    assert first.winner == {"y": "1", "z": "1"}
