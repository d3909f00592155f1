"""
The forms of `lab lint`, each of a sequence of flaws with the lines that they are in.

Sources: docs.github.com, "Workflow commands for GitHub Actions"; docs.gitlab.com, "Code Quality";
docs.oasis-open.org/sarif/sarif/v2.1.0, and docs.github.com, "SARIF support for code scanning".
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from lab.bench.machine import project
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

PLURAL = (Severity.ERROR, Severity.REMARK)
"""Severities whose name is a noun."""

UNREAD = "UW901"
"""The rule that says that something was not read."""

NOT_CHECKED = "Some settings could not be checked; see --all."

MOST_LINES = 10
"""Numbers of other lines that a message names."""

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@lru_cache(maxsize=1024)
def _from(here: str, path: Path) -> str:
    """Return a path as it is named from a folder: thousands of findings have the same few."""
    if ".." in path.parts:
        normal = Path(os.path.normpath(Path(here, path)))
        # Behind a link, .. is another folder.
        is_same = normal.is_relative_to(here) and normal.resolve() == path.resolve()
        path = normal if is_same else path
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


class LocatedFlaw(NamedTuple):
    """A flaw, and the line that it is in."""

    flaw: Flaw
    source: str
    """Text of the line."""

    others: tuple[LocatedFlaw, ...] = ()
    """What the same rule finds in other lines; see `once`."""

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
        return in_a_line(self.flaw.message + self._also)

    @property
    def _also(self) -> str:
        """The other lines, with the names of those of which something else is to be said."""
        subject, text = _parts(self.flaw.message)
        lines: dict[int, str] = {}
        for other in self.others:
            name, other_text = _parts(other.flaw.message)
            is_alike = other_text == text or name == subject
            lines.setdefault(other.line, "" if is_alike else f" ({name})")
        if not lines:
            return ""
        shown = ", ".join(f"{line}{name}" for line, name in [*sorted(lines.items())][:MOST_LINES])
        more = f" and {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
        return f"; {'also' if any(lines.values()) else 'the same'} in line {shown}{more}"


def _parts(message: str) -> tuple[str, str]:
    """
    Return the name that a message begins with, and what it says of it.

    >>> _parts("timeout = 30: hypercorn ignores it")
    ('timeout', 'hypercorn ignores it')
    """
    subject, colon, text = message.partition(": ")
    return (subject.partition(" = ")[0], text) if colon else ("", message)


def once(located: Iterable[LocatedFlaw]) -> list[LocatedFlaw]:
    """Return the findings of a rule in its first line of a file, with the other lines."""
    groups: dict[tuple[str, str, str, Severity], list[LocatedFlaw]] = {}
    for result in located:
        key = (result.file, result.flaw.process, result.flaw.code, result.flaw.severity)
        groups.setdefault(key, []).append(result)
    return [
        result._replace(others=tuple(other for other in group if other.line != result.line))
        if result is group[0]
        else result
        for group in groups.values()
        for result in group
        if result.line == group[0].line
    ]


def ordered(located: Iterable[LocatedFlaw]) -> list[LocatedFlaw]:
    """
    Return the findings in their order; what several files include is wrong once.

    It has its fix, which only some of these files can know.
    """
    last = sorted(located, key=lambda one: (one.source != "", one.flaw.fix is not None))
    unique = {one.flaw: one for one in last}
    return sorted(unique.values(), key=lambda one: one.order)


def text(located: Sequence[LocatedFlaw], left_out: Sequence[LocatedFlaw] = ()) -> str:
    """Return a line for each rule and file, aligned, and one that counts them."""
    located = once(located)
    places = max((len(result.place) for result in located), default=0)
    severities = max((len(result.flaw.severity) for result in located), default=0)
    lines = [
        f"{result.place:<{places}}  {result.flaw.code} {result.flaw.severity:<{severities}}  "
        f"{result.message}{_mark(result.flaw.fix)}"
        for result in located
    ]
    return "\n".join((*lines, summary(located, left_out), ""))


def summary(located: Sequence[LocatedFlaw], left_out: Sequence[LocatedFlaw] = ()) -> str:
    """Return how many there are, of which severity, what can be fixed, and what is not shown."""
    # Why something was not read is not hidden where the line says it.
    hidden = [result for result in left_out if located or result.flaw.code != UNREAD]
    rest = len(once(hidden))
    more = f" {rest} remark{'s' * (rest > 1)} hidden; see --all." if rest else ""
    if not located:
        return " ".join(("No findings.", *_unread(left_out))) + more
    fixes = [result.flaw.fix for result in located if result.flaw.fix is not None]
    safe = sum(fix.safe for fix in fixes)
    unsafe = len(fixes) - safe
    ways = [f"{safe} fixable with --fix"] if safe else []
    if unsafe:
        ways.append(f"{unsafe} {'more' if safe else 'fixable'} with --fix --unsafe-fixes")
    return f"{', '.join((tally(located), *ways))}.{more}"


def tally(located: Sequence[LocatedFlaw]) -> str:
    """Return how many findings there are, of which severity: "Found 2 (1 error, 1 remark)"."""
    if not located:
        return "No findings"
    counts = Counter(result.flaw.severity for result in located)
    severities = ", ".join(
        f"{counts[severity]} {severity}{'s' * (counts[severity] > 1 and severity in PLURAL)}"
        for severity in Severity
        if severity in counts
    )
    return f"Found {len(located)} ({severities})"


def _unread(left_out: Sequence[LocatedFlaw]) -> Iterator[str]:
    """Yield why something was not read, if that is not shown."""
    messages = {result.message for result in left_out if result.flaw.code == UNREAD}
    if len(messages) == 1:
        (message,) = messages
        yield f"{message[0].upper()}{message[1:]}."
    elif messages:
        yield NOT_CHECKED


def _mark(fix: Fix | None) -> str:
    if fix is None:
        return ""
    return " [--fix]" if fix.safe else " [--fix --unsafe-fixes]"


def as_json(located: Sequence[LocatedFlaw], _: Sequence[LocatedFlaw] = ()) -> str:
    """Return a list of objects."""
    return _dumped([_record(result) for result in located])


def _record(result: LocatedFlaw) -> dict[str, Any]:
    flaw = result.flaw
    return {
        "file": result.file,
        "line": result.line,
        "column": result.column,
        "code": flaw.code,
        "severity": flaw.severity,
        "message": flaw.message,
        "fix": flaw.fix and {"safe": flaw.fix.safe, "message": flaw.fix.description},
    }


def github(located: Sequence[LocatedFlaw], _: Sequence[LocatedFlaw] = ()) -> str:
    """Return an annotation for each rule and file: a runner shows ten of a step."""
    return "".join(f"{_command(result)}\n" for result in once(located))


def _command(result: LocatedFlaw) -> str:
    flaw = result.flaw
    properties = {
        "file": result.file,
        "line": result.line,
        "col": result.column,
        "title": f"{flaw.code} {flaw.severity}",
    }
    parameters = ",".join(
        f"{name}={_escaped(str(value), ',:')}" for name, value in properties.items()
    )
    return f"::{LEVELS[flaw.severity][1]} {parameters}::{_escaped(result.message)}"


def _escaped(plain_text: str, more: str = "") -> str:
    """Return a text with a code for what would end it; *more* ends the value of a property."""
    return "".join(f"%{ord(char):02X}" if char in f"%\r\n{more}" else char for char in plain_text)


def gitlab(located: Sequence[LocatedFlaw], _: Sequence[LocatedFlaw] = ()) -> str:
    """Return GitLab's report on code quality."""
    return _dumped(
        [
            {
                "description": result.message,
                "check_name": result.flaw.code,
                "fingerprint": fingerprint,
                "severity": LEVELS[result.flaw.severity][2],
                "location": {"path": result.file, "lines": {"begin": result.line}},
            }
            for result, fingerprint in fingerprints(located)
        ]
    )


