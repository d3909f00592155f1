"""Each cause with a trial that shows it, and near misses that must not."""

import itertools
from dataclasses import replace

import pytest

from lab.analysis.causes import CAUSES
from lab.analysis.confirm import diagnose_profiles, judge_effect, limited_by
from lab.analysis.diagnose import causes
from lab.analysis.observations import observe, observed
from lab.model.comparison import Comparison, Estimate, Verdict
from lab.model.diagnosis import Standing
from lab.model.plan import Better, CounterRun, Load, Role, Slot
from lab.model.profile import Peer
from tests.kit import builders as make

QUIET = ("disable-logging", "true")
OPEN = Load(connections=64, rate=500.0)
COUNTED = Load(connections=300, keepalive=False, requests=4000)

BUSY = {"server.cpu_user": 1.6, "server.cpu_system": 0.45}
"""0.98 cores over the 2.1 s of the builder's readings."""

HALF = {"server.cpu_user": 0.6, "server.cpu_system": 0.4, "server.busiest": 0.5}
LAZY = {"server.cpu_user": 0.05, "server.cpu_system": 0.02, "server.busiest": 0.03}
SPREAD = {
    "server.cpu_user": 2.4,
    "server.cpu_system": 1.5,
    "server.cores": 2.0,
    "server.busiest": 1.6,
    "server.busiest_threads": 5.0,
}
ONE_OF_TWO = {"server.busiest": 0.98, "server.idle": 0.8, "server.cores": 2.0}


def planned(*options, load=None):
    """Return a plan of one uWSGI profile with these options."""
    return make.plan(replace(make.profile("baseline"), options=(QUIET, *options)), load=load)


def shown(plan, readings=None, **window):
    """Return the names of the causes of one trial."""
    trial = make.trial(make.window(**window), readings=make.READINGS | (readings or {}))
    return [cause.name for cause in causes(observed(make.under(trial, plan=plan)))]


def served_by(command):
    """Return a plan of one command."""
    profile = replace(make.profile("own"), server="command", options=())
    return make.plan(replace(profile, peer=Peer(commands=(tuple(command.split()),))))


def spread(latency):
    """Return the fields of a window with this latency."""
    seconds = sum(us * count for us, count in latency.items()) / 1e6
    return {"latency": latency, "latency_sum": seconds}


CONVOY = (("processes", "8"), ("thunder-lock", "true"))
THREADS = (("threads", "4"),)
TWO = (("processes", "2"),)
STALLED = spread({20_000: 3900, 500_000: 100})
WAITS = {"server.switches_voluntary": 210.0}
FEW = {"ok": 200, "replies": (4,) * 64, "latency": {600_000: 200}, "latency_sum": 120.0}

