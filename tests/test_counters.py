"""Counter-runs: profiles that differ in the one setting that a cause names, and start."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from lab.analysis.diagnose import causes
from lab.analysis.observations import observed
from lab.bench import profiles, workloads
from lab.bench.machine import project
from lab.bench.profiles import backing
from lab.bench.servers.fetch import fetch
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials import counter_runs
from lab.bench.trials.available import Installation
from lab.bench.trials.counter_runs import BY_CAUSE, MOST, changed, plan_counters, render
from lab.bench.workloads import workload
from lab.config.difference import Difference, difference
from lab.model.plan import Better, Load, Role
from lab.model.profile import Profile
from lab.model.runtime import Runtime
from tests.kit import builders as make
from tests.kit.lab_process import ROOT
from tests.kit.uwsgi_options import confirmed

FRONT = "{host}:{port}"
BUSY = {"server.cpu_user": 1.6, "server.cpu_system": 0.45}
ROUTED = BUSY | {"server.router": 0.33}
CROWD = Load(connections=300, keepalive=False, requests=3000)


@pytest.fixture(scope="module")
def real():
    """Return profiles of this project, resolved."""
    return {name: profiles.read(name) for name in ("baseline", "http-socket", "thunder-lock")}


def plan_with(*chosen, load=None):
    """Return a plan of real profiles and the real workload."""
    return make.altered(make.plan(*chosen, load=load), workload=workload("fib"))


def arm(profile, load=None):
    """Return the arm of a real profile, asked for the real workload."""
    return plan_with(profile, load=load).arms[0]


def toggled(cause, of, folder=ROOT):
    """Return an arm's profile with what a cause names otherwise."""
    move = BY_CAUSE[cause].move(of)
    return changed(of.profile, "toggled", folder / "toggled.ini", move)


def run_of(plan, *shown):
    """Return two blocks in which each profile shows its readings."""
    trials = [
        make.trial(
            block=block,
            position=position,
            of=the_arm.profile,
            load=the_arm.load,
            readings=make.READINGS | readings,
        )
        for block in range(2)
        for position, (the_arm, readings) in enumerate(zip(plan.arms, shown, strict=True))
    ]
    return make.run(plan, trials)


@pytest.mark.parametrize(
    ("profile", "cause", "step"),
    [
        ("baseline", "accept queue", Difference(added=(("listen", "600"),))),
        (
            "baseline",
            "router",
            Difference(added=(("http-socket", FRONT),), removed=(("http", FRONT),)),
        ),
        ("baseline", "single worker", Difference(added=(("processes", "2"),))),
        ("baseline", "logging", Difference(added=(("disable-logging", "true"),))),
        (
            "http-socket",
            "GIL",
            Difference(changed=(("processes", "4", "8"), ("threads", "2", "1"))),
        ),
        ("http-socket", "workers asleep", Difference(changed=(("processes", "4", "8"),))),
        ("http-socket", "memory", Difference(changed=(("processes", "4", "2"),))),
        (
            "thunder-lock",
            "lock convoy",
            Difference(changed=(("thunder-lock", "true", "false"),)),
        ),
        (
            "thunder-lock",
            "respawning",
            Difference(removed=(("max-worker-lifetime", "30"), ("max-worker-lifetime-delta", "7"))),
        ),
        ("http-socket", "server CPU", Difference()),
    ],
)
def test_a_counter_run_changes_one_thing(real, tmp_path, profile, cause, step):
    """As uWSGI itself resolves the written file."""
    path = tmp_path / "toggled.ini"
    of = arm(real[profile], CROWD)
    path.write_text(render(toggled(cause, of, tmp_path), of.profile))
    written = replace(real[profile], options=confirmed(path))
    assert difference(written, real[profile]) == step


HOSTILE = """set-ph = name=p%%40ss
inherit = base.ini
env = DATABASE_URL=postgres://u:%(name)@h/db?a=50%%
log-date = %%Y-%%m-%%d
for = a b
env = X_%(_)=1
endfor =
http = 127.0.0.1:$(PORT)
"""


