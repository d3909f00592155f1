"""docs/reference/lint.md, made from the rules: what each finds, why, where that was seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lab.lint.page import examples, fix_of, says, sentences
from lab.lint.rules.rule import RULES, Rule
from tools.pages.files import DOCS, written

PAGE = DOCS / "reference" / "lint.md"

OPENING = """\
# Rules of `lab lint`

`lab lint uwsgi.ini` says what is wrong with a configuration of uWSGI, gunicorn or granian before
anything is started; [how to use it](../how-to/lint.md). `lab lint --explain CODE` prints one of
these entries. Codes are for ever: a rule that goes leaves its code unused.

| class | means | exit status |
|---|---|---|
| error | it does not start, or means something else than what is written | 1 |
| dangerous | it loses requests, or lets somebody in | 1 |
| no effect | it changes nothing where it stands | 1 |
| remark | it may be meant so | 0 |

A *safe* fix (`--fix`) cannot change what is served, or how; an *unsafe* one (`--unsafe-fixes`) can.
Evidence names a line of the server's source (uWSGI 2.0.31, gunicorn, granian), a stored run of this
project, or an issue.

This page is made from the rules: `.venv/bin/python -m tools.pages`.
"""

GROUPS = {
    "UW0": "How uWSGI reads a file",
    "UW1": "What keeps uWSGI from starting",
    "UW2": "uWSGI's options without effect",
    "UW3": "Dangers of uWSGI's options",
    "UW4": "Security of uWSGI",
    "UW5": "Speed of uWSGI",
    "UW9": "The linter itself",
    "GU": "gunicorn",
    "GR": "granian",
}
"""How a code begins -> what such rules are about."""


def refresh() -> list[Path]:
    """Rewrite the page, and return it if it was another."""
    return written(PAGE, render())


def render() -> str:
    """Return the page."""
    parts = [OPENING]
    for beginning, title in GROUPS.items():
        rules = [rule for code, rule in RULES.items() if code.startswith(beginning)]
        rules.sort(key=lambda rule: rule.code)
        parts += [f"## {title}\n", "| rule | class | finds | fix |", "|---|---|---|---|"]
        parts += [_row(rule) for rule in rules]
        parts += ["", *(line for rule in rules for line in _entry(rule))]
    return "\n".join(parts).rstrip() + "\n"


def _row(rule: Rule) -> str:
    fix = fix_of(rule).partition(" ")[0].replace("none", "")
    return (
        f"| [{rule.code}](#{rule.code.lower()}) | {rule.severity} | {_prose(rule.title)} | {fix} |"
    )


def _entry(rule: Rule) -> Iterator[str]:
    yield f"### {rule.code}\n"
    yield f"**{_prose(rule.title)}** ({rule.severity})\n"
    yield f"{_prose(next(sentences(rule)))}\n"
    if said := says(rule):
        yield f"{_prose(said)}\n"
    yield f"Seen: {'; '.join(map(_evidence, rule.seen.split('; ')))}. Fix: {fix_of(rule)}.\n"
    for name, said in examples(rule):
        yield f"{name}:\n\n```{_language(rule)}\n{said}\n```\n"


def _prose(said: str) -> str:
    """Return a text with what could be markup escaped."""
    return re.sub(r"([\\*_<|\[~])", r"\\\1", said)


def _evidence(said: str) -> str:
    """Return where something was seen, as a link where that is on a page of this project."""
    if said.startswith("docs/"):
        path = DOCS.parent / said
        page = path / "report.md" if path.is_dir() else path
        target = page.relative_to(DOCS).as_posix() if page.exists() else said[5:]
        return f"[{said[5:]}](../{target})"
    if found := re.fullmatch(r"(\S+:\d+) `(.+)`", said):
        return f"{_prose(found[1])} `{found[2]}`"
    return _prose(said)


def _language(rule: Rule) -> str:
    return {"UW": "ini", "GU": "python"}.get(rule.code[:2], "text")
