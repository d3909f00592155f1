"""
The forms of `lab lint`, each of a sequence of flaws with the lines that they are in.

Sources: docs.github.com, "Workflow commands for GitHub Actions"; docs.gitlab.com, "Code Quality";
docs.oasis-open.org/sarif/sarif/v2.1.0, and docs.github.com, "SARIF support for code scanning".
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lab.lint.flaw import Fix, Flaw, Severity
from lab.lint.page import sentences
from lab.lint.rules.rule import RULES
from lab.model.wording import in_a_line, in_json

LEVELS = {
    Severity.ERROR: ("error", "error", "critical"),
    Severity.DANGEROUS: ("warning", "warning", "major"),
    Severity.NO_EFFECT: ("warning", "warning", "minor"),
    Severity.REMARK: ("note", "notice", "info"),
}
"""What SARIF, GitHub and GitLab call a severity."""

ORDER = tuple(Severity)
"""The worst first."""

UNREAD = "UW901"
"""The rule that says that something was not read."""

MOST_LINES = 10
"""Numbers of other lines that a message names."""

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@lru_cache(maxsize=1024)
def _from(here: str, path: Path) -> str:
    """Return a path as it is named from a folder: thousands of findings have the same few."""
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


@dataclass(frozen=True, slots=True)
class LocatedFlaw:
    """A flaw, and the line that it is in."""

    flaw: Flaw
    source: str
    """Text of the line."""

    also: tuple[int, ...] = ()
    """Numbers of the other lines in which the same rule finds something; see `once`."""

    @property
    def counts(self) -> bool:
        """Whether it is more than a remark."""
        return self.flaw.severity is not Severity.REMARK

    @property
    def file(self) -> str:
        """The file, as it is named from here, with forward slashes."""
        return _from(os.getcwd(), self.flaw.spot.file)  # noqa: PTH109 - a path is made of it once

    @property
    def line(self) -> int:
        """Its number, from 1."""
        return max(1, self.flaw.spot.line)

    @property
    def column(self) -> int:
        """Where it begins in the line, from 1."""
        return max(1, self.flaw.spot.column)

    @property
    def order(self) -> tuple[str, int, int, int, str]:
        """Where it stands among others: by file, the worst first, then by place."""
        worst = ORDER.index(self.flaw.severity)
        return self.file, worst, self.line, self.column, self.flaw.code

    @property
    def place(self) -> str:
        """File, line and column, for people: in one line, as `message`."""
        return f"{in_a_line(self.file)}:{self.line}:{self.column}"

    @property
    def message(self) -> str:
        """What is wrong, in one line: what a file says cannot end it, nor control a terminal."""
        lines = ", ".join(map(str, self.also[:MOST_LINES]))
        more = f" and {len(self.also) - MOST_LINES} more" if len(self.also) > MOST_LINES else ""
        also = f"; the same in line {lines}{more}" if self.also else ""
        return in_a_line(self.flaw.message) + also


def once(found: Iterable[LocatedFlaw]) -> list[LocatedFlaw]:
    """Return the first finding of each rule in each file, with the lines of its others."""
    groups: dict[tuple[str, str, Severity], list[LocatedFlaw]] = {}
    for each in found:
        groups.setdefault((each.file, each.flaw.code, each.flaw.severity), []).append(each)
    return [
        replace(first, also=tuple(sorted({each.line for each in rest} - {first.line})))
        for first, *rest in groups.values()
    ]


def text(found: Sequence[LocatedFlaw], left_out: Sequence[LocatedFlaw] = ()) -> str:
    """Return a line for each rule and file, aligned, and one that counts them."""
    found = once(found)
    places = max((len(each.place) for each in found), default=0)
    severities = max((len(each.flaw.severity) for each in found), default=0)
    lines = [
        f"{each.place:<{places}}  {each.flaw.code} {each.flaw.severity:<{severities}}  "
        f"{each.message}{_mark(each.flaw.fix)}"
        for each in found
    ]
    return "\n".join((*lines, summary(found, left_out), ""))


def summary(found: Sequence[LocatedFlaw], left_out: Sequence[LocatedFlaw] = ()) -> str:
    """Return how many there are, of which severity, what can be fixed, and what is not shown."""
    rest = len(once(left_out))
    whole = all(each.flaw.code != UNREAD for each in (*found, *left_out))
    where = "" if whole else ", as far as it is known here"
    more = f" {rest} remark{'s' * (rest > 1)} with --all." if rest else ""
    if not found:
        return f"Found nothing{where}.{more}"
    counts = Counter(each.flaw.severity for each in found)
    said = ", ".join(
        f"{counts[each]} {each}{'s' * (counts[each] > 1 and each in ('error', 'remark'))}"
        for each in Severity
        if each in counts
    )
    fixes = [each.flaw.fix for each in found if each.flaw.fix is not None]
    safe = sum(fix.safe for fix in fixes)
    unsafe = len(fixes) - safe
    ways = [f"{safe} can be fixed with --fix"] if safe else []
    if unsafe:
        ways.append(f"{unsafe} {'more' if safe else 'can be fixed'} with --unsafe-fixes")
    return f"Found {len(found)} ({said}){'; ' if ways else ''}{', '.join(ways)}.{more}"


def _mark(fix: Fix | None) -> str:
    if fix is None:
        return ""
    return " [--fix]" if fix.safe else " [--unsafe-fixes]"


def as_json(found: Sequence[LocatedFlaw], _: Sequence[LocatedFlaw] = ()) -> str:
    """Return a list of objects."""
    return _dumped([_record(each) for each in found])


def _record(each: LocatedFlaw) -> dict[str, Any]:
    flaw = each.flaw
    return {
        "file": each.file,
        "line": each.line,
        "column": each.column,
        "code": flaw.code,
        "severity": flaw.severity,
        "message": flaw.message,
        "fix": flaw.fix and {"safe": flaw.fix.safe, "message": flaw.fix.says},
    }


def github(found: Sequence[LocatedFlaw], _: Sequence[LocatedFlaw] = ()) -> str:
    """Return an annotation for each rule and file: a runner shows ten of a step."""
    return "".join(f"{_command(each)}\n" for each in once(found))


def _command(each: LocatedFlaw) -> str:
    flaw = each.flaw
    properties = {
        "file": each.file,
        "line": each.line,
        "col": each.column,
        "title": f"{flaw.code} {flaw.severity}",
    }
    said = ",".join(f"{name}={_escaped(str(value), ',:')}" for name, value in properties.items())
    return f"::{LEVELS[flaw.severity][1]} {said}::{_escaped(each.message)}"


def _escaped(said: str, more: str = "") -> str:
    """Return a text with a code for what would end it; *more* ends the value of a property."""
    return "".join(f"%{ord(char):02X}" if char in f"%\r\n{more}" else char for char in said)


def gitlab(found: Sequence[LocatedFlaw], _: Sequence[LocatedFlaw] = ()) -> str:
    """Return GitLab's report on code quality."""
    return _dumped(
        [
            {
                "description": each.message,
                "check_name": each.flaw.code,
                "fingerprint": fingerprint,
                "severity": LEVELS[each.flaw.severity][2],
                "location": {"path": each.file, "lines": {"begin": each.line}},
            }
            for each, fingerprint in fingerprints(found)
        ]
    )


