"""The ladder: which profiles there are, and what each changes."""

import os
from dataclasses import replace

import pytest

from lab.bench import profiles
from lab.bench.machine import project
from lab.config.difference import Difference, difference
from tests.kit.cases import cases
from tests.kit.descriptions import descriptions
from tests.kit.lab_process import ROOT
from tests.kit.uwsgi_options import confirmed

LINE = (
    '{"time":"%(ftime)","request_id":"%(var.REQUEST_ID)","status":%(status),"ms":%(msecs),'
    '"bytes":%(rsize),"worker":%(wid),"pid":%(pid)}'
)

FRONT = "{host}:{port}"
CPUS = str(max(2, os.cpu_count()))

ALGORITHMS = "loadtests/workloads/fib/_algorithms.py"

PURE = Difference(
    changed=(("env FIB_PURE_PYTHON", "0", "1"), ("env FIB_REQUIRE_CYTHON", "1", "0")),
)
STOPS = (
    ("hook-asap", "unix_signal:15 end_me"),
    ("hook-master-start", "unix_signal:15 gracefully_kill_them_all"),
    ("hook-post-app", "unix_signal:1 gracefully_kill"),
)
LOOP = (("greenlet", "true"), ("import", "{root}/profiles/event_loop.py"))
LASTING = ("max-worker-lifetime", "30", "0")
COMPILED = Difference(added=(("pythonpath", "{root}/.framework"),))
PEER = Difference(changed=(("server", "uwsgi", "command"),))
INIS = [name for name, profile in descriptions().items() if not profile.commands]

STEPS = {
    "processes-threads": Difference(
        added=(("enable-threads", "true"), ("processes", "4"), ("threads", "2"))
    ),
    "disable-logging": Difference(added=(("disable-logging", "true"),)),
    "max-worker-lifetime": Difference(added=(("max-worker-lifetime", "30"),)),
    "cython": Difference(
        added=(("env FIB_REQUIRE_CYTHON", "1"),), changed=(("env FIB_PURE_PYTHON", "1", "0"),)
    ),
    "scheme": Difference(
        added=(
            ("route-if", "empty:${HTTP_X_FORWARDED_PROTO} goto:scheme"),
            ("route-if-not", "equal:${HTTP_X_FORWARDED_PROTO};https setscheme:http"),
            ("route-label", "scheme"),
        )
    ),
    "listen": Difference(added=(("listen", "1024"),)),
    "master": Difference(added=(("master", "true"),)),
    "max-worker-lifetime-delta": Difference(added=(("max-worker-lifetime-delta", "7"),)),
    "http-socket": Difference(added=(("http-socket", FRONT),), removed=(("http", FRONT),)),
    "processes-per-cpu": Difference(changed=() if CPUS == "4" else (("processes", "4", CPUS),)),
    "one-thread": Difference(changed=(("threads", "2", "1"),)),
    "connection-close": Difference(added=(("add-header", "Connection: close"),)),
    "safety": Difference(
        added=(
            ("buffer-size", "32768"),
            ("harakiri", "30"),
            ("hook-asap", "unix_signal:15 end_me"),
            ("hook-master-start", "unix_signal:15 gracefully_kill_them_all"),
            ("hook-post-app", "unix_signal:1 gracefully_kill"),
            ("ignore-sigpipe", "true"),
            ("log-master", "true"),
            ("max-vars", "256"),
            ("need-app", "true"),
            ("post-buffering", "8192"),
            ("single-interpreter", "true"),
            ("vacuum", "true"),
        ),
        changed=(
            ("max-worker-lifetime", "30", "3600"),
            ("max-worker-lifetime-delta", "7", "60"),
        ),
    ),
    "tuned": Difference(
        added=(("module", "app.wsgi:app"),),
        removed=(
            ("callable", "app"),
            ("env FIB_PURE_PYTHON", "0"),
            ("env FIB_REQUIRE_CYTHON", "1"),
            ("wsgi-file", "loadtests/workloads/fib/_article.py"),
        ),
    ),
    "lifetime-low": Difference(
        added=(("min-worker-lifetime", "0"),), changed=(("max-worker-lifetime", "30", "1"),)
    ),
    "http11-socket": Difference(
        added=(("http11-socket", FRONT),), removed=(("http-socket", FRONT),)
    ),
    "thunder-lock": Difference(added=(("thunder-lock", "true"),)),
    "http11-threads": Difference(changed=(("threads", "2", "64"),)),
    "http-keepalive": Difference(added=(("http-keepalive", "1"),)),
    "loop-pure": PURE,
    "table": Difference(
        changed=(
            ("callable", "app", "table"),
            ("wsgi-file", "loadtests/workloads/fib/_article.py", ALGORITHMS),
        ),
    ),
    "table-pure": PURE,
    "prefix": Difference(changed=(("callable", "table", "prefix"),)),
    "prefix-pure": PURE,
    "compiled-framework": COMPILED,
    "compiled-framework-article": COMPILED,
    "short-cut": Difference(changed=(("module", "app.wsgi:app", "app.fast:app"),)),
    "bare": Difference(changed=(("module", "app.wsgi:app", "loadtests.workloads.hello:app"),)),
    "constant": Difference(added=(("route-run", "return:200"),)),
    "blocking-threads": Difference(changed=(("threads", "1", "2"),)),
    "asyncio": Difference(added=(("asyncio", "2"), *LOOP)),
    "asyncio-100": Difference(
        added=(("asyncio", "128"), *sorted(LOOP + STOPS)), changed=(LASTING,)
    ),
    "gevent": Difference(
        added=(("gevent", "128"), ("gevent-early-monkey-patch", "true"), *STOPS), changed=(LASTING,)
    ),
    "threads-64": Difference(added=STOPS, changed=(("threads", "1", "64"),)),
    "processes-8": Difference(
        added=STOPS, changed=() if CPUS == "8" else (("processes", CPUS, "8"),)
    ),
    "uwsgi-sync-2": Difference(
        added=STOPS, changed=() if CPUS == "2" else (("processes", CPUS, "2"),)
    ),
    "uwsgi-sync-6": Difference(changed=(("processes", "2", "6"),)),
    "uwsgi-async": Difference(added=(("async", "128"), ("greenlet", "true")), changed=(LASTING,)),
    "uwsgi-async-aware": Difference(),
}


