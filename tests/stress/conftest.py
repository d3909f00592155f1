"""Windows and results to count and to show."""

import pytest

from lab.model import Window
from lab.stress.counting import Burst
from lab.stress.result import Counts, FaultOutcome, ProfileResult, Series, StressResult

CLEAN = Counts(400, 0, 0, 0, longest=0.02)


def window(ok=0, errors=None, unfinished=0, latency=None, wall=0.25, **more):
    """Return what a generator counted."""
    latency = {12000: ok} if latency is None else latency
    return Window(
        process=1,
        wall=wall,
        ok=ok,
        errors=errors or {},
        unfinished=unfinished,
        retried=0,
        connections=0,
        replies=(),
        received=0,
        latency=latency if ok else {},
        latency_sum=0.0,
        cpu=0.0,
        wait=0.0,
        **more,
    )


def burst(ended, **counted):
    """Return what a generator counted of requests that were sent at once."""
    return Burst(window(**counted), ended)


def outcome(fault="kill", counts=CLEAN, **more):
    """Return an outcome with a short series."""
    series = Series((0.25, 0.5), (0.02, None), (0, counts.lost), (0, counts.wrong), (0, 0))
    return FaultOutcome(fault, steady=counts, series=series, planted=(0.3,), **more)


@pytest.fixture
def result():
    """Return a function that makes a result of one profile from its outcomes."""

    def make(*outcomes, skipped=None):
        names = ("none", *dict.fromkeys(o.fault for o in outcomes if o.fault != "none"))
        if not any(each.fault == "none" for each in outcomes):
            outcomes = (outcome("none"), *outcomes)
        return StressResult(
            format=StressResult.FORMAT,
            command="lab stress tuned",
            machine={"kernel": {"release": "6.8"}},
            workload="app.waiting:app, GET /12",
            rate=50.0,
            connections=256,
            timeout=10.0,
            faults={name: f"what {name} is" for name in names},
            profiles=(ProfileResult("tuned", "The one to deploy", outcomes),),
            skipped=skipped or {},
        )

    return make
