"""The picture of the README."""

import re

import pytest

import articles
from articles.claim import Decision
from lab.errors import ResultsError
from tools.pages import directives, figures, headline
from tools.pages.files import summary

GITHUB = 838
"""Pixels, the widest that GitHub shows a README."""


README = (directives.ROOT / "README.md").read_text()

RUN = re.search(r"<!-- figure (\S+): headline -->", README)[1]
"""The run that it shows."""


@pytest.fixture(scope="module")
def image():
    """Return it as SVG."""
    return figures.image(f"{RUN}: headline", ".svg").decode()


def test_its_text_is_read_at_the_width_of_a_readme(image):
    """At least 11 pixels high; a unit of the drawing is a pixel there or more."""
    assert float(re.search(r'viewBox="0 0 ([\d.]+) ', image)[1]) <= GITHUB
    sizes = [float(size) for size in re.findall(r"font:? ?(?:-size: ?)?([\d.]+)px", image)]
    assert len(sizes) > 0
    assert min(sizes) >= 11


def test_it_sets_the_article_beside_what_is_measured(image):
    """The published multiple of each rung, and between which ends the stored run's is."""
    assert ">5.02x<" in image
    said = directives.fill(f"<!-- ratio {RUN}: throughput of cython / baseline --><!-- -->")
    measured = re.search(r"between \S+x and \S+x", said)[0]
    assert f">{measured}<" in image


def test_a_run_with_a_core_for_each_has_its_ratios():
    """With a mark at the ratio, which a run that knows only the ends of it has not."""
    picture = figures.words("ladder: headline")
    assert "Measured here, with 99.5% or 96% interval, and" in picture
    said = directives.fill("<!-- ratio ladder: throughput of cython / baseline --><!-- -->")
    image = figures.image("ladder: headline", ".svg").decode()
    assert f">{re.search(r'[0-9][^ ]+x .*?]', said)[0]}<" in image


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
