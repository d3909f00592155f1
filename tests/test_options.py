"""The options of a comparison, at both doors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from lab.cli.run import run_command
from lab.errors import UsageError
from lab.options import OPTIONS, Asked, application, understand
from tests.kit.lab_process import ROOT, environment, run

GOLDEN = Path(__file__).parent / "golden"

LOCUST = """
import json, sys
from dataclasses import asdict
import lab.locust
from lab.locust.arguments import given
from locust.argument_parser import get_parser, ui_extra_args_dict
parser = get_parser(default_config_files=[])
"""
# In a process of its own: to import Locust patches the sockets of the one that does.


def in_locust(script, *arguments):
    """Return what a script prints in which Locust's *parser* has our options."""
    done = subprocess.run(
        [sys.executable, "-c", LOCUST + script, *arguments],
        cwd=ROOT,
        env={**environment(), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def given(*words, **form):
    """Return what Locust makes of words on its command line, and of what its form then says."""
    script = """
words, form = map(json.loads, sys.argv[1:])
parsed = parser.parse_args(words)
vars(parsed).update(form)
print(json.dumps(asdict(given(parsed, None)), default=str))
"""
    said = json.loads(in_locust(script, json.dumps(words), json.dumps(form)))
    # Locust's own processes make the load, so one at the other door stands for all of them.
    default = json.loads(json.dumps(asdict(Asked(generators=1)), default=str))
    return {name: value for name, value in said.items() if value != default[name]}


def held(name, text):
    """Compare *text* with the stored one; GOLDEN=write stores it."""
    path = GOLDEN / name
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("command", ["run", "stress"])
def test_the_help_of_the_lab(command, tmp_path, monkeypatch):
    """As on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    held(f"lab-{command}.txt", run("lab", command, "--help", cwd=tmp_path).stdout)


def test_the_help_of_locust():
    """Our group of it; `locust --help` itself prints no option of any locustfile."""
    said = in_locust("print(parser.format_help())")
    start = said.index("Comparison of server profiles:")
    held("locust.txt", said[start : said.index("\nExamples:")])


def test_both_doors_have_the_same_options():
    """Each is spelled the same; one that a door lacks has a reason there."""
    at_lab = {name for each in run_command.params for name in each.opts + each.secondary_opts}
    said = in_locust("print(json.dumps([n for a in parser._actions for n in a.option_strings]))")
    at_locust = set(json.loads(said))
    for option in OPTIONS.values():
        assert (option.name in at_lab) != bool(option.not_in_lab)
        # Locust's own --json is another.
        assert option.name == "--json" or (option.name in at_locust) != bool(option.not_in_locust)
    assert {"--profiles", "--no-confirm", "--no-pin"} <= at_lab & at_locust


@pytest.mark.parametrize(
    ("words", "means"),
    [
        (("--confirm", "no"), {"confirm": False}),
        (("--confirm", "yes"), {"confirm": True}),
        (("--confirm", "--blocks", "3"), {"confirm": True, "blocks": 3}),
        (("--no-confirm", "--no-pin"), {"confirm": False, "pin": False}),
        (("--rate", "0", "--seed", "0"), {}),
        (("--rate", "50%,200"), {"rate": "50%,200"}),
        (("--window", "2.5", "--warmup", "500ms"), {"window": 2.5, "warmup": 0.5}),
        (("--app", "", "--path", "", "--check", ""), {}),
        (("--quick", "--status", "404"), {"quick": True, "status": 404}),
        (("--fail-if", "a", "--fail-if", "b"), {"fail_if": ["a", "b"]}),
    ],
)
def test_what_is_typed_after_locust(words, means):
    """What worked before both doors had one table still does."""
    profiles = given()["profiles"]
    assert given(*words) == {"profiles": profiles, **means}


def test_what_stands_in_the_web_form():
    """It is text: empty fields say nothing, and the others override the command line."""
    form = {"blocks": "7", "window": "", "fail_if": "a", "confirm": "no", "connection": "default"}
    said = given("--blocks", "3", "--window", "2", "--profiles", "./mine.ini", **form)
    assert said == {"profiles": ["./mine.ini"], "blocks": 7, "fail_if": ["a"], "confirm": False}


def test_the_form_shows_a_choice_that_says_nothing_first():
    """Where an option has no default, what is not touched is not asked for."""
    form = json.loads(in_locust("print(json.dumps(ui_extra_args_dict([])))"))
    assert form["connection"]["choices"] == ["default", "keep-alive", "close"]
    assert form["confirm"]["default_value"] == form["confirm"]["choices"][0] == "default"
    assert form["quick"]["default_value"] is False


def test_a_word_that_is_no_value_is_refused_by_locust_at_once():
    """Before its web UI starts; the message shows how it is written."""
    done = subprocess.run(
        [sys.executable, "-c", LOCUST + "parser.parse_args(['--window', 'fast'])"],
        cwd=ROOT, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "'fast' is no duration; write 3, 2.5s, 500ms or 1m" in done.stderr


def test_quick_gives_way_to_what_is_said():
    """Each size for itself; and it confirms no cause unless that is asked for."""
    sizes = understand(Asked(quick=True, blocks=2)).options.sizes
    assert (sizes.blocks, sizes.window) == (2, 1.5)
    assert not understand(Asked(quick=True)).options.confirm
    assert understand(Asked(quick=True, confirm=True)).options.confirm


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"rate": "50", "load": "walkthrough"}, "counts its requests"),
        ({"rate": "50", "client": "fasthttp"}, "leave out --client fasthttp"),
        ({"generator": "ab"}, "add --load walkthrough"),
        ({"generator": "ab", "load": "walkthrough", "generators": 2}, "leave out --generator ab"),
        ({"rate": "50", "fail_if": ("rps(a/b) < 1",)}, "in an open loop throughput"),
    ],
)
def test_options_that_contradict_each_other_are_refused(asked, words):
    """In a line that says what to do, whichever door they came through."""
    with pytest.raises(UsageError, match=words):
        understand(Asked(**asked))


@pytest.mark.parametrize("given", [{"status": 200}, {"check": "x"}, {"chdir": Path()}])
def test_what_describes_an_application_goes_with_one(given):
    """Even where it says what is so anyway."""
    (name,) = given
    with pytest.raises(UsageError, match=f"--{name} .* goes with --app"):
        application(Asked(**given))
