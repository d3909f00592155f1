"""Every system of the articles, and what runs in its place today."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from lab.bench import profiles
from lab.bench.profiles.header import words
from lab.model.profile import Profile
from studies import articles
from tools.pages.files import ROOT

PINS = ("service", "peers", "locust", "articles")
"""Files of requirements/ for the lab's own environment; another has a file of its own."""


def table() -> str:
    """
    Return a row for the systems of one version and article, with the successor of an ended one.

    Raises:
        ProfileError: A profile cannot be read.
    """
    measured: dict[str, set[str]] = defaultdict(set)
    for claim in articles.load():
        for name in filter(None, (claim.reference, claim.changed)):
            measured[name].add(claim.source)
    systems: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in sorted(profiles.find()):
        profile = profiles.described(name)
        header = profiles.read_header(profile.path)
        if system := header.table.get("system"):
            packages, named = (
                words(header.table, key, header.text, profile.path)
                for key in ("packages", "articles")
            )
            sources = ", ".join(sorted(measured[name] | {*named}))
            systems[_version(profile, packages), sources].append(f"[{system}]({_address(name)})")
    rows = [
        f"| {version} | {sources} | {'; '.join(links)} |"
        for (version, sources), links in sorted(systems.items(), key=lambda row: row[0][0].lower())
    ]
    return "\n".join(("| version | article | systems |", "|---|---|---|", *rows)) + "\n"


def _address(profile: str) -> str:
    return f"../reference/profiles.md#{profile}"


def _version(profile: Profile, packages: tuple[str, ...]) -> str:
    """Return what is pinned of each package, or that it is the distribution's; and its end."""
    files = (profile.peer.venv,) if profile.peer.venv else PINS
    pinned = {package: pin for file in files for package, pin in pins(file).items()}
    names = (f"{package} {pinned.get(package, '(the distribution)')}" for package in packages)
    version = ", ".join(names) or "as Python"
    if not profile.peer.ended:
        return version
    successor = profile.peer.successor
    today = f"; today [{successor}]({_address(successor)})" if successor else ""
    return f"{version} (ended {profile.peer.ended}{today})"


def pins(name: str) -> Mapping[str, str]:
    """Return the version of each package that a file of requirements/ has."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE))
