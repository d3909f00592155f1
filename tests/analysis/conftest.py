"""The builders of synthetic trials, as a fixture: test folders are no packages."""

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("builders", Path(__file__).parent / "builders.py")
BUILDERS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(BUILDERS)


@pytest.fixture
def make():
    """Return the module of builders."""
    return BUILDERS