CASES = {
    "a busy server": ((), BUSY, {}, ["server CPU"]),
    "a server at half": ((), HALF, {}, []),
    "router with a third": ((), BUSY | {"server.router": 0.33}, {}, ["router"]),
    "router with a fifth": ((), BUSY | {"server.router": 0.19}, {}, ["server CPU"]),
    "router at a core": (
        (),
        {"server.router": 0.95, "server.cores": 4.0, "server.idle": 2.0},
        {},
        ["router"],
    ),
    "router of a lazy server": ((), LAZY | {"server.router": 0.02}, {}, []),
    "one process": ((), ONE_OF_TWO, {}, ["single worker"]),
    "one process, no idle core": ((), ONE_OF_TWO | {"server.idle": 0.3}, {}, []),
    "one of two processes": (TWO, ONE_OF_TWO, {}, []),
    "one process behind a busier router": (
        (),
        ONE_OF_TWO | {"server.router": 0.98},
        {},
        ["router"],
    ),
    "threads of one process": (
        THREADS,
        ONE_OF_TWO | {"server.switches_voluntary": 4200.0},
        {},
        ["GIL"],
    ),
    "threads without hand-offs": (THREADS, ONE_OF_TWO, {}, []),
    "threads that run side by side": (
        THREADS,
        ONE_OF_TWO | {"server.switches_voluntary": 4200.0, "server.busiest": 1.4},
        {},
        [],
    ),
    "threads that wake each other across CPUs": (
        (),
        SPREAD | {"server.switches_voluntary": 8400.0},
        {},
        ["CPU affinity"],
    ),
    "threads that compute side by side": (
        (),
        SPREAD | {"server.switches_voluntary": 2100.0},
        {},
        ["server CPU"],
    ),
    "threads of two processes": (
        (),
        SPREAD | {"server.switches_voluntary": 8400.0, "server.busiest": 1.2},
        {},
        ["server CPU"],
    ),
    "processes that queue for a lock": (
        CONVOY,
        BUSY | {"server.switches_voluntary": 4200.0},
        {},
        ["lock convoy"],
    ),
    "a lock that is on in other words": (
        (("processes", "8"), ("thunder-lock", "1")),
        BUSY | {"server.switches_voluntary": 4200.0},
        {},
        ["lock convoy"],
    ),
    "a lock without a queue": (CONVOY, BUSY, {}, ["server CPU"]),
    "switches without a lock": (
        (("processes", "8"),),
        BUSY | {"server.switches_voluntary": 4200.0},
        {},
        ["server CPU"],
    ),
    "new connections, much kernel": (
        (),
        BUSY | {"server.cpu_user": 1.2, "server.cpu_system": 0.8},
        {"connections": 4000},
        ["reconnecting"],
    ),
    "new connections, little kernel": ((), BUSY, {"connections": 4000}, ["server CPU"]),
    "new connections behind the router": (
        (("http", "{host}:{port}"),),
        BUSY | {"server.cpu_user": 1.2, "server.cpu_system": 0.8},
        {"connections": 4000},
        ["server CPU"],
    ),
    "kept connections, much kernel": (
        (),
        BUSY | {"server.cpu_user": 1.2, "server.cpu_system": 0.8},
        {},
        ["server CPU"],
    ),
    "workers that wait": (TWO, LAZY | WAITS, FEW, ["workers asleep"]),
    "waits without a switch": (
        TWO,
        LAZY | WAITS | {"server.switches_voluntary": 5.0},
        FEW,
        [],
    ),
    "more workers than clients": ((("threads", "64"), *TWO), LAZY | WAITS, FEW, []),
    "a few that wait very long": (
        TWO,
        LAZY | WAITS,
        FEW | {"latency": {1_000: 120, 990_000: 80}},
        ["stalls"],
    ),
    "workers replaced": (
        TWO,
        LAZY | {"server.respawned": 2.0},
        {},
        ["respawning"],
    ),
    "one of many replaced, unfelt": (
        (("processes", "8"),),
        BUSY | {"server.respawned": 1.0},
        {},
        ["server CPU"],
    ),
    "a server that stands still": ((), HALF, STALLED, ["stalls"]),
    "a slow tail": ((), HALF, spread({31_000: 3960, 90_000: 40}), []),
    "one long pause of one client": ((), HALF, spread({31_000: 3999, 900_000: 1}), []),
    "a slow disk": ((), HALF | {"pressure.io_some": 0.2}, {}, ["I/O wait"]),
    "someone's slow disk": ((), BUSY | {"pressure.io_some": 0.2}, {}, ["server CPU"]),
    "short memory": ((), BUSY | {"pressure.memory_some": 0.02}, {}, ["memory"]),
}


BLOCKED = {"workers.elsewhere": 0.9, "workers.waiting_threads": 0.0}
FREE = {"workers.elsewhere": 0.1, "workers.waiting_threads": 0.0}
POOLED = FREE | {"workers.waiting_threads": 39.7}
UVICORN, GUNICORN = "uvicorn app:app", "gunicorn -k asgi app:app"