def test_ladder():
    """The ladder leads from the article's baseline to `tuned`, five of its steps the article's."""
    assert profiles.ladder() == (
        "baseline",
        "processes-threads",
        "disable-logging",
        "max-worker-lifetime",
        "cython",
        "scheme",
        "listen",
        "master",
        "max-worker-lifetime-delta",
        "http-socket",
        "processes-per-cpu",
        "one-thread",
        "connection-close",
        "safety",
        "tuned",
    )


def test_baseline():
    """The baseline is the article's four options, strictly read, with the loop in plain Python."""
    assert profiles.read("baseline").options == (
        ("strict", "true"),
        ("http", FRONT),
        ("chdir", "{root}"),
        ("wsgi-file", "loadtests/workloads/fib/_article.py"),
        ("callable", "app"),
        ("env", "FIB_PURE_PYTHON=1"),
    )


def test_every_profile_has_its_step():
    """No ini but those that begin a ladder is without a step that is stated here, or below."""
    assert set(INIS) == {"baseline", "blocking", "cached", *STEPS}


@cases("name", sorted(set(profiles.find()) - set(INIS)))
def test_a_peer_is_another_server(name):
    """Beside a profile of uWSGI nothing but the server can be said to differ."""
    peer = profiles.described(name)
    against = peer.against and profiles.read(peer.against)
    if against and not against.commands:
        assert difference(peer, against) == PEER


def test_the_article_s_blocking_server_is_one_worker_behind_its_own_http():
    """`blocking` begins a ladder of its own, as "Non-blocking with Python + uWSGI" does."""
    blocking, baseline = profiles.read("blocking"), profiles.read("baseline")
    step = difference(blocking, baseline)
    assert dict(step.added) == {
        "http-socket": FRONT, "processes": "1", "threads": "1",
        **dict(STEPS["scheme"].added),
    }  # fmt: skip
    assert (step.removed, step.changed) == (
        (("env FIB_PURE_PYTHON", "1"), ("http", FRONT)), (),
    )  # fmt: skip


def test_the_cache_is_routing_and_nothing_else():
    """`cached` adds two caches and rules of internal routing to `tuned`, and changes no option."""
    step = difference(profiles.read("cached"), profiles.read("tuned"))
    assert step.removed == ()
    # Its rules come after the ones that `tuned` has.
    assert all("route" in name and new.startswith(old) for name, old, new in step.changed)
    names = {name for name, _ in step.added if "route" not in name}
    assert names == {"cache2", "collect-header", "pcre-jit"}


def test_an_instance_in_production_is_tuned_behind_nginx():
    """production.ini changes what a UNIX socket and nginx in front ask for."""
    tuned = profiles.read("tuned")
    options = confirmed(project.profiles() / "production.ini")
    assert difference(replace(tuned, options=options), tuned) == Difference(
        added=(
            ("chmod-socket", "600"),
            ("log-5xx", "true"),
            ("log-date", "%Y-%m-%dT%H:%M:%S%z"),
            ("log-format", LINE),
            ("log-format-strftime", "true"),
            ("log-slow", "1000"),
            ("socket", "/run/fibonacci/a.sock"),
            ("stats", "/run/fibonacci/a.sock.stats"),
            ("stats-http", "true"),
            ("umask", "077"),
        ),
        removed=(("add-header", "Connection: close"), ("http-socket", FRONT)),
        changed=(
            ("buffer-size", "32768", "65535"),
            ("max-vars", "256", "4096"),
            *(() if CPUS == "2" else (("processes", CPUS, "2"),)),
        ),
    )


@cases("name", STEPS)
def test_step(name):
    """A profile differs from the one it is against in exactly its step."""
    profile = profiles.read(name)
    assert difference(profile, profiles.read(profile.against)) == STEPS[name]


@cases("name", profiles.find())
def test_header(name):
    """Every profile says what it does, what its limit is, and where to read more."""
    header = profiles.read_header(profiles.read(name).path)
    assert header.summary
    assert any(paragraph.startswith("Limit:") for paragraph in header.paragraphs)
    assert header.link


@cases("name", INIS)
def test_strict(name):
    """Every uWSGI profile refuses a mistyped option."""
    assert ("strict", "true") in profiles.read(name).options


@pytest.mark.parametrize("path", sorted((ROOT / "uwsgi").glob("*")), ids=lambda p: p.name)
def test_fragments_are_no_python(path):
    """Nothing in uwsgi/ can be imported: inside the server that name is a built-in module."""
    assert path.suffix in {".ini", ".txt"}


@cases("path", sorted(ROOT.glob("*/*.ini")))
def test_no_comment_after_a_value(path):
    """No value carries a comment, which uWSGI would take for a part of it."""
    lines = path.read_text().splitlines()
    values = [line for line in lines if line and line[0] not in ";["]
    # A condition of internal routing has its two sides apart by one.
    values = [line for line in values if "route-if" not in line]
    assert [line for line in values if ";" in line or "#" in line] == []
