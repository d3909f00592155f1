"""
A summary as JSON: the content of `summary.json`, for scripts.

Raw numbers in SI units with six significant figures, keys sorted, and nothing of when or where it
was made, so that the same run gives the same bytes. What was not known is absent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lab.analysis.stats import half_width
from lab.analysis.summary import Row, Step, Summary
from lab.model import METRICS, Comparison
from lab.report.tables import document

FORMAT = 1
"""
Version of the format of `summary.json`.

1: the first.
"""


def render(summary: Summary) -> str:
    """Return *summary* as JSON; it ends with a newline."""
    run, plan, content = summary.run, summary.run.plan, document(summary)
    result = {
        "format": FORMAT,
        "run": run.name,
        "command": run.command,
        "generator": run.generator,
        "workload": plan.workload.name,
        "path": plan.workload.path,
        "load": {
            "connections": plan.load.connections,
            "keepalive": plan.load.keepalive,
            "requests": plan.load.requests,
            "timeout": plan.load.timeout,
        },
        "plan": {
            "blocks": plan.blocks,
            "window": plan.window,
            "warmup": plan.warmup,
            "seed": plan.seed,
            "baseline": plan.profiles[0].name,
            "reference": plan.reference,
        },
        "trials": {"measured": summary.measured, "planned": summary.planned},
        "environments": sorted(run.environments),
        "machine": content.context[1:],
        "exit_code": summary.exit_code,
        "banners": content.banners,
        "notes": content.notes,
        "metrics": {
            metric.name: {"title": metric.title, "better": metric.better, "exact": metric.exact}
            for metric in METRICS.values()
        },
        "profiles": [_profile(row) for row in summary.rows],
        "skipped": run.skipped,
        "steps": [_step(step) for step in summary.steps],
        "aa": _comparisons(summary.aa),
        "floors": summary.floors,
    }
    text = json.dumps(_plain(result), ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False)
    return text + "\n"


def _profile(row: Row) -> dict[str, Any]:
    return {
        "name": row.profile.name,
        "summary": row.profile.summary,
        "server": row.profile.server,
        "digest": row.profile.digest,
        "against": row.profile.against,
        "valid": row.valid,
        "trials": row.total,
        "values": {
            name: {"median": value, "trials": row.counts[name]}
            for name, value in row.values.items()
        },
        "retried_share": row.retried_share,
        "wall": row.wall,
        "slowest": row.slowest,
        "facts": row.facts,
        "findings": [
            {
                "gate": tally.gate,
                "trials": tally.trials,
                "reason": tally.example.reason,
                "advice": tally.example.advice,
                "withholds": (
                    sorted(METRICS)
                    if tally.example.withholds is None
                    else sorted(tally.example.withholds)
                ),
                "outside": tally.example.outside,
            }
            for tally in row.tallies
        ],
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "profile": step.profile,
        "before": step.before,
        "instead_of": step.instead_of,
        "step": _comparisons(step.step),
        "baseline": _comparisons(step.baseline),
    }


def _comparisons(comparisons: Mapping[str, Comparison]) -> dict[str, Any]:
    return {name: _comparison(comparison) for name, comparison in comparisons.items()}


def _comparison(comparison: Comparison) -> dict[str, Any]:
    found: dict[str, Any] = {
        "changed": comparison.changed,
        "reference": comparison.reference,
        "verdict": comparison.verdict,
        "fragile": comparison.fragile,
        "detectable": comparison.detectable,
        "blocks_needed": comparison.blocks_needed,
    }
    if comparison.ratio is not None:
        estimate = comparison.ratio
        found |= {
            "ratio": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "n": estimate.n,
            "half_width": half_width(estimate),
        }
    return found


def _plain(value: Any) -> Any:
    """Return *value* with floats rounded, and without what is None."""
    if isinstance(value, float):
        # Beyond six figures is noise, and the last bits differ between C libraries.
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
