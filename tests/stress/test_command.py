"""`lab stress` as a command: what it refuses, writes and says; the trials are stood in for."""

import shutil

import click
import pytest

from lab.bench.store.folder import read_json
from lab.cli.stress import command as door
from lab.cli.stress import run as stress_run
from lab.cli.stress.result import FaultOutcome, StressResult
from lab.errors import Interrupted, ResultsError, UsageError

from .conftest import outcome


def call(*words):
    """Run the command; return its exit status."""
    return door.stress_command.main(list(words), standalone_mode=False)


@pytest.fixture
def test_of(monkeypatch, result, tmp_path):
    """Let a test find a given result; *end* is called before it is returned."""
    monkeypatch.chdir(tmp_path)

    def make(*outcomes, end=lambda _keep, _found: None):
        stress_result = result(*outcomes)

        def stress(_wishes, _console, keep):
            end(keep, stress_result)
            return stress_result

        monkeypatch.setattr(door, "stress", stress)
        return stress_result

    return make


def test_what_is_found_is_written_before_it_is_shown(test_of, monkeypatch, tmp_path):
    """Whoever reads the table may have gone, as `head -0`; five minutes are not lost with him."""
    stress_result = test_of(outcome())

    def gone(*_):
        raise BrokenPipeError

    monkeypatch.setattr(door.terminal, "show_document", gone)
    with pytest.raises(BrokenPipeError):
        call("tuned", "--output", "it.json", "--figure", "it.svg")
    assert read_json(tmp_path / "it.json", StressResult) == stress_result
    assert "<svg" in (tmp_path / "it.svg").read_text()


@pytest.mark.parametrize(("lost", "kept"), [("json", "svg"), ("svg", "json")])
def test_one_file_that_cannot_be_written_does_not_cost_the_other(
    test_of, tmp_path, capsys, lost, kept
):
    """Nor the table; what could not be written is said."""
    for name in ("json", "svg"):
        (tmp_path / name).mkdir()
    test_of(outcome(), end=lambda *_: shutil.rmtree(tmp_path / lost))
    with pytest.raises(ResultsError, match=f"{lost}/it: cannot be written"):
        call("tuned", "--output", "json/it", "--figure", "svg/it")
    assert (tmp_path / kept / "it").exists()
    assert "Effect on clients" in capsys.readouterr().out


def test_each_file_that_cannot_be_written_is_said(test_of, tmp_path):
    """The second one in a note."""
    (tmp_path / "sub").mkdir()
    test_of(outcome(), end=lambda *_: (tmp_path / "sub").rmdir())
    with pytest.raises(ResultsError, match=r"sub/it\.json") as raised:
        call("tuned", "--output", "sub/it.json", "--figure", "sub/it.svg")
    assert "lab: sub/it.svg: cannot be written" in raised.value.__notes__[0]


@pytest.mark.parametrize(
    ("words", "finished", "said"),
    [
        ((), False, "no trial had finished"),
        (("--output", "it.json"), False, "no trial had finished"),
        ((), True, "2 trials finished, only shown above (no --output)"),
        (("--output", "it.json"), True, "2 trials finished, written to it.json"),
        (
            ("--output", "it.json", "--figure", "it.svg"),
            True,
            "2 trials finished, written to it.json and it.svg",
        ),
    ],
)
def test_an_interrupted_test_says_what_there_is_of_it(test_of, words, finished, said):
    """And nothing that there is not."""

    def end(keep, stress_result):
        if finished:
            keep(stress_result)
        raise Interrupted("SIGINT")

    test_of(outcome(), end=end)
    with pytest.raises(Interrupted) as raised:
        call("tuned", *words)
    assert str(raised.value) == f"interrupted by SIGINT; {said}"


def test_a_trial_that_was_left_out_has_not_finished(test_of):
    """It is not counted among those that did."""

    def end(keep, stress_result):
        keep(stress_result)
        raise Interrupted("SIGTERM")

    test_of(outcome(), FaultOutcome("drain", problem="not run", made=False), end=end)
    with pytest.raises(Interrupted, match="2 trials finished"):
        call("tuned")


@pytest.mark.parametrize("option", ["--output", "--figure"])
@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("no/it.json", "there is no folder no"),
        (".", "it is a folder; name a file"),
        ("/proc/it.json", "cannot be written: "),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_test(test_of, option, file, said):
    """Not after five minutes."""
    test_of(outcome(), end=lambda *_: pytest.fail("the test began"))
    with pytest.raises(click.BadParameter, match=f"^{file}: {said}"):
        call("tuned", option, file)


def test_what_is_no_file_can_be_written_to(test_of):
    """As /dev/stdout; nor does asking leave anything behind."""
    test_of(outcome())
    assert call("tuned", "--output", "/dev/null") == 0


def test_a_required_profile_that_cannot_be_tested_is_refused(monkeypatch):
    """At once and with the reason, not by exit status 3 after everything."""
    monkeypatch.setattr(stress_run, "measure", lambda *_: pytest.fail("a trial began"))
    with pytest.raises(UsageError, match=r"--require bare: .*serves no application"):
        call("tuned", "bare", "--require", "bare")


def test_an_application_is_asked_as_by_lab_run(test_of, monkeypatch, tmp_path):
    """Method, body, headers, host and environment, by the same options."""
    wishes, stress_result = [], test_of(outcome())
    monkeypatch.setattr(door, "stress", lambda wished, *_: wishes.append(wished) or stress_result)
    words = ("--method", "PUT", "--data", "{}", "--header", "X-Id: 7", "--cookie", "a=hunter2",
             "--host", "shop.example", "--env", "SECRET=hunter2", "--status", "201")  # fmt: skip
    with pytest.raises(UsageError, match=r"PUT /cart: PUT may write, .* say --writes"):
        call("tuned", "--app", "web:app", "--path", "/cart", *words)
    assert call("tuned", "--app", "web:app", "--path", "/cart", "--writes", *words) == 0
    workload = wishes[0].workload
    (request,) = workload.requests
    assert (str(request), request.body, request.expect.status) == ("PUT /cart", b"{}", 201)
    assert ("X-Id", "7") in request.headers.reveal()
    assert ("Cookie", "a=hunter2") in request.headers.reveal()
    assert (workload.host, workload.runtime.variables.names) == ("shop.example", ("SECRET",))
    (tmp_path / "mix.http").write_text("### weight: 8\nGET /items/3\n\n### weight: 1\nGET /\n")
    assert call("tuned", "--app", "web:app", "--requests", "mix.http") == 0
    assert [(request.path, request.weight) for request in wishes[1].workload.requests] == [
        ("/items/3", 8),
        ("/", 1),
    ]


@pytest.mark.parametrize("option", ["--method", "--header", "--cookie", "--host", "--requests"])
def test_what_describes_an_application_goes_with_one(test_of, option):
    """Ours, which waits, knows what it is asked."""
    test_of(outcome(), end=lambda *_: pytest.fail("the test began"))
    with pytest.raises(UsageError, match=f"^{option} describes an application of yours"):
        call("tuned", option, "a=b")
