"""The options of a comparison, at both doors."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from lab.bench import profiles
from lab.cli.options.execution import application, understand
from lab.cli.options.table import OPTIONS, Job
from lab.cli.run.command import run_command
from lab.errors import UsageError
from tests.kit.golden import check_golden
from tests.kit.lab_process import ROOT, environment, run

GOLDEN = Path(__file__).parent / "golden"

TYPED = [
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
    (("--minutes", "7.5"), {"minutes": 7.5}),
    (("--profiles", "a", "--profiles", "b", "c"), {"profiles": ["a", "b", "c"]}),
    (("--env", "A=1", "--env", "B", "--cwd", "x"), {"env": ["A=1", "B"], "cwd": "x"}),
]
"""What is typed after `locust`, and what it says."""

FORM = ("--blocks", "3", "--window", "2", "--profiles", "./mine.ini"), {
    "blocks": "7", "window": "", "fail_if": "a", "confirm": "no", "connection": "default",
}  # fmt: skip
"""A command line, and what its web form then hands over."""

LOCUST = """
import json, sys
from dataclasses import asdict
import lab.locust
from lab.locust.arguments import given
from locust.argument_parser import get_parser, ui_extra_args_dict

def says(words, form):
    parsed = parser.parse_args(words)
    vars(parsed).update(form)
    return asdict(given(parsed, None))

parser = get_parser(default_config_files=[])
typed, form = map(json.loads, sys.argv[1:])
print(json.dumps({
    "help": parser.format_help(),
    "spelled": [name for action in parser._actions for name in action.option_strings],
    "shown": ui_extra_args_dict([]),
    "default": says([], {}),
    "typed": [says(words, {}) for words in typed],
    "form": says(*form),
}, default=str))
parser.parse_args(["--window", "fast"])
"""
# In a process of its own: to import Locust patches the sockets of the one that does.


@pytest.fixture(scope="module")
def locust():
    """Return what a Locust says that has our options: as data, and in the end as an error."""
    cases = json.dumps([words for words, _ in TYPED]), json.dumps(FORM)
    done = subprocess.run(
        [sys.executable, "-c", LOCUST, *cases],
        cwd=ROOT,
        env={**environment(), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    return {**json.loads(done.stdout), "error": done.stderr}


def beyond(options, default):
    """Return what differs from what is said where nothing is."""
    return {name: value for name, value in options.items() if value != default[name]}


@pytest.mark.parametrize("command", ["run", "stress"])
def test_the_help_of_the_lab(command, tmp_path, monkeypatch):
    """As on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    check_golden(GOLDEN / f"lab-{command}.txt", run("lab", command, "--help", cwd=tmp_path).stdout)


def test_the_help_of_locust(locust):
    """Our group of it."""
    help_text = locust["help"]
    start = help_text.index("Comparison of server profiles:")
    check_golden(GOLDEN / "locust.txt", help_text[start : help_text.index("\nExamples:")])


