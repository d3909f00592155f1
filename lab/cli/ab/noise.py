"""What `lab ab` can find on a machine, in lines."""

from __future__ import annotations

from collections.abc import Iterator

from lab.bench.trials.noise import MINUTES, MetricNoise, Sensitivity
from lab.model.metric import METRICS
from lab.model.numbers import share
from lab.model.plan import Better
from lab.model.wording import counted


def lines(found: Sensitivity) -> Iterator[str]:
    """Yield what is found, a metric a paragraph."""
    if not found.metrics:
        yield f"No two blocks of {found.profile} count: `lab report latest --full` says why."
        return
    yield (
        f"{found.profile}, twice in each of {counted(found.blocks, 'block')}, a trial every "
        f"{found.seconds:.1f} s. In {MINUTES:g} minutes `lab ab` makes {found.within} blocks of "
        "three trials."
    )
    for each in found.metrics:
        yield ""
        yield from _of_metric(each)


def _of_metric(found: MetricNoise) -> Iterator[str]:
    title, name = METRICS[found.metric].title, found.metric
    noise = f"{share(found.spread)} standard deviation of a trial, floor {share(found.floor)}"
    yield f"{title}: {noise}"
    if found.smallest is None:
        yield "  `lab ab` finds no regression up to 100 %, 4 times of 5"
    else:
        yield f"  `lab ab` finds {_change(name, found.smallest)}, 4 times of 5"
    if found.limit is None or found.crossed is None:
        yield "  no limit: where nothing has changed, 2 is not excluded in 9 of 10 runs"
    else:
        crossed = f"crossed by {_change(name, found.crossed)}, 4 times of 5"
        yield f"  in CI: --fail-if '{_limit(name, found.limit)}', {crossed}"


def _less(metric: str) -> bool:
    return METRICS[metric].better is Better.HIGHER


def _limit(metric: str, limit: float) -> str:
    return f"{metric} < {1 / limit:.3g}" if _less(metric) else f"{metric} > {limit:.4g}"


def _change(metric: str, size: float) -> str:
    """Say a regression of *size*, a share by which the worse is larger."""
    return f"{share(1 - 1 / (1 + size))} less" if _less(metric) else f"{share(size)} more"
