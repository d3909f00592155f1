"""
What `lab lint` prints of the ini that stands on a page, drawn as a terminal.

An SVG within a page of GitHub cannot be scrolled and shrinks with its page: lines are wrapped, so
that they can be read on a phone. Its colours are presentation attributes, which every renderer
knows; CSS changes them in a dark page only.
"""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from html import escape
from pathlib import Path

from lab.lint.flaw import Severity
from lab.lint.rules.rule import RULES
from lab.report.palette import DARK, LIGHT
from tools.pages.migration import configuration

PAGE = "../README"
"""The page with the ini, as `tools.pages.migration.ini` names it."""

COMMAND = "lab lint uwsgi.ini"

COLUMNS = 60
"""Characters of a line: 9.7 pixels high where the page leaves 368 of a phone's 400."""

SIZE, ADVANCE, LINE, GAP, MARGIN = 14, 8.45, 19, 6, 14
"""Pixels: of the font, of a character's width, of a line, above a finding, and around all."""

INDENT = "  "
"""What the further lines of a finding begin with."""

FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"

FINDING = re.compile(
    rf"(?P<muted>\S+ +)(?P<name>[A-Z]+\d+) (?P<worse>{'|'.join(Severity)})(?P<ink>.*)"
)
"""The first line of a finding, in parts of one colour."""

STYLES = {
    "ink": ("ink", ""),
    "muted": ("muted", ""),
    "name": ("ink", ' font-weight="bold"'),
    "worse": ("worse", ' font-weight="bold"'),
}
"""Part of a line -> its colour's role and its other attributes."""


@functools.cache
def output(page: str = PAGE) -> str:
    """Return what `lab lint` prints of a page's configuration."""
    name, text = configuration(page)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, name).write_text(text, encoding="utf-8")
        words = (str(Path(sys.executable).with_name("lab")), "lint", name)
        return subprocess.run(
            words, cwd=folder, capture_output=True, text=True, check=False
        ).stdout  # it ends with 1, as something is found


def linted(page: str) -> str:
    """Return the command that lints a page's configuration, and what it prints, in a block."""
    return f"```console\n$ .venv/bin/lab lint {configuration(page)[0]}\n{output(page)}```\n"


def words() -> str:
    """Return the rules that find something, for whoever cannot see the picture."""
    codes = re.findall(r"^\S+ +([A-Z]+\d+) ", output(), re.MULTILINE)
    rules = ", ".join(f"{RULES[code].title} ({code})" for code in codes)
    return f"{COMMAND} prints a line for each finding: {rules}."


def render() -> str:
    """Return the picture as SVG."""
    texts, height = [], MARGIN + SIZE
    for line in ("", *_wrapped()):
        left = MARGIN
        if line.startswith(INDENT):
            left += round(len(INDENT) * ADVANCE)
        elif line:
            height += GAP
        parts = _coloured(line.strip()) if line else _part("name", f"$ {COMMAND}")
        texts.append(f'<text x="{left}" y="{height}">{parts}</text>')
        height += LINE
    width = round(COLUMNS * ADVANCE + 2 * MARGIN)
    height += MARGIN - SIZE
    dark = "".join(f".{role}{{fill:{DARK[role]}}}" for role in ("ink", "muted", "worse"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="terminal" '
        f'font-family="{FONT}" font-size="{SIZE}" xml:space="preserve">'
        f'<title id="terminal">{escape(COMMAND)}</title>'
        f"<style>text{{white-space:pre}}@media (prefers-color-scheme:dark){{{dark}"
        f".paper{{fill:{DARK['panel']};stroke:{DARK['line']}}}}}</style>"
        f'<rect class="paper" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6" '
        f'fill="{LIGHT["panel"]}" stroke="{LIGHT["line"]}"/>{"".join(texts)}</svg>\n'
    )


def _wrapped() -> Iterator[str]:
    for line in output().splitlines():
        yield from textwrap.wrap(line, COLUMNS, subsequent_indent=INDENT, break_on_hyphens=False)


def _coloured(line: str) -> str:
    finding = FINDING.fullmatch(line)
    parts = finding.groupdict() if finding else {"ink": line}
    return "".join(
        f" {_part(kind, text)}" if kind == "worse" else _part(kind, text)
        for kind, text in parts.items()
    )


def _part(kind: str, text: str) -> str:
    role, more = STYLES[kind]
    return f'<tspan class="{role}" fill="{LIGHT[role]}"{more}>{escape(text)}</tspan>'
