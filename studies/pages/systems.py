"""docs/reference/systems.md: every system of the articles, and what runs in its place today."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lab.bench import profiles
from lab.bench.profiles.header import words
from lab.model.profile import Profile
from studies import articles
from studies.pages.claims import article, sources
from tools.pages.files import DOCS, ROOT, written

PAGE = DOCS / "reference" / "systems.md"

PINS = ("service", "peers", "locust", "articles")
"""Files of requirements/ for the lab's own environment; another has a file of its own."""

OPENING = """\
# The articles' systems

Five articles compare Python servers, and the lab has a profile for each system that they measured.
A system without an article is one that they left out and that a reader would look for: another
server of the same kind, or the successor of one that has ended.

`make setup` installs uWSGI, gunicorn, granian, gevent and uvloop. `make peers` installs the others:
Python's packages as they are pinned in `requirements/`, in environments of their own under `.peers`
where versions clash, and nginx, Node.js and Go by apt-get, where that needs no password. It starts
no service. `make databases` unpacks [the databases](../how-to/databases.md) of the last article; in
MongoDB's place stands a server that speaks its protocol and is no MongoDB, unless `MONGODB_URL`
names one. `make test-peers` starts each peer with each of its workloads. What cannot be had on a
machine is skipped, and `lab list` says why.

| article | |
|---|---|
"""

CLOSING = """
This page is made from the files in `profiles/` and `requirements/`:
`.venv/bin/python -m tools.pages`.
"""


def render() -> str:
    """
    Return the page.

    Raises:
        ProfileError: A profile cannot be read.
    """
    named: dict[str, set[str]] = {}
    for claim in articles.load():
        for name in filter(None, (claim.reference, claim.changed)):
            named.setdefault(name, set()).add(claim.source)
    rows = [row for name in sorted(profiles.find()) for row in _rows(name, named.get(name, set()))]
    rows.sort(key=lambda row: row[0].lower())
    lines = [f"| {source} | {article(source)} |" for source in sources()]
    lines += ["", "| system | article | version | state | successor | profile |"]
    lines += ["|---|---|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return OPENING + "\n".join((*lines, CLOSING))


def refresh() -> list[Path]:
    """Rewrite the page, and return it if it was another."""
    return written(PAGE, render())


def _rows(name: str, sources: set[str]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of a profile; none of one that is no system of its own, such as a step."""
    profile = profiles.described(name)
    header = profiles.read_header(profile.path)
    system = header.table.get("system")
    packages: tuple[str, ...] = ("uwsgi",)
    if not profile.commands and sources:
        system = f"uWSGI: {profile.summary[:1].lower()}{profile.summary[1:]}"
    elif system:
        sources = sources | set(words(header.table, "articles", header.text, profile.path))
        packages = words(header.table, "packages", header.text, profile.path)
    if system:
        python = f"Python {profile.peer.python}" if profile.peer.python else ""
        ended = f"ended {profile.peer.ended}" if profile.peer.ended else "current"
        state = "; ".join(filter(None, (ended, python)))
        following = _link(profile.peer.successor) if profile.peer.successor else ""
        cells = str(system), ", ".join(sorted(sources)), _version(profile, packages), state
        yield *cells, following, _link(name)


def _link(name: str) -> str:
    return f"[{name}](profiles.md#{name})"


def _version(profile: Profile, packages: tuple[str, ...]) -> str:
    """Return what is pinned of each package, or that it is the distribution's."""
    files = (profile.peer.venv,) if profile.peer.venv else PINS
    pinned = {package: pin for file in files for package, pin in pins(file).items()}
    said = [f"{each} {pinned.get(each, '(the distribution)')}" for each in packages]
    return ", ".join(said) or "as Python"


def pins(name: str) -> Mapping[str, str]:
    """Return the version of each package that a file of requirements/ has."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE))