def test_locust_prints_our_options_when_it_is_asked_for_them(tmp_path):
    """Those of its help's group, and none of its own; then it ends."""
    done = run("locust", "-f", str(ROOT / "loadtests"), "--lab-help", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    first, _, rest = done.stdout.partition("\n\n")
    assert first == "What loadtests/ adds to the options that `locust --help` prints."
    group = (GOLDEN / "locust.txt").read_text()
    assert rest.split() == group.split()


def test_locusts_own_help_has_none_of_them(tmp_path):
    """It is printed before the file is loaded: the day that this fails, --lab-help can go."""
    done = run("locust", "-f", str(ROOT / "loadtests"), "--help", cwd=tmp_path)
    assert "--headless" in done.stdout
    assert "--profiles" not in done.stdout


def test_both_doors_have_the_same_options(locust):
    """Each is spelled the same; one that a door lacks has a reason there."""
    at_lab = {
        name
        for parameter in run_command.params
        for name in parameter.opts + parameter.secondary_opts
    }
    at_locust = set(locust["spelled"])
    for option in OPTIONS.values():
        assert (option.name in at_lab) != bool(option.not_in_lab)
        # Locust's own of these names are others.
        other = option.name in {"--json", "--host"}
        assert other or (option.name in at_locust) != bool(option.not_in_locust)
    assert {"--profiles", "--no-confirm", "--no-pin"} <= at_lab & at_locust


@pytest.mark.parametrize("case", range(len(TYPED)), ids=[" ".join(words) for words, _ in TYPED])
def test_what_is_typed_after_locust(locust, case):
    """What worked before both doors had one table still does."""
    assert beyond(locust["typed"][case], locust["default"]) == TYPED[case][1]


def test_nothing_typed_after_locust_asks_for_what_the_lab_does(locust):
    """But for the ladder's profiles, which the form shows; and Locust's processes make the load."""
    options = beyond(locust["default"], json.loads(json.dumps(asdict(Job()), default=str)))
    assert list(options) == ["profiles", "generators"]


def test_what_stands_in_the_web_form(locust):
    """It is text: empty fields say nothing, and the others override the command line."""
    assert beyond(locust["form"], locust["default"]) == {
        "profiles": ["./mine.ini"], "blocks": 7, "fail_if": ["a"], "confirm": False,
    }  # fmt: skip


def test_the_form_shows_a_choice_that_says_nothing_first(locust):
    """Where an option has no default, what is not touched is not asked for."""
    shown = locust["shown"]
    assert shown["connection"]["choices"] == ["default", "keep-alive", "close"]
    assert shown["confirm"]["default_value"] == shown["confirm"]["choices"][0] == "default"
    assert shown["quick"]["default_value"] is False


def test_the_form_has_no_field_for_a_secret(locust):
    """Nobody who looks at the page sees what the command line said."""
    assert "env" not in locust["shown"]
    assert "env_file" in locust["shown"]


def test_a_word_that_is_no_value_is_refused_by_locust_at_once(locust):
    """Before its web UI starts; the message shows how it is written."""
    assert "'fast' is no duration; write 3, 2.5s, 500ms, 1m or 1h" in locust["error"]


def test_quick_gives_way_to_what_is_said():
    """Each size for itself; and it confirms no cause unless that is asked for."""
    sizes = understand(Job(quick=True, blocks=2)).options.sizes
    assert (sizes.blocks, sizes.window) == (2, 1.5)
    assert not understand(Job(quick=True)).options.confirm
    assert understand(Job(quick=True, confirm=True)).options.confirm


@pytest.mark.parametrize(
    ("asked", "minutes"),
    [
        ({}, 15),
        ({"profiles": profiles.usual()}, 15),
        ({"window": 1.0}, 15),
        ({"minutes": 7.5}, 7.5),
        ({"quick": True, "minutes": 7.5}, 7.5),
        ({"profiles": ("tuned",), "minutes": 7.5}, 7.5),
        ({"profiles": ("tuned",)}, None),
        ({"blocks": 10}, None),
        ({"quick": True}, None),
        ({"rate": "50%"}, None),
        ({"window": 35.0}, None),
        ({"warmup": 5.0}, None),
    ],
)
def test_the_whole_ladder_takes_minutes_and_a_few_profiles_take_blocks(asked, minutes):
    """Unless something else is said; so that `make compare` is over in a quarter of an hour."""
    assert understand(Job(**asked)).options.minutes == minutes


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"rate": "50", "load": "walkthrough"}, "counts its requests"),
        ({"rate": "50", "client": "fasthttp"}, "leave out --client fasthttp"),
        ({"generator": "ab"}, "add --load article"),
        ({"generator": "ab", "load": "walkthrough", "generators": 2}, "leave out --generator ab"),
        ({"rate": "50", "fail_if": ("rps(a/b) < 1",)}, "in an open loop the plan"),
        ({"blocks": 10, "minutes": 5}, "--blocks 10 --minutes 5: say one of them"),
    ],
)
def test_options_that_contradict_each_other_are_refused(asked, words):
    """In a line that says what to do, whichever door they came through."""
    with pytest.raises(UsageError, match=words):
        understand(Job(**asked))


@pytest.mark.parametrize("given", [{"status": 200}, {"check": "x"}, {"chdir": Path()}])
def test_what_describes_an_application_goes_with_one(given):
    """Even where it says what is so anyway."""
    (name,) = given
    with pytest.raises(UsageError, match=f"--{name} .* goes with --app"):
        application(Job(**given))


