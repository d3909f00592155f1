"""The picture of the README."""

import re

import pytest

from lab.errors import ResultsError
from studies import articles
from studies.articles.claim import Decision
from tools.pages import directives, figures, headline
from tools.pages.files import summary

README = (directives.ROOT / "README.md").read_text()

RUN = re.search(r"<!-- figure (\S+): headline -->", README)[1]
"""The run that it shows."""


@pytest.fixture(scope="module")
def image():
    """Return it as SVG."""
    return figures.image(f"{RUN}: headline", ".svg").decode()


def test_it_sets_the_article_beside_what_is_certain(image):
    """The published multiple of each rung, and what the run's is at most where that is less."""
    assert ">5.02x<" in image
    said = directives.fill(f"<!-- ratio {RUN}: throughput of cython / baseline --><!-- -->")
    most = re.search(r"between \S+x and (\S+x)", said)[1]
    assert f">at most {most}<" in image


def test_its_colours_are_explained(image):
    """What is better, and what is inconclusive."""
    assert ">better (99.5% or 96%)<" in image
    assert ">inconclusive (99.5% or 96%)<" in image


def test_it_says_what_limits_its_reading(image):
    """Shared cores in the one, a single core of the server in the other; drawn, and in words."""
    assert "Server and load shared their cores" in image
    assert "Server and load shared their cores" in figures.words(f"{RUN}: headline")
    assert "one core" in figures.words("ladder: headline")


def test_a_run_with_a_core_for_each_has_its_ratios():
    """With a mark at the ratio, which a run that knows only the ends of it has not."""
    picture = figures.words("ladder: headline")
    assert "Measured here, with 99.5% or 96% interval, and" in picture
    said = directives.fill("<!-- ratio ladder: throughput of cython / baseline --><!-- -->")
    image = figures.image("ladder: headline", ".svg").decode()
    assert f">{re.search(r'[0-9][^ ]+x', said)[0]} worse<" in image


def test_it_says_where_the_application_is_another_one(image):
    """What `tuned` gains is not its settings'."""
    assert ">The same settings, another application<" in image


def test_a_run_without_one_of_its_profiles_is_refused():
    """Instead of a picture with a hole."""
    with pytest.raises(ResultsError, match="has no profile baseline"):
        headline.draw(summary("lifetime"))


def test_its_run_can_decide_what_the_article_claims():
    """Marks of a run that may not decide it would say "wrong" all the same."""
    article = (headline.ARTICLE, headline.METRIC)
    found = articles.decided(summary(RUN))
    verdicts = [each for each in found if (each.claim.source, each.claim.metric) == article]
    assert len(verdicts) > 0
    assert not [each.claim.id for each in verdicts if each.decision is Decision.UNTESTABLE]
