"""The stored evidence says what the documentation claims of it: whoever makes it anew is judged."""

from __future__ import annotations

import functools
import re
from dataclasses import replace

import pytest

from lab.analysis.gates.effect import COUNTED
from lab.analysis.sweep import conclude_run
from lab.analysis.sweep_values import exit_code
from lab.bench import profiles
from lab.config.scale import scaled
from lab.errors import ProfileError
from lab.model.digest import digest_of
from lab.model.plan import Role
from lab.report import markdown, summary_json, sweep
from tests.kit.cases import cases
from tools.pages import directives, figures, files
from tools.pages import profiles as profiles_page
from tools.pages import runs as run_pages
from tools.pages.files import RUNS, summary
from tools.pages.files import stored as stored_run


@functools.cache
def today(name):
    """Return a profile as it is now."""
    return profiles.read(name)


def refused(name):
    """Return why the own rules of a stored run refuse it, in a line, if it ends with 3."""
    summaries = files.swept(name)
    banners = next(sweep.documents(conclude_run(summaries))).banners
    return [f"{name}: exit status 3: {' '.join(banners)}"] if exit_code(summaries) == 3 else []


def changed(run, read=today):
    """Return which profiles of a run are others today: a line each, with both digests."""
    problems = []
    for stored, at in {arm.profile.name: (arm.profile, arm.at) for arm in run.plan.arms}.values():
        try:
            now = read(stored.name)
            for quantity in COUNTED.keys() & at.keys():
                now = scaled(now, quantity, int(at[quantity]))
        except ProfileError:
            problems.append(f"{run.name}: {stored.name} ({stored.digest}) is no profile any more")
            continue
        # The number of CPUs is the machine's, and not the profile's.
        digests = [
            digest_of(profiles_page.without_cpus(profile).options) for profile in (stored, now)
        ]
        if stored.digest != now.digest and digests[0] != digests[1]:
            problems.append(
                f"{run.name}: {stored.name} was {stored.digest}, and is {now.digest} today"
            )
    return problems


def hides(page):
    """Return what the quotations of a page hide, the pictures being those that are stored."""
    text = page.read_text(encoding="utf-8")
    return [*directives.hides(text, lambda address: (page.parent / address).read_text())]


STORED = sorted(path.parent.name for path in RUNS.glob("*/run.json"))


@pytest.mark.parametrize("name", STORED)
def test_a_stored_report_says_what_todays_rules_say(name):
    """A change that is meant derives it again."""
    remedy = f"if it is meant: .venv/bin/python tools/store_run.py docs/runs/{name} {name}"
    conclusion = conclude_run(files.swept(name))
    written = (RUNS / name / "summary.json").read_text(encoding="utf-8")
    assert summary_json.render(conclusion) == written, remedy


