"""What is said of an application before anything is started, by the Python that will serve it."""

import ast
import platform
import re
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from lab.bench import profiles
from lab.bench.servers import preflight
from lab.bench.servers.preflight import ASK, check
from lab.bench.servers.runner import ServerRunner
from lab.bench.trials.available import _targets
from lab.config.launch import ApplicationTarget
from lab.errors import ApplicationError, ProfileError
from lab.model.request import Expectation
from lab.model.runtime import OURS, Runtime, Variables
from lab.model.workload import Workload
from tests.kit.environments import empty, pretended
from tests.kit.lab_process import run

from .conftest import site

GIVEN = Runtime(variables=Variables.of({"GIVEN": "/srv"}, ""))

WSGI = "def application(environ, start):\n    return []\n"

FILES = {
    "good.py": WSGI,
    "settings.py": "import os\n\nKEY = os.environ['NOT_SET']\n",
    "deep.py": "import settings\n",
    "django_like.py": "raise ValueError('You must define the environment variable MY_SETTINGS')\n",
    "needs.py": "import no_such_package\n",
    "odd.py": "def application(environ, start)\n",
    "leaving.py": "import sys\n\nsys.exit('no settings')\n",
    "crashing.py": "import os\n\nos.abort()\n",
    "hanging.py": "import time\n\ntime.sleep(60)\n",
    "forking.py": (
        "import subprocess\n\nchild = subprocess.Popen(['sleep', '60'])\n"
        f"open('child', 'w').write(str(child.pid))\n{WSGI}"
    ),
    "chatty.py": f"print('x' * 100_000)\n{WSGI}",
    "inside.py": f"import uwsgi\n{WSGI}",
    "site.wsgi": WSGI,
    "package/wsgi.py": WSGI,
    "several.py": "applications = {'/': 1}\n",
    "kinds.py": f"""
from functools import partial, reduce
from pathlib import Path

class Framework:
    def __call__(self, environ, start_response):
        return []

class Asynchronous:
    async def __call__(self, scope, receive, send):
        return []

class OnePerRequest:
    def __init__(self, environ, start_response):
        pass

class Proxy:
    def __getattr__(self, name):
        raise RuntimeError("outside of a request")
    def __call__(self, environ, start_response):
        raise RuntimeError("outside of a request")

framework, asynchronous, per_request = Framework(), Asynchronous(), OnePerRequest
number = 3
proxy = Proxy()
{WSGI}
def create_app(config=None):
    return application

def create_broken_app():
    raise RuntimeError("no database")

def make_a_cake():
    pass

def add(a, b, c, d):
    pass

async def coroutine(scope, receive, send):
    pass
""",
}
"""The modules of a user."""


