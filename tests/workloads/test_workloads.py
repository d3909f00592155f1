"""Workloads: what is asked, and what is correct."""

from __future__ import annotations

import pytest

from lab.bench import profiles, workloads
from lab.bench.machine import project
from lab.bench.trials.plan import app_of
from lab.bench.workloads import fibonacci_body, read, workload
from lab.bench.workloads.question import Question
from lab.errors import UsageError, WorkloadError
from lab.model.plan import Load
from lab.model.workload import Transport, Wire
from tests.kit.lab_process import ROOT
from tests.kit.replies import NINE_THOUSAND

WHOLE = """\
summary = "Ask for it"
reply = { text = "It" }
wire = "echo"
size = 10
backing = ["upstream"]
work = "server.logged"
[app]
wsgi = "app.it:app"
echo = ""
[load]
connections = 10
window = 5.0
[words]
delay = "0"
unit = "ms"
[article]
connections = 7
requests = 70
keepalive = false
[variant.slow]
path = "/slow"
words = { delay = "50" }
load = { warmup = 6 }
[variant.unix-1k]
transport = "unix"
size = 1024
lines = 5
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that puts a file of a workload, in place of all others."""
    monkeypatch.setattr(project, "workloads", lambda: tmp_path)

    def write(text, name="it.toml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_a_file_is_a_workload(written):
    """Its name is the file's, and what it says is what is asked."""
    written("summary = 'A'\n[app]\ntornado = 'a.b:c'\n", "plain.toml")
    assert workloads.find() == ("plain",)
    description = read("plain")
    assert (description.summary, description.workload.path, description.workload.app) == (
        "A",
        "/",
        None,
    )
    assert description.workload.apps == {"tornado": "a.b:c"}
    assert (description.usual.load, description.usual.window, description.article) == (
        Load(),
        None,
        None,
    )


def test_a_variant_says_otherwise_what_it_says_and_no_more(written):
    """In each table for itself."""
    written(WHOLE)
    assert workloads.find() == ("it-slow", "it-unix-1k")
    slow, unix = read("it-slow"), read("it-unix-1k")
    assert dict(slow.workload.words) == {"delay": "50", "unit": "ms"}
    assert (slow.workload.path, slow.workload.size, slow.workload.wire) == ("/slow", 10, Wire.ECHO)
    assert (slow.usual.load.connections, slow.usual.window, slow.usual.warmup) == (10, 5.0, 6)
    assert slow.article.load == Load(connections=7, requests=70, keepalive=False)
    assert (unix.workload.transport, unix.workload.lines) == (Transport.UNIX, 5)
    assert (unix.workload.path, unix.workload.size, unix.usual.warmup) == ("/", 1024, None)
    assert unix.workload.family == slow.workload.family == "it"
    assert (unix.workload.backing, unix.workload.work) == (("upstream",), "server.logged")


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ('summary = "Ask for it"\n', "", None, "it needs a line `summary = "),
        ('"Ask for it"', "7", 1, "summary must be a line of text"),
        ('"Ask for it"', '"', None, "this is not TOML"),
        ("size = 10", "sise = 10", 4, "sise: it knows summary, path, method, reply, app,"),
        ("connections = 10", "conections = 10", 11, "load.conections: it knows connections, keep"),
        ("connections = 10", "connections = true", 11, "must be a number from 1 to 10000"),
        ("connections = 7", "connections = 7.5", 17, "article.connections must be a number"),
        ("window = 5.0", "window = 0", 12, "load.window must be seconds, from 0.1 to 600"),
        ('wsgi = "app.it:app"', 'wsgi = "app.it"', 8, 'app.wsgi must be "module:callable"'),
        ('"echo"', '"ehco"', 3, "wire must be one of http, echo"),
        ("size = 10", "", 3, "an echo needs a line `size = 1024`"),
        ('{ text = "It" }', '{ text = "It", by = "size" }', 2, "a reply has text, or by, not both"),
        ('{ text = "It" }', '{ by = "magic" }', 2, 'reply.by must be "fibonacci" or "size"'),
        ('{ text = "It" }', '{ by = "size" }', 21, "path must be a number of bytes from 1 to"),
        ('{ text = "It" }', '"It"', 2, "reply must be a table, with text, by"),
        ('["upstream"]', '"upstream"', 5, 'backing must be a list of names, as in ["upstream"]'),
        ('"/slow"', '"slow"', 21, "path must be a request target"),
        ('{ delay = "50" }', "{ delay = 50 }", 22, 'words.delay must be a text, as in "50"'),
        ("lines = 5", "lines = 0", None, None),  # of another variant
    ],
)
def test_what_a_file_cannot_say_is_refused(written, old, new, line, problem):
    """With the file, the line, the key, and what it must be."""
    assert old in WHOLE
    path = written(WHOLE.replace(old, new, 1))
    if problem is None:
        assert read("it-slow").workload.lines == 1
        return
    with pytest.raises(WorkloadError) as caught:
        read("it-slow")
    assert (caught.value.path, caught.value.line) == (path, line)
    assert problem in str(caught.value)


