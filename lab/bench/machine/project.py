"""
Where this project's own files lie: profiles, workloads, backing services, runs, environments.

In a checkout, and in an image, they lie beside the lab; an installed lab carries profiles,
workloads and backing services in itself. Nothing else in the lab knows which of the two it is.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

_LAB = Path(__file__).resolve().parents[2]

NAME = "uwsgi-fibonacci-lab"

PLACEHOLDER = "//YOU."
"""Stands in the address of the site until pyproject.toml has the address of a real one."""

INSTALLERS = {"pipx": "pipx install --force", "uv": "uv tool install --force"}
"""Folder of an environment -> the command that made it, which replaces it by this one."""

_CARRIED = _LAB / "carried"


def root() -> Path:
    """Return the folder where an application is imported unless another folder is named."""
    # An installed lab always has its copy, so a folder `profiles` beside it is somebody else's.
    return _CARRIED if _CARRIED.is_dir() else _LAB.parent


def _has_make() -> bool:
    """Return whether `make setup` can be run: an image has the folders and no Makefile."""
    return (root() / "Makefile").is_file()


def how_to_install(extra: str) -> str:
    """Return the command that installs what an extra of this project has."""
    if _has_make():
        return "make setup"
    parts = Path(sys.prefix).parts
    installer = next((how for part, how in INSTALLERS.items() if part in parts), "pip install")
    return f"{installer} '{NAME}[{extra}]{_source()}'"


def lab_command() -> str:
    """Return the words that start `lab` here, for a shell in the current folder: .venv/bin/lab."""
    here, program = Path.cwd(), Path(sys.argv[0])
    if program.name == "locust":
        program = program.with_name("lab")
    if program.name != "lab":  # in a program of somebody else
        return "lab"
    return shlex.quote(str(program.relative_to(here) if program.is_relative_to(here) else program))


def _source() -> str:
    """Return where the lab was installed from, as it stands behind a name; empty: an index."""
    from importlib.metadata import (  # noqa: PLC0415 - it takes as long as a tenth of `lab lint`
        PackageNotFoundError,
        distribution,
    )

    try:
        record = json.loads(distribution(NAME).read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return ""
    if not (url := record.get("url")):
        return ""
    version_control = record.get("vcs_info", {})
    kind, revision = version_control.get("vcs"), version_control.get("requested_revision")
    return f" @ {f'{kind}+' if kind else ''}{url}{f'@{revision}' if revision else ''}"


def site() -> str:
    """Return the address of this project's site, with a slash at its end; empty: it has none."""
    from importlib.metadata import (  # noqa: PLC0415 - as above
        PackageNotFoundError,
        metadata,
    )

    try:
        urls = metadata(NAME).get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    homepages = (url.partition(", ")[2] for url in urls if url.startswith("Homepage, "))
    address = next(homepages, "")
    return "" if PLACEHOLDER in address else address


def rule_page(code: str) -> str:
    """Return the address of a rule's page; empty: this project has no site."""
    return f"{address}rules/{code}/" if (address := site()) else ""


def as_installed(needs: str) -> str:
    """Return what a profile says to do about what is missing, where there is no `make`."""
    if _has_make():
        return needs
    made = {"make peers": how_to_install("peers,articles"), "make setup": how_to_install("service")}
    for target, how in made.items():
        needs = needs.replace(target, how)
    return needs


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
