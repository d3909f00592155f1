"""
A summary as JSON: the content of `summary.json`, for scripts.

Six significant figures, keys sorted, and nothing of when or where it was made, so that the same run
gives the same bytes. `lab.report.summary_file` says what is in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from lab.analysis.stats import half_width
from lab.analysis.summary import Row, Step, Summary
from lab.model import METRICS, Comparison, Diagnosis
from lab.report import summary_file as file
from lab.report.plain import to_json
from lab.report.tables import document, shares


def render(*summaries: Summary) -> str:
    """Return a summary as JSON, several as a list of them; it ends with a newline."""
    return joined([_document(each) for each in summaries])


def joined(documents: Sequence[str]) -> str:
    """Return one JSON document as it is, several as a list; each ends with a newline."""
    return documents[0] if len(documents) == 1 else f"[\n{','.join(documents)}]\n"


def _document(summary: Summary) -> str:
    run, plan, content = summary.run, summary.run.plan, document(summary)
    load = plan.load
    result = file.SummaryFile(
        format=file.FORMAT,
        run=run.name,
        command=run.command,
        generator=run.generator,
        workload=plan.workload.name,
        path=plan.workload.path,
        load=file.Load(load.connections, load.keepalive, load.timeout, load.requests, load.rate),
        plan=file.Plan(
            plan.blocks, plan.window, plan.warmup, plan.seed, plan.profiles[0].name, plan.reference
        ),
        trials=file.Trials(summary.measured, summary.planned),
        environments=sorted(run.environments),
        machine=content.context[1:],
        exit_code=summary.exit_code,
        banners=content.banners,
        notes=content.notes,
        metrics={
            metric.name: file.Metric(metric.title, metric.better, metric.exact)
            for metric in METRICS.values()
        },
        profiles=[_profile(row) for row in summary.rows],
        skipped=run.skipped,
        steps=[_step(step) for step in summary.steps],
        aa=_comparisons(summary.aa),
        floors=summary.floors,
        diagnoses={
            name: [_diagnosis(each) for each in found] for name, found in summary.diagnoses.items()
        },
        inert=summary.inert,
        shares={name: _comparisons(found) for name, found in shares(summary).items()} or None,
    )
    return to_json(msgspec.to_builtins(result))


def _profile(row: Row) -> file.Profile:
    return file.Profile(
        name=row.profile.name,
        summary=row.profile.summary,
        server=row.profile.server,
        digest=row.profile.digest,
        valid=row.valid,
        trials=row.total,
        values={name: file.Value(value, row.counts[name]) for name, value in row.values.items()},
        facts=row.facts,
        findings=[
            file.Finding(
                gate=tally.gate,
                trials=tally.trials,
                reason=tally.example.reason,
                advice=tally.example.advice,
                withholds=sorted(
                    METRICS if tally.example.withholds is None else tally.example.withholds
                ),
                outside=tally.example.outside,
            )
            for tally in row.tallies
        ],
        against=row.profile.against,
        retried_share=row.retried_share,
        wall=row.wall,
        slowest=row.slowest,
    )


def _step(step: Step) -> file.Step:
    return file.Step(
        profile=step.profile,
        step=_comparisons(step.step),
        baseline=_comparisons(step.baseline),
        before=step.before,
        instead_of=step.instead_of,
    )


def _comparisons(comparisons: Mapping[str, Comparison]) -> dict[str, file.Comparison]:
    return {name: _comparison(comparison) for name, comparison in comparisons.items()}


def _comparison(comparison: Comparison) -> file.Comparison:
    estimate = comparison.ratio
    return file.Comparison(
        changed=comparison.changed,
        reference=comparison.reference,
        verdict=comparison.verdict,
        fragile=comparison.fragile,
        ratio=None if estimate is None else estimate.value,
        low=None if estimate is None else estimate.low,
        high=None if estimate is None else estimate.high,
        n=None if estimate is None else estimate.n,
        half_width=None if estimate is None else half_width(estimate),
        detectable=comparison.detectable,
        blocks_needed=comparison.blocks_needed,
    )


def _diagnosis(diagnosis: Diagnosis) -> file.Diagnosis:
    counter, effect = diagnosis.counter, diagnosis.effect
    return file.Diagnosis(
        cause=diagnosis.cause.name,
        standing=diagnosis.standing,
        evidence=diagnosis.cause.evidence,
        trials=diagnosis.trials,
        of=diagnosis.of,
        rules_out=diagnosis.cause.rules_out or None,
        counter=None
        if counter is None
        else file.CounterRun(counter.arm.name, counter.toggle, counter.metric, counter.expects),
        effect=None if effect is None else _comparison(effect),
    )
