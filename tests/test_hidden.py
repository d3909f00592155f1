"""A page that hides what its figures rest on is refused."""

from dataclasses import replace

import pytest

from lab.errors import FileError
from lab.model.comparison import MayBe, Verdict
from lab.report import svg
from tools.pages import directives, figures, hidden, runs
from tools.pages.files import summary

LIMITED = (
    ("value ladder: throughput of tuned", "at least "),
    ("ratio ladder: throughput of tuned / safety", "at least "),
    ("ratio numbers: throughput of asyncio / blocking", "at most "),
    ("ratio ladder-two-cores: throughput of cython / baseline", "between "),
    ("headline ladder", "at least "),
    ("headline payload-sizes", "at most "),
)
"""Quotations of what the load limited, and what says so."""


def filled(directive):
    """Return what stands in a page for a directive within a line."""
    return directives.fill(f"<!-- {directive} --><!-- -->")


def drawn(figure):
    """Return a picture as SVG."""
    return figures.image(figure, ".svg").decode()


@pytest.mark.parametrize(("directive", "words"), LIMITED)
def test_a_figure_that_the_load_limited_is_called_a_bound(directive, words):
    """As it is quoted nothing is hidden; without the words, once, they are what is hidden."""
    text = filled(directive)
    assert not hidden.hidden(directive, text)
    assert hidden.hidden(directive, text.replace(words, "", 1)) == (words.strip(),)


def test_a_ratio_of_two_that_the_load_limited_says_so(monkeypatch):
    """It is no bound on either side, and not only too noisy."""
    comparison = summary("ladder").compare("throughput", "tuned", "safety")
    both = replace(comparison, may_be=MayBe.EITHER, verdict=Verdict.INCONCLUSIVE, below=None)
    sentence = runs.in_a_sentence(both)
    assert sentence.endswith(", both saturated the load generator")
    limited = summary("ladder")
    monkeypatch.setattr(type(limited), "compare", lambda *_: both)
    directive = "ratio ladder: throughput of tuned / safety"
    assert not hidden.hidden(directive, sentence)
    assert hidden.hidden(directive, sentence.partition(", both")[0]) == ("saturated",)


@pytest.mark.parametrize(
    "directive",
    [
        "headline gunicorn-connections",
        "value db-connections at 100: p99 of tornado-asyncpg-pool-in-turn",
    ],
)
def test_a_figure_of_a_run_that_warns_has_the_mark_of_its_warning(directive):
    """Of a sweep, and of one value of it whose noise check failed."""
    text = filled(directive)
    assert not hidden.hidden(directive, text)
    assert hidden.hidden(directive, text.replace(runs.WARNED, "")) == (runs.WARNED,)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("figure", "words"),
    [
        ("ladder: forest", "at least"),
        ("payload-sizes: sweep", "at least"),
        ("ladder: time", "one core"),
        ("ladder: trials", "one core"),
        ("ladder: percentiles", "one core"),
        ("ladder-two-cores: forest", "shared their cores"),
        ("gunicorn-connections: sweep", "Noise check not passed"),
        ("db-connections at 100: time", "Noise check failed"),
    ],
)
def test_a_picture_has_what_changes_its_reading(figure, words):
    """In the drawing: its description alone is seen by nobody."""
    page = directives.fill(f"<!-- figure {figure} -->\n![](a.svg)\n")
    image = drawn(figure)
    assert not hidden.hidden(f"figure {figure}", page, image)
    head, mark, body = image.partition("</desc>")
    planted = head + mark + body.replace(words, "")
    (left,) = hidden.hidden(f"figure {figure}", page, planted)
    assert words in left


QUOTING = "It is <!-- ratio ladder: cpu of safety / cython -->0.5x<!-- -->."


@pytest.mark.parametrize(
    "own",
    [
        "",
        "<!-- one core -->",
        "```text\none core\n```",
        "<!-- machine ladder -->one core<!-- -->",
    ],
)
def test_a_page_that_hides_the_one_core_is_refused(own):
    """Comments, blocks of code and what directives fill in are no words of its own."""
    (message,) = directives.hides(f"{QUOTING}\n{own}\n", drawn)
    assert message == 'no words of the page say "one core", as the server had in ladder'


@pytest.mark.parametrize("own", ["The server had one core.", "On **one\ncore**."])
def test_a_page_says_once_that_the_server_had_one_core(own):
    """In any sentence, whatever the breaks of its lines."""
    assert not [*directives.hides(f"{QUOTING}\n{own}\n", drawn)]


def test_a_page_of_runs_with_more_cores_need_not_say_it():
    """Where server and load shared two, that is said by the ratio itself."""
    page = directives.fill("<!-- ratio ladder-two-cores: cpu of safety / baseline --><!-- -->\n")
    assert not [*directives.hides(page, drawn)]


def test_a_page_that_hides_anything_is_left_as_it_was(tmp_path, monkeypatch):
    """The page, the directive and what it hides are named, and nothing is drawn."""
    page = tmp_path / "README.md"
    page.write_text("On one core.\n\n<!-- figure ladder: time -->\n![](time.svg)\n")
    monkeypatch.setattr(directives, "ROOT", tmp_path)
    monkeypatch.setattr(directives, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(svg, "standalone", lambda *_: f'<svg xmlns="{svg.SVG[1:-1]}"/>')
    figures.image.cache_clear()
    with pytest.raises(FileError, match=r"README.md: <!-- figure ladder: time --> hides: The serv"):
        directives.refresh()
    figures.image.cache_clear()
    assert "![]" in page.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