def test_a_counter_run_of_a_users_ini_changes_one_thing(tmp_path):
    """Its text is that of uWSGI's answer: no `%` is eaten, and no include undoes the change."""
    (tmp_path / "base.ini").write_text("[uwsgi]\nprocesses = 3\nthreads = 4\n")
    ini, copy = tmp_path / "mine.ini", tmp_path / "copy.ini"
    ini.write_text(f"[uwsgi]\n{HOSTILE}")
    here = Runtime(cwd=tmp_path)
    options = confirmed(ini, here)
    assert ("env", "DATABASE_URL=postgres://u:p%40ss@h/db?a=50%") in options
    mine = replace(make.profile("mine"), path=ini, options=options)
    copy.write_text(render(toggled("GIL", arm(mine)), mine))
    served = replace(mine, options=confirmed(copy, here))
    step = Difference(changed=(("processes", "3", "12"), ("threads", "4", "1")))
    assert difference(served, mine) == step


@pytest.mark.parametrize(
    ("profile", "cause"),
    [
        ("http-socket", "accept queue"),
        ("http-socket", "router"),
        ("http-socket", "logging"),
        ("http-socket", "lock convoy"),
        ("baseline", "respawning"),
        ("baseline", "GIL"),
        ("baseline", "memory"),
        ("baseline", "reconnecting"),
    ],
)
def test_nothing_is_toggled_that_is_not_there(real, profile, cause):
    """A queue that is long enough, a router that is not used: no counter-run."""
    assert BY_CAUSE[cause].move(arm(real[profile])) is None


def test_keeping_connections_gives_each_a_worker(real):
    """Else they would starve; and clients that close by themselves are told not to."""
    profile = real["http-socket"]
    assert BY_CAUSE["reconnecting"].move(arm(profile)) is None  # 64 would be too many
    few = arm(profile, Load(connections=15))
    options = dict(toggled("reconnecting", few).options)
    assert (options["http11-socket"], options["processes"]) == (FRONT, "8")
    keeping = replace(profile, keepalive=True)
    closing = arm(keeping, Load(keepalive=False))
    toggle = BY_CAUSE["reconnecting"].move(closing)
    assert (toggle.load.keepalive, toggle.steps) == (True, ())


@pytest.mark.parametrize("header", ["Connection: close", "connection:  Close"])
def test_keeping_connections_drops_the_header_that_closes_them(real, header):
    """Else nothing would be toggled; other headers stay."""
    headers = (("add-header", "X-A: b"), ("add-header", header))
    closing = real["http-socket"]
    closing = replace(closing, options=(*closing.options, *headers))
    few = arm(closing, Load(connections=15))
    options = toggled("reconnecting", few).options
    assert [pair for pair in options if pair[0] == "add-header"] == [("add-header", "X-A: b")]


@pytest.mark.parametrize("word", ["1", "True", "yes"])
def test_a_log_that_is_off_in_other_words_is_not_toggled(real, word):
    """uWSGI takes any word for yes but false, off, no and 0."""
    quiet = replace(real["baseline"], options=(("disable-logging", word),))
    assert BY_CAUSE["logging"].move(arm(quiet)) is None


def test_two_causes_with_the_same_toggle_make_one_counter_run(real, tmp_path):
    """A log that costs CPU and one that waits for the disk are both put off once."""
    logged = {"server.log_pipe": 1.0, "server.cpu_user": 0.5, "server.busiest": 0.3}
    run = run_of(plan_with(real["baseline"]), logged | {"pressure.io_some": 0.2})
    assert [cause.name for cause in causes(observed(run.trials[0]))] == ["logging", "I/O wait"]
    (counter,) = plan_counters(run, tmp_path)
    assert (counter.cause, counter.toggle) == ("logging", "disable-logging")


def test_each_cause_is_tested_once_where_it_is_shown_first(real, tmp_path):
    """A ladder of profiles with the same cause gets one counter-run."""
    first, second, last = (
        real["baseline"],
        replace(real["baseline"], name="again"),
        real["http-socket"],
    )
    run = run_of(plan_with(first, second, last), ROUTED, ROUTED, BUSY)
    planned = plan_counters(run, tmp_path / "counter")
    assert [(counter.of, counter.cause) for counter in planned] == [
        ("baseline", "router"),
        ("http-socket", "server CPU"),
    ]
    router, cpu = planned
    assert router.arm.profile.name == "baseline~http-socket"
    assert router.arm.profile.path == (tmp_path / "counter/baseline~http-socket.ini").resolve()
    assert (router.metric, router.expects) == ("throughput", Better.HIGHER)
    assert cpu.arm.workload.app == "loadtests.workloads.hello:app"
    assert len(planned) <= MOST