def test_a_stored_report_has_no_word_of_the_trade():
    """What a reader would have to look up has a plain word."""
    wrong = [
        f"{name}: {match[0]}"
        for name in STORED
        for match in re.finditer(
            r"A/A|consistent with|at (most|least) [\d.,]+ to ",
            markdown.render(conclude_run(files.swept(name))),
        )
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", STORED)
def test_a_stored_run_is_one_that_its_own_rules_accept(name):
    """It does not end with 3, and today's profiles are those that it was made with."""
    problems = [*refused(name), *changed(stored_run(name))]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", ["tuned-granian", "tuned-granian-close"])
@pytest.mark.parametrize("metric", ["throughput", "cpu"])
def test_granian_and_tuned_are_told_apart_or_called_the_same(name, metric):
    """
    On connections that are kept, and with one for each request.

    Requests/s may be a bound that tells no winner, as the generator's limit makes it.
    """
    ratio = run_pages.ratio(name, metric, "granian", "tuned")
    assert "inconclusive" not in ratio or (metric == "throughput" and ratio.startswith("at most"))


@cases("page", directives.pages())
def test_a_run_is_quoted_with_what_it_warns_of(page):
    """In a table and below a figure in full, in a sentence by a word, in a picture by its foot."""
    assert not hides(page)


def test_a_measured_step_is_quoted_with_what_its_run_warns_of():
    """On the page of profiles, where a line quotes a run."""
    for line in profiles_page.PAGE.read_text(encoding="utf-8").splitlines():
        if quoted := re.search(r"runs/([^/]+)/report\.md\)", line):
            assert (run_pages.WARNED in line) == bool(summary(quoted[1]).warnings), line


@pytest.fixture
def noisy(monkeypatch):
    """Return a copy of the stored ladder whose A/A arm took another CPU in each block."""
    run = stored_run("ladder")
    trials = tuple(
        replace(
            trial,
            readings={
                key: value * (1 + trial.slot.block % 3) if key.startswith("server.cpu_") else value
                for key, value in trial.readings.items()
            },
        )
        if trial.slot.arm.role is Role.AA
        else trial
        for trial in run.trials
    )
    run = replace(run, name="noisy", trials=trials)
    monkeypatch.setattr(files, "stored", lambda name: run if name == "noisy" else stored_run(name))
    return run


def test_a_run_with_exit_status_3_is_refused(noisy):
    """The run that is stored was accepted; with a noisy A/A arm it is named, with its warning."""
    assert not refused("ladder")
    (problem,) = refused(noisy.name)
    assert problem.startswith(
        "noisy: exit status 3: Noisy machine: the same server compared with itself"
    )


def test_a_run_of_another_version_of_a_profile_is_refused():
    """The run, the profile and both digests are named."""
    run = stored_run("ladder")
    by_name = {profile.name: profile for profile in run.plan.profiles}
    assert not changed(run, by_name.__getitem__)
    options = (*by_name["tuned"].options, ("offload-threads", "1"))
    other = replace(by_name["tuned"], options=options, digest=digest_of(options))
    (problem,) = changed(run, (by_name | {"tuned": other}).__getitem__)
    assert problem == f"ladder: tuned was {by_name['tuned'].digest}, and is {other.digest} today"


def test_a_profile_with_a_sweeps_number_is_the_same_profile():
    """What a sweep over workers replaced is replaced in today's, too; another number is seen."""
    run = stored_run("ladder")
    by_name = {profile.name: profile for profile in run.plan.profiles}

    def at(value):
        arms = (
            replace(arm, profile=scaled(arm.profile, "threads", 4), at={"threads": value})
            for arm in run.plan.arms
        )
        return replace(run, plan=replace(run.plan, arms=tuple(arms)))

    assert not changed(at("4"), by_name.__getitem__)
    assert len(changed(at("8"), by_name.__getitem__)) == len(by_name)


def test_a_profile_that_is_gone_is_named():
    """Nothing on this machine can make such a run again."""
    run = stored_run("ladder")

    def read(name):
        raise ProfileError(name, "the profile does not exist")

    assert len(changed(run, read)) == len(run.plan.profiles)


def test_another_number_of_cpus_is_the_same_profile():
    """A profile with a process for each CPU is the same on every machine."""
    run = stored_run("ladder")
    by_name = {profile.name: profile for profile in run.plan.profiles}
    options = tuple((k, "16" if k == "processes" else v) for k, v in by_name["tuned"].options)
    other = replace(by_name["tuned"], options=options, digest=digest_of(options))
    assert not changed(run, (by_name | {"tuned": other}).__getitem__)


QUOTES = """\
<!-- run NAME: Measured (tuned, baseline) -->
<!-- end -->
It is <!-- ratio NAME: cpu of tuned / baseline -->0<!-- -->,
or <!-- value NAME: cpu of tuned --><!-- -->.

<!-- figure NAME: forest -->
![old](figures/forest.svg)

After it.
"""


def of_stored(page):
    """Return what a filled page hides, its pictures being drawn anew; without "one core" none."""
    quoted = {
        quotation["address"]: quotation["directive"] for quotation in directives.quotations(page)
    }
    drawn = {
        at: figures.image(what.partition(" ")[2], ".svg").decode()
        for at, what in quoted.items()
        if at
    }
    return [*directives.hides(f"{page}On one core.", drawn.__getitem__)]


def test_a_quotation_without_its_warning_is_refused(noisy):
    """Whichever of them is left out of a page."""
    page = directives.fill(QUOTES.replace("NAME", noisy.name))
    assert page == directives.fill(page)
    assert not of_stored(page)
    warning = f"{markdown.WARNING}Noisy machine: "
    assert page.count(warning) == 2
    assert page.count(run_pages.WARNED) == 2
    assert page.endswith("because of this noise.\n\nAfter it.\n")
    for words, quoted in ((warning, "run"), (f" {run_pages.WARNED}", "ratio")):
        (left,) = of_stored(page.replace(words, "", 1))
        assert left.startswith(f"<!-- {quoted} noisy: ")
    head, _, tail = page.rpartition(warning)
    (left,) = of_stored(head + tail)
    assert left.startswith("<!-- figure noisy: forest --> hides: Noisy machine: ")


def test_a_run_that_warns_of_nothing_is_quoted_as_it_is():
    """No word more."""
    page = directives.fill(QUOTES.replace("NAME", "ladder"))
    assert markdown.WARNING not in page
    assert run_pages.WARNED not in page
    assert page.endswith("forest.svg)\n\nAfter it.\n")