@pytest.mark.parametrize("said", [{"header": ["A: b"]}, {"path": ["/9", "/10"]}])
def test_what_only_the_engine_asks_is_refused_to_others(said):
    """They make a GET of one target."""
    with pytest.raises(UsageError, match="fasthttp makes one GET; methods, headers, bodies and se"):
        application(Job(client="fasthttp", **said))


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """Put a workload that has a load of its own, and one of its article, beside hello."""
    monkeypatch.setattr("lab.bench.machine.project.workloads", lambda: tmp_path)
    (tmp_path / "fib.toml").write_text("summary = 'A'\n")
    (tmp_path / "slow.toml").write_text(
        "summary = 'A'\n[load]\nconnections = 10\nkeepalive = false\nwindow = 6.0\n"
        "warmup = 5.0\n[article]\nconnections = 300\nwindow = 30.0\n"
    )


def sizes_and_load(**fields):
    """Return connections, whether they are kept, the window and the warm-up."""
    options = understand(Job(**fields)).options
    load, sizes = options.load, options.sizes
    return load.connections, load.keepalive, sizes.window, sizes.warmup


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, (64, True, 3.0, 0.7)),
        ({"app": "a:b"}, (64, True, 3.0, 0.7)),
        ({"workload": "slow"}, (10, False, 6.0, 5.0)),
        ({"workload": "slow", "load": "sustained"}, (10, False, 6.0, 5.0)),
        ({"workload": "slow", "connections": 20}, (20, False, 6.0, 5.0)),
        ({"workload": "slow", "connection": "keep-alive"}, (10, True, 6.0, 5.0)),
        ({"workload": "slow", "window": 1.0, "warmup": 0.0}, (10, False, 1.0, 0.0)),
        ({"workload": "slow", "quick": True}, (10, False, 1.5, 0.5)),
        ({"workload": "slow", "load": "article"}, (300, True, 30.0, 0.7)),
        ({"workload": "slow", "load": "article", "window": 4.0}, (300, True, 4.0, 0.7)),
    ],
)
@pytest.mark.usefixtures("slow")
def test_a_workload_has_its_own_load_where_nobody_says_otherwise(asked, expected):
    """What is said wins, each option for itself; `--quick` says both times."""
    assert sizes_and_load(**asked) == expected


@pytest.mark.usefixtures("slow")
def test_long_trials_of_a_workload_are_counted_in_blocks():
    """As those that are asked for are: in minutes the first look would not be reached."""
    assert understand(Job(window=5.0)).options.minutes == 15
    assert understand(Job(window=8.0)).options.minutes is None
    assert understand(Job(workload="slow")).options.minutes is None
    assert understand(Job(workload="slow", quick=True)).options.minutes is None
    assert understand(Job()).options.minutes == 15


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("asked", [{"app": "a:b"}, {"workload": "fib"}, {}])
def test_the_load_of_an_article_needs_one(asked):
    """An application of the user's has none, nor has every workload."""
    with pytest.raises(UsageError, match=r"--load article: no article loads (a:b|fib); say"):
        understand(Job(load="article", **asked))


@pytest.mark.parametrize("asked", [{}, {"workload": "hello"}, {"app": "a:b"}])
def test_the_walkthroughs_load_is_that_of_fibs_article(asked):
    """`ab -c 500 -n 5000 -s 90`, whatever is asked."""
    load = understand(Job(load="walkthrough", **asked)).options.load
    assert load == understand(Job(load="article")).options.load
    assert (load.connections, load.requests, load.keepalive, load.timeout) == (500, 5000, False, 90)


@pytest.mark.parametrize("client", [{"generator": "ab"}, {"client": "fasthttp"}])
def test_what_only_the_engine_speaks_is_refused_to_others(client):
    """Whichever door it came through, before anything starts."""
    (name,) = client.values()
    with pytest.raises(UsageError, match=f"{name} speaks http over tcp; echo-unix-1k is echo"):
        understand(Job(workload="echo-unix-1k", load="article", **client))
    assert understand(Job(workload="echo-unix-1k")).options.load.connections == 10
