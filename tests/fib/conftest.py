"""Both builds of the sequence, side by side in one process."""

import importlib
import json

import pytest

import fib


def pytest_report_header():
    """Say on pytest's first lines which build is tested, and what made it."""
    return f"fib: {json.dumps(fib.build_info())}"


@pytest.fixture(params=["fib._core", "fib._core_c"], ids=["pure", "cython"])
def core(request):
    """One build of the sequence; the compiled one is skipped only where it could not be made."""
    if request.param == "fib._core_c" and fib.BUILD == "pure":
        pytest.skip(f"the compiled build is not in use: {fib.FALLBACK}")
    return importlib.import_module(request.param)
