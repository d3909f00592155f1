"""Moves: what is tried on which configuration, and how its server is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lab.cli.tune.allowed import new_fault, tries
from lab.cli.tune.moves import Facts, ground_of, moves, seen
from lab.config.configuration import Known
from lab.config.gunicorn.server import GUNICORN
from lab.config.reading import read
from lab.config.steps import Drop, Put, Rename
from lab.config.uwsgi.steps import DIRECT, FRONT, KEPT

FACTS = Facts(cores=2, connections=64, threads=True)


@pytest.fixture
def ground(tmp_path):
    """Return what makes a ground of the text of a file, or of a command."""

    def made(text, name="uwsgi.ini"):
        if name:
            (tmp_path / name).write_text(text)
        typed = str(tmp_path / name) if name else text
        return ground_of(typed, read(typed, Known()), cpus=2)

    return made


def tried(base_ground, facts=FACTS, *, fixed=(), champion=None, first=True):
    """Return group -> values of what is tried."""
    by_group = {}
    for contender in moves(base_ground, facts, fixed, champion or {}, first=first):
        by_group.setdefault(contender.group, []).append(dict(contender.values))
    return by_group


INI = "[uwsgi]\nhttp = :8000\nmodule = shop\nprocesses = 2\n"


def test_an_ini_is_tried_with_each_group_of_settings(ground):
    """Who speaks HTTP, workers and threads, the queue, the log of requests, the lock."""
    by_group = tried(ground(INI))
    assert set(by_group) == {"front", "workers", "queue", "log", "lock"}
    assert by_group["front"] == [{FRONT: DIRECT}, {FRONT: KEPT}]
    assert {"workers": "8", "threads": "16"} in by_group["workers"]


def test_what_is_there_already_is_not_tried(ground):
    """No move sets what the file sets."""
    text = f"{INI}threads = 4\nlisten = 4096\ndisable-logging = true\nthunder-lock = true\n"
    by_group = tried(ground(text))
    assert set(by_group) == {"front", "workers", "lock"}
    assert by_group["lock"] == [{"turns": "false"}]
    assert {} in by_group["workers"]  # two processes with four threads: the champion itself


def test_an_application_that_may_not_run_in_threads_gets_processes(ground):
    """Their number alone is moved, and follows from how long it waits."""
    facts = seen(Facts(2, 64, threads=False), 2, rate=40.0, cpu=0.0005, share=0.01)
    assert facts.wanted == 64
    candidates = tried(ground(INI), facts)["workers"]
    assert {"workers": "64"} in candidates
    assert all("threads" not in values for values in candidates)


def test_workers_that_wait_get_as_many_threads_as_keep_the_cores_busy(ground):
    """By Little's law, with room."""
    facts = seen(FACTS, 2, rate=100.0, cpu=0.002, share=0.1)
    assert facts.wanted == 26  # 2 cores x 20 ms in 2 ms, and 30 % more
    assert {"threads": "16"} in tried(ground(INI), facts)["workers"]


def test_busy_workers_get_none_computed():
    """Who computes all the time keeps the cores busy as it is."""
    assert seen(FACTS, 2, rate=900.0, cpu=0.002, share=0.95).wanted is None


def test_later_rounds_look_beside_the_champion(ground):
    """One step up and down; what is no number is not tried again."""
    by_group = tried(ground(INI), champion={"workers": "4", "threads": "16"}, first=False)
    assert by_group["workers"] == [
        {"workers": "3", "threads": "16"}, {"workers": "6", "threads": "16"},
        {"workers": "4", "threads": "8"}, {"workers": "4", "threads": "32"},
    ]  # fmt: skip
    assert set(by_group) == {"workers", "lock"}


def test_a_group_that_is_fixed_is_not_tried(ground):
    """As --without says, or `cheaper` does."""
    assert "workers" not in tried(ground(INI), fixed={"workers"})


