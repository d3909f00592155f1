"""The picture of the README: what `lab lint` prints of the ini above it."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from lab.report.palette import LIGHT
from lab.report.svg import SVG
from tests.kit.lab_process import ROOT, run
from tools.pages import terminal
from tools.pages.migration import ini

STORED = ROOT / "docs" / "figures" / "lint.svg"
PHONE = 368
"""Pixels that GitHub leaves a picture where its window is 400 wide."""


@pytest.fixture(scope="module")
def picture():
    """Return the stored picture."""
    return ET.parse(STORED).getroot()


def test_it_is_what_the_command_prints(picture, tmp_path):
    """Word for word, at whatever place a line is wrapped."""
    (tmp_path / "uwsgi.ini").write_text(ini(terminal.PAGE))
    command, *lines = ("".join(text.itertext()) for text in picture.iter(f"{SVG}text"))
    done = run(*command.removeprefix("$ ").split(), cwd=tmp_path)
    assert " ".join(lines).split() == done.stdout.split()
    assert max(map(len, lines)) <= terminal.COLUMNS


def test_it_is_stored_as_it_is_drawn():
    """`python -m tools.pages` writes it."""
    assert STORED.read_text() == terminal.render()


def test_it_shows_what_the_readme_says_of_it():
    """The danger that the text below it explains."""
    assert re.search(r"UW314 dangerous .* need-app", terminal.output())
    assert re.search(r"UW408 dangerous .* X-Forwarded-Proto", terminal.output())


def test_it_is_read_where_css_is_not_known(picture):
    """Each part has a colour of the light palette, which media queries alone change."""
    parts = [*picture.iter(f"{SVG}tspan"), *picture.iter(f"{SVG}rect")]
    assert {part.get("fill") for part in parts} <= {*LIGHT.values()}
    (style,) = picture.iter(f"{SVG}style")
    assert style.text.startswith("text{white-space:pre}@media (prefers-color-scheme:dark){")


def test_it_is_read_on_a_phone(picture):
    """Its letters are 9 pixels high or more."""
    assert float(picture.get("font-size")) * PHONE / float(picture.get("width")) >= 9
