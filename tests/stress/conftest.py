"""Windows and results to count and to show."""

import pytest

from lab.cli.stress.counting import Burst
from lab.cli.stress.result import Counts, FaultOutcome, ProfileResult, Series, StressResult
from tests.kit import builders

CLEAN = Counts(400, 0, 0, 0, longest=0.02)


def window(ok=0, errors=None, unfinished=0, latency=None, **more):
    """Return what a generator counted in a quarter of a second; replies take 12 ms each."""
    counted = {
        "ok": ok,
        "errors": errors or {},
        "unfinished": unfinished,
        "latency": (latency or {12_000: ok}) if ok else {},
    }
    return builders.window(**{"wall": 0.25, "replies": (), **counted, **more})


def burst(ended, **counted):
    """Return what a generator counted of requests that were sent at once."""
    return Burst(window(**counted), ended)


def outcome(fault="kill", counts=CLEAN, **more):
    """Return an outcome with a short series."""
    series = Series((0.25, 0.5), (0.02, None), (0, counts.lost), (0, counts.wrong), (0, 0))
    return FaultOutcome(fault, steady=counts, series=series, planted=(0.3,), **more)


@pytest.fixture(autouse=True)
def two_workers(monkeypatch):
    """As `lab stress` has it, on a machine of any size."""
    monkeypatch.setenv("PROCESSES", "2")


@pytest.fixture
def result():
    """Return a function that makes a result of one profile from its outcomes."""

    def make(*outcomes, skipped=None):
        names = ("none", *dict.fromkeys(o.fault for o in outcomes if o.fault != "none"))
        if not any(fault_outcome.fault == "none" for fault_outcome in outcomes):
            outcomes = (outcome("none"), *outcomes)
        return StressResult(
            format=StressResult.FORMAT,
            command="lab stress tuned",
            machine={"kernel": {"release": "6.8"}},
            workload="loadtests.workloads.waiting:app, GET /12",
            rate=50.0,
            connections=256,
            timeout=10.0,
            faults={name: f"what {name} is" for name in names},
            profiles=(ProfileResult("tuned", "The one to deploy", outcomes),),
            skipped=skipped or {},
        )

    return make
