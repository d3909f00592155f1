"""docs/reference/lint.md, made from the rules: what each finds, why, and its source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lab.config.servers import TRANSLATABLE
from lab.lint.page import examples, fix_of, sentences
from lab.lint.rules.rule import RULES, Rule
from tools.pages.files import DOCS, written

PAGE = DOCS / "reference" / "lint.md"

VERSIONS = ", ".join(f"{server.name} {server.version}" for server in TRANSLATABLE.values())

OPENING = f"""\
# Rules of `lab lint`

`lab lint uwsgi.ini` reports problems of a configuration of uWSGI, gunicorn, granian, uvicorn or
hypercorn before you start it; [how to use it](../how-to/lint.md). `lab lint --explain CODE` prints
an entry of this page, and a file that looks like the bad one and is right. A code is never used
again.

| class | means | exit status |
|---|---|---|
| error | the server does not start, or a setting means something else than written | 1 |
| dangerous | the service loses requests, or lets somebody in | 1 |
| no effect | the setting is ignored | 1 |
| remark | it may be intended | 0 |

A *safe* fix (`--fix`) cannot change what is served, or how; an *unsafe* fix (`--unsafe-fixes`) can.
A source is a line of {VERSIONS}; a stored run, a
page or a profile of this project; or an issue.

This page is made from the rules: `.venv/bin/python -m tools.pages`.
"""

GROUPS = {
    "UW0": "How uWSGI reads a file",
    "UW1": "What keeps uWSGI from starting",
    "UW2": "Options without effect in uWSGI",
    "UW3": "Lost requests in uWSGI",
    "UW4": "Security of uWSGI",
    "UW5": "Speed of uWSGI",
    "UW9": "The linter itself",
    "GU": "gunicorn",
    "GR": "granian",
    "UV": "uvicorn",
    "HC": "hypercorn",
    "ST": "The command that starts a server",
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
        parts += [f"## {title}\n", "| rule | finds |", "|---|---|"]
        parts += [_row(rule) for rule in rules]
        parts += ["", *(line for rule in rules for line in _entry(rule))]
    return "\n".join(parts).rstrip() + "\n"


def _row(rule: Rule) -> str:
    return f"| [{rule.code}](#{rule.code.lower()}) | {prose(rule.title)} |"


def _entry(rule: Rule) -> Iterator[str]:
    yield f"### {rule.code}\n"
    yield f"**{prose(rule.title)}** ({rule.severity})\n"
    yield f"{prose(next(sentences(rule)))}\n"
    fix = fix_of(rule).partition(" ")[0].replace("none", "")
    source = "; ".join(map(evidence, rule.source.split("; ")))
    holds = f" Holds for {rule.server} {prose(rule.versions)}." if rule.versions else ""
    yield f"Source: {source}.{f' Fix: {fix}.' * bool(fix)}{holds}\n"
    for name, text in examples(rule):
        yield f"{name}:\n\n```{language(rule)}\n{text}\n```\n"


def prose(text: str) -> str:
    """Return a text with what could be markup escaped."""
    return re.sub(r"([\\*_<|\[~])", r"\\\1", text)


def evidence(source: str, docs: str = "../") -> str:
    """
    Return where something was seen, as a link where that is on a page of this project.

    Args:
        source: A part of the source of a rule.
        docs: The way from the page to the folder docs.
    """
    if source.startswith("docs/"):
        path = DOCS.parent / source
        target = f"runs/README.md#{path.name}" if path.is_dir() else source.removeprefix("docs/")
        return f"[{source[5:]}]({docs}{target})"
    if source.startswith("profiles/"):
        return f"[{source}]({docs}../{source})"
    if match := re.fullmatch(r"(\S+:\d+) `(.+)`", source):
        return f"{prose(match[1])} `{match[2]}`"
    return prose(source)


def language(rule: Rule) -> str:
    """Return what a block with an example of a rule is called."""
    if rule.bad.startswith("["):
        return "ini"
    return {"UW": "ini", "GU": "python", "ST": "dockerfile"}.get(rule.code[:2], "text")
