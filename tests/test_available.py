"""What can be compared here: the pairs of profiles and workloads, and what is not installed."""

from __future__ import annotations

import ast
import threading

import pytest

from lab.bench import profiles
from lab.bench.profiles import find
from lab.bench.trials.announcement import announcement
from lab.bench.trials.available import available, look, look_at_all
from lab.bench.trials.conduct import Measurement, prepare
from lab.bench.trials.plan import app_of, arm_of
from lab.bench.workloads import read, workload
from lab.cli.options.execution import application, carry_out, understand
from lab.cli.options.table import Job
from lab.errors import ProfileError, UsageError
from lab.model.plan import Load
from lab.model.request import Expectation
from lab.model.workload import Workload
from tests.kit import builders as make
from tests.kit.lab_process import SITES

FIB, HELLO = workload("fib"), workload("hello")


@pytest.fixture
def peer(tmp_path):
    """Return a function that writes a peer, and returns its path."""

    def write(name, *lines, program="{python}"):
        path = tmp_path / f"{name}.toml"
        path.write_text(
            "\n".join([f'summary = "{name}"', f'run = [["{program}", "{{port}}"]]', *lines, ""])
        )
        return str(path)

    return write


def served(**changes):
    """Return what a profile with *changes* serves for a workload of two interfaces."""
    the_workload = Workload(
        "db-big", "/", Expectation(), app="a:w", apps={"wsgi": "a:w", "tornado": "a:t"}
    )
    return app_of(make.replace(make.profile("x"), **changes), the_workload)


def test_a_profile_serves_the_first_of_its_interfaces_that_a_workload_has():
    """In the profile's order; None where it has none of them."""
    assert served() == "a:w"
    assert served(interfaces=("tornado", "wsgi")) == "a:t"
    assert served(interfaces=("asyncio", "wsgi")) == "a:w"
    assert served(interfaces=("echo",)) is None


def test_a_profile_may_serve_something_of_its_own_for_a_family():
    """Whatever its interfaces are."""
    assert served(interfaces=("echo",), apps=(("db", "a:own"),)) == "a:own"
    assert served(apps=(("other", "a:own"),)) == "a:w"


def test_an_application_that_the_user_names_is_served_by_either_interface():
    """Whether it is one for that interface, its server says; and the Flask service is for one."""
    named = workload(app="shop:app", chdir=SITES)
    apps = [app_of(profiles.read(name), named) for name in ("tuned", "uvicorn", "hypercorn")]
    assert apps == ["shop:app"] * 3
    ours = app_of(profiles.read("uvicorn"), read("fib").workload)
    assert ours == "loadtests.workloads.fib._asgi:app"
    assert app_of(profiles.read("uvicorn"), read("payload-1k").workload) is None


@pytest.mark.parametrize(
    ("command", "kept"),
    [("uvicorn held:asgi", "granian-asgi"), ("gunicorn held:application", "granian")],
)
def test_what_a_configuration_serves_is_no_application_for_the_other_interface(
    command, kept, monkeypatch
):
    """A server of that is left out, with the reason."""
    monkeypatch.chdir(SITES)
    chosen, skipped, _ = available(
        [command, "granian-asgi", "granian"], workload(profile_names_app=True)
    )
    assert [installation.profile.name for installation in chosen][1:] == [kept]
    assert [why.split(";")[0][:6] for why in skipped.values()] == ["serves"]


def test_each_arm_asks_what_its_profile_serves():
    """An application of the user's is WSGI; the profile's own has no path here."""
    tornado = make.replace(make.profile("x"), apps=(("hello", "a:t"),))
    assert arm_of(tornado, HELLO, Load()).workload.app == "a:t"
    assert arm_of(make.profile("y"), HELLO, Load()).workload.app == "loadtests.workloads.hello:app"
    assert arm_of(make.profile("y"), FIB, Load()).workload.app is None
    the_workload = Workload("m:a", "/", Expectation(), app="m:a")
    assert arm_of(make.profile("y"), the_workload, Load()).workload == the_workload
    assert app_of(make.replace(make.profile("z"), interfaces=("tornado",)), the_workload) is None


def test_a_pair_that_cannot_be_is_skipped_and_told(peer):
    """The others are compared; the run stores the reason, and says it before it starts."""
    path = peer("loop", 'interface = ["tornado"]')
    prepared = prepare(Measurement(profiles=("tuned", path), seed=1), FIB)
    assert [profile.name for profile in prepared.plan.profiles] == ["tuned"]
    assert prepared.skipped == {"loop": "serves Tornado applications; fib has none"}
    assert "skipped: loop serves Tornado applications; fib has none" in announcement(prepared)


def test_a_comparison_of_which_one_profile_is_left_is_refused(peer):
    """Before anything is measured: who names two profiles wants them compared."""
    job = Job(profiles=("tuned", peer("loop", 'interface = ["tornado"]')))
    problem = "^nothing to compare: loop: serves Tornado applications; fib has none$"
    with pytest.raises(UsageError, match=problem):
        carry_out(job, understand(job), lambda *_: pytest.fail("it was run"), list)


