"""What a page may ask for, and how it is told of a mistake."""

import pytest

from lab.errors import ResultsError, UsageError
from tools.pages import directives


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


@pytest.mark.parametrize(
    ("directive", "problem"),
    [
        ("run ladder: Counted", "has no table 'Counted', only Measured"),
        ("run ladder: Measured (fast)", "has no row 'fast' in its table 'Measured'"),
        ("ratio ladder: cpu of fast / tuned", "cannot compare fast with tuned by cpu"),
        ("machine of-nobody", "of-nobody"),
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


@pytest.mark.parametrize(
    ("directive", "text"),
    [
        ("result endurance: requests", "200,000"),
        ("result aa: floors / throughput in %", "5.73 %"),
        ("result aa: how many are undecided of comparisons / * / * / verdict", "35"),
        ("result engine_cost: scenarios / keep-alive, nginx / engine in µs", "7.62 µs"),
        ("result engine_cost: scenarios / keep-alive, nginx / engine above wrk", "6%"),
    ],
)
def test_a_figure_of_a_stored_result(directive, text):
    """As it is stored, in a unit, or beside another one: the median where there are several."""
    assert directives.fill(f"<!-- {directive} --><!-- -->") == f"<!-- {directive} -->{text}<!-- -->"


@pytest.mark.parametrize(
    ("directive", "problem"),
    [
        ("result nothing: requests", "nothing.json: there is no such result"),
        ("result aa: floors / speed", "aa.json has no 'speed'"),
        ("result aa: floors / cpu in inches", "inches: a result is in %"),
        ("result aa: command", "is no number"),
    ],
)
def test_what_a_stored_result_does_not_have_is_named(directive, problem):
    """Instead of a figure from elsewhere."""
    with pytest.raises(UsageError, match=problem):
        directives.fill(f"<!-- {directive} --><!-- -->")


def test_the_command_of_a_run_is_its_own():
    """With every option that it was made with, but for the seed."""
    text = directives.fill("<!-- command rungs-100-digits -->\n<!-- end -->\n")
    assert "$ .venv/bin/lab run safety loop-pure table " in text
    assert text.endswith(" --path '/10^99' --window 2 --no-confirm\n```\n<!-- end -->\n")
    assert "--seed" not in text