def test_a_broken_file_is_no_hindrance_to_the_others(written):
    """It stands in the list by its own name, and whoever reads that is told."""
    written("summary = 'A'", "good.toml")
    written("summary = ", "bad.toml")
    assert workloads.find() == ("bad", "good")
    assert read("good").summary == "A"
    with pytest.raises(WorkloadError, match="this is not TOML"):
        read("bad")


def test_a_hyphen_is_for_variants(written):
    """Or a name could be that of two workloads."""
    written("summary = 'A'", "a-b.toml")
    with pytest.raises(WorkloadError, match="rename it"):
        read("a-b")


@pytest.mark.parametrize("name", ["it", "it-fast", "that", "it-slow-x"])
def test_a_name_that_no_workload_has_is_refused(written, name):
    """With those that there are; the file of variants is none by itself."""
    written(WHOLE)
    with pytest.raises(UsageError, match=f"no workload '{name}': choose one of it-slow, it-unix"):
        read(name)


@pytest.mark.parametrize("name", workloads.find())
def test_every_workload_is_served_by_a_profile(name):
    """And its applications are files of this project."""
    the_workload = read(name).workload
    described = map(profiles.described, profiles.find())
    assert [profile.name for profile in described if app_of(profile, the_workload) is not None]
    modules = {app.partition(":")[0] for app in the_workload.apps.values() if app}
    paths = [module.replace(".", "/") for module in modules]
    # Of the lab's own folder; a server that is a script looks first beside itself.
    absent = [path for path in paths if not (ROOT / path / "__init__.py").is_file()]
    absent = [path for path in absent if not (ROOT / f"{path}.py").is_file()]
    assert [path for path in absent if not (project.peers() / f"{path}.py").is_file()] == []


def test_fib_requires_the_body_that_the_walkthrough_prints():
    """Byte for byte."""
    assert workload().path == "/9000"
    assert workload().expect.body == NINE_THOUSAND


def test_a_power_is_a_number():
    """/10^99 is the number of 100 digits."""
    large = workload(question=Question(paths=("/10^99",)))
    assert large.path == "/1" + "0" * 99
    assert large.expect.body == read("fib", "/1" + "0" * 99).workload.expect.body


def test_an_application_of_the_users_own_is_judged_by_its_first_reply(tmp_path):
    """Neither body nor pattern is known before."""
    question = Question(paths=("/x",))
    the_workload = workload(question=question, app="site.wsgi:application", chdir=tmp_path)
    assert (the_workload.name, the_workload.path, the_workload.chdir) == (
        "site.wsgi:application",
        "/x",
        tmp_path,
    )
    assert (the_workload.expect.body, the_workload.expect.pattern, the_workload.requests) == (
        None,
        None,
        (),
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"app": "site.wsgi"}, "package.module:callable"),
        ({"paths": ["/abc"]}, "a number"),
        ({"name": "nope"}, "no workload 'nope'"),
        ({"name": "payload-1k", "paths": ["/0"]}, "payload-1k takes a number of bytes from 1 to"),
        (
            {"name": "payload-1k", "paths": ["/1048577"]},
            "takes a number of bytes from 1 to 1048576",
        ),
        ({"name": "echo-1k", "headers": ["A: b"]}, "echo-1k is an echo, without paths and"),
        ({"name": "hello", "method": "POST"}, "--method describes an application of yours"),
        ({"name": "hello", "requests": "x.har"}, "--requests describes an application of yours"),
        ({"name": "hello", "writes": True}, "--writes describes an application of yours"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, message):
    """With an example of what can."""
    options = {key: arguments[key] for key in arguments.keys() & {"name", "app"}}
    question = Question(**{key: arguments[key] for key in arguments.keys() - options.keys()})
    with pytest.raises(UsageError, match=message):
        workload(question=question, **options)


def test_a_workload_of_ours_may_be_a_mix():
    """Each path has its own right reply; headers and Host go with all of them."""
    question = Question(paths=("/9", "/10^2"), headers=("A: b",), host="www.example.org")
    the_workload = workload(question=question)
    assert [str(request) for request in the_workload.requests] == ["/9", "/100"]
    assert [request.expect.body for request in the_workload.requests] == list(
        map(fibonacci_body, (9, 100))
    )
    assert [request.headers.shown for request in the_workload.requests] == [(("A", "b"),)] * 2
    assert (the_workload.host, the_workload.target_text) == ("www.example.org", "/9 and 1 more")


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("fib", "/9000"),
        ("echo-1k", "1,024 bytes over TCP"),
        ("echo-unix-100k", "102,400 bytes over a UNIX socket"),
        ("echo-lines-1k", "5 lines of 1,024 bytes over TCP"),
    ],
)
def test_a_report_says_what_was_asked(name, asked):
    """The target of a request; an echo has none, and its message has a size."""
    assert workload(name).target_text == asked
