"""In how many files of others each rule finds something: studies/results/public_lint.json."""

from __future__ import annotations

import functools
import json
from typing import Any

from lab.lint.flaw import Severity
from lab.lint.rules.rule import RULES
from tools.pages.files import ROOT

STORED = ROOT / "studies" / "results" / "public_lint.json"


@functools.cache
def _stored() -> Any:
    return json.loads(STORED.read_text(encoding="utf-8"))


def table(server: str) -> str:
    """Return a row for each rule that found something, the most frequent first, remarks last."""
    counts = _stored()["servers"][server]
    lines = ["| files | rule | class | what |", "| ---: | --- | --- | --- |"]
    for kind in ("rules", "remarks"):
        for code, files in counts[kind].items():
            rule = RULES[code]
            word = Severity.REMARK if kind == "remarks" else rule.severity
            share = f"{files} ({files / counts['files']:.0%})"
            lines.append(f"| {share} | [{code}](lint.md#{code.lower()}) | {word} | {rule.title} |")
    return "\n".join(lines) + "\n"


def share(server: str, code: str) -> str:
    """Return in how many of its files a rule finds something, as "40 of 64"."""
    counts = _stored()["servers"][server]
    return f"{counts['rules'].get(code, 0)} of {counts['files']}"


def clean(server: str) -> str:
    """Return in how many of its files nothing but remarks is found."""
    counts = _stored()["servers"][server]
    return f"{counts['without_findings']} of {counts['files']}"
