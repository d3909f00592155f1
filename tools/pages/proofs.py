"""What docs/runs/selftest.json and the stored results of `lab stress` say."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from lab.bench.store.folder import read_json
from lab.cli.stress.result import StressResult
from lab.cli.stress.text import banners, legend, table
from lab.report import markdown
from studies.selftest.result import SelfTestResult
from studies.selftest.show import instead, ratio, said, score, sentence
from tools.pages.files import RUNS


def selftest() -> str:
    """Return what docs/explanation/selftest.md says of the stored result."""
    return selftest_text(read_json(RUNS / "selftest.json", SelfTestResult))


def selftest_in_short() -> str:
    """Return how many of its trials were judged right, without a full stop."""
    text = sentence(read_json(RUNS / "selftest.json", SelfTestResult))
    return text.partition(": ")[2].rstrip(".")


def stress(name: str = "stress") -> str:
    """Return what a page says of the stored result *name*."""
    result = stress_result(name)
    legend_list = "".join(f"- {line}\n" for line in legend(result))
    return (
        f"{markdown.warnings(banners(result))}{legend_list}\n{markdown.render_table(table(result))}"
    )


def selftest_text(result: SelfTestResult) -> str:
    """Return the tables in Markdown: planted faults, and planted differences."""
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
    return "\n".join(lines) + "\n"


@functools.cache
def stress_result(name: str = "stress") -> StressResult:
    """Return a stored result of `lab stress`."""
    return read_json(RUNS / f"{name}.json", StressResult)


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_row(*titles), f"|{'---|' * len(titles)}", *(_row(*row) for row in rows)]


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