def test_the_second_cause_of_a_profile_is_tested_too(real, tmp_path):
    """After the first ones."""
    logged = ROUTED | {"server.logged": 400_000.0}
    planned = plan_counters(run_of(plan_with(real["baseline"]), logged), tmp_path)
    assert [counter.cause for counter in planned] == ["router", "logging"]


def test_late_replies_are_looked_for_in_the_tail(real, tmp_path):
    """Dropped handshakes make p99 a retry timer's; it has to fall."""
    late = make.window(latency={15_000: 3600, 1_200_000: 400}, latency_sum=534.0)
    dropped = make.READINGS | {"listener.drops": 294.0, "tcp.TCPSynRetrans": 199.0}
    trials = [make.trial(late, block=block, readings=dropped) for block in range(2)]
    run = make.run(plan_with(real["baseline"], load=CROWD), trials)
    (counter,) = plan_counters(run, tmp_path)
    assert (counter.cause, counter.metric, counter.expects) == ("accept queue", "p99", Better.LOWER)
    assert dict(counter.arm.profile.options)["listen"] == "600"


def test_other_servers_have_no_counter_runs(real, tmp_path):
    """Their options are not known here."""
    peer = replace(real["baseline"], server="command")
    assert plan_counters(run_of(plan_with(peer), ROUTED), tmp_path) == ()


BUSY_BACKEND = {"backend.cpu": 1.75, "server.cpu_user": 0.2, "server.cpu_system": 0.05}
POOLED = ("tornado-asyncpg-connect", "tornado-asyncpg-pool")


@pytest.fixture
def asked_of_uvicorn(tmp_path):
    """Return what makes the counter-run of a cause, of two workers of our uvicorn."""
    plan = make.altered(make.plan(profiles.read("uvicorn")), workload=workload("asgi-def"))

    def planned(cause, readings):
        number = {"workers.number": 2.0}
        trials = [
            make.trial(
                block=block,
                of=plan.arms[0].profile,
                readings=make.READINGS | readings | (number if block else {}),  # not in each window
            )
            for block in range(2)
        ]
        (counter,) = plan_counters(make.run(plan, trials), tmp_path)
        assert counter.cause == cause
        return counter.arm

    return planned


LAZY = {"server.cpu_user": 0.05, "server.cpu_system": 0.02, "server.busiest": 0.03}


def test_a_blocked_event_loop_is_tested_by_twice_the_workers(asked_of_uvicorn):
    """As many as the trials had, doubled."""
    readings = LAZY | {"workers.elsewhere": 0.9}
    (command,) = asked_of_uvicorn("event loop blocked", readings).profile.commands
    assert command[command.index("--workers") + 1] == "4"


def test_a_full_pool_is_tested_by_a_larger_one(asked_of_uvicorn, tmp_path):
    """In the process of the server, without a change of the application."""
    readings = LAZY | {"workers.elsewhere": 0.1, "workers.waiting_threads": 39.7}
    the_workload = asked_of_uvicorn("thread pool full", readings).workload
    path = the_workload.runtime.variables.reveal()["PYTHONPATH"]
    assert Path(path.split(":")[0], "sitecustomize.py").is_file()


SPREAD = {
    "server.cpu_user": 2.1,
    "server.cpu_system": 1.1,
    "server.busiest": 1.6,
    "server.busiest_threads": 5.0,
    "server.switches_voluntary": 24_000.0,
}


def cpus_below(pid):
    """Return the CPUs that a server may use."""
    below = psutil.Process(pid).children(recursive=True)
    assert below
    return {cpu for process in below for cpu in process.cpu_affinity()}


def test_threads_that_wake_each_other_are_tested_on_one_cpu(asked_of_uvicorn, tmp_path):
    """Of those that the server may use."""
    made = asked_of_uvicorn("CPU affinity", SPREAD)
    with ServerRunner().start(made.profile, made.workload, tmp_path, [1]) as server:
        assert cpus_below(server.pid) == {1}
    with ServerRunner().start(made.profile, made.workload, tmp_path, None) as server:
        assert cpus_below(server.pid) == {min(os.sched_getaffinity(0))}


