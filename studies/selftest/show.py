"""A self-test's result on a terminal: one line a case, and what was said instead."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from studies.selftest.result import CaseResult, EffectResult, SelfTestResult

STATUS = {0: "Passed", 1: "Failed", 3: "Not proved, too little could be judged here"}


def show(result: SelfTestResult, console: Console, *, verbose: bool = False) -> None:
    """Print *result*; with *verbose* the evidence too, and the figures behind every miss."""
    table = Table("planted", "must be said", "right", "said instead", box=None)
    for case in result.cases:
        table.add_row(case.name, case.expected, score(case), instead(case))
    console.print(table)
    if result.effects:
        effects = Table("planted difference", "must be said", "said", "ratio", box=None)
        for effect in result.effects:
            effects.add_row(effect.name, effect.expected, said(effect), ratio(effect))
        console.print()
        console.print(effects)
    for case in result.cases:
        if verbose and case.evidence:
            console.print(f"\n{case.name}: {case.evidence}", markup=False)
        for miss in case.misses:
            console.print(f"\n{case.name}, said {miss.found}: {miss.evidence}", markup=False)
            if verbose:
                console.print(dict(sorted(miss.figures.items())))
    console.print()
    console.print(sentence(result))


def sentence(result: SelfTestResult) -> str:
    """Say in one sentence whether the lab may be trusted there."""
    made = [case for case in result.cases if case.skipped is None]
    right = sum(case.right for case in made)
    judged = sum(case.judged for case in made)
    count = f"{right} of {judged} trials of {len(made)} planted cases were judged right"
    if not result.cases:
        right = sum(effect.right is True for effect in result.effects)
        count = f"{right} of {len(result.effects)} comparisons were right"
    return f"{STATUS[result.status]}: {count}."


def score(case: CaseResult) -> str:
    """Return "9 of 10", with the trials that were disturbed, or why there is none."""
    if case.skipped is not None:
        return "skipped"
    disturbed = f" ({case.disturbed} disturbed)" if case.disturbed else ""
    return f"{case.right} of {case.judged}{disturbed}"


def instead(case: CaseResult) -> str:
    """Return what else was said, most often first, or why nothing was."""
    if case.skipped is not None:
        return case.skipped
    wrong = {label: count for label, count in case.found.items() if label != case.expected}
    ranked = sorted(wrong.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{count} x {label}" for label, count in ranked)


def ratio(effect: EffectResult) -> str:
    """Return "1.19x [1.18, 1.21], 10 blocks", or that there is none."""
    if effect.ratio is None:
        return "no two blocks that count"
    value, low, high = effect.ratio
    return f"{value:.3g}x [{low:.3g}, {high:.3g}], {effect.blocks} blocks"


def said(effect: EffectResult) -> str:
    """Return the verdict, and whether it is wrong or just open."""
    return effect.found + {True: "", False: " (wrong)", None: " (open)"}[effect.right]
