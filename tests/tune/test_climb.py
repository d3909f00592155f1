"""The climb: which champion follows which."""

from __future__ import annotations

import math

from lab.cli.tune.climb import Contender, climb
from lab.cli.tune.race import Gain


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
        return [gain({"2": 1.1, "4": 1.5}.get(contender.values.get("workers"), 1.05)
                     if "turns" not in contender.values else 0.9)
                for contender in contenders]  # fmt: skip

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
    assert [climb_pass.winner for climb_pass in rounds] == [{"workers": "4"}, {}]


def test_what_gains_nothing_beside_the_others_is_taken_back():
    """As a second process, once the router that it served is gone."""

    def moves(champion, first):
        return [Contender(key, {key: "1"}) for key in ("front", "workers", "log")] if first else []

    def race(champion, contenders):
        raced.append([sorted(contender.values) for contender in contenders])
        if not champion:
            return [gain(1.7), gain(1.2), gain(1.1)]
        return [gain(1.05 if sorted(contender.values) == ["front", "log"] else 0.95)
                for contender in contenders]  # fmt: skip

    raced = []
    rounds = climb(moves, race)
    assert raced[1] == [["front"], ["log", "workers"], ["front", "log"], ["front", "workers"]]
    assert [*rounds[-1].winner] == ["front", "log"]
    assert len(raced) == 2  # the champion before has lost to it


def test_what_gains_goes_together_with_a_change_that_is_taken_back():
    """And where both touch the same, the better of the two decides."""

    def moves(champion, first):
        if first:
            return [Contender(key, {key: "1"}) for key in ("front", "workers", "log")]
        return [Contender(key, {**champion, key: "2"}) for key in ("lock", "workers")]

    def race(champion, contenders):
        if not champion:
            return [gain(1.7), gain(1.2), gain(1.1)]
        better = {"front log": 1.05, "front lock log workers": 1.06, "front log workers": 1.04}
        return [gain(better.get(" ".join(sorted(contender.values)), 0.9) * (champion == first))
                if champion == first else gain(0.9) for contender in contenders]  # fmt: skip

    first = {"front": "1", "workers": "1", "log": "1"}
    assert climb(moves, race)[1].winner == {"front": "1", "log": "1", "lock": "2"}


def test_who_lost_to_its_successor_does_not_race_again():
    """Though a move leads there: what was taken back is not tried at once again."""
    raced = []

    def moves(champion, first):
        return [Contender("workers", {**champion, "workers": "4"})]

    def race(champion, contenders):
        raced.append([dict(contender.values) for contender in contenders])
        return [gain(1.2) for _ in contenders]

    rounds = climb(moves, race)
    assert raced == [[{"workers": "4"}], [{}]]
    assert rounds[-1].winner == {}


def test_the_climb_ends_when_nobody_wins_or_no_time_is_left():
    """With the champion that it has."""

    def moves(champion, first):
        return [Contender("workers", {**champion, "workers": str(len(champion) + 2)})]

    assert climb(moves, lambda champion, them: [gain(1.0) for _ in them])[-1].winner == {}
    assert climb(moves, lambda champion, them: None) == []


def test_who_is_the_champion_itself_is_no_contender():
    """Nor is anybody twice."""
    counts = []

    def moves(champion, first):
        return [Contender("a", {}), Contender("a", {"x": "1"}), Contender("b", {"x": "1"})]

    climb(moves, lambda champion, them: counts.append(len(them)))
    assert counts == [1]


def test_changes_that_do_not_go_together_are_not_taken_together():
    """The best of them stays: the linter has the last word, as of threads with greenlets."""

    def moves(champion, first):
        pairs = (("a", "x"), ("b", "y"), ("c", "z"))
        return [Contender(group, {key: "1"}) for group, key in pairs] if first else []

    def race(champion, contenders):
        gains = {"x": 1.2, "y": 1.5, "z": 1.1}
        return [
            gain(gains[min(contender.values)] if contender.values else 0.5)
            for contender in contenders
        ]

    first, *_ = climb(moves, race, lambda values: not {"x", "y"} <= values.keys())
    assert first.winner == {"y": "1", "z": "1"}