@pytest.mark.parametrize(
    ("command", "readings", "names"),
    [
        (UVICORN, LAZY | BLOCKED, ["event loop blocked"]),
        (GUNICORN, LAZY | BLOCKED, ["event loop blocked"]),
        ("gunicorn -k gthread app:app", LAZY | BLOCKED, []),
        ("uvicorn --interface wsgi app:app", LAZY | POOLED, []),
        (UVICORN, BUSY | BLOCKED, ["server CPU"]),
        (UVICORN, LAZY | FREE, []),
        (UVICORN, LAZY | POOLED, ["thread pool full"]),
        (UVICORN, LAZY | POOLED | {"workers.elsewhere": 1.0}, ["event loop blocked"]),
        ("granian --interface asgi app:app", LAZY | POOLED, ["thread pool full"]),
        (UVICORN, LAZY | FREE | {"workers.waiting_threads": 20.0}, []),
        (UVICORN, LAZY | POOLED | {"listener.drops": 3.0}, []),
        (UVICORN, LAZY, []),
    ],
)
def test_an_event_loop_is_blocked_or_its_pool_is_full(command, readings, names):
    """A loop that is blocked waits for something else; with a full pool for the next request."""
    assert shown(served_by(command), readings) == names


@pytest.mark.parametrize("name", CASES)
def test_causes(name):
    """A cause is named for its own traces, and not for half of them."""
    options, readings, window, expected = CASES[name]
    assert shown(planned(*options), readings, **window) == expected


CLOSED = (
    "the server closed the connection after each reply, though the clients would keep it (1.00 "
    "connections per reply), and the kernel used 40% of the server's CPU"
)
SHARED = {"server.cpu_user": 1.0, "server.cpu_system": 0.3, "server.idle": 0.01}
KERNEL = {"server.cpu_user": 1.2, "server.cpu_system": 0.8}


@pytest.mark.parametrize(
    ("load", "readings", "evidence"),
    [
        (None, KERNEL, CLOSED),
        (COUNTED, KERNEL, "1.00 connections per reply, and the kernel used 40% of"),
        (None, SHARED, "0.62 of 1 core, while other programs used 0.37; "),
        (None, SHARED | {"backend.cpu": 0.2}, "while other programs, such as the backend, used "),
        (None, SHARED | {"cores.shared": 1.0}, "such as the load generator, used 0.37; "),
        (None, BUSY, "0.98 of 1 core; "),
    ],
)
def test_evidence_says_who_closed_connections_and_who_used_the_cores(load, readings, evidence):
    """Not of a load that opens a connection per request, and where the server had its cores."""
    connections = {"connections": 4000} if readings is KERNEL else {}
    trial = make.trial(make.window(**connections), readings=make.READINGS | readings)
    cause, *_ = causes(observed(make.under(trial, plan=planned(load=load))))
    assert evidence in cause.evidence


def test_a_log_into_a_pipe_limits_a_server_that_waits_for_it():
    """And costs a busy one some CPU, which never comes first; so does a log in a file."""
    plan = make.plan()
    pipe = {"server.log_pipe": 1.0, "server.writes": 9000.0}
    file = {"server.log_pipe": 0.0, "server.logged": 400_000.0}
    assert shown(plan, LAZY | pipe)[0] == "logging"
    assert shown(plan, BUSY | pipe) == ["server CPU", "logging"]
    assert shown(plan, BUSY | file) == ["server CPU", "logging"]
    assert shown(plan, LAZY | file) == []
    assert shown(plan, BUSY | {"server.logged": 100.0}) == ["server CPU"]


def test_dropped_handshakes_come_first():
    """The clients' time tells whether they limit or merely happen."""
    plan = planned(load=COUNTED)
    dropped = BUSY | {"listener.drops": 294.0, "tcp.TCPSynRetrans": 199.0}
    many = spread({15_000: 3800, 1_200_000: 200})
    assert shown(plan, dropped, **many) == ["accept queue"]
    few = spread({15_000: 3999, 1_200_000: 1})
    assert shown(plan, dropped, **few) == ["server CPU"]


