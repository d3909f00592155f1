"""The pages of the commands: what the commands say, and readable without them."""

import re

import click
import pytest

from lab import errors
from lab.analysis.judging import FAILED
from lab.cli.commands import STATUSES, cli
from lab.cli.migrate.migration import DIFFERS
from lab.model.metric import METRICS
from tests.test_options import GOLDEN
from tools.pages import commands


@pytest.mark.parametrize("page", commands.PAGES, ids=lambda page: page.name)
def test_the_page_is_current(page):
    """It is what `python -m tools.pages` writes now."""
    assert page.read_text(encoding="utf-8") == commands.PAGES[page]()


@pytest.mark.parametrize("page", commands.PAGES, ids=lambda page: page.name)
def test_the_page_is_the_same_on_every_terminal(page, monkeypatch):
    """However wide it is, and whatever colours it has."""
    usual = commands.PAGES[page]()
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert commands.PAGES[page]() == usual
    assert usual.replace("\n", "").isprintable()
    prose = [line for line in usual.splitlines() if not line.startswith("|")]
    assert max(map(len, prose)) <= commands.WIDTH


def test_every_command_and_option_is_on_the_page():
    """With the metrics of a limit, and with what an exit status says."""
    page = commands.cli_page()
    for name, command in cli.commands.items():
        section = page.partition(f"## `lab {name}`\n")[2].partition("\n## ")[0]
        for option in command.params:
            if isinstance(option, click.Option):
                for spelled in option.opts + option.secondary_opts:
                    assert re.search(rf"`{spelled}[` ]", section), f"{name} {spelled}"
    for metric in METRICS:
        assert f"| `{metric}`" in page
    for status in STATUSES:
        assert f"\n| {status} | " in page


def test_the_exit_statuses_are_all_that_there_are():
    """Of every error, of a crossed limit, of what differs elsewhere, and of success."""
    of_errors = {
        error.exit_code
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, errors.LabError)
    }
    assert set(STATUSES) == set(commands.EXITS) == {0, FAILED, DIFFERS} | of_errors


def test_the_options_of_locust_are_those_that_it_takes():
    """Each as it is typed there: `tests/golden/locust.txt` is what its parser says."""
    added = commands.locust_page().partition("## What `loadtests/` adds")[2].partition("\n## ")[0]
    shown = "".join(re.findall(r"^- \*\*(.*?)\*\*", added, re.MULTILINE))
    typed = re.findall("`(.*?)`", shown)
    taken = (GOLDEN / "locust.txt").read_text()
    words = " ".join(taken.split())
    assert [option for option in typed if f" {option} " not in words] == []
    names = re.findall(r"^  (--[a-z-]+)", taken, re.MULTILINE)
    assert {option.split()[0] for option in typed} == set(names) - {"--lab-help"}
