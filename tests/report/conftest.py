"""Runs to report on. Runs and summaries are immutable, so one of each serves all tests."""

from dataclasses import replace

import pytest

from lab.analysis.summary import summarise
from lab.model.comparison import Verdict
from lab.model.diagnosis import Cause, Diagnosis, Standing
from lab.model.plan import Better, CounterRun, Load, Role
from tests.kit import builders as make

MACHINE = {
    "cpu": {"model": "AMD EPYC", "cores": 2},
    "kernel": {"release": "6.8.0"},
    "python": {"version": "3.11.9"},
    "uwsgi": {"version": "2.0.31"},
}


@pytest.fixture(scope="session")
def sustained():
    """Return a run with everything in it that a report can say."""
    run = make.ladder_run(
        {
            "baseline": (2000, 480e-6),
            "processes-threads": (2010, 485e-6),
            "max-worker-lifetime-delta": (2210, 430e-6),
            "http-socket": (8000, 118e-6),
            "http11-socket": (12_000, 80e-6),
            "broken": (2000, 480e-6),
        },
        noise=0.012,
        environments={"here": MACHINE},
    )
    trials = []
    for trial in run.trials:
        window, block = trial.windows[0], trial.slot.block
        if trial.slot.arm.name == "http11-socket":
            starved = replace(window, replies=(window.ok,) + (0,) * 63)
            trials.append(replace(trial, windows=(starved,)))
        elif trial.slot.arm.name == "http-socket":
            again = replace(window, retried=window.ok, connections=window.ok)
            trials.append(replace(trial, windows=(again,)))
        elif trial.slot.arm.name == "processes-threads" and block < 4:
            readings = trial.readings | {"machine.foreign_cpu": 0.43}
            trials.append(replace(trial, readings=readings))
        elif trial.slot.arm.name == "max-worker-lifetime-delta" and block == 2:
            dropped = trial.readings | {"listener.drops": 935.0, "tcp.TCPSynRetrans": 298.0}
            trials.append(replace(trial, readings=dropped))
        elif trial.slot.arm.name == "broken":
            failure, log = "it ended with status 1", ("\x1b[31mno app",)
            trials.append(replace(trial, windows=(), readings={}, failure=failure, log=log))
        else:
            trials.append(trial)
    skipped = {"gunicorn-sync": "gunicorn is not installed (pip install gunicorn)"}
    return replace(run, trials=tuple(trials), skipped=skipped)


@pytest.fixture(scope="session")
def summary(sustained):
    """Return what that run found."""
    return summarise(sustained)


@pytest.fixture(scope="session")
def walkthrough():
    """Return the article's burst: it overflows the first profile's accept queue."""
    load = Load(connections=500, keepalive=False, requests=5000, timeout=90.0)
    run = make.ladder_run(
        {"baseline": (1600, 480e-6), "listen": (2100, 470e-6)}, blocks=5, load=load
    )
    trials = []
    for trial in run.trials:
        listens = trial.slot.arm.name == "listen"
        window = make.window(
            wall=2.4 if listens else 3.2 + trial.slot.block / 100,
            ok=5000,
            replies=(10,) * 500,
            connections=5000,
            latency={210_000: 5000} if listens else {30_000: 4600, 3_040_000: 400},
            latency_sum=1050.0,
        )
        cpu = {"server.cpu_user": 2.2 + trial.slot.block / 50, "server.cpu_system": 0.2}
        drops = {} if listens else {"listener.drops": 412.0, "tcp.TCPSynRetrans": 398.0}
        trials.append(replace(trial, windows=(window,), readings=trial.readings | cpu | drops))
    return replace(run, trials=tuple(trials))


@pytest.fixture(scope="session")
def open_loop():
    """Return a run of two profiles at 1,000 requests/s; the generator was late at times."""
    load = Load(connections=64, rate=1000.0)
    run = make.ladder_run({"baseline": (1000, 480e-6), "tuned": (1000, 120e-6)}, load=load)
    trials = []
    for trial in run.trials:
        slow = 4 if trial.slot.arm.name == "baseline" else 1
        window = make.window(
            ok=2000,
            planned=2000,
            late=1 if trial.slot.block == 0 else 0,
            latency={700 * slow: 1900, 900 * slow: 80, 4000 * slow: 20},
            service={500 * slow: 1900, 600 * slow: 100},
            latency_sum=1.6 * slow,
            replies=(32,) * 48 + (29,) * 16,
            unfinished=0,
        )
        trials.append(replace(trial, windows=(window,)))
    return replace(run, trials=tuple(trials))


@pytest.fixture(scope="session")
def diagnosed(summary):
    """Return a summary with a confirmed, a consistent and a withdrawn cause, and an idle option."""
    effect = next(step for step in summary.steps if step.profile == "http-socket").step[
        "throughput"
    ]

    def toggled(name):
        return make.arm(make.profile(f"baseline~{name}"), role=Role.COUNTER)

    def counter(name, toggle):
        return CounterRun("baseline", name, toggle, toggled(name), "throughput", Better.HIGHER)

    router = Cause("router", "the http router used 0.31 of 1.00 core", "Drops: 0.")
    behind = [
        Diagnosis("baseline", router, 9, 10, Standing.CONFIRMED,
                  counter("router", "http-socket instead of http"), effect),
        Diagnosis("baseline", Cause("logging", "1.0 writes a request"), 10, 10, Standing.WITHDRAWN,
                  counter("logging", "disable-logging"),
                  replace(effect, verdict=Verdict.NO_DIFFERENCE)),
    ]  # fmt: skip
    more = {
        name: (Diagnosis(name, router, trials, 10, Standing.CONSISTENT),)
        for name, trials in (("processes-threads", 10), ("max-worker-lifetime-delta", 8))
    }
    return replace(
        summary,
        diagnoses={"baseline": tuple(behind), **more},
        inert={"max-worker-lifetime-delta": ("nothing recycles workers without a master",)},
    )
