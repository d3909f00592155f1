"""Stored runs that somebody has changed: the same ones for a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = Any

NUMBERS = (-1, 0, 1e308, -1e308, 2**63, 10**59, 1e-320, 0.1, 3.5, 10**15, True)
TEXTS = (
    "",
    "\x1b]0;x\x07",
    "\u202e",
    "a" * 5000,
    "\x00",
    "../../x",
    "new\nline",
    "<script>",
)
OTHERS: tuple[Json, ...] = (None, [], {}, [[]], {"a": 1}, True, False)
IMPOSSIBLE = {
    "connections": (0, -1, True, 2**60),
    "timeout": (0, -1, True),
    "blocks": (0, -1, 1.5),
    "window": (0, -1, 2**60),
    "warmup": (-1, True),
    "minutes": (0, -1),
    "smallest": (0, -0.1),
}
"""Number of a plan or a load -> values that no plan has."""


@dataclass(frozen=True)
class Tampered:
    """A run that was changed."""

    kind: str
    change: str
    contradicts: bool
    """Whether the change contradicts the rest of the run, or what its field is."""
    header: str
    trials: str

    def write(self, folder: Path) -> None:
        """Write its two files."""
        folder.mkdir(exist_ok=True)
        (folder / "run.json").write_text(self.header)
        (folder / "trials.ndjson").write_text(self.trials)


class Tamperer:
    """Changes one stored run."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._random = random.Random(f"{folder.name} {seed}")
        self._header = json.loads((folder / "run.json").read_text())
        lines = (folder / "trials.ndjson").read_text().splitlines()
        self._trials = [json.loads(line) for line in lines]

    def runs(self, count: int) -> Iterator[Tampered]:
        """Yield *count* changed runs."""
        kinds: list[Callable[[Json, Json], tuple[str, bool] | None]] = [
            self._count, self._histogram, self._sum, self._clock, self._number, self._plan,
            self._environment, self._leaf, self._leaf, self._leaf,
        ]  # fmt: skip
        made = 0
        while made < count:
            kind = self._random.choice(kinds)
            header, trials = deepcopy(self._header), deepcopy(self._trials)
            # JSON of Python writes Infinity, which is none.
            if (change := kind(header, trials)) is None:
                continue
            made += 1
            lines = "".join(json.dumps(trial) + "\n" for trial in trials)
            name = f"{kind.__name__.strip('_')}{'' if change[1] else ', may be read'}"
            yield Tampered(name, *change, json.dumps(header), lines)

    def _window(self, trials: Json) -> tuple[str, Json, Json] | None:
        number = self._random.randrange(len(trials))
        windows = trials[number]["windows"]
        if not windows or not windows[0]["ok"]:
            return None
        return f"trial {number}", trials[number], windows[0]

    def _count(self, _header: Json, trials: Json) -> tuple[str, bool] | None:
        """Change a count, and not what it is the sum of."""
        if (chosen := self._window(trials)) is None:
            return None
        where, trial, window = chosen
        names = ["ok"]
        if window["replies"]:
            names.append("replies")
        if window.get("planned"):
            names.append("planned")
        if sum(trial["readings"].values()) and not window.get("planned"):
            names.append("service")
        name = self._random.choice(names)
        by = self._random.choice((1, 7, window["ok"] + 1, 10**12))
        if name == "replies":
            window["replies"][0] += by
        elif name == "service":
            window["service"] = {"1000": by}
        else:
            window[name] += by * 10**6 if name == "planned" else by
        return f"{where}: {name} + {by}", True

    def _histogram(self, _header: Json, trials: Json) -> tuple[str, bool] | None:
        """Change the count of a bucket, or move replies to another one."""
        if (chosen := self._window(trials)) is None:
            return None
        where, _, window = chosen
        latency = window["latency"]
        us = self._random.choice(list(latency))
        if self._random.random() < 0.5:
            latency[us] = self._random.choice((latency[us] + 1, 10**59, -1, 2**54, 1.5))
        else:
            latency[str(int(us) * 1000 + 10**9)] = latency.pop(us)
        return f"{where}: latency at {us}", True

    def _sum(self, _header: Json, trials: Json) -> tuple[str, bool] | None:
        """Change the sum of the latencies alone."""
        if (chosen := self._window(trials)) is None:
            return None
        where, _, window = chosen
        by = self._random.choice((0, 0.5, 1.1, 3, 1e6, -1))
        window["latency_sum"] *= by
        return f"{where}: latency_sum * {by}", True

    def _clock(self, _header: Json, trials: Json) -> tuple[str, bool] | None:
        """Change what one clock showed."""
        if (chosen := self._window(trials)) is None:
            return None
        where, trial, window = chosen
        timed = (self._header["plan"].get("load") or {}).get("requests") is None and not any(
            arm["load"].get("requests") for arm in self._header["plan"].get("arms", ())
        )
        name = self._random.choice(("wall", "cpu", "wait", "elapsed"))
        if name == "elapsed":
            if "elapsed" not in trial["readings"]:
                return None
            trial["readings"]["elapsed"] *= (by := self._random.choice((0.001, 0.5, -1)))
        else:
            steps = (0.01, 0.9, 1.5, 1e4) if name == "wall" and timed else (1e4, -1)
            by = self._random.choice(steps)
            window[name] = window[name] * by or -1.0
            if window[name] < 2 * window["wall"] + 10 and name != "wall" and by > 0:
                return None
        return f"{where}: {name} * {by}", True

    def _number(self, _header: Json, trials: Json) -> tuple[str, bool] | None:
        """Put what is no count in the place of one."""
        if (chosen := self._window(trials)) is None:
            return None
        where, trial, window = chosen
        bad = self._random.choice((-1, 2**60, 10**59, 10**400, True, "1", None, [1]))
        if self._random.random() < 0.3:
            trial["readings"][self._random.choice(list(trial["readings"]))] = (
                bad if bad != -1 else 1e300
            )
            return f"{where}: a reading is {bad!r:.20}", True
        names = ["ok", "unfinished", "retried", "connections", "received", "wall", "cpu", "wait"]
        name = self._random.choice(names)
        window[name] = bad
        return f"{where}: {name} is {bad!r:.20}", True

    def _plan(self, header: Json, _trials: Json) -> tuple[str, bool] | None:
        """Give the plan or a load a number that it cannot have."""
        plan = header["plan"]
        loads = [plan["load"]] if "load" in plan else [arm["load"] for arm in plan["arms"]]
        name = self._random.choice(list(IMPOSSIBLE))
        bad = self._random.choice(IMPOSSIBLE[name])
        (self._random.choice(loads) if name in ("connections", "timeout") else plan)[name] = bad
        # A plan of the first formats has not all of them, and no other key is read.
        known = name in ("connections", "timeout", "blocks", "window", "warmup")
        return f"plan: {name} is {bad}", known or header["format"] > 2

    def _environment(self, header: Json, _trials: Json) -> tuple[str, bool] | None:
        """Change what is known of the machine, as somebody may who leaves out its name."""
        key, facts = self._random.choice(list(header["environments"].items()))
        place = self._random.choice([place for place in _places(facts) if place])
        value = self._random.choice((*NUMBERS, *TEXTS, *OTHERS))
        _put(facts, place, value)
        return f"environment {key[:6]} {place} is {value!r:.40}", False

    def _leaf(self, header: Json, trials: Json) -> tuple[str, bool] | None:
        """Change anything."""
        root = header if self._random.random() < 0.6 else self._random.choice(trials)
        places = [place for place in _places(root) if place]
        place = self._random.choice(places)
        value = self._random.choice((*NUMBERS, *TEXTS, *OTHERS))
        _put(root, place, value)
        return f"{place} is {value!r:.40}", False


def _places(value: Json, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield place
    items = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else items:
        yield from _places(item, (*place, key))


def _put(root: Json, place: tuple[str | int, ...], value: Json) -> None:
    for key in place[:-1]:
        root = root[key]
    root[place[-1]] = value
