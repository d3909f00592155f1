"""What `lab ab` can find on a machine, in lines."""

from __future__ import annotations

from collections.abc import Iterator

from lab.bench.machine import project
from lab.bench.trials.noise import MINUTES, MetricNoise, Sensitivity
from lab.model.metric import METRICS
from lab.model.numbers import share
from lab.model.plan import Better
from lab.model.wording import counted


def lines(sensitivity: Sensitivity) -> Iterator[str]:
    """Yield what is found, a metric a paragraph."""
    if not sensitivity.metrics:
        command = f"{project.lab_command()} report latest --full"
        yield f"No two blocks of {sensitivity.profile} count: `{command}` says why."
        return
    yield (
        f"{sensitivity.profile}, twice in each of {counted(sensitivity.blocks, 'block')}, "
        f"a trial every {sensitivity.seconds:.1f} s. In {MINUTES:g} minutes `lab ab` makes "
        f"{sensitivity.within} blocks of three trials."
    )
    for metric in sensitivity.metrics:
        yield ""
        yield from _of_metric(metric)


def _of_metric(metric_noise: MetricNoise) -> Iterator[str]:
    title, name = METRICS[metric_noise.metric].title, metric_noise.metric
    spread, floor = share(metric_noise.spread), share(metric_noise.floor)
    noise = f"{spread} standard deviation of a trial, floor {floor}"
    yield f"{title}: {noise}"
    if metric_noise.smallest is None:
        yield "  `lab ab` finds no regression up to 100 %, 4 times of 5"
    else:
        yield f"  `lab ab` finds {_change(name, metric_noise.smallest)}, 4 times of 5"
    if metric_noise.limit is None or metric_noise.crossed is None:
        yield "  no limit: where nothing has changed, 2 is not excluded in 9 of 10 runs"
    else:
        crossed = f"crossed by {_change(name, metric_noise.crossed)}, 4 times of 5"
        yield f"  in CI: --fail-if '{_limit(name, metric_noise.limit)}', {crossed}"


def _less(metric: str) -> bool:
    return METRICS[metric].better is Better.HIGHER


def _limit(metric: str, limit: float) -> str:
    return f"{metric} < {1 / limit:.3g}" if _less(metric) else f"{metric} > {limit:.4g}"


def _change(metric: str, size: float) -> str:
    """Say a regression of *size*, a share by which the worse is larger."""
    return f"{share(1 - 1 / (1 + size))} less" if _less(metric) else f"{share(size)} more"
