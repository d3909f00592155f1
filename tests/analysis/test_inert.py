"""Options without effect, each with its neighbour that has one."""

import ast
import json
from dataclasses import replace

import pytest

from lab.analysis.summary import summarise
from lab.config import servers
from lab.lint.rules import inert
from tests.kit import builders as make


def options(*pairs):
    """Return the options of which a uWSGI profile says that they have no effect."""
    profile = replace(make.profile("x"), options=pairs)
    return [sentence.partition(" = ")[0] for sentence in inert(profile)]


def started_by(*words):
    """Return a profile that a command starts."""
    return make.started_by(make.profile("x", server="command"), words)


HTTP, PAIR = ("http", "127.0.0.1:8000"), ("processes", "2")
LIFETIME = ("max-worker-lifetime", "30")


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([LIFETIME], ["max-worker-lifetime"]),
        ([LIFETIME, ("master", "false")], ["max-worker-lifetime"]),
        ([LIFETIME, ("master", "true")], []),
        ([LIFETIME, ("stats", "127.0.0.1:9191")], []),
        ([LIFETIME, ("master", "true"), ("gevent", "100")], ["max-worker-lifetime"]),
        ([("master", "true"), ("max-worker-lifetime-delta", "7")], ["max-worker-lifetime-delta"]),
        ([("master", "true"), LIFETIME, ("max-worker-lifetime-delta", "7")], []),
        ([("die-on-term", "true")], ["die-on-term"]),
        ([("die-on-term", "false")], []),
        ([("no-orphans", "true"), PAIR], ["no-orphans"]),
        ([("thunder-lock", "true")], ["thunder-lock"]),
        ([("thunder-lock", "true"), PAIR], []),
        ([("thunder-lock", "true"), ("processes", "%k")], []),
        ([("thunder-lock", "true"), PAIR, ("http11-socket", ":1")], ["thunder-lock"]),
        ([HTTP, ("http-keepalive", "true")], ["http-keepalive"]),
        ([HTTP, ("http-keepalive", "1")], []),
        ([("http-socket", ":1"), ("http-keepalive", "1")], ["http-keepalive"]),
        ([("listen", "1024"), ("enable-threads", "true")], []),
    ],
)
def test_uwsgis_options(pairs, expected):
    """What was tried with uWSGI itself; a default that is said is no mistake."""
    assert options(*pairs) == expected


def test_a_report_keeps_what_was_said_before_its_run():
    """A new rule does not change the report of an old run, nor of a run that kept no judgement."""
    run = make.ladder_run({"a": (2000, 500e-6), "b": (2000, 500e-6)})
    arms = tuple(
        replace(arm, profile=replace(arm.profile, options=(LIFETIME,))) for arm in run.plan.arms
    )
    kept = replace(run, plan=replace(run.plan, arms=arms, inert={"b": ("As it was.",)}))
    assert summarise(kept).inert == {"b": ("As it was.",)}
    assert summarise(replace(kept, plan=replace(kept.plan, inert=None))).inert == {}


@pytest.mark.parametrize(
    ("pairs", "processes", "at_once", "routed"),
    [
        ([("processes", "2"), ("workers", "4")], 4, 1, False),
        ([("workers", "4"), ("processes", "2")], 2, 1, False),
        ([("workers", "%k"), ("threads", "2")], None, 2, False),
        ([("async", "9"), ("threads", "x")], 1, None, False),
        ([("https", ":8443,a.crt,a.key")], 1, 1, True),
        ([("http", ":8080")], 1, 1, True),
        ([("http-socket", ":8080")], 1, 1, False),
    ],
)
def test_a_report_reads_options_as_the_linter_does(pairs, processes, at_once, routed):
    """Of two spellings the last counts, and each address of the router has one."""
    read = servers.settings(replace(make.profile("x"), options=tuple(pairs)))
    assert (read.processes, read.at_once, read.routed) == (processes, at_once, routed)


def test_a_sentence_says_why_and_what_to_do():
    """Option and value as they are written, the reason, the remedy."""
    (sentence,) = inert(replace(make.profile("x"), options=(LIFETIME,)))
    assert sentence == (
        "max-worker-lifetime = 30: only the master looks at a worker's age, and there is none; add "
        "master = true, or leave it out."
    )


def test_the_last_of_a_repeated_option_counts():
    """As in uWSGI."""
    assert options(("thunder-lock", "true"), ("processes", "4"), ("processes", "1")) == [
        "thunder-lock"
    ]


@pytest.mark.parametrize(
    ("words", "text", "fires"),
    [
        ([], "keepalive = 120\n", True),
        ([], 'keepalive = 120\nworker_class = "sync"\n', True),
        ([], 'keepalive = 120\nworker_class = "gthread"\n', False),
        ([], "keepalive = 120\nthreads = 4\n", False),
        ([], "import os\nkeepalive = 120\nthreads = int(os.environ['THREADS'])\n", False),
        ([], "workers = 2\n", False),
        (["--keep-alive", "120"], "workers = 2\n", True),
        (["--keep-alive=120"], "workers = 2\n", True),
        (["-k", "gthread"], "keepalive = 120\n", False),
        (["--worker-class=gthread"], "keepalive = 120\n", False),
        ([], "keepalive = (\n", False),
    ],
)
def test_gunicorns_keepalive_needs_threads(words, text, fires):
    """Its sync workers close after every reply; a setting that is computed is not known."""
    run = json.dumps(["/venv/bin/gunicorn", *words, "app:app"])
    pairs = (("app", "app:app"), ("run", run), ("x.conf.py", text))
    inert_options = inert(
        replace(started_by("/venv/bin/gunicorn", *words, "app:app"), options=pairs)
    )
    assert bool(inert_options) == fires
    assert not inert_options or inert_options[0].startswith("keepalive = 120: sync workers close")


def test_another_servers_options_are_not_known():
    """Nothing is said of them."""
    pairs = (("run", json.dumps(["granian", "app:app"])), ("x.py", "keepalive = 120\n"))
    assert inert(replace(started_by("granian", "app:app"), options=pairs)) == ()


def test_a_file_of_gunicorn_is_parsed_once(monkeypatch):
    """Each trial asks what it says, and the file is the same all run long."""
    parsed = []
    parse = ast.parse
    monkeypatch.setattr(ast, "parse", lambda text: parsed.append(text) or parse(text))
    run = ("run", json.dumps(["gunicorn"]))
    profile = replace(started_by("gunicorn"), options=(run, ("c.py", "threads = 31")))
    assert [servers.settings(profile).options for _ in range(2)] == [{"threads": 31}] * 2
    assert parsed == ["threads = 31"]