@pytest.fixture
def ask(tmp_path):
    """Return a function that asks for a module's callable, and gives the error in words."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def ask(app, runtime=OURS, **changes):
        module, _, name = app.partition(":")
        how = "--chdir names another folder"
        target = ApplicationTarget(
            module,
            name or "application",
            tmp_path,
            how,
            named=f"--app {app}",
            python=sys.executable,
        )
        try:
            check([(replace(target, **changes), runtime)])
        except ApplicationError as error:
            return str(error)
        return None

    return ask


@pytest.mark.parametrize(
    ("app", "said"),
    [
        ("settings", ["settings cannot be imported in {}", f"with {sys.executable}:",
                      "\n    settings.py:3  KEY = os.environ['NOT_SET']\n    KeyError: 'NOT_SET'\n",
                      "\n  Give it the variable: --env NOT_SET, or --env-file FILE"]),
        ("deep", ["\n    deep.py:1      import settings\n    settings.py:3  KEY"]),
        ("django_like", ["Give it the variable: --env MY_SETTINGS, or"]),
        ("needs", ["\n    needs.py:1  import no_such_package\n    ModuleNotFoundError: ",
                   "The lab's own environment has no no_such_package: give yours, --python PATH"]),
        ("god", ["god was looked for in {}; did you mean good? (--chdir names another folder)"]),
        ("elsewhere.web", ["elsewhere was looked for in {} (--chdir names another folder)\n  If it",
                           "is installed in an environment of yours, give that: --python PATH"]),
        ("odd", ["\n    odd.py:1  def application(environ, start)\n", "SyntaxError: expected ':'"]),
        ("leaving", ["leaving:application ended its process while it was loaded in {}",
                     "as sys.exit() does\n    no settings"]),
        ("crashing", ["the import of crashing in {}", "ended with signal 6"]),
        ("kinds:nope", ["--app kinds:nope: the module kinds has no `nope`. WSGI applications in",
                        ": framework (Framework), application (function), create_app (a factory:",
                        "--app 'kinds:create_app()'), create_broken_app (a factory: "]),
        ("good:app", ["has no `app`. WSGI applications in it: application (function)"]),
        ("kinds:number", ["kinds:number is no WSGI application: it is int. WSGI applications in"]),
        ("kinds:add", ["kinds:add is no WSGI application: it is function"]),
        ("kinds:create_app", ["takes no request: it makes an application; say --app 'kinds:"]),
        ("kinds:create_broken_app()", ["kinds:create_broken_app() cannot be loaded in",
                                       'Error("no database")\n    RuntimeError: no database']),
        ("kinds:asynchronous", ["is an ASGI application (Asynchronous)", "a2wsgi",
                               "lab run uvicorn granian-asgi --app kinds:asynchronous"]),
        ("kinds:coroutine", ["is an ASGI application (function)"]),
    ],
)  # fmt: skip
def test_why_an_application_cannot_be_served(ask, tmp_path, app, said):
    """In a paragraph: what, where in the user's own files, and what to do."""
    text = ask(app)
    assert text.startswith(f"--app {app}: ")
    assert [part for part in said if part.format(tmp_path) not in text] == [], text
    assert "proxy" not in text
    assert "make_a_cake" not in text


@pytest.mark.costly
@pytest.mark.parametrize(
    "app",
    ["good", "good.py", "site.wsgi", "package.wsgi", "kinds:framework", "kinds:per_request",
     "kinds:create_app()", "chatty", "inside", "several:nothing"],
)  # fmt: skip
def test_what_can_be_served_passes(ask, app):
    """And so does what only uWSGI itself can import: its start will tell."""
    assert ask(app) is None


@pytest.mark.parametrize(
    ("app", "said"),
    [
        ("kinds:asynchronous", None),
        ("kinds:coroutine", None),
        ("kinds:nope", "--app kinds:nope: the module kinds has no `nope`"),
        ("odd", "SyntaxError: expected ':'"),
    ],
)
def test_a_server_of_asgi_is_not_called_one_of_wsgi(ask, app, said):
    """As gunicorn with worker_class = "asgi", whose --app is an ASGI application."""
    text = ask(app, interface="asgi")
    assert text is None if said is None else said in text


def test_the_interface_is_that_of_the_configuration(tmp_path):
    """As the worker class of a gunicorn.conf.py says."""
    path = tmp_path / "gunicorn.conf.py"
    path.write_text('worker_class = "asgi"\n')
    workload = Workload("shop", "/", Expectation(body=b""), apps={"wsgi": "shop:app"})
    ((_, (target, _)),) = _targets([profiles.read(str(path))], replace(workload, app="shop:app"))
    assert target.interface == "asgi"


def test_an_import_that_does_not_end_is_killed(ask, monkeypatch):
    """At the limit, and nothing of it is left."""
    monkeypatch.setattr(preflight, "LIMIT", 0.6)
    assert "it took more than 0.6 s" in ask("hanging")


def test_nothing_that_an_import_starts_is_left(ask, tmp_path):
    """A process that it forks goes with it."""
    assert ask("forking") is None
    assert not psutil.pid_exists(int((tmp_path / "child").read_text()))


def test_what_is_asked_twice_is_imported_once(ask, tmp_path):
    """Each distinct application once, however many profiles serve it."""
    (tmp_path / "noted.py").write_text(f"open('noted', 'a').write('x')\n{WSGI}")
    sought = ApplicationTarget("noted", "application", tmp_path, "", python=sys.executable)
    again = replace(sought, named="another"), replace(sought, python=None)
    check([(target, OURS) for target in (sought, *again)])
    assert (tmp_path / "noted").read_text() == "x"


