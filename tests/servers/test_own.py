"""One application of a user's, by their configuration and by every other: the same reply."""

from __future__ import annotations

import select
import socket
from dataclasses import replace

import psutil
import pytest

from lab.bench.servers.fetch import fetch
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.available import available
from lab.bench.trials.plan import arm_of
from lab.bench.trials.same_application import remarks
from lab.bench.workloads import workload
from lab.config.command import profile_of
from lab.errors import ServerStartError, UsageError
from lab.model.plan import Load
from lab.model.request import Expectation
from lab.model.runtime import Runtime
from lab.model.workload import Transport, Wire, Workload
from tests.kit.lab_process import descendants

SHOP = """
import os
from dataclasses import replace
import goods

def app(environ, start):
    body = f"{goods.NAME} {os.environ['SHOP']}".encode()
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""
SOLD = b"a pear at 50%"
INI = """[uwsgi]
socket = shop.sock
chdir = site
pythonpath = ../lib
env = SHOP=at 50%%
wsgi-file = shop.py
callable = app
processes = 2
enable-threads = true
harakiri = 9
"""
OWN = workload(profile_names_app=True)


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """Return a folder with an application, its ini, and a module that lies elsewhere."""
    for name in ("site", "lib", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "site/shop.py").write_text(SHOP)
    (tmp_path / "lib/goods.py").write_text('NAME = "a pear"\n')
    (tmp_path / "shop.ini").write_text(INI)
    (tmp_path / "gunicorn.conf.py").write_text(
        'wsgi_app = "shop:app"\nchdir = "site"\npythonpath = "../lib"\nbind = "0.0.0.0:80"\n'
        'raw_env = ["SHOP=at 50%"]\naccesslog = "access.log"\npidfile = "pid"\ndaemon = True\n'
        "workers = 1\n"
    )
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path


def served(name, chosen, workload, folder):
    """Return what a profile of those that were chosen answers, and how it was asked."""
    profile = next(
        installation.profile for installation in chosen if installation.profile.name == name
    )
    trial_workload = arm_of(profile, workload, Load()).workload
    folder = folder / name
    folder.mkdir()
    with ServerRunner().start(profile, trial_workload, folder, None) as server:
        options = dict(profile.options)
        return (
            fetch(server.endpoint, "/", 5.0)[2],
            (trial_workload.wire, trial_workload.transport),
            options,
        )


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("shop", (Wire.UWSGI, Transport.UNIX)),
        ("tuned", (Wire.UWSGI, Transport.UNIX)),
        ("baseline", (Wire.UWSGI, Transport.UNIX)),
        ("gunicorn-sync", (Wire.HTTP, Transport.TCP)),
    ],
)
def test_an_inis_application_is_served_by_every_profile(shop, name, asked):
    """With what it needs: its modules, its variables, its folder; and by that profile's server."""
    names = [str(shop / "shop.ini"), *([name] if name != "shop" else [])]
    chosen, skipped, subject = available(names, OWN)
    body, how, options = served(name, chosen, subject, shop)
    assert (body, how, skipped) == (SOLD, asked, {})
    assert subject.name == "shop:app"
    if name == "tuned":
        assert (options["harakiri"], options["listen"]) == ("30", "1024")


def test_a_gunicorn_configuration_is_served_as_it_is(shop, monkeypatch):
    """Its log and its other files are the trial's, and no control socket of anybody's is taken."""
    monkeypatch.setenv("HOME", str(shop))  # of this test alone: gunicorn's own place for it
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    chosen, _, subject = available([str(shop / "gunicorn.conf.py")], OWN)
    assert served("gunicorn.conf", chosen, subject, shop)[0] == SOLD
    assert (shop / "gunicorn.conf/accesslog").exists()
    assert not any((shop / place / "pid").exists() for place in (".", "site", "elsewhere"))
    assert not (shop / ".gunicorn").exists()