def test_clients_that_were_turned_away_are_not_just_starved():
    """In a timed load some never get in; the accept queue is why."""
    dropped = BUSY | {"listener.drops": 900.0, "tcp.TCPSynRetrans": 300.0}
    served = {"replies": (100,) * 40 + (0,) * 24, "latency_sum": 80.0}
    assert shown(planned(), dropped, **served) == ["accept queue"]


def test_a_slow_client_comes_before_what_it_lets_the_server_look_like():
    """A server that idles because its client is slow has no cause of its own."""
    readings = {"server.cpu_user": 0.5, "server.cpu_system": 0.2, "server.busiest": 0.3}
    assert shown(planned(), readings, cpu=1.9, wait=0.1) == ["generator"]


def test_a_server_pushed_aside_by_strangers_is_at_its_limit():
    """What it may use is what was idle; but asleep beside busy strangers it is not busy."""
    half = {"server.cpu_user": 1.0, "server.cpu_system": 0.3, "server.idle": 0.01}
    assert shown(planned(), half) == ["server CPU"]
    asleep = {"server.cpu_user": 0.2, "server.cpu_system": 0.1, "server.idle": 0.01}
    assert shown(planned(), asleep) == []


def test_an_open_loop_that_is_kept_up_with_has_no_limit():
    """Its throughput is planned; only waits can be explained."""
    plan = planned(load=OPEN)
    window = {"ok": 1000, "planned": 1000, "unfinished": 0}
    assert shown(plan, BUSY, **window, **spread({300: 1000})) == []
    stalled = spread({300: 780, 250_000: 220})
    assert shown(plan, LAZY, **window, **stalled) == ["stalls"]


@pytest.mark.parametrize(
    "spoilt",
    [{"errors": {"body": 5}}, {"replies": (4000,) + (0,) * 63}, {"ok": 0, "latency": {}}],
    ids=["errors", "starvation", "no reply"],
)
def test_a_meaningless_trial_has_no_cause(spoilt):
    """Where a gate explains everything, no rule guesses on."""
    assert shown(planned(), BUSY, **spoilt) == []


def test_absent_readings_show_no_cause():
    """What was not seen proves nothing."""
    assert causes(observed(make.trial(readings={}))) == ()


def test_every_cause_says_what_it_saw():
    """Evidence has figures, and names are those of the published list."""
    for options, readings, window, _ in CASES.values():
        trial = make.trial(make.window(**window), readings=make.READINGS | readings)
        for cause in causes(observed(make.under(trial, plan=planned(*options)))):
            assert cause.name in CAUSES
            assert any(letter.isdigit() for letter in cause.evidence), cause
            assert "None" not in cause.evidence + cause.rules_out


# -- over a profile's trials, and with counter-runs ------------------------------------------------

ROUTED = BUSY | {"server.router": 0.33}


def counter(metric="throughput", expects=Better.HIGHER, cause="router"):
    """Return the counter-run of the baseline's router."""
    variant = make.arm(make.profile("baseline~http-socket"), role=Role.COUNTER)
    text = "http-socket instead of http"
    return CounterRun("baseline", cause, text, variant, metric, expects)


def measured(speed, counters=(), *, blocks=6, routed=6):
    """Return a run whose variant is *speed* times as fast; *routed* blocks show the router."""
    trials = []
    wobble = itertools.cycle((1.0, 1.003, 0.997))
    for block in range(blocks):
        seen = ROUTED if block < routed else BUSY
        trials.append(_paced(2000 * next(wobble), Slot(block, 0, planned().arms[0]), seen))
        for position, counter_run in enumerate(counters, 1):
            slot = Slot(block, position, counter_run.arm)
            trials.append(_paced(2000 * speed * next(wobble), slot, BUSY))
    plan = planned()
    return replace(make.run(plan, trials), counters=tuple(counters))


def _paced(speed, slot, readings):
    trial = make.paced(speed, 0.98 / speed)
    return replace(trial, slot=slot, readings=trial.readings | readings)


def found(run):
    """Return (name, trials, of, standing) of each diagnosis of the baseline."""
    diagnoses = diagnose_profiles(run, observe(run), {}).get("baseline", ())
    return [(d.cause.name, d.trials, d.of, d.standing) for d in diagnoses]


