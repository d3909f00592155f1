"""Each gate with a trial that fires it, and one just below."""

import ast
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from lab.analysis.gates import GATES, judge
from lab.analysis.gates.slowed import prices
from lab.analysis.metrics import derive
from lab.analysis.summary import summarise
from lab.analysis.warning import NoiseUnknown
from lab.model.measurement import Failure
from lab.model.plan import Load
from lab.model.workload import Transport
from tests.kit import builders as make
from tools.pages.gate_examples import EXAMPLES

COUNTED = Load(connections=500, keepalive=False, requests=5000)
OPEN = Load(connections=64, rate=2000.0)

PERCENTILES = {"p50", "p90", "p99", "service_p99"}
TIME_BASED = PERCENTILES | {"throughput"}


def gates(trial, plan):
    """Return gate -> withheld metrics, for comparison as a literal."""
    return {
        finding.gate.name: "all" if finding.withholds is None else set(finding.withholds)
        for finding in judge(make.under(trial, plan=plan))
    }


def test_a_sound_trial_has_no_finding():
    """Nothing is wrong with 4,000 replies shared by 64 connections."""
    assert judge(make.trial()) == ()


def test_absent_readings_fire_no_gate():
    """What could not be read is not held against a trial."""
    assert judge(make.trial(readings={})) == ()


