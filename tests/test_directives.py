"""What a page may ask for, and how it is told of a mistake."""

from dataclasses import replace

import pytest

from lab.analysis.summary import summarise
from lab.errors import ResultsError, UsageError
from tests.kit import builders as make
from tools.pages import directives, files, runs


def test_a_block_a_line_and_a_comment():
    """Each text is put between its marks; another comment and all else stay as they are."""
    page = (
        "<!-- a remark -->\n"
        "<!-- instructions saved: loop pure / loop cython at 9000 -->old<!-- --> of it.\n"
        "<!-- instructions phases -->\nold\n<!-- end -->\nrest\n"
    )
    remark, line, block = directives.fill(page).split("\n", 2)
    assert remark == "<!-- a remark -->"
    assert line.endswith("%<!-- --> of it.")
    assert "old" not in line + block
    assert block.startswith("<!-- instructions phases -->\n| part of `service`")
    assert block.endswith(".\n<!-- end -->\nrest\n")


def test_chosen_rows_of_a_table():
    """In the table's order, under its header."""
    page = "<!-- run ladder: Measured (tuned, baseline) -->\n<!-- end -->\n"
    lines = directives.fill(page).splitlines()[1:-1]
    assert [line.split("|")[1].strip() for line in lines] == [
        "profile", "---", "baseline", "tuned",
    ]  # fmt: skip


def test_what_a_terminal_shows_of_a_run():
    """One heading of it, as a block of code."""
    text = directives.fill("<!-- printed ladder: WHAT LIMITS IT -->\n<!-- end -->\n")
    _, block, title, row, *_ = text.splitlines()
    assert (block, title) == ("```text", "WHAT LIMITS IT")
    assert row.startswith("baseline ")
    assert text.endswith("\n```\n<!-- end -->\n")


def test_what_a_profile_changes():
    """In the one that it is against."""
    text = directives.fill("<!-- change disable-logging -->\n<!-- end -->\n")
    assert text.splitlines()[1:-1] == ["```diff", "+ disable-logging = true", "```"]


def test_what_a_run_says_to_a_claim_and_what_limits_a_profile():
    """In the words of `lab claims` and of the report."""
    template = "<!-- decision {0}: ladder-whole --><!-- -->, <!-- limit {0}: baseline --><!-- -->"
    assert ">inconclusive<" in directives.fill(template.format("ladder"))
    assert ">cause: router<" in directives.fill(template.format("ladder"))
    assert ">not seen<" in directives.fill(template.format("ladder-two-cores"))
    assert ">unexplained<" in directives.fill(template.format("ladder-two-cores"))


def test_the_share_of_the_busiest_worker(monkeypatch):
    """Of the profile's own trials, in the median; a run that warns is marked."""
    run = files.stored("ladder")
    shares = iter([0.5, 0.75, 0.9, *[None] * len(run.trials)])
    trials = []
    for trial in run.trials:
        share = next(shares) if trial.slot.arm.name == "tuned" else 0.6
        more = {} if share is None else {"workers.most": share}
        trials.append(replace(trial, readings={**trial.readings, **more}))
    monkeypatch.setattr(runs, "stored", lambda _: replace(run, trials=tuple(trials)))
    assert runs.busiest("ladder", "tuned").startswith("75%")


@pytest.mark.parametrize(
    ("directive", "problem"),
    [
        ("run ladder: Counted", "has no table 'Counted', only Measured"),
        ("run ladder: Measured (fast)", "has no row 'fast' in its table 'Measured'"),
        ("ratio ladder: cpu of fast / tuned", "cannot compare fast with tuned by cpu"),
        ("machine of-nobody", "of-nobody"),
        ("printed ladder: WHAT", "prints no 'WHAT', only .*, WHAT CHANGED, "),
        ("decision ladder: nonblocking-slower", "is not about a claim nonblocking-slower"),
        ("limit ladder: constant", "does not say what limits constant"),
        ("busiest ladder: tuned", "does not say what the workers of tuned had"),
    ],
)
def test_what_a_run_does_not_have_is_named(directive, problem):
    """With the run."""
    with pytest.raises(ResultsError, match=rf"docs/runs/.*{problem.replace('(', '.')}"):
        directives.fill(f"<!-- {directive} -->\n<!-- end -->\n")


