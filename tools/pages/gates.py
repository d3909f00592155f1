"""The table of gates in docs/reference/gates-and-causes.md, and what each says, made from them."""

from __future__ import annotations

from lab.analysis.gates import GATES, judge
from lab.model.finding import Gate
from tools.pages.gate_examples import EXAMPLES


def table() -> str:
    """Return a row for each gate; its texts may hold directives."""
    rows = (
        f"| {gate.name} | {gate.fires} | {gate.whose} | {gate.withholds} | {gate.because} |"
        for gate in GATES
    )
    head = "| gate | fires when | whose limit | withholds | because |\n|---|---|---|---|---|"
    return "\n".join((head, *rows, ""))


def sayings() -> str:
    """Return what each gate says of its bad example: an item of a list each."""
    return "".join(f"- **{gate.name}**: {_said(gate)}\n" for gate in GATES)


def _said(gate: Gate) -> str:
    example = EXAMPLES[gate]
    prices = {example.bad.slot.arm.name: example.prices[0]}
    findings = judge(example.bad, example.swept, prices)
    (finding,) = (finding for finding in findings if finding.gate is gate)
    return f"{finding.reason}. {finding.advice}"