@pytest.mark.parametrize(
    ("ok", "errors", "expected"),
    [
        (4000, {}, {}),
        (9990, {"reset": 10}, {}),
        (9989, {"reset": 11}, {"errors": {"p99", "service_p99"}}),
        (9901, {"reset": 50, "closed": 49}, {"errors": {"p99", "service_p99"}}),
        (9900, {"reset": 100}, {"errors": "all"}),
        (9999, {"body": 1}, {"errors": "all"}),
        (9999, {"status": 1, "body": 0}, {}),
        (0, {"connect": 455}, {"errors": "all"}),
        (0, {}, {"errors": "all"}),
    ],
    ids=["none", "0.1 %", "more", "0.99 %", "1 %", "wrong body", "a 500", "dead", "silent"],
)
def test_errors(ok, errors, expected):
    """Any wrong body or 1 % failed voids a trial; above 0.1 % there is no p99."""
    window = make.window(ok=ok, errors=errors, replies=(ok // 64,) * 64)
    window_of_load = make.trial(window)
    withheld = gates(window_of_load, make.plan())
    assert {gate: what for gate, what in withheld.items() if gate == "errors"} == expected


@pytest.mark.parametrize(
    ("retried", "connections", "expected"),
    [
        (10, 10, {}),
        (11, 11, {"errors": {"p99", "service_p99"}}),
        (101, 101, {"errors": "all"}),
        (3000, 9980, {}),
    ],
    ids=["0.1 %", "more", "1 %", "a connection for each reply"],
)
def test_requests_sent_again_count_as_errors(retried, connections, expected):
    """Unless the server keeps no connection: a client that does not send again has lost them."""
    window = make.window(
        ok=9990,
        replies=(156,) * 64,
        retried=retried,
        connections=connections,
        latency={31_000: 9990},
    )
    withheld = gates(make.trial(window), make.plan())
    assert {gate: what for gate, what in withheld.items() if gate == "errors"} == expected


def test_requests_sent_again_are_named_beside_the_errors():
    """With their number: together they are what a plain client did not get at once."""
    window = make.window(ok=3900, errors={"reset": 40}, retried=60, connections=100)
    (finding,) = judge(make.trial(window))
    assert finding.reason == "2.50% of 4,000 requests failed (40 reset, 60 sent again)"
    assert "by hand to read its log, which is not stored" in finding.advice


def test_the_first_wrong_reply_stands_beside_its_class():
    """What an application said instead: the first process that kept one has it."""
    sample = "status: 500 'sorry, too many clients already'"
    quiet = make.window(errors={"status": 31, "timeout": 2})
    telling = make.window(ok=0, errors={"status": 12_000}, sample=sample)
    (finding,) = judge(make.trial(quiet, telling))
    assert f"(12,031 {sample}, 2 timeout)" in finding.reason


def test_an_application_that_fails_is_not_told_to_be_loaded_less():
    """Replies with another status are its own; a timeout may be the load's."""
    status = judge(make.trial(make.window(ok=902, errors={"status": 14})))[0]
    assert status.reason == "1.53% of 916 requests failed (14 with another status than 200)"
    assert status.advice == "Start the server by hand to read its log, which is not stored."
    both = judge(make.trial(make.window(ok=900, errors={"status": 14, "timeout": 2})))[0]
    assert both.advice.endswith(", or use fewer connections.")


def test_a_run_in_which_every_connection_failed_says_so():
    """A dead application is errors, by class and number, and never a low throughput."""
    dead = make.window(ok=0, errors={"connect": 122}, replies=(0,) * 64, latency={}, latency_sum=0)
    (finding,) = judge(make.trial(dead))
    assert finding.reason == "no correct reply (122 connect)"


def test_one_process_that_keeps_one_connection_starves_the_others():
    """http11-socket: the best throughput of all, while 63 of 64 connections get nothing."""
    window = make.window(
        ok=60_000, replies=(60_000,) + (0,) * 63, latency={33: 60_000}, latency_sum=2.0
    )
    (finding,) = judge(make.trial(window))
    assert (finding.gate.name, finding.withholds, finding.gate.outside) == (
        "starvation",
        None,
        False,
    )
    assert finding.reason == "63 of 64 connections got no reply; the others got 60,000"


def test_starvation_needs_enough_replies_to_be_seen():
    """With a mean below 10 replies a connection without one may be chance."""
    few = make.window(ok=639, replies=(639,) + (0,) * 63, latency_sum=2.0)
    enough = make.window(ok=640, replies=(640,) + (0,) * 63, latency_sum=2.0)
    assert gates(make.trial(few), make.plan()) == {}
    assert gates(make.trial(enough), make.plan()) == {"starvation": "all"}


@pytest.mark.parametrize(("latency_sum", "expected"), [(85.4, {}), (85.3, {"starvation": "all"})])
def test_time_that_no_reply_explains_is_starvation(latency_sum, expected):
    """With 128 s of connections and 85.3 s of replies, a third of the time is nowhere."""
    window = make.window(latency_sum=latency_sum)
    assert gates(make.trial(window), make.plan()) == expected


def test_time_lost_in_errors_is_explained():
    """Four timeouts of 10 s are 40 s that no connection waited unserved."""
    window = make.window(latency_sum=60.0, errors={"timeout": 4})
    assert gates(make.trial(window), make.plan()) == {}


def test_a_counted_load_is_not_judged_for_starvation():
    """Its requests go to whoever is free, so a late connection finds none left."""
    window = make.window(ok=5000, replies=(10,) * 499 + (0,), latency_sum=2.0)
    assert gates(make.trial(window), make.plan(load=COUNTED)) == {}


@pytest.mark.parametrize(
    ("drops", "resent", "late", "fires"),
    [
        (935, 298, 0, True),
        (1, 0, 1, True),
        (0, 298, 4, False),
        (935, 0, 0, False),
    ],
    ids=["resent", "late reply", "no drop here", "nobody felt it"],
)
def test_accept_queue(drops, resent, late, fires):
    """A drop that a client felt withholds what the retry timer made, and keeps CPU per request."""
    window = make.window(latency={31_000: 4000 - late, 900_000: late} if late else {899_000: 4000})
    readings = make.READINGS | {"listener.drops": drops, "tcp.TCPSynRetrans": resent}
    expected = {"accept queue": TIME_BASED | {"cpu_vs_generator"}} if fires else {}
    assert gates(make.trial(window, readings=readings), make.plan()) == expected


@pytest.mark.parametrize(
    ("cpu", "wait", "readings", "fires"),
    [
        (0.8, 1.0, {"server.busiest": 0.5}, True),
        (0.8, 0.99, {"server.busiest": 0.5}, False),
        (0.8, 1.0, {"server.busiest": 0.5, "server.cpu_user": 1.51}, False),
        (0.8, 1.0, {"server.busiest": 0.95, "server.cores": 4.0}, False),
        (0.8, 1.0, {"server.busiest": 0.5, "server.cpu_user": 1.51, "server.cores": 4.0}, True),
    ],
    ids=["fires", "generator below", "server full", "one process full", "4 cores"],
)
def test_generator_bound(cpu, wait, readings, fires):
    """A client at its limit before the server is withholds throughput, and keeps the CPU."""
    # 1.89 s in 2.1 s is exactly 0.9 of a core: a hair less is below the server's limit.
    values = make.READINGS | {"server.cpu_user": 1.49} | readings
    trial = make.trial(make.window(cpu=cpu, wait=wait), readings=values)
    expected = {"generator-bound": TIME_BASED} if fires else {}
    assert gates(trial, make.plan()) == expected


@pytest.mark.parametrize(
    ("cores", "busiest", "ok", "fires"),
    [
        (1.5, 0.75, 6000, True),
        (1.65, 0.75, 6000, False),
        (1.5, 0.85, 6000, False),
        (1.5, 0.75, 5000, False),
    ],
    ids=["fires", "busy in all windows", "one process busy", "requests left"],
)
def test_slowed_server_not_busy(cores, busiest, ok, fires):
    """A window of 3 ms in each 12 that answers 36 requests of 64 connections, or 30."""
    values = make.READINGS | {
        "server.cores": 2.0,
        "server.share": 0.25,
        "server.window": 0.003,
        "server.busiest": busiest,
        "server.cpu_user": 0.25 * cores * make.READINGS["elapsed"],
        "server.cpu_system": 0.0,
    }
    trial = make.trial(make.window(ok=ok), readings=values)
    expected = {"slowed server not busy": TIME_BASED} if fires else {}
    assert gates(trial, make.plan()) == expected


@pytest.mark.parametrize(("price", "least", "fires"), [(1.33, 1.1, True), (1.31, 1.1, False)])
def test_short_windows_of_one_server_and_not_of_the_other(price, least, fires):
    """A price that both pay changes no ratio."""
    trial = make.trial()
    prices = {trial.slot.arm.name: price, "other": least}
    names = {finding.gate.name for finding in judge(trial, prices=prices)}
    assert names == ({"short windows"} if fires else set())


def prices_of(**halved):
    """Return the prices of a run whose servers' requests cost so many times the CPU by trial."""
    cpu = derive(make.trial())["cpu"]
    trials = [
        make.trial(
            name=name,
            block=block,
            readings=make.READINGS | {"server.cpu_halved": ratio * cpu},
        )
        for name, ratios in halved.items()
        for block, ratio in enumerate(ratios)
    ]
    return prices(make.run(make.plan(*map(make.profile, halved)), trials))


def test_the_price_of_windows_is_the_mean_of_an_arms_trials():
    """Of six and more: the speed of a shared machine changes between two samples."""
    assert prices_of(baseline=[1.0, 1.44] * 3) == {"baseline": pytest.approx(1.25)}
    assert prices_of(baseline=[1.2] * 5) == {}


@pytest.mark.parametrize(
    ("price", "scatter", "dearer"),
    [(1.35, 1.05, 1.35), (1.35, 1.5, 1.0), (1.6, 1.8, 1.6)],
)
def test_a_price_that_may_be_chance_is_the_least_one_of_the_run(price, scatter, dearer):
    """Of a noisy machine the means of six trials differ by a fifth; 1.5 is too much for any."""
    halved = 2 - 1 / price
    around = [halved * scatter, halved / scatter] * 3
    expected = {"baseline": pytest.approx(1.0), "tuned": pytest.approx(dearer)}
    assert prices_of(baseline=[1.0] * 6, tuned=around) == expected


IDLE = {"server.cpu_user": 0.1, "server.cpu_system": 0.04, "server.busiest": 0.07}
"""Readings of a server that used 0.07 of its core."""


def test_a_server_whose_workers_wait_is_remarked_and_counts():
    """All connections stand in line, so the figure is the number of workers: a legitimate limit."""
    trial = make.trial(readings=make.READINGS | IDLE)
    (finding,) = judge(trial)
    assert (finding.gate.name, finding.withholds) == ("idle server", frozenset())
    assert finding.reason.startswith(
        "server and load were both idle: the server used 0.07 of 1 core, and the generator was "
        "busy for 35% of "
    )


def test_an_idle_event_loop_is_advised_of_what_it_has():
    """It waits for all connections at once, and only the threads of `def` handlers are counted."""
    profile = make.started_by(make.profile("a", server="command"), ("uvicorn", "shop:app"))
    trial = make.under(make.trial(readings=make.READINGS | IDLE), make.plan(profile))
    finding = next(finding for finding in judge(trial) if finding.gate.name == "idle server")
    assert "so its requests wait for" in finding.reason
    assert finding.advice.startswith("Try more connections")


def test_client_and_server_that_wait_for_each_other_measure_nothing():
    """Two replies a connection, at once, and then nothing until the window's end."""
    window = make.window(ok=128, replies=(2,) * 64, latency={900: 128}, latency_sum=0.12, cpu=0.01)
    trial = make.trial(window, readings=make.READINGS | IDLE)
    (finding,) = judge(trial)
    assert (finding.gate.name, finding.withholds) == ("idle server", None)
    assert finding.reason.endswith("; 128 replies on 64 connections in 2 s")


@pytest.mark.parametrize(
    ("latency_sum", "ok", "withholds"),
    [(0.12, 191, None), (0.12, 192, frozenset()), (85.4, 128, frozenset())],
    ids=["few", "enough replies", "a long line"],
)
def test_few_replies_are_void_only_where_they_explain_nothing(latency_sum, ok, withholds):
    """One slow worker gives few replies too, to clients that all stand in its line."""
    window = make.window(ok=ok, replies=(2,) * 64, latency={900: ok}, latency_sum=latency_sum)
    (finding,) = judge(make.trial(window, readings=make.READINGS | IDLE))
    assert (finding.gate.name, finding.withholds) == ("idle server", withholds)


@pytest.mark.parametrize(
    ("load", "readings"),
    [
        (COUNTED, {}),
        (OPEN, {}),
        (Load(), {"listener.drops": 5}),
        (Load(), {"server.cpu_user": 1.1}),
        (Load(), {"server.cpu_user": 1.1, "server.cores": 0.9}),
    ],
    ids=["counted", "open loop", "drops", "at work", "of fewer cores"],
)
def test_a_server_may_be_idle_for_a_reason(load, readings):
    """A load that pauses on purpose, and dropped handshakes, leave the server idle."""
    trial = make.trial(readings=make.READINGS | IDLE | readings)
    assert gates(trial, make.plan(load=load)) == {}


@pytest.mark.parametrize(
    ("promises", "opened", "expected"),
    [
        (True, 400, {}),
        (
            True,
            404,
            {"reconnects": TIME_BASED | {"cpu", "cpu_vs_generator", "switches"}},
        ),
        (False, 4000, {}),
    ],
    ids=["each for ten", "more", "no promise"],
)
def test_a_promise_to_keep_connections_is_checked(promises, opened, expected):
    """From one connection for ten replies on, all that holds their cost is withheld."""
    profile = replace(make.profile("baseline"), keepalive=promises)
    assert gates(make.trial(make.window(connections=opened)), make.plan(profile)) == expected


@pytest.mark.parametrize("load", [Load(keepalive=False), OPEN], ids=["not offered", "idle"])
def test_a_promise_is_not_broken_where_nobody_asks(load):
    """A client that closes, or leaves a connection idle for seconds, gets new ones."""
    profile = replace(make.profile("baseline"), keepalive=True)
    trial = make.trial(make.window(connections=4000))
    assert gates(trial, make.plan(profile, load=load)) == {}


def test_the_first_connections_of_a_counted_load_break_no_promise():
    """They have to be opened once."""
    profile = replace(make.profile("baseline"), keepalive=True)
    load = Load(connections=500, requests=4000)
    window = make.window(ok=4000, replies=(8,) * 500, connections=500)
    assert gates(make.trial(window), make.plan(profile, load=load)) == {}


def test_a_promise_is_not_judged_by_a_generator_that_does_not_know_its_connections():
    """ab tells their number within the load's, and not whose they are."""
    profile = replace(make.profile("baseline"), keepalive=True)
    load = Load(connections=500, requests=4000)
    window = make.window(ok=4000, replies=(), connections=500)
    assert gates(make.trial(window), make.plan(profile, load=load)) == {}


def test_a_server_that_keeps_what_it_does_not_promise_is_remarked():
    """Of a server of another kind nothing else says it, so the profile should."""
    peer = make.profile("baseline", server="command")
    kept, closed = make.trial(), make.trial(make.window(connections=4000))
    (finding,) = judge(make.under(kept, plan=make.plan(peer)))
    assert (finding.gate.name, finding.withholds) == ("reconnects", frozenset())
    assert judge(make.under(closed, plan=make.plan(peer))) == ()


def waited(latency, readings=None, **changes):
    """Return a trial of a half-idle server with such latencies, in milliseconds."""
    counts = {round(ms * 1000): count for ms, count in latency.items()}
    total = sum(counts.values())
    window = make.window(ok=total, latency=counts, replies=(total // 64,) * 64, **changes)
    calm = {"server.cpu_user": 1.0, "server.busiest": 0.6}
    return make.trial(window, readings=make.READINGS | calm | (readings or {}))


SPLIT = {41.984: 200, 43.776: 3000, 47.872: 700, 5.0: 100}
"""A reply in two pieces over a kept connection: 40 ms, and the kernel's ticks of 4 ms."""


@pytest.mark.parametrize(
    ("latency", "readings", "expected"),
    [
        (SPLIT, {"tcp.DelayedACKs": 3900}, {"quantised": TIME_BASED | {"cpu_vs_generator"}}),
        (SPLIT, {"tcp.DelayedACKs": 100}, {}),
        ({50.1: 3950, 80: 50}, {}, {"quantised": set()}),
        ({200.7: 400, 3: 3600}, {"tcp.TCPTimeouts": 400}, {"quantised": "time"}),
        ({200.7: 199, 3: 3801}, {"tcp.TCPTimeouts": 199}, {}),
        ({1000: 2000, 3: 2000}, {}, {"quantised": set()}),
    ],
    ids=["40 ms", "not counted", "50 ms", "sent again", "below 5 %", "a second"],
)
def test_replies_that_wait_for_a_timer(latency, readings, expected):
    """What the kernel counted is withheld; else the application may wait so long on purpose."""
    withheld = gates(waited(latency, readings), make.plan())
    if expected.get("quantised") == "time":
        expected = {"quantised": TIME_BASED | {"cpu_vs_generator"}}
    assert withheld == expected


def test_a_unix_socket_has_no_timer_of_the_kernels():
    """Where TCP was not counted a cluster is withheld; over a UNIX socket it is a remark."""
    waited_trial = waited({50.1: 3950, 80: 50})
    bare = {
        name: reading
        for name, reading in waited_trial.readings.items()
        if not name.startswith("tcp.")
    }
    trial = make.under(replace(waited_trial, readings=bare), plan=make.plan())
    withheld = {"quantised": TIME_BASED | {"cpu_vs_generator"}}
    assert gates(trial, make.plan()) == withheld
    arm = trial.slot.arm
    local = replace(arm, workload=replace(arm.workload, transport=Transport.UNIX))
    (finding,) = judge(replace(trial, slot=replace(trial.slot, arm=local)))
    assert (finding.gate.name, finding.withholds) == ("quantised", frozenset())


@pytest.mark.parametrize("centre", [40, 41, 44, 50, 200, 1000])
@pytest.mark.parametrize("spread", [0.06, 0.15])
def test_ordinary_latencies_are_no_timer(centre, spread):
    """Normal about a timer's value, acknowledged late and sent again: the neighbours are there."""
    chance = random.Random(centre)
    counts = Counter(round(chance.gauss(centre, spread * centre), 1) for _ in range(4000))
    noise = {"tcp.DelayedACKs": 4000, "tcp.TCPTimeouts": 4000, "tcp.TCPSynRetrans": 0}
    trial = waited(counts, noise)
    assert gates(trial, make.plan()).get("quantised") is None


def test_a_sharp_latency_of_a_busy_server_is_no_timer():
    """64 clients in the line of one worker that is at its limit all wait equally long."""
    trial = waited({50.1: 4000}, {"server.busiest": 0.95})
    assert gates(trial, make.plan()) == {}


def test_handshakes_lost_on_the_way_are_named_so():
    """A firewall drops every twentieth: sent again, late, and not by this server's queue."""
    trial = waited({3: 3800, 1003: 190, 2004: 10}, {"tcp.TCPSynRetrans": 210})
    (finding,) = judge(trial)
    assert finding.gate.name == "quantised"
    assert finding.reason == (
        "handshakes lost between client and server: 210 sent again, none dropped by this server, "
        "200 replies "
        "later than 0.9 s"
    )


def test_slow_replies_are_not_lost_handshakes():
    """Late replies without as many handshakes sent again are the server's own."""
    trial = waited({950: 1500, 1500: 1500, 2300: 1000}, {"tcp.TCPSynRetrans": 9})
    assert gates(trial, make.plan()) == {}


@pytest.mark.parametrize(
    ("errors", "readings", "expected"),
    [
        ({"ports": 1}, {}, {"ports": {"errors"}}),
        ({"ports": 400}, {}, {"ports": TIME_BASED | {"cpu_vs_generator", "errors"}}),
        (
            {"connect": 400},
            {"tcp.time_wait": 14200.0, "tcp.ports": 28232.0},
            {"ports": TIME_BASED | {"cpu_vs_generator", "errors"}},
        ),
        ({"connect": 400}, {"tcp.time_wait": 14100.0, "tcp.ports": 28232.0}, {"errors": "all"}),
        ({}, {"tcp.time_wait": 131072.0, "tcp.ports": 28232.0}, {}),
    ],
    ids=["one", "many", "not told apart", "another failure", "TIME_WAIT alone"],
)
def test_want_of_local_ports_is_not_the_servers_failure(errors, readings, expected):
    """Connections in TIME_WAIT are no failure: they may belong to other addresses."""
    trial = make.trial(make.window(errors=errors), readings=make.READINGS | readings)
    assert gates(trial, make.plan()) == expected


def paced(planned, ok, latency, **changes):
    """Return an open loop's window: latencies and service times in milliseconds."""
    counts = {round(ms * 1000): round(ok * share) for ms, share in latency.items()}
    served = {16_000: ok}
    unfinished = changes.get("queued", 0)
    changes = {
        "planned": planned, "service": served, "latency": counts, "unfinished": unfinished
    } | changes  # fmt: skip
    return make.window(ok=ok, replies=(ok // 64,) * 64, **changes)


def test_a_rate_that_the_server_keeps_is_sound():
    """Idle connections, and a latency that is the service time, are what an open loop is for."""
    window = paced(4000, 3990, {16: 1.0}, latency_sum=60.0, unfinished=20)
    trial = make.trial(window, readings=make.READINGS | {"server.cpu_user": 0.2})
    assert gates(trial, make.plan(load=OPEN)) == {}


@pytest.mark.parametrize("queued", [0, 600])
def test_a_rate_that_the_server_does_not_keep_has_no_latency(queued):
    """It is as long as the window lasts; throughput and CPU per request still count."""
    window = paced(4000, 3400, {300: 0.5, 500: 0.5}, queued=queued)
    trial = make.trial(window)
    assert gates(trial, make.plan(load=OPEN)) == {"overload": PERCENTILES}
    assert judge(make.under(trial, plan=make.plan(load=OPEN)))[0].reason.startswith(
        "1,700 of 2,000 requests/s were answered"
    )


@pytest.mark.parametrize(("queued", "low"), [(530, {}), (560, {"p99"}), (1000, {"p90", "p99"})])
def test_a_stall_at_the_windows_end_is_no_overload(queued, low):
    """Between stalls the rate is kept; but the latest stall is missing from the percentiles."""
    window = paced(4000, 3900 - queued, {16: 0.75, 250: 0.25}, queued=queued)
    expected = {"cut off": set(low)} if low else {}
    assert gates(make.trial(window), make.plan(load=OPEN)) == expected


def test_a_server_that_stalls_to_the_end_has_no_percentile():
    """All replies came before it, at once: not one of them is the truth."""
    window = paced(4000, 1500, {1: 1.0}, queued=2436)
    (finding,) = judge(make.under(make.trial(window), plan=make.plan(load=OPEN)))
    assert (finding.gate.name, finding.withholds) == ("cut off", {"p50", "p90", "p99"})
    assert "2,436 of 3,936 requests had no reply" in finding.reason
    assert "the oldest after 1.22 s or more" in finding.reason


@pytest.mark.parametrize(
    ("stalled", "low"), [(6, set()), (7, {"p99"}), (60, {"p90", "p99"})], ids=["6", "7", "60"]
)
def test_a_stall_at_the_end_is_seen_while_connections_are_free(stalled, low):
    """What was sent and not answered is missing from the percentiles like what is queued."""
    window = paced(500, 500 - stalled, {2: 1.0}, wall=5.0, unfinished=stalled)
    load = Load(connections=64, rate=100.0)
    expected = {"cut off": low} if low else {}
    assert gates(make.trial(window), make.plan(load=load)) == expected


def test_each_generator_process_has_a_request_that_has_just_become_due():
    """Two processes with 6 unfinished of 500 are sound where one is not."""
    load = Load(connections=64, rate=100.0)
    one = paced(500, 493, {2: 1.0}, wall=5.0, unfinished=7)
    half = paced(250, 247, {2: 1.0}, wall=5.0, unfinished=3)
    other = replace(half, process=2, unfinished=4)
    assert gates(make.trial(one), make.plan(load=load)) == {"cut off": {"p99"}}
    assert gates(make.trial(half, other), make.plan(load=load)) == {}


def test_a_rate_that_the_generator_cannot_make_is_its_own():
    """The queue is the client's, so the server is not blamed."""
    window = paced(4000, 3400, {300: 1.0}, queued=600, cpu=1.9)
    readings = make.READINGS | {"server.cpu_user": 0.5, "server.busiest": 0.4}
    trial = make.trial(window, readings=readings)
    assert gates(trial, make.plan(load=OPEN)) == {"generator-bound": TIME_BASED}


def test_a_busy_generator_that_keeps_the_rate_does_no_harm():
    """In an open loop it is the sends that have to be on time."""
    window = paced(4000, 4000, {16: 1.0}, cpu=1.9)
    readings = make.READINGS | {"server.cpu_user": 0.5, "server.busiest": 0.4}
    assert gates(make.trial(window, readings=readings), make.plan(load=OPEN)) == {}


@pytest.mark.parametrize(("late", "fires"), [(40, False), (41, True)])
def test_requests_sent_late_are_the_generators(late, fires):
    """Above 1 % p99 is made of them."""
    trial = make.trial(paced(4000, 4000, {16: 1.0}, late=late))
    expected = {"late generator": TIME_BASED} if fires else {}
    assert gates(trial, make.plan(load=OPEN)) == expected


@pytest.mark.parametrize(
    ("reading", "limit", "above"),
    [
        ("machine.foreign_cpu", 0.10, 0.11),
        ("machine.steal", 0.02, 0.021),
        ("machine.throttled", 0.0, 1.0),
    ],
)
def test_a_disturbed_trial_is_to_be_repeated_and_still_counts(reading, limit, above):
    """A cause outside asks for a repeat; what is left of it is priced by the A/A arm."""
    calm = make.trial(readings=make.READINGS | {reading: limit})
    disturbed = make.trial(readings=make.READINGS | {reading: above})
    assert judge(calm) == ()
    (finding,) = judge(disturbed)
    assert (finding.gate.name, finding.withholds, finding.gate.outside) == (
        "machine",
        frozenset(),
        True,
    )


def test_a_trial_that_others_had_half_of_does_not_count():
    """From half a core for each of the server's on, every figure is withheld."""
    half = make.trial(readings=make.READINGS | {"machine.foreign_cpu": 0.51})
    four = make.trial(readings=make.READINGS | {"machine.foreign_cpu": 0.51, "server.cores": 4.0})
    assert [finding.withholds for finding in judge(half)] == [None]
    assert [finding.withholds for finding in judge(four)] == [frozenset()]
    reasons = [finding.reason for trial in (half, four) for finding in judge(trial)]
    # The limit that decided, and not the one that only asks for a repeat.
    assert reasons == [f"other programs used 0.51 cores (limit {x})" for x in ("0.50", "0.40")]


def test_more_blocks_are_no_advice_where_none_would_count():
    """Only where what others took widens the intervals."""
    taken = (make.READINGS | {"machine.foreign_cpu": share} for share in (0.11, 0.51))
    mild, severe = (judge(make.trial(readings=readings))[0].advice for readings in taken)
    assert mild == "Stop other work on this machine, or run more blocks."
    assert severe == "Stop other work on this machine: until then no block is valid."


def test_the_noise_check_does_not_advise_what_the_gate_excludes():
    """More blocks help if trials are missing, and not if other programs make them invalid."""
    run = make.ladder_run({"baseline": (2000, 480e-6), "tuned": (8000, 118e-6)})
    first = tuple(trial for trial in run.trials if trial.slot.block == 0)
    busy = {"machine.foreign_cpu": 0.6}
    crowded = tuple(
        replace(trial, readings=trial.readings | busy)
        if trial.slot.arm.profile.name == "baseline"
        else trial
        for trial in run.trials
    )
    for trials, voided in ((first, False), (crowded, True)):
        warned = summarise(replace(run, trials=trials)).warnings
        assert [notice for notice in warned if isinstance(notice, NoiseUnknown)] == [
            NoiseUnknown("baseline", voided)
        ]
    assert NoiseUnknown("baseline").sentence().endswith(" Run more blocks.")
    assert "Run more" not in NoiseUnknown("baseline", voided=True).sentence()


def test_an_unpinned_server_may_use_every_core():
    """0.6 of 16 cores are no disturbance; of a core alone, where nothing was read, they are."""
    unpinned = {name: value for name, value in make.READINGS.items() if name != "server.cores"}
    foreign = unpinned | {"machine.foreign_cpu": 0.6}
    sixteen = make.trial(readings=foreign | {"machine.cores": 16.0})
    assert "machine" not in gates(sixteen, make.plan())
    assert gates(make.trial(readings=foreign), make.plan()) == {"machine": "all"}


def test_a_server_that_did_not_start_says_its_last_words():
    """The reason is the failure and the log's last line."""
    trial = make.trial(windows=(), failure="it ended with status 1", log=("no app found", ""))
    (finding,) = judge(trial)
    assert (finding.gate.name, finding.withholds) == ("server died", None)
    assert finding.reason == "it ended with status 1; its log ends: no app found"


def test_a_load_that_was_given_up_is_not_the_servers_death():
    """It had started; what the generator said is the reason."""
    failure = "the load was given up: ab ended with status 104:\nreset by peer"
    trial = make.trial(windows=(), failure=failure, failed=Failure.LOAD)
    (finding,) = judge(trial)
    assert (finding.gate.name, finding.withholds) == ("no load", None)
    assert finding.reason == "the load was given up: ab ended with status 104: reset by peer"


def test_a_server_that_ended_under_load_voids_the_trial():
    """Its replies until then say nothing of what it would have gone on to do."""
    trial = make.trial(failure="the server ended before the window's end")
    assert gates(trial, make.plan()) == {"server died": "all"}


def shown(gate):
    """Return the names of the gates that its bad example fires, and of those of its good one."""
    example = EXAMPLES[gate]
    return [
        [finding.gate.name for finding in judge(trial, example.swept, {trial.slot.arm.name: price})]
        for trial, price in zip((example.bad, example.good), example.prices, strict=True)
    ]


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.name)
def test_every_gate_fires_on_its_bad_example_alone(gate):
    """Nothing is wrong with the good one, which differs in little."""
    bad, good = shown(gate)
    assert gate.name in bad
    assert good == []


def test_no_two_gates_have_a_name_or_a_place_in_common():
    """So each has one footnote, and the order in which they are asked is known."""
    assert len({gate.name for gate in GATES}) == len({gate.place for gate in GATES}) == len(GATES)


def test_no_gate_is_known_by_its_name():
    """Whoever looks for one in `lab` refers to it, or asks what it says of itself."""
    names = {gate.name for gate in GATES}
    for path in Path("lab").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                words = {
                    constant.value
                    for constant in ast.walk(node)
                    if isinstance(constant, ast.Constant)
                }
                text = ast.unparse(node)
                assert not ("gate" in text and names & words), f"{path}: {text}"


def test_every_gate_has_its_row_on_the_page():
    """Whoever reads the name in a report finds there when it fires, what it takes away, and why."""
    page = Path("docs/reference/gates-and-causes.md").read_text(encoding="utf-8")
    table = page.partition("<!-- gates -->")[2].partition("<!-- end -->")[0]
    rows = re.findall(r"^\| ([a-z][\w -]*) \|", table, re.MULTILINE)
    assert rows == ["gate", *(gate.name for gate in GATES)]