def test_it_is_imported_by_the_users_python_in_its_environment(ask, tmp_path):
    """With what the user and the configuration give it, and with none of the lab's packages."""
    environment = empty(tmp_path / "v")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "extra.py").write_text("")
    (tmp_path / "placed.py").write_text(
        f"import extra, os, sys\n\nassert sys.prefix == {str(environment)!r}\n"
        f"assert os.getcwd() == {str(tmp_path)!r}\nassert os.environ['OF_INI'] == 'x'\n{WSGI}"
    )
    changes = {
        "path": ("lib",),
        "variables": (("OF_INI", "x"),),
        "python": f"{environment}/bin/python",
    }
    assert ask("placed", Runtime(python=environment), **changes) is None
    (tmp_path / "flask_like.py").write_text("import flask\n")
    message = ask("flask_like", Runtime(python=environment), **changes)
    assert f"{environment} has no flask: install it there, or name another by --python" in message


def test_a_module_that_a_variable_names_is_told(ask, tmp_path):
    """Else nobody could see what is missing; what is stored has the name of the variable alone."""
    (tmp_path / "by_name.py").write_text(
        "import importlib, os\n\nprint(os.environ['OF_SHOP'], os.environ['SECRET'])\n"
        "importlib.import_module(os.environ['OF_SHOP'])\n"
    )
    given = Variables.of({"OF_SHOP": "nosuch_shop.settings", "SECRET": "hunter2"}, "")
    sought = ApplicationTarget(
        "by_name", "application", tmp_path, "", named="--app x", python=sys.executable
    )
    with pytest.raises(ApplicationError) as caught:
        check([(sought, Runtime(variables=given))])
    assert "ModuleNotFoundError: No module named 'nosuch_shop'" in str(caught.value)
    assert f"OF_SHOP names it, and it was looked for in {tmp_path}" in str(caught.value)
    (tmp_path / "nosuch_shop.py").write_text("")
    with pytest.raises(ApplicationError) as caught:
        check([(sought, Runtime(variables=given))])
    assert "No module named 'nosuch_shop.settings'" in str(caught.value)
    assert "$(OF_SHOP) $(SECRET)" in caught.value.log
    assert "nosuch_shop.settings" not in caught.value.log
    assert "hunter2" not in f"{caught.value}{caught.value.log}"


def test_a_file_of_variables_that_is_there_is_named(ask, tmp_path):
    """It is the one that is needed, more often than not."""
    (tmp_path / ".env").write_text("")
    assert f"or --env-file {tmp_path}/.env" in ask("settings")


def test_who_asks_needs_an_old_python_and_no_package():
    """It runs in the environment of the application, which may be of Python 3.8."""
    tree = ast.parse(ASK.read_text(), feature_version=(3, 8))
    names = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else
                     [alias.name for alias in node.names])
    }  # fmt: skip
    assert names <= sys.stdlib_module_names
    newer = r"\.remove(prefix|suffix)\(|\bmatch \w+:|zip\(.*strict|pairwise|\| None"
    assert re.search(newer, ASK.read_text()) is None