@pytest.mark.parametrize(
    ("text", "name", "values", "told"),
    [
        (INI, "uwsgi.ini", {"workers": "4"}, (Put("processes", "4"), Put("master", "true"))),
        (f"{INI}master = 1\n", "uwsgi.ini", {"workers": "4"}, (Put("processes", "4"),)),
        (f"{INI}http-keepalive = 1\n", "uwsgi.ini", {FRONT: DIRECT},
         (Rename("http", "http-socket"), Drop("http-keepalive"),
          Put("add-header", "Connection: close"))),
        (INI, "uwsgi.ini", {FRONT: KEPT}, (Put("http-keepalive", "1"),)),
        (INI, "uwsgi.ini", {"access-log": "false"},
         (Put("disable-logging", "true"), Put("log-4xx", "true"), Put("log-5xx", "true"))),
        (INI, "uwsgi.ini", {"turns": "true"}, (Put("thunder-lock", "true"),)),
        ("workers = 2\n", "gunicorn.conf.py", {"workers": "4", "threads": "8"},
         (Put("workers", "4"), Put("threads", "8"), Put("worker_class", "gthread"))),
        ("accesslog = '-'\n", "gunicorn.conf.py", {"access-log": "false"},
         (Drop("accesslog"),)),
        ("workers = 2\n", "gunicorn.conf.py", {"greenlets": "100"},
         (Put("worker_class", "gevent"), Put("worker_connections", "100"))),
        ("granian --interface wsgi --blocking-threads 1 a:b", "", {"threads": "8"},
         (Put("blocking-threads", "8"),)),
        ("granian --interface wsgi a:b", "", {"workers": "2"},
         (Put("workers", "2"), Put("respawn-failed-workers", "true"))),
        ("granian --interface wsgi --access-log a:b", "", {"access-log": "false"},
         (Drop("access-log"),)),
        ("granian --interface wsgi a:b", "", {"runtime-mode": "mt"},
         (Put("runtime-mode", "mt"),)),
    ],
)  # fmt: skip
def test_each_server_is_told_in_its_own_words(ground, text, name, values, told):
    """One meaning, and the options that go with it."""
    base_ground = ground(text, name)
    assert base_ground.server.steps(base_ground.config, values) == told


def test_a_command_of_granian_is_tried_with_its_runtime(ground):
    """What people get wrong there: workers, blocking threads, the runtime's threads and mode."""
    by_group = tried(ground("granian --interface wsgi --workers 1 --blocking-threads 1 a:b", ""))
    assert {"runtime-threads": "2"} in by_group["runtime"]
    assert {"runtime-mode": "mt"} in by_group["runtime"]
    assert {"workers": "2", "threads": "16"} in by_group["workers"]


ONE_WORKER = "granian --interface wsgi --workers 1 --blocking-threads 8 a:b"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (ONE_WORKER, ""),
        ("uvicorn a:b", ""),
        ("gunicorn --threads 8 a:b", ""),
        ("hypercorn a:b", ""),
        (f"#!/bin/sh\n. /etc/shop\nexec {ONE_WORKER}\n", "granian"),
    ],
)
def test_one_worker_is_tried_on_one_cpu(ground, text, name):
    """Its threads wake each other across CPUs."""
    assert tried(ground(text, name), replace(FACTS, first_cpu=3))["affinity"] == [{"affinity": "3"}]


@pytest.mark.parametrize(
    ("text", "name", "facts"),
    [
        (ONE_WORKER.replace("--workers 1", "--workers 2"), "", FACTS),
        (ONE_WORKER, "", replace(FACTS, cores=1)),
        (f"taskset -c 1 {ONE_WORKER}", "", FACTS),
        (f"numactl -C 1 {ONE_WORKER}", "", FACTS),
        ("uvicorn --env-file shop.env a:b", "", FACTS),
        ("workers = 1\nthreads = 8\n", "gunicorn.conf.py", FACTS),
        (INI.replace("= 2", "= 1"), "uwsgi.ini", replace(FACTS, first_cpu=2)),
    ],
    ids=[
        "two workers",
        "one CPU",
        "bound",
        "bound by numactl",
        "variables in a file",
        "no command",
        "not CPU 0",
    ],
)
def test_a_server_that_cannot_gain_by_one_cpu_is_not_tried_on_it(ground, text, name, facts):
    """Nor one whose configuration cannot say it."""
    assert "affinity" not in tried(ground(text, name), facts)


