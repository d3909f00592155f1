"""
What a profile's file says about itself: its opening comment, and its `[lab]` section.

The comment is for people - mechanism, consequence, limit, uWSGI's default, a link - and
`docs/reference/profiles.md` is made of it. uWSGI ignores a section that it does not know, so the
ini stays one that `uwsgi X.ini` runs.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.config.files import UnreadableError, check_nesting
from lab.errors import ProfileError

KEYS = frozenset({"summary", "against", "reply", "interface", "needs", "version"})
"""Keys of a `[lab]` section; beside them there may be `app.FAMILY`, for a family of workloads."""

TEXTS = ("summary", "against", "reply", "needs", "python", "ended", "successor", "system", "venv")
"""Keys of a peer that are a text."""

PLUGIN = "plug-in "
"""Begins what an ini needs: a plug-in of uWSGI's."""


@dataclass(frozen=True, slots=True)
class ProfileHeader:
    """A profile's description of itself."""

    summary: str | None
    against: str | None
    against_line: int | None
    """Where *against* stands, from 1."""
    reply: str | None = None
    """The body with which it answers every request, where it serves no application."""
    paragraphs: tuple[str, ...] = ()
    """The opening comment's, each joined into one line; `Default:` and the link taken out."""
    default: str | None = None
    """The server's own default for what the profile sets."""
    link: str | None = None
    text: str = ""
    """The whole file."""
    table: Mapping[str, object] = field(default_factory=dict)
    """Of a TOML all that it says."""
    interfaces: tuple[str, ...] = ("wsgi",)
    apps: tuple[tuple[str, str], ...] = ()
    """Family of workloads -> what it serves for that."""
    plugins: tuple[str, ...] = ()
    """Of uWSGI, that an ini needs."""
    version: tuple[str, ...] = ()
    """Of an ini, the command that says what it runs beside uWSGI, or fails if that is missing."""


def parse_comment(text: str, mark: str) -> tuple[tuple[str, ...], str | None, str | None]:
    r"""
    Return paragraphs, default and link of the comment that opens a file.

    A line that begins with `Limit:` begins a paragraph of its own.

    Args:
        text: The file.
        mark: What a comment line begins with.

    >>> parse_comment("; One\n; two.\n;\n; Default: 3\n; https://x.org/\n[lab]\n", ";")
    (('One two.',), '3', 'https://x.org/')
    """
    paragraphs: list[list[str]] = [[]]
    default = link = None
    for line in text.splitlines():
        if not line.startswith(mark):
            break
        words = line.removeprefix(mark).strip()
        if words.startswith("Default:"):
            default = words.removeprefix("Default:").strip()
        elif words.startswith("https://"):
            link = words
        elif words.startswith("Limit:") or not words:
            paragraphs.append([words] if words else [])
        else:
            paragraphs[-1].append(words)
    return tuple(" ".join(paragraph) for paragraph in paragraphs if paragraph), default, link


def parse_ini(text: str, path: Path) -> ProfileHeader:
    """
    Return the header of an ini profile.

    Raises:
        ProfileError: A key of `[lab]` is unknown, empty or there twice.
    """
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    section = ""
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if heading := re.fullmatch(r"\[(.+)\]", line):
            section = heading[1]
        elif section == "lab" and line and line[0] not in ";#":
            key, _, value = (part.strip() for part in line.partition("="))
            if key not in KEYS and not re.fullmatch(r"app\.[a-z0-9_]+", key):
                known = ", ".join(sorted({*KEYS, "app.WORKLOAD"}))
                raise ProfileError(path, f"[lab] knows {known}, not {key!r}", number)
            if not value:
                raise ProfileError(path, f"[lab] {key} is empty", number)
            if key in values:
                raise ProfileError(path, f"[lab] {key} is there twice", number)
            if key == "needs" and not all(need.startswith(PLUGIN) for need in _listed(value)):
                problem = "[lab] needs names plug-ins: needs = plug-in asyncio, plug-in greenlet"
                raise ProfileError(path, problem, number)
            values[key], lines[key] = value, number
    return ProfileHeader(
        values.get("summary"),
        values.get("against"),
        lines.get("against"),
        values.get("reply"),
        *parse_comment(text, ";"),
        text,
        interfaces=_listed(values.get("interface", "wsgi")),
        apps=tuple(
            (key.removeprefix("app."), value)
            for key, value in values.items()
            if key.startswith("app.")
        ),
        plugins=tuple(need.removeprefix(PLUGIN) for need in _listed(values.get("needs", ""))),
        version=tuple(values.get("version", "").split()),
    )


def _listed(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def parse_toml(text: str, path: Path) -> ProfileHeader:
    """
    Return the header of a peer.

    Raises:
        ProfileError: It is not TOML, or a key's value is not what it must be.
    """
    try:
        check_nesting(text)
        table = tomllib.loads(text)
    except UnreadableError as error:
        raise ProfileError(path, str(error), error.line) from None
    except ValueError as error:  # no TOML, or a number of thousands of digits
        raise ProfileError(path, f"this is not TOML: {error}") from None
    for key in TEXTS:
        if key in table and (not isinstance(table[key], str) or not table[key]):
            raise ProfileError(path, f"{key} must be a text", line_of(text, key))
    apps = table["app"] if isinstance(table.get("app"), dict) else {}
    if not all(isinstance(app, str) for app in apps.values()):
        raise ProfileError(path, '[app] must have lines `workload = "module:callable"`')
    return ProfileHeader(
        table.get("summary"),
        table.get("against"),
        line_of(text, "against"),
        table.get("reply"),
        *parse_comment(text, "#"),
        text,
        table,
        interfaces=words(table, "interface", text, path) or ("wsgi",),
        apps=tuple(apps.items()),
    )


def words(table: Mapping[str, object], key: str, text: str, path: Path) -> tuple[str, ...]:
    """
    Return the texts in a list of a TOML; none where there is no such key.

    Raises:
        ProfileError: The key's value is something else.
    """
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
        raise ProfileError(
            path, f'{key} must be a list of texts: ["...", "..."]', line_of(text, key)
        )
    return tuple(value)


def line_of(text: str, key: str, value: str | None = None) -> int | None:
    """Return the number of the first line that sets *key*, or to *value*, from 1; None if none."""
    for number, line in enumerate(text.splitlines(), start=1):
        name, equals, content = line.partition("=")
        if name.strip() == key and equals and value in (None, content.strip()):
            return number
    return None