def test_what_uwsgi_loads_as_somebody_else_is_not_imported_as_root(tmp_path, monkeypatch):
    """What the import writes would be root's, and the server could not write it."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    path = tmp_path / "mine.ini"
    for line, known in (("uid = nobody", False), ("", True)):
        path.write_text(f"[uwsgi]\nhttp-socket = :$(PORT)\nmodule = web\n{line}\n")
        profile = profiles.read(str(path))
        target = ServerRunner().target_of(profile, Workload("x", "/", Expectation()))
        assert (target.python is not None) is known


def test_what_an_ini_serves_is_what_is_asked_for(tmp_path):
    """Module, folder, paths, variables and environment, as its options say them."""
    environment = empty(tmp_path / "v")
    (tmp_path / "mine.ini").write_text(
        "[uwsgi]\nhttp-socket = :$(PORT)\nchdir = %d\nwsgi-file = web.py\ncallable = app\n"
        f"pythonpath = lib\npythonpath = %dsrc\nenv = A=b=c\nhome = {environment}\n"
    )
    profile = profiles.read(str(tmp_path / "mine.ini"))
    target = ServerRunner().target_of(profile, Workload("x", "/", Expectation()))
    assert (str(target), target.folder, target.path) == (
        "web.py:app",
        tmp_path,
        ("lib", f"{tmp_path}/src"),
    )
    assert (target.variables, target.python) == ((("A", "b=c"),), f"{environment}/bin/python")
    assert target.named == f"{tmp_path}/mine.ini"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("listen = 99999999", "uWSGI does not start, because net.core.somaxconn is"),
        ("chdir = /nonexistent", "the folder does not exist"),
        ("chdir = $(GIVEN)/nonexistent", "the folder does not exist"),
        ("home = /nonexistent/venv", "the folder does not exist"),
        ("cheaper = 1", "uWSGI does not start"),
        (
            "home = {old}",
            ".*/old has Python 3.5, this uwsgi 3.*: .*/old/bin/pip install uwsgi",
        ),
        ("home = bare", ".*/bare has no bin/python; name a virtual environment"),
    ],
)
def test_an_ini_that_uwsgi_would_not_start_is_refused_with_the_line(tmp_path, line, said):
    """Before anything is started."""
    old = pretended(tmp_path / "old", "3.5.2")
    bare = pretended(tmp_path / "bare", platform.python_version())
    (bare / "bin" / "python").unlink()
    (tmp_path / "mine.ini").write_text(f"[uwsgi]\nhttp-socket = :$(PORT)\n{line.format(old=old)}\n")
    profile, reading = profiles.with_reading(str(tmp_path / "mine.ini"), GIVEN)
    with pytest.raises(
        ProfileError, match=rf"mine\.ini:3: {re.escape(line.format(old=old))}: {said}"
    ):
        profiles.check_startable(profile, GIVEN, reading)


def test_a_relative_environment_is_that_of_the_inis_folder(tmp_path, monkeypatch):
    """As uWSGI looks for it there, wherever the lab is called, and whatever lies there."""
    empty(tmp_path / "site" / "venv")
    (tmp_path / "site" / "mine.ini").write_text("[uwsgi]\nhttp-socket = :80\nhome = venv\n")
    pretended(tmp_path / "venv", "3.5.2")
    monkeypatch.chdir(tmp_path)
    profile, reading = profiles.with_reading("site/mine.ini")
    profiles.check_startable(profile, OURS, reading)


def test_the_environment_that_is_named_wins_over_the_inis(tmp_path):
    """Its copy has no `home` then."""
    environment, other = empty(tmp_path / "own"), empty(tmp_path / "other")
    (tmp_path / "web.py").write_text(
        "import sys\n\ndef application(environ, start):\n"
        "    start('200 OK', [])\n    return [sys.prefix.encode()]\n"
    )
    (tmp_path / "mine.ini").write_text(
        f"[uwsgi]\nhttp-socket = :80\nmodule = web\nhome = {other}\n"
    )
    profile = profiles.read(str(tmp_path / "mine.ini"))
    for given, prefix in ((OURS, other), (Runtime(python=environment), environment)):
        expect = Expectation(body=str(prefix).encode())
        workload = Workload("x", "/", expect, runtime=given)
        (folder := tmp_path / prefix.name / "trial").mkdir()
        with ServerRunner().start(profile, workload, folder, None) as server:
            assert server.ended() is None


@pytest.mark.parametrize("name", ["tuned", "gunicorn-sync", "granian"])
def test_a_factory_is_served(start, name):
    """As each server takes it."""
    with start(name, site("factory:create_app()", "/", body=b"made")) as server:
        assert server.ended() is None


def test_an_application_of_an_environment_is_told_in_time(tmp_path):
    """The whole command, from typing to the answer; and its log is kept."""
    (tmp_path / "shop.py").write_text(FILES["settings.py"])
    done = run("lab", "run", "--app", "shop:app", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    first, *_, advice, last = done.stderr.splitlines()
    assert first.startswith("lab: --app shop:app: shop cannot be imported in ")
    assert advice == "  Give it the variable: --env NOT_SET, or --env-file FILE"
    (log,) = Path(tmp_path, "results").glob("*/application.log")
    assert last == f"Its whole log: {log.relative_to(tmp_path)}"
    assert "Traceback" in log.read_text()