def test_if_nothing_can_run_it_is_one_error(peer):
    """Each reason once, with the profiles that have it."""
    echo = [peer(name, 'interface = ["echo"]') for name in ("one", "two")]
    absent = peer("three", 'needs = "make peers"', program="no-such-server")
    with pytest.raises(UsageError) as caught:
        available([*echo, absent], FIB)
    assert str(caught.value) == (
        "no profile can run here: one, two: serves echo applications; fib has none; "
        "three: needs no-such-server (make peers), which is not installed"
    )


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (['python = "<3.1"'], "needs Python <3.1, and this is 3."),
        (
            ['needs = "make peers"', 'version = ["{python}", "-c", "import no_such_server"]'],
            "not installed (make peers)",
        ),
        (
            ['version = ["{python}", "-c", "raise ImportError(\'No module named in\' + \'ner\')"]'],
            "cannot run: ImportError: No module named inner",
        ),
        (['version = ["no-such-server", "-v"]'], "cannot run: no-such-server does not print its"),
    ],
)
def test_why_a_peer_is_not_installed(peer, lines, reason):
    """As its first word is Python, only its version tells that its server is missing."""
    installation = look(peer("a", *lines))
    assert installation.missing.startswith(reason)


@pytest.mark.parametrize(
    ("key", "program", "needed"),
    [
        ('venv = "nosuch"', "{venv}/program", ".peers/nosuch/bin/program"),
        ('build = ["no-such-compiler", "{built}"]', "{built}", "no-such-compiler"),
    ],
)
def test_what_a_peer_runs_from_elsewhere_may_be_missing(peer, key, program, needed):
    """A program of another environment, or the compiler of one that is made here."""
    installation = look(peer("a", 'needs = "make peers"', key, program=program))
    assert installation.missing == f"needs {needed} (make peers), which is not installed"


def test_an_ini_without_its_plug_in_is_skipped(tmp_path):
    """And not an error that ends the list, or a run of the others."""
    path = tmp_path / "loop.ini"
    path.write_text("[lab]\nneeds = plug-in nosuch\n[uwsgi]\nhttp-socket = :$(PORT)\n")
    chosen, skipped, _ = available(["tuned", str(path)], FIB)
    assert [installation.profile.name for installation in chosen] == ["tuned"]
    assert skipped == {"loop": "uWSGI is built without plug-in nosuch: make setup"}


def test_without_uwsgi_the_peers_are_left(monkeypatch, peer):
    """What is missing is said with the command that installs it."""
    monkeypatch.setattr("lab.bench.machine.programs.find_command", lambda name: None)
    chosen, skipped, _ = available(["tuned", peer("a")], FIB)
    assert [installation.profile.name for installation in chosen] == ["a"]
    assert skipped["tuned"].endswith("nor on PATH: make setup")


def test_the_version_of_a_server_is_the_first_line_that_it_says(peer):
    """Of uWSGI by itself; a profile with no such command has none."""
    installation = look(peer("a", 'version = ["{python}", "-c", "print(); print(1.5); print(2)"]'))
    assert (installation.missing, installation.version) == (None, "1.5")
    assert look("tuned").version.startswith("2.")
    assert look(peer("b")).version == ""


def test_the_run_stores_the_versions_of_its_peers(peer):
    """In its environment; those that are in one of two runs alone are no difference."""
    path = peer("a", 'version = ["{python}", "-c", "print(1.5)"]')
    prepared = prepare(Measurement(profiles=("tuned", path), seed=1), read("hello").workload)
    assert prepared.versions == {"a": "1.5"}


def test_the_seed_of_a_run_is_that_of_its_mix():
    """Of every arm, so that `--seed` repeats the order of the requests, too."""
    mix = application(Job(profiles=("tuned",), path=("/1", "/2")))
    plan = prepare(Measurement(profiles=("tuned",), seed=5, pin=False), mix).plan
    assert (plan.seed, {arm.workload.seed for arm in plan.arms}) == (5, {5})


def test_all_profiles_are_read_in_one_thread(monkeypatch):
    """CPython 3.11's parser fails in several at once, and `lab list` ended by it now and then."""
    parse, threads = ast.parse, set()

    def watched(*words, **more):
        threads.add(threading.get_ident())
        return parse(*words, **more)

    monkeypatch.setattr(ast, "parse", watched)
    look_at_all(find())
    assert threads == {threading.get_ident()}


def test_a_profile_that_cannot_be_read_is_reported_and_the_others_are_looked_at():
    """Or raised, where nobody takes the report."""
    unreadable = []
    (looked,) = look_at_all(["nosuch-profile", "tuned"], unreadable.append)
    assert looked.profile.name == "tuned"
    assert "nosuch-profile" in str(*unreadable)
    with pytest.raises(ProfileError):
        look_at_all(["nosuch-profile"])
