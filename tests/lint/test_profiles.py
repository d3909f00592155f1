"""What this project ships is clean, or says why it is not."""

import pytest

from lab.config import servers
from lab.config.configuration import Known
from lab.lint.judge import Chosen, judged
from tests.kit.lab_process import ROOT

FILES = sorted(
    path
    for pattern in ("profiles/*.ini", "profiles/peers/*.ini", "profiles/peers/*.conf.py")
    for path in ROOT.glob(pattern)
)


@pytest.mark.parametrize("container", [False, True])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_profile_is_clean_or_says_why_not(path, container):
    """In a container and outside of one; and no comment is there for nothing."""
    config = servers.of_file(path).read(path, Known(container=container))
    # What production.ini includes by a command is not read, and need not be.
    flaws = judged(config, Chosen(ignore=("UW901",)))
    assert not [(flaw.code, flaw.spot.file.name, flaw.spot.line) for flaw in flaws]