def test_more_workers_than_one_are_not_bound_to_one_cpu(ground):
    """Later rounds try them on all CPUs."""
    by_group = tried(ground(ONE_WORKER, ""), champion={"affinity": "0"}, first=False)
    assert {"workers": "2"} in by_group["workers"]
    assert {"affinity": "0", "threads": "16"} in by_group["workers"]


def test_uwsgi_is_not_bound_to_a_cpu_as_the_linter_calls_that_dangerous(ground):
    """Its option counts CPUs from 0, whatever the others do."""
    base_ground = ground(INI.replace("= 2", "= 1"))
    assert new_fault(base_ground, {"affinity": "0"}).startswith("UW326: ")


def test_a_configuration_that_counts_the_cpus_is_read_for_this_machine(ground):
    """Also one of gunicorn's that computes."""
    text = "import multiprocessing\nworkers = multiprocessing.cpu_count() * 2 + 1\n"
    assert ground(text, "gunicorn.conf.py").number("workers") == 5
    assert ground(INI.replace("= 2", "= %k")).number("workers") == 2


@pytest.mark.parametrize(
    "values", [{"access-log": "false"}, {"workers": "4", "threads": "8"}], ids=["log", "workers"]
)
def test_what_is_written_is_what_was_measured(ground, values):
    """A trial's copy of a gunicorn.conf.py sets the same as the file that is handed out."""
    base_ground = ground("accesslog = '-'\nworkers = 2\n", "gunicorn.conf.py")
    steps = base_ground.steps(values)
    copy = GUNICORN.with_steps(GUNICORN.profile_of_file(Path(base_ground.name)), steps)
    here = str(Path(base_ground.name).parent)
    text = dict(copy.options)["private.conf.py"].replace("{here}", here).replace("{folder}", here)
    measured: dict[str, object] = {}
    exec(text, measured)
    written: dict[str, object] = {}
    exec(base_ground.edited([(step, ()) for step in steps]), written)
    names = ("accesslog", "workers", "threads", "worker_class")
    assert [measured.get(name) for name in names] == [written.get(name) for name in names]


@pytest.mark.parametrize(
    "line", ["https = :8443,a.crt,a.key", "http-to-https = :80", "http-websockets = true",
             "http-auto-gzip = true", "http-subscription-server = :9090"],
)  # fmt: skip
def test_a_router_that_does_more_stays(ground, line):
    """Workers that speak HTTP themselves have no TLS, and no redirection to it."""
    assert {FRONT: DIRECT} not in tried(ground(f"{INI}{line}\n")).get("front", [])


def test_greenlets_are_tried_where_there_are_any(ground):
    """granian has none."""
    facts = Facts(2, 64, threads=True, greenlets=True)
    assert "greenlets" in tried(ground(INI), facts)
    assert "greenlets" not in tried(ground("granian --interface wsgi a:b", ""), facts)


@pytest.mark.parametrize(
    ("text", "name", "values", "places"),
    [
        (INI, "uwsgi.ini", {}, 2),
        (INI, "uwsgi.ini", {"greenlets": "100"}, 200),
        (f"{INI}gevent = 50\n", "uwsgi.ini", {}, 100),
        ("granian --interface wsgi --workers 4 a:b", "", {}, None),
        ("granian --interface wsgi --workers 4 a:b", "", {"threads": "8"}, 32),
        ("workers = min(8, 3 + 1)\n", "gunicorn.conf.py", {}, None),
        ("threads = 4\n", "gunicorn.conf.py", {}, 4),
    ],
)
def test_how_many_requests_run_at_once_is_known_or_not(ground, text, name, values, places):
    """A number that is not known is none that a database allows."""
    assert ground(text, name).places(values) == places


