"""What docs/runs/selftest.json and docs/runs/stress.json say."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from lab.bench.store.folder import read_json
from lab.cli.stress.result import StressResult
from lab.cli.stress.text import banners, legend, notes, table
from lab.report import markdown
from studies.selftest.result import SelfTestResult
from studies.selftest.show import instead, ratio, said, score, sentence
from tools.pages.files import RUNS


def selftest() -> str:
    """Return what docs/explanation/selftest.md says of the stored result."""
    return selftest_text(read_json(RUNS / "selftest.json", SelfTestResult))


def selftest_in_short() -> str:
    """Return how many of its trials were judged right, without a full stop."""
    said = sentence(read_json(RUNS / "selftest.json", SelfTestResult))
    return said.partition(": ")[2].rstrip(".")


def stress() -> str:
    """Return what docs/explanation/what-faults-cost.md says of the stored result."""
    return stress_text(stress_result())


def selftest_text(result: SelfTestResult) -> str:
    """Return the tables in Markdown: planted faults, planted differences, one piece of evidence."""
    lines = [sentence(result), ""]
    lines += _table(
        ("planted", "profile", "must be said", "right", "said instead"),
        ((c.name, c.summary, c.expected, score(c), instead(c)) for c in result.cases),
    )
    if result.effects:
        lines.append("")
        lines += _table(
            ("planted difference", "must be said", "said", "ratio"),
            ((e.name, e.expected, said(e), ratio(e)) for e in result.effects),
        )
    lines += ["", "What was seen, in one trial of each:", ""]
    lines += [f"- **{case.name}**: {case.evidence}" for case in result.cases if case.evidence]
    return "\n".join(lines) + "\n"


def stress_text(result: StressResult) -> str:
    """Return what the words mean, the table in Markdown, and a line for each cell that needs it."""
    blocks = [markdown.warnings(banners(result)).removesuffix("\n")]
    blocks += [_list(legend(result)), markdown.render_table(table(result)), _list(notes(result))]
    return "\n".join(filter(None, blocks))


@functools.cache
def stress_result() -> StressResult:
    """Return the stored result of `lab stress`."""
    return read_json(RUNS / "stress.json", StressResult)


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_row(*titles), f"|{'---|' * len(titles)}", *(_row(*row) for row in rows)]


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _list(lines: Iterable[str]) -> str:
    return "".join(f"- {line}\n" for line in lines)
