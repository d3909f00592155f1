"""
Earlier formats of a run's folder, told in the words of the present one.

Formats 1 and 2 have one workload and one load, the plan's. A counter-run says what it has instead,
and a profile that serves no application has its own reply. What kind of failure it was, a sentence
says. Format 3 at first has the log in the sentence, too. `lab.bench.store.folder` lists the
formats.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lab.model.measurement import Failure, Trial

GIVEN_UP, LEFT_OUT = "the load was given up: ", "not started again: "
"""How the failures began that were not the server's."""

ENDED = "the server ended before the window's end: "
"""How a failure began that had nothing but the log's end in its further lines."""

_TOLD = re.compile(
    r"(?P<failure>.*?)"
    r"(?P<empty>\nIts log is empty\.)?"
    r"(?:\nIts whole log: (?P<file>[^\n]*))?"
    r"(?:\nIts last log lines:\n(?P<log>.*))?",
    re.DOTALL,
)
"""What stood after any other: that there is no log, where it is, and how it ends."""

Content = dict[str, Any]
"""What JSON was decoded to."""


def header(content: Mapping[str, Any]) -> Content:
    """
    Return the content of a `run.json` of format 1 or 2 as one of format 3.

    Raises:
        KeyError, TypeError, AttributeError: It has not what such a file has.
    """
    old = content["plan"]
    workload, load = old["workload"], old["load"]
    kept = {key: old[key] for key in ("reference", "blocks", "warmup", "window", "seed")}
    arms = [
        _arm(profile, profile["name"], "profile", _asked(profile, workload), load)
        for profile in old["profiles"]
    ]
    counters = [_counter(each, workload, load) for each in content.get("counters", ())]
    return dict(content) | {"plan": kept | {"arms": arms}, "counters": counters}


def trial(content: Mapping[str, Any]) -> Content:
    """Return a line of `trials.ndjson` of format 1 or 2 as one of format 3."""
    slot = content.get("slot")
    if not isinstance(slot, dict) or not {"profile", "arm"} <= slot.keys():
        return dict(content)  # damaged, which is told by whoever reads it
    place = {key: value for key, value in slot.items() if key not in ("profile", "arm")}
    told: Content = {"slot": place | {"arm": slot["profile"], "role": slot["arm"]}}
    if failure := content.get("failure"):
        told["failed"] = _kind(str(failure))
    return dict(content) | told


def log_apart(trial: Trial) -> Trial:
    """Return *trial* with its log apart from its failure, in which earlier runs have it."""
    if trial.failure is None or trial.failed is not Failure.SERVER or trial.log is not None:
        return trial
    if trial.failure.startswith(ENDED):
        first, *lines = trial.failure.splitlines()
        return replace(trial, failure=first, log=tuple(lines))
    named = f"profile {trial.slot.arm.name}: "
    told = _TOLD.fullmatch(trial.failure.removeprefix(named))
    assert told is not None  # it may be a failure alone
    log = "" if told["empty"] else told["log"]
    return replace(
        trial,
        failure=told["failure"],
        log=None if log is None else tuple(log.splitlines()),
        log_file=told["file"] or trial.log_file,
    )


def _kind(failure: str) -> str:
    if failure.startswith(GIVEN_UP):
        return "load"
    return "left out" if failure.startswith(LEFT_OUT) else "server"


def _counter(old: Content, workload: Content, load: Content) -> Content:
    profile = old["profile"]
    asked = old.get("workload") or _asked(profile, workload)
    kept = {key: old[key] for key in ("of", "cause", "toggle", "metric", "expects")}
    arm = _arm(profile, profile["name"], "counter", asked, old.get("load") or load)
    return kept | {"arm": arm}


def _arm(profile: Content, name: str, role: str, workload: Content, load: Content) -> Content:
    return {"name": name, "profile": profile, "workload": workload, "load": load, "role": role}


def _asked(profile: Content, workload: Content) -> Content:
    """Return what is asked of a profile: the same of all, but for one with a reply of its own."""
    reply = profile.get("reply")
    if reply is None:
        return workload
    body = base64.b64encode(reply.encode()).decode()
    return {"name": profile["name"], "path": workload["path"], "expect": {"body": body}}
