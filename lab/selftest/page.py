"""The tables of docs/selftest.md, from a stored result; `lab report --readme` puts them there."""

from __future__ import annotations

from lab.selftest.result import SelfTestResult
from lab.selftest.show import instead, ratio, said, score, sentence


def render(result: SelfTestResult) -> str:
    """Return the tables in Markdown: planted faults, planted differences, one piece of evidence."""
    lines = [
        sentence(result),
        "",
        "| planted | profile | must be said | right | said instead |",
        "|---|---|---|---|---|",
    ]
    for case in result.cases:
        cells = (case.name, case.summary, case.expected, score(case), instead(case))
        lines.append(_row(*cells))
    if result.effects:
        lines += ["", "| planted difference | must be said | said | CPU a request |"]
        lines += ["|---|---|---|---|"]
        lines += [_row(e.name, e.expected, said(e), ratio(e)) for e in result.effects]
    lines += ["", "What was seen, in one trial of each:", ""]
    lines += [f"- **{case.name}**: {case.evidence}" for case in result.cases if case.evidence]
    return "\n".join(lines) + "\n"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