def test_a_malformed_directive_is_refused():
    """Instead of leaving an old figure on the page."""
    with pytest.raises(
        UsageError,
        match=r"<!-- ratio ladder: cpu of tuned --> has none of the forms: .*; ratio RUN: ",
    ):
        directives.fill("<!-- ratio ladder: cpu of tuned -->1.0x<!-- -->")


def test_the_load_of_a_run_and_what_its_numbers_stand_for(monkeypatch):
    """The gates that have a number in the run's tables, or nothing."""
    assert "-->64 clients at full load, " in directives.fill("<!-- plan lifetime --><!-- -->")
    gates = directives.fill("<!-- gates keep-alive --><!-- -->")
    assert "]` *starvation*" in gates
    summary = summarise(make.ladder_run({"a": (1000, 4e-4), "b": (2000, 4e-4)}))
    summary = replace(summary, rows=tuple(replace(row, tallies=()) for row in summary.rows))
    monkeypatch.setattr(runs, "summary", lambda _: summary)
    assert directives.fill("<!-- gates none --><!-- -->") == "<!-- gates none --><!-- -->"


def test_the_command_of_a_run_is_its_own():
    """With every option that it was made with, but for the seed."""
    text = directives.fill("<!-- command rungs-100-digits -->\n<!-- end -->\n")
    assert "$ .venv/bin/lab run safety loop-pure table " in text
    assert text.endswith(" --path '/10^99' --window 2 --no-confirm\n```\n<!-- end -->\n")
    assert "--seed" not in text


@pytest.fixture
def at_two_rates(monkeypatch):
    """Store a run of two profiles at two rates; `b` serves more of what is asked at the second."""
    swept_runs = []
    for rate, speed in (("50%", 2000), ("80%", 3000)):
        run = make.ladder_run({"a": (1000, 4e-4), "b": (speed, 4e-4)})
        name = {profile: f"{profile.name} at {rate}" for profile in run.plan.profiles}

        def named(arm, rate=rate, name=name):
            return replace(arm, name=name[arm.profile], at={"rate": rate})

        arms = tuple(map(named, run.plan.arms))
        trials = tuple(
            replace(trial, slot=replace(trial.slot, arm=named(trial.slot.arm)))
            for trial in run.trials
        )
        swept_runs.append(replace(run, plan=replace(run.plan, arms=arms), trials=trials))
    first, second = swept_runs
    whole = replace(
        first,
        plan=replace(first.plan, arms=(*first.plan.arms, *second.plan.arms)),
        trials=(*first.trials, *second.trials),
    )
    monkeypatch.setattr(files, "stored", lambda _: whole)
    files.swept.cache_clear()
    yield
    files.swept.cache_clear()


def test_a_figure_that_the_load_limited_is_quoted_as_the_least_that_it_can_be():
    """In the stored run of the ladder the load was at its limit with tuned alone."""
    page = "<!-- value ladder: throughput of {} --><!-- -->"
    assert "-->at least " in directives.fill(page.format("tuned"))
    assert "at least" not in directives.fill(page.format("baseline"))


def test_a_run_at_several_rates_is_quoted_at_one_of_them(at_two_rates):
    """Which one stands behind the run's name; without it, or with another, nothing is quoted."""
    page = "<!-- value open at RATE: throughput of b --><!-- -->"
    for rate, speed in (("50%", 2000), ("80%", 3000)):
        text = directives.fill(page.replace("RATE", rate)).split("-->")[1].removesuffix("<!-- ")
        assert float(text.replace(",", "")) == pytest.approx(speed, rel=0.02)
    for name in ("open at 90%", "open"):
        with pytest.raises(ResultsError, match=r"has (no rate 90%, only|several rates:) 50%, 80%"):
            directives.fill(f"<!-- value {name}: throughput of b --><!-- -->")
