"""The picture of the README."""

import re

import pytest

from lab.errors import ResultsError
from tools.pages import directives, figures, headline
from tools.pages.files import summary

GITHUB = 838
"""Pixels, the widest that GitHub shows a README."""


@pytest.fixture(scope="module")
def image():
    """Return it as SVG."""
    return figures.image("ladder: headline", ".svg").decode()


def test_its_text_is_read_at_the_width_of_a_readme(image):
    """At least 11 pixels high; a unit of the drawing is a pixel there or more."""
    assert float(re.search(r'viewBox="0 0 ([\d.]+) ', image)[1]) <= GITHUB
    sizes = [float(size) for size in re.findall(r"font:? ?(?:-size: ?)?([\d.]+)px", image)]
    assert len(sizes) > 0
    assert min(sizes) >= 11


def test_it_sets_the_article_beside_what_is_measured(image):
    """The published multiple of each rung, and the stored run's with its interval."""
    assert ">5.02x<" in image
    said = directives.fill("<!-- ratio ladder: throughput of cython / baseline --><!-- -->")
    measured = re.search(r"\d\S+x \[.*?\]", said)[0]
    assert f">{measured}<" in image


def test_it_says_where_the_application_is_another_one(image):
    """What `tuned` gains is not its settings'."""
    assert ">The same settings, another application<" in image


def test_a_run_without_one_of_its_profiles_is_refused():
    """Instead of a picture with a hole."""
    with pytest.raises(ResultsError, match="has no profile baseline"):
        headline.draw(summary("lifetime"))