@pytest.mark.parametrize(
    ("bind", "transport"),
    [("unix:/run/shop.sock", Transport.UNIX), ("127.0.0.1:3031", Transport.TCP)],
)
def test_a_gunicorn_configuration_for_uwsgi_pass_is_asked_so(shop, monkeypatch, bind, transport):
    """As nginx asks it: over the uwsgi protocol, by a socket of the kind that it names."""
    monkeypatch.setenv("HOME", str(shop))
    path = shop / "gunicorn.conf.py"
    path.write_text(f'{path.read_text()}\nprotocol = "uwsgi"\nbind = "{bind}"\n')
    chosen, _, subject = available([str(path)], OWN)
    body, protocol, _ = served("gunicorn.conf", chosen, subject, shop)
    assert (body, protocol) == (SOLD, (Wire.UWSGI, transport))
    (description,) = [
        str(alteration) for alteration in chosen[0].profile.altered if alteration.option == "bind"
    ]
    assert description.endswith("asked over the uwsgi protocol")


def test_what_a_gunicorn_configuration_serves_is_served_by_uwsgi_as_well(shop):
    """In its `chdir`, with its `pythonpath` and `raw_env`."""
    chosen, _, subject = available([str(shop / "gunicorn.conf.py"), "tuned"], OWN)
    assert served("tuned", chosen, subject, shop)[0] == SOLD


def test_a_command_is_served_where_the_lab_asks(shop, monkeypatch):
    """In the folder in which it was typed."""
    monkeypatch.chdir(shop / "site")
    command = f"SHOP=here PYTHONPATH={shop}/lib gunicorn -b :80 -w 1 shop:app"
    chosen, _, subject = available([command], OWN)
    assert served(chosen[0].profile.name, chosen, subject, shop)[0] == b"a pear here"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "-k no.such",
            ["No application module specified", "'gunicorn -w 4 shop.wsgi:application'"],
        ),
        (
            "-w 1 other:app",
            [
                "missing 1 required positional argument: 'send'",
                "uvicorn granian-asgi --app MODULE:APP",
            ],
        ),
        (
            "uvicorn other:sync",
            ["missing 1 required positional argument: 'start_response'", "lab run tuned granian"],
        ),
        ("-w x other:app", ["argument -w/--workers: invalid int value: 'x'"]),
    ],
)
def test_a_command_that_serves_nothing_is_told_in_a_paragraph(shop, monkeypatch, words, said):
    """What is missing, in the server's own words, and what to write."""
    monkeypatch.chdir(shop / "site")
    (shop / "site/other.py").write_text(
        "async def app(scope, receive, send):\n    pass\n"
        "def sync(environ, start_response):\n    pass\n"
    )
    command = words if words.startswith("uvicorn") else f"gunicorn {words}"
    chosen, _, subject = available([command], OWN)
    with pytest.raises(ServerStartError) as raised:
        served(chosen[0].profile.name, chosen, subject, shop)
    assert raised.value.explained
    assert [part for part in said if part not in raised.value.problem] == []
    assert len(raised.value.problem.splitlines()) <= 3


def test_what_is_named_is_served_in_place_of_the_inis_own(shop):
    """By --app, with the ini's server and environment."""
    (shop / "site/other.py").write_text(SHOP.replace("goods.NAME", "'no'"))
    user_workload = workload(app="other:app", chdir=shop / "site")
    chosen, _, subject = available([str(shop / "shop.ini")], user_workload)
    assert served("shop", chosen, subject, shop)[0] == b"no at 50%"