def test_a_variable_has_the_value_that_the_server_is_started_with(ground, tmp_path):
    """And not that of the caller."""
    text = 'import os\nworkers = int(os.environ.get("WEB_CONCURRENCY", 2))\n'
    (tmp_path / "gunicorn.conf.py").write_text(text)
    name = str(tmp_path / "gunicorn.conf.py")
    known = Known(environ={"WEB_CONCURRENCY": "8"})
    assert ground_of(name, read(name, known), cpus=2).number("workers") == 8


@pytest.mark.parametrize(
    ("facts", "tried_them"),
    [
        (Facts(1, 64, threads=True), False),
        (Facts(1, 64, threads=True, on_one_core=True), True),
        (seen(Facts(1, 64, threads=True), 2, rate=100.0, cpu=0.002, share=0.1), True),
    ],
    ids=["busy", "asked for", "waiting"],
)
def test_one_core_does_not_decide_how_many_workers_are_best(ground, facts, tried_them):
    """Where they wait it does not matter how many there are."""
    by_group = tried(ground(INI), facts)
    assert ("workers" in by_group) is tried_them
    assert "front" in by_group


ASGI = {
    "gunicorn.conf.py": 'worker_class = "uvicorn.workers.UvicornWorker"\nthreads = 4\n',
    "": "granian --interface asgi a:b",
    "uvicorn": "uvicorn --workers 8 --limit-concurrency 99 --loop asyncio a:b",
}


@pytest.mark.parametrize("name", ASGI)
def test_an_event_loop_is_tried_with_what_it_has(ground, name):
    """Neither threads nor greenlets, no fourfold of the CPUs, and nothing that refuses clients."""
    made = ground(ASGI[name], name)
    by_group = tried(made, replace(FACTS, greenlets=True))
    assert by_group["workers"] == [{"workers": "2"}, {"workers": "4"}]
    assert "greenlets" not in by_group
    assert not any("backpressure" in values for values in by_group.get("runtime", ()))
    assert not any("limit-concurrency" in values for values in by_group.get("loop", ()))
    later = tried(made, champion={"workers": "4"}, first=False)
    assert not any("threads" in values for values in later["workers"])
    assert made.places({}) is None


def test_what_an_event_loop_runs_in_is_tried(ground):
    """uvicorn's loop and parser, each once; and a queue for each of gunicorn's workers."""
    by_group = tried(ground(ASGI["uvicorn"], "uvicorn"))
    assert by_group["loop"] == [{"loop": "auto"}, {"http": "h11"}]
    assert by_group["log"] == [{"access-log": "false"}]
    assert tried(ground('worker_class = "asgi"\n', "gunicorn.conf.py"))["accept"] == [
        {"reuse_port": "True"}
    ]


@pytest.mark.parametrize(("kind", "is_tried"), [("asgi", False), ("uvicorn.UvicornWorker", True)])
def test_a_queue_that_the_workers_ignore_is_not_tried(ground, kind, is_tried):
    """gunicorn's ASGI workers let 100 connections wait, whatever backlog is."""
    by_group = tried(ground(f'worker_class = "{kind}"\nbacklog = 64\n', "gunicorn.conf.py"))
    assert ("queue" in by_group) is is_tried


@pytest.mark.parametrize("name", ASGI)
def test_what_is_announced_for_an_event_loop_has_no_threads(ground, name):
    """Also where somebody says that threads are safe."""
    text = "\n".join(tries(ground(ASGI[name], name), FACTS))
    assert "workers: 1 and 2 worker processes for each CPU of the server" in text
    assert " threads" not in text.replace("runtime-threads", "")