def fingerprints(located: Sequence[LocatedFlaw]) -> Iterator[tuple[LocatedFlaw, str]]:
    """
    Yield each with a text that stays the same while other lines of its file change.

    It is made of the file, the rule and the line; the second of two that are alike is counted.
    """
    import hashlib  # noqa: PLC0415 - it loads OpenSSL, and text output needs none

    seen: Counter[tuple[str, str, str]] = Counter()
    for result in located:
        key = (result.file, result.flaw.code, result.source.strip())
        made = "\n".join((*key, str(seen[key])))
        seen[key] += 1
        yield result, hashlib.sha256(made.encode("utf-8", "replace")).hexdigest()[:32]


def markdown(located: Sequence[LocatedFlaw], left_out: Sequence[LocatedFlaw] = ()) -> str:
    """Return a table with a row for each rule and file, and the line that counts."""
    located = once(located)
    rows = [
        f"| {_cell(result.place)} | {result.flaw.code} | {result.flaw.severity} "
        f"| {_cell(result.message)} |"
        for result in located
    ]
    head = ["| place | rule | class | what |", "|---|---|---|---|"]
    return "\n".join((*(*head, *rows, "") * bool(rows), summary(located, left_out), ""))


def _cell(plain_text: str) -> str:
    """Return a text of which no character is markup."""
    return "".join(f"\\{char}" if char in "\\|*_`<[$~" else char for char in plain_text)


def sarif(located: Sequence[LocatedFlaw], _: Sequence[LocatedFlaw] = ()) -> str:
    """Return a log with one run, in which the rules that found something are described."""
    from importlib.metadata import version  # noqa: PLC0415 - slow, and for SARIF alone

    codes = sorted({result.flaw.code for result in located})
    driver = {
        "name": "lab lint",
        "version": version("uwsgi-fibonacci-lab"),
        "rules": [_rule(code) for code in codes],
    }
    results = [
        _result(result, fingerprint, codes.index(result.flaw.code))
        for result, fingerprint in fingerprints(located)
    ]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return _dumped({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(code: str) -> dict[str, Any]:
    rule, page = RULES[code], project.rule_page(code)
    description = {"text": " ".join(sentences(rule))}
    return {
        "id": code,
        "shortDescription": {"text": rule.title},
        "fullDescription": description,
        "help": description,
        **({"helpUri": page} if page else {}),
        "defaultConfiguration": {"level": LEVELS[rule.severity][0]},
        "properties": {"tags": [rule.server or "lab", rule.severity]},
    }


def _result(result: LocatedFlaw, fingerprint: str, index: int) -> dict[str, Any]:
    region = {"startLine": result.line, "startColumn": result.column}
    location = {
        "artifactLocation": {"uri": quote(os.fsencode(result.file))},
        "region": region,
    }
    return {
        "ruleId": result.flaw.code,
        "ruleIndex": index,
        "level": LEVELS[result.flaw.severity][0],
        "message": {"text": result.message},
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