@pytest.mark.parametrize("tokens", [None, 8])
def test_the_pool_is_larger_than_the_application_made_it(tokens, tmp_path):
    """Five times what it is when the first handler is called."""
    hook = ROOT / "lab/bench/servers/hook.py"
    (tmp_path / "sitecustomize.py").write_text(hook.read_text())
    program = (
        "import anyio\n"
        "async def main():\n"
        "    pool = anyio.to_thread.current_default_thread_limiter()\n"
        f"    pool.total_tokens = {tokens} or pool.total_tokens\n"
        "    for _ in range(2):\n"
        "        assert await anyio.to_thread.run_sync(abs, -3) == 3\n"
        "    print(pool.total_tokens)\n"
        "anyio.run(main)\n"
    )
    env = os.environ | {"PYTHONPATH": str(tmp_path), "LAB_WATCH": '{"pool": 5}'}
    printed = subprocess.check_output([sys.executable, "-c", program], env=env, text=True)
    assert int(printed) == 5 * (tokens or 40)


def asking_a_database(*chosen, services=("postgres",)):
    """Return a run in which the backend used up the cores, of peers that ask those services."""
    the_workload = workloads.read("db").workload
    plan = make.altered(make.plan(*chosen), workload=the_workload)
    started = tuple(backing.read(project.backing() / f"{name}.toml") for name in services)
    return run_of(replace(plan, backing=started), *[BUSY_BACKEND] * len(chosen))


@pytest.fixture
def installed(monkeypatch):
    """Let every profile be installed, whatever is here; return a function that makes one not so."""
    missing = {}

    def look(name, _runtime):
        return Installation(profiles.described(name), missing.get(name))

    monkeypatch.setattr(counter_runs, "look", look)
    return missing


@pytest.mark.parametrize("names", [POOLED[:1], POOLED, POOLED[::-1]])
def test_a_peer_names_what_tests_its_cause(installed, tmp_path, names):
    """Another peer, which serves its own application; also where that is compared anyway."""
    (counter,) = plan_counters(asking_a_database(*map(profiles.described, names)), tmp_path)
    assert (counter.of, counter.cause) == ("tornado-asyncpg-connect", "backend")
    assert counter.toggle == "tornado-asyncpg-pool instead"
    assert (counter.metric, counter.expects) == ("throughput", Better.HIGHER)
    assert counter.arm.name == "tornado-asyncpg-connect~tornado-asyncpg-pool"
    assert counter.arm.role is Role.COUNTER
    assert counter.arm.workload.app == "tornado_postgres:asyncpg_pool"
    assert counter.arm.profile.commands == profiles.described(POOLED[1]).commands


def test_a_peer_that_cannot_be_asked_tests_nothing(installed, tmp_path):
    """It is not installed, or the service that it asks was not started for this run."""
    connect = profiles.described(POOLED[0])
    assert plan_counters(asking_a_database(connect, services=()), tmp_path) == ()
    other = replace(connect, peer=replace(connect.peer, counters=(("backend", "granian"),)))
    assert plan_counters(asking_a_database(other), tmp_path) == ()  # it has no application for it
    installed[POOLED[1]] = "needs asyncpg"
    assert plan_counters(asking_a_database(connect), tmp_path) == ()


def test_a_counter_run_starts_and_serves_any_application(real, tmp_path):
    """It is started like every profile, with the application that the environment names."""
    path = tmp_path / "baseline~http-socket.ini"
    of = arm(real["baseline"])
    path.write_text(render(toggled("router", of, tmp_path), of.profile))
    variant = profiles.read(str(path))
    assert isinstance(variant, Profile)
    for the_workload in (workload("fib"), workload("hello")):
        folder = tmp_path / the_workload.name
        folder.mkdir()
        with ServerRunner().start(variant, the_workload, folder, None) as server:
            status, _, body = fetch(server.endpoint, the_workload.path, 5.0)
            assert (status, body) == (200, the_workload.expect.body)


def test_a_counter_run_of_a_private_copy_reaches_no_further(tmp_path, monkeypatch):
    """It is the copy with one change: whoever starts it says where it listens and writes."""
    ini = tmp_path / "mine.ini"
    ini.write_text(
        "[uwsgi]\nsocket = live.sock\nlogto = live.log\nthreads = 4\ncron = 1 2 3 4 5 x\n"
    )
    mine = profiles.read(str(ini))
    threaded = toggled("GIL", arm(mine))
    copy = tmp_path / "copy.ini"
    copy.write_text(render(threaded, mine))
    monkeypatch.setenv("SOCKET", "{socket}")
    monkeypatch.setenv("FOLDER", "{folder}")
    assert confirmed(copy) == threaded.options
    assert dict(threaded.options)["socket"] == "{socket}"
    assert "SOCKET=/tmp/new/a.sock FOLDER=/tmp/new uwsgi FILE" in copy.read_text()
