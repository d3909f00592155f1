"""
Where this project's own files lie: profiles, workloads, backing services, runs, environments.

Nothing else in the lab knows that they lie in a checkout. A package that carries them would answer
here, by `importlib.resources`.
"""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def root() -> Path:
    """Return the folder where an application is imported unless another folder is named."""
    return _ROOT


def has(package: str) -> bool:
    """Return whether a package lies in that folder, as those about the lab do in a checkout."""
    return root().joinpath(*package.split(".")).is_dir()


def profiles() -> Path:
    """Return the folder of our own profiles."""
    return root() / "profiles"


def peers() -> Path:
    """Return the folder of the profiles of other servers."""
    return profiles() / "peers"


def workloads() -> Path:
    """Return the folder of what servers are asked."""
    return root() / "loadtests" / "workloads"


def backing() -> Path:
    """Return the folder of the services that applications ask."""
    return root() / "loadtests" / "backing"


def runs() -> Path:
    """Return the folder of the stored runs, whose effects `lab list` shows."""
    return root() / "docs" / "runs"


def environments() -> Path:
    """
    Return the folder of what is installed and compiled for peers; it need not exist.

    It has the virtual environments of those that cannot share the lab's, and in `built` programs.
    """
    return root() / ".peers"