def test_a_cause_needs_more_than_half_of_the_trials():
    """Four of six are enough, three are not."""
    assert found(measured(1, routed=4)) == [("router", 4, 6, Standing.CONSISTENT)]
    assert found(measured(1, routed=3)) == []


def test_the_counter_run_confirms_a_cause():
    """Faster without the router: that was it."""
    run = measured(1.6, [counter()])
    assert found(run) == [("router", 6, 6, Standing.CONFIRMED)]
    (diagnosis,) = diagnose_profiles(run, observe(run), {})["baseline"]
    assert diagnosis.effect.ratio.value == pytest.approx(1.6, rel=0.01)
    assert limited_by([diagnosis]) is diagnosis


def test_a_refuted_cause_leaves_its_place_to_the_next():
    """As fast without the router: what remains is a busy server."""
    run = measured(1.0, [counter()])
    assert found(run) == [
        ("server CPU", 6, 6, Standing.CONSISTENT),
        ("router", 6, 6, Standing.WITHDRAWN),
    ]
    assert (
        limited_by(diagnose_profiles(run, observe(run), {})["baseline"]).cause.name == "server CPU"
    )


def test_a_withheld_metric_is_compared_in_a_counter_run():
    """What the accept-queue gate withholds is what its counter-run moves."""
    run = measured(2.0, [counter(cause="accept queue")])
    dropped = {"listener.drops": 500.0, "tcp.TCPSynRetrans": 400.0}
    late = spread({15_000: 3800, 1_200_000: 200})
    trials = [
        replace(
            trial,
            readings=trial.readings | dropped,
            windows=(replace(trial.windows[0], **late),),
        )
        if trial.slot.arm.role is Role.PROFILE
        else trial
        for trial in run.trials
    ]
    spoilt = replace(run, trials=tuple(trials))
    first = found(spoilt)[0]
    assert (first[0], first[3]) == ("accept queue", Standing.CONFIRMED)


@pytest.mark.parametrize(
    ("low", "high", "verdict", "expects", "standing"),
    [
        (1.3, 1.5, Verdict.BETTER, Better.HIGHER, Standing.CONFIRMED),
        (0.5, 0.7, Verdict.WORSE, Better.HIGHER, Standing.WITHDRAWN),
        (0.5, 0.7, Verdict.BETTER, Better.LOWER, Standing.CONFIRMED),
        (0.99, 1.01, Verdict.NO_DIFFERENCE, Better.HIGHER, Standing.WITHDRAWN),
        (0.90, 1.01, Verdict.INCONCLUSIVE, Better.HIGHER, Standing.WITHDRAWN),
        (0.99, 1.10, Verdict.INCONCLUSIVE, Better.LOWER, Standing.WITHDRAWN),
        (0.99, 1.3, Verdict.INCONCLUSIVE, Better.HIGHER, Standing.CONSISTENT),
        (1.01, 1.3, Verdict.INCONCLUSIVE, Better.HIGHER, Standing.CONSISTENT),
    ],
)
def test_what_a_counter_run_proves(low, high, verdict, expects, standing):
    """Only a move in the predicted direction, wholly beyond the floor, proves a cause."""
    effect = Comparison("throughput", "a", "b", verdict, Estimate((low + high) / 2, low, high, 6))
    assert judge_effect(effect, expects, 0.02) is standing
    nothing = Comparison("throughput", "a", "b", Verdict.INVALID, None)
    assert judge_effect(nothing, expects, 0.02) is Standing.CONSISTENT


def test_noise_withdraws_no_cause_whose_gain_would_make_a_difference():
    """A run that cannot see a gain of 15 % does not say that there is none."""
    effect = Comparison("throughput", "a", "b", Verdict.INCONCLUSIVE, Estimate(1.0, 0.9, 1.15, 6))
    assert judge_effect(effect, Better.HIGHER, 0.3) is Standing.CONSISTENT
