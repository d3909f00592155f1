"""What is told from within: how often an application is imported, and its requests at once."""

from __future__ import annotations

import inspect

import pytest

from lab.bench import profiles
from lab.bench.servers.hook import door
from lab.bench.trials.plan import arm_of
from lab.cli.stress import questions
from lab.cli.stress.questions import QUESTIONS, UNSEEN, WATCHED, look_at
from lab.model.plan import Load
from lab.model.request import Expectation
from lab.model.runtime import OWN, Runtime, Variables
from lab.model.workload import Workload

APP = """\
class App:
    greeting = b"hello"

    def __call__(self, environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
        from shop import application  # as late as many a view does
        return [application.greeting]

application = App()

def make():
    return application
"""
INI = "[uwsgi]\nhttp-socket = :8000\nmaster = true\nprocesses = 3\nthreads = 2\n"
IMPORTS, AT_ONCE = (text for text in QUESTIONS if text in WATCHED)


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """Return a function that says what is seen from within of a configuration, or of a command."""
    (tmp_path / "shop.py").write_text(APP)
    monkeypatch.setattr(
        questions, "QUESTIONS", {question: QUESTIONS[question] for question in WATCHED}
    )

    def look(text, name="uwsgi.ini", application="shop:application", **variables):
        if name:
            (tmp_path / name).write_text(text)
            text = str(tmp_path / name)
        started = Runtime(cwd=tmp_path, variables=Variables.of(variables, ""))
        expect = Expectation(body=b"hello")
        workload = Workload("shop", "/", expect, apps={OWN: ""}, runtime=started)
        arm = arm_of(profiles.read(text, started), workload, Load())
        answers = look_at(arm, None, None, application)
        return answers[IMPORTS].text, answers[AT_ONCE].text

    return look


@pytest.mark.parametrize(
    ("lines", "imports"),
    [
        ("module = shop\n", "1, before its workers are forked"),
        pytest.param(
            "module = shop\nlazy-apps = true\n", "3, one in each worker", marks=pytest.mark.slow
        ),
        *(
            pytest.param(line, "1, before its workers are forked", marks=pytest.mark.slow)
            for line in (
                "wsgi-file = shop.py\n",
                "wsgi-file = {folder}/shop.py\n",
                "module = shop:make()\n",
            )
        ),
    ],
)
def test_uwsgi_is_watched_from_within(seen, tmp_path, lines, imports):
    """Its imports, and as many requests as it has threads in all processes; also of a file."""
    application = "shop:make()" if "make" in lines else "shop:application"
    answers = seen(INI + lines.format(folder=tmp_path), application=application)
    assert answers == (imports, "6, on 3 workers")


@pytest.mark.slow
def test_workers_that_come_with_the_load_are_counted(seen):
    """The master adds one a second, while all are busy."""
    answers = seen(f"{INI}module = shop\ncheaper = 1\n")
    assert answers == ("1, before its workers are forked", "6, on 3 workers")


@pytest.mark.slow
def test_a_sitecustomize_of_the_users_runs_too(seen, tmp_path):
    """And what it imports is theirs: the folder of the hook is on no path."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/sitecustomize.py").write_text(
        "import os, sys\nopen(os.environ['TOLD'], 'a').write('\\n'.join(sys.path))\n"
    )
    listing = tmp_path / "told"
    answers = seen(f"{INI}module = shop\n", PYTHONPATH=str(tmp_path / "theirs"), TOLD=str(listing))
    assert answers == ("1, before its workers are forked", "6, on 3 workers")
    assert str(tmp_path / "theirs") in listing.read_text()
    assert "/hook" not in listing.read_text()


@pytest.mark.slow
def test_what_cannot_be_watched_is_not_told(seen):
    """Python runs no sitecustomize without its module site; nothing follows from the row."""
    assert seen(f"{INI}module = shop\nno-site = true\n") == (UNSEEN, UNSEEN)


def test_a_server_runs_as_it_is_for_all_other_questions(tmp_path):
    """Memory and headers are those of an application without a door."""
    assert {"memory of a worker (PSS), without load", "HEAD", "SIGTERM"} & WATCHED == set()
    assert {IMPORTS, AT_ONCE} == WATCHED


@pytest.mark.peers
@pytest.mark.parametrize(
    ("lines", "imports", "at_once"),
    [
        ("threads = 2\n", "3, one in each worker", "6, on 3 workers"),
        ("preload_app = True\n", "1, before its workers are forked", "3, on 3 workers"),
    ],
)
def test_gunicorn_is_watched_from_within(seen, lines, imports, at_once):
    """Its threads count, which sync has none of."""
    answers = seen(f'wsgi_app = "shop:application"\nworkers = 3\n{lines}', "gunicorn.conf.py")
    assert answers == (imports, at_once)


ASGI = """\
class App:
    async def __call__(self, scope, receive, send):
        assert scope["type"] == "http"
        headers = [(b"content-length", b"5")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": self.greeting})

    greeting = b"hello"

application = App()

async def function(scope, receive, send):
    await application(scope, receive, send)

def plain(scope, receive, send):
    return application(scope, receive, send)

def make():
    return application
"""


@pytest.mark.parametrize("name", ["application", "function"])
def test_uvicorn_takes_the_door_for_an_application_of_asgi_3(name):
    """By a call that is a coroutine function; and no factory is called without arguments."""
    names = {}
    exec(ASGI, names)
    behind = door(names[name])
    assert inspect.iscoroutinefunction(behind.__call__)
    with pytest.raises(TypeError, match="missing 3 required"):
        behind()


@pytest.mark.peers
@pytest.mark.parametrize(
    ("server", "called"),
    [
        ("gunicorn", "application"),
        ("gunicorn", "make()"),
        ("granian", "function"),
        ("granian", "plain"),
    ],
)
def test_an_asgi_application_is_watched_from_within(seen, tmp_path, server, called):
    """Its loop takes all requests that are sent; a held one does not hold the loop."""
    (tmp_path / "shop.py").write_text(ASGI)
    named = f"shop:{called}"
    text, name = f"granian --interface asgi --workers 2 {named}", ""
    if server == "gunicorn":
        name = "gunicorn.conf.py"
        text = f'wsgi_app = "{named}"\nworkers = 2\nworker_class = "asgi"\n'
    imports, at_once = seen(text, name, named)
    assert imports == "2, one in each worker"
    assert " and more, on " in at_once


@pytest.mark.peers
def test_greenlets_count_as_far_as_requests_are_sent(seen):
    """Far more than there are workers, all of them where the machine is not busy."""
    text = 'wsgi_app = "shop:application"\nworkers = 3\nworker_class = "gevent"\n'
    imports, at_once = seen(text, "gunicorn.conf.py")
    assert imports == "3, one in each worker"
    assert int(at_once.split()[0]) > 30


@pytest.mark.peers
def test_granian_is_watched_from_within(seen):
    """Its own threads, of which it has some in each worker, run no application."""
    words = "--interface wsgi --workers 2 --runtime-threads 2 --blocking-threads 3"
    answers = seen(f"granian {words} shop:application", "")
    assert answers == ("2, one in each worker", "6, on 2 workers")