def fingerprints(found: Sequence[LocatedFlaw]) -> Iterator[tuple[LocatedFlaw, str]]:
    """
    Yield each with a text that stays the same while other lines of its file change.

    It is made of the file, the rule and the line; the second of two that are alike is counted.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    for each in found:
        key = (each.file, each.flaw.code, each.source.strip())
        made = "\n".join((*key, str(seen[key])))
        seen[key] += 1
        yield each, hashlib.sha256(made.encode("utf-8", "replace")).hexdigest()[:32]


def markdown(found: Sequence[LocatedFlaw], left_out: Sequence[LocatedFlaw] = ()) -> str:
    """Return a table with a row for each rule and file, and the line that counts."""
    found = once(found)
    rows = [
        f"| {_cell(each.place)} | {each.flaw.code} | {each.flaw.severity} | {_cell(each.message)} |"
        for each in found
    ]
    head = ["| place | rule | class | what |", "|---|---|---|---|"]
    return "\n".join((*(*head, *rows, "") * bool(rows), summary(found, left_out), ""))


def _cell(said: str) -> str:
    """Return a text of which no character is markup."""
    return "".join(f"\\{char}" if char in "\\|*_`<[$~" else char for char in said)


def sarif(found: Sequence[LocatedFlaw], _: Sequence[LocatedFlaw] = ()) -> str:
    """Return a log with one run, in which the rules that found something are described."""
    from importlib.metadata import version  # noqa: PLC0415 - slow, and for SARIF alone

    codes = sorted({each.flaw.code for each in found})
    driver = {
        "name": "lab lint",
        "version": version("uwsgi-fibonacci-lab"),
        "rules": [_rule(code) for code in codes],
    }
    results = [
        _result(each, fingerprint, codes.index(each.flaw.code))
        for each, fingerprint in fingerprints(found)
    ]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return _dumped({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(code: str) -> dict[str, Any]:
    rule = RULES[code]
    said = {"text": " ".join(sentences(rule))}
    return {
        "id": code,
        "shortDescription": {"text": rule.title},
        "fullDescription": said,
        "help": said,
        "defaultConfiguration": {"level": LEVELS[rule.severity][0]},
        "properties": {"tags": [rule.server or "lab", rule.severity]},
    }


def _result(each: LocatedFlaw, fingerprint: str, index: int) -> dict[str, Any]:
    region = {"startLine": each.line, "startColumn": each.column}
    location = {"artifactLocation": {"uri": quote(os.fsencode(each.file))}, "region": region}
    return {
        "ruleId": each.flaw.code,
        "ruleIndex": index,
        "level": LEVELS[each.flaw.severity][0],
        "message": {"text": each.message},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"lab/v1": fingerprint},
    }


def _dumped(content: Any) -> str:
    return in_json(json.dumps(content, indent=2)) + "\n"


FORMATS: Mapping[str, Callable[[Sequence[LocatedFlaw], Sequence[LocatedFlaw]], str]] = {
    "text": text,
    "json": as_json,
    "sarif": sarif,
    "github": github,
    "gitlab": gitlab,
    "markdown": markdown,
}
"""Name of a form -> what writes it of what is shown, and of the remarks that are not."""
