"""What is pinned: as pyproject.toml asks for it, once and the same in every file."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.kit.lab_process import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
ASKED = {
    "service": EXTRAS["service"],
    "locust": [*PROJECT["project"]["dependencies"], *EXTRAS["run"]],
    "peers": EXTRAS["peers"],
    "articles": EXTRAS["articles"],
    "dev": [*EXTRAS["run"], *EXTRAS["peers"], *EXTRAS["dev"]],
    **PROJECT["dependency-groups"],
}


def pins(name):
    """Return the versions that a file of `requirements/` has of each package, by its name."""
    text = (ROOT / f"requirements/{name}.txt").read_text()
    versions = {}
    for package, pinned in re.findall(r"^(\S+)==(\S+)", text, re.MULTILINE):
        versions.setdefault(package, set()).add(pinned)
    return versions


@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_for_is_pinned(name):
    """After a change of pyproject.toml `tools/lock.sh` brings its files up to date."""
    pinned = pins(name)
    for requirement in map(Requirement, ASKED[name]):
        versions = pinned[canonicalize_name(requirement.name)]
        assert any(requirement.specifier.contains(one) for one in versions), (
            f"{requirement}: {versions}"
        )


@pytest.mark.parametrize("name", ["service", "locust", "peers", "articles", "build"])
def test_every_file_has_the_same_version_of_a_package(name):
    """Both layers of the set-up, and the images, have the versions that the tests run with."""
    tested = pins("dev")
    assert pins("locust").keys() | pins("peers").keys() <= tested.keys()
    for package, versions in pins(name).items():
        assert versions == tested.get(package, versions), package


def test_every_pin_has_hashes():
    """pip refuses what is not, byte for byte, what was looked at."""
    for path in (ROOT / "requirements").glob("*.txt"):
        entries = re.split(r"\n(?=\S)", path.read_text().strip())
        assert all("--hash=sha256:" in entry for entry in entries), path.name