def test_the_user_reads_what_a_copy_has_otherwise(shop):
    """Before the run, in a line or two; and of processes that have not a CPU each."""
    (shop / "shop.ini").write_text(INI + "cron = 1 2 3 4 5 %dx\nstats = :1\npidfile = /run/x\n")
    chosen, _, subject = available([str(shop / "shop.ini"), "tuned"], OWN)
    assert list(remarks([installation.profile for installation in chosen], (0,), subject)) == [
        (
            "shop.ini: changed in the private copy: socket = shop.sock -> a private UNIX socket, "
            "asked over the uwsgi protocol; stats, pidfile -> the trial's folder; master = true "
            "(the option that switched it on is left out)"
        ),
        f"shop.ini: left out: cron = 1 2 3 4 5 {shop}/x (would run it)",
        "shop.ini: 2 processes share 1 CPU here",
        "tuned also uses the uwsgi protocol. To test both over HTTP, use --front http.",
        "`lab show PROFILE` prints the private copy; --keep OPTION keeps an option in it.",
    ]


@pytest.mark.parametrize(
    "rule",
    [
        "route-run = proxyhttp:{}",
        "route-if-not = equal:${{PATH_INFO}};/no uwsgi:{},0,0",
        "route-run = rpcret:say@{}",
        "route-run = cacheset:key=a,value=b,name=shop@{}",
        "route-if = incache:key=a,name=shop@{} break:404",
    ],
)
def test_the_load_stays_in_the_private_copy(shop, rule):
    """A rule that would send it to another server is left out: that one is not even connected."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        (shop / "shop.ini").write_text(f"{INI}{rule.format(address)}\nsocket-timeout = 1\n")
        chosen, _, subject = available([str(shop / "shop.ini")], OWN)
        body = served("shop", chosen, subject, shop)[0]
        assert select.select([other], [], [], 0)[0] == []
    assert body == SOLD


def test_who_compares_one_application_with_itself_reads_it(shop):
    """With --app all inis serve the same, whatever each of them names."""
    (shop / "later.ini").write_text(INI)
    names = [str(shop / "shop.ini"), str(shop / "later.ini")]
    user_workload = workload(app="other:app", chdir=shop / "site")
    for given, times in ((user_workload, 1), (OWN, 0)):
        chosen, _, subject = available(names, given)
        remark_lines = list(
            remarks([installation.profile for installation in chosen], None, subject)
        )
        assert str(remark_lines).count("shop.ini, later.ini: all serve other:app (--app, ") == times


def test_an_option_to_keep_must_be_there(shop):
    """A name that is mistyped keeps nothing."""
    user_workload = Workload("own", "/", Expectation(), apps={"own": ""},
        runtime=Runtime(keep=frozenset({"crons"})))  # fmt: skip
    with pytest.raises(UsageError, match="--keep crons: no configuration of yours has it"):
        available([str(shop / "shop.ini")], user_workload)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("socket", r"shop\.ini: socket = shop\.sock -> a private UNIX socket, .*: that cannot"),
        ("logto", r"shop\.ini: logto = /var/log/shop -> the trial's folder: that cannot"),
    ],
)
def test_an_option_that_cannot_be_kept_is_refused(shop, option, said):
    """By the address a trial is asked, and its log says why it failed."""
    (shop / "shop.ini").write_text(f"{INI}logto = /var/log/shop\n")
    user_workload = replace(OWN, runtime=Runtime(keep=frozenset({option})))
    with pytest.raises(UsageError, match=f"^--keep {option}: {said}.*leave --keep out"):
        available([str(shop / "shop.ini")], user_workload)


@pytest.mark.parametrize("before", ["taskset -c 0", "taskset -c 0 python3 -m"])
def test_a_command_that_is_bound_to_a_cpu_stays_there(before, shop, monkeypatch):
    """At the address of the trial, as without."""
    monkeypatch.chdir(shop / "site")
    command = f"SHOP=here PYTHONPATH={shop}/lib {before} granian --interface wsgi shop:app"
    profile = profile_of(command)
    with ServerRunner().start(profile, arm_of(profile, OWN, Load()).workload, shop, None) as server:
        tree = [psutil.Process(server.pid), *descendants(server.pid)]
        bound = [one.cpu_affinity() for one in tree if "shop:app" in one.cmdline()]
        assert bound
        assert all(cpus == [0] for cpus in bound)
