"""The examples in docstrings are true: each is carried out."""

from __future__ import annotations

import doctest
import importlib
import re

import pytest

from tests.kit.lab_process import ROOT


def with_examples():
    """Return the full names of the modules whose docstrings have examples."""
    return [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for package in ("app", "fib", "lab", "studies", "tests", "tools")
        for path in sorted((ROOT / package).rglob("*.py"))
        if re.search(r"^ *>>> ", path.read_text(), re.MULTILINE)
    ]


@pytest.mark.parametrize("name", with_examples())
def test_examples(name):
    """What a docstring shows is what comes out."""
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert (failed, tried > 0) == (0, True)
