"""Versions of packages. No other module of the linter needs `packaging`, which is loaded late."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple


class Pin(NamedTuple):
    """A package, and the only version of it that a requirement takes."""

    package: str
    version: str


def holds(versions: str, version: str) -> bool:
    """
    Return whether a version is one of the versions.

    >>> holds(">=24", "25.1"), holds(">=24", "23.0.0"), holds("", "23.0.0")
    (True, False, True)
    """
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - few configurations have one

    return SpecifierSet(versions).contains(version, prereleases=True)


def normal(version: str) -> str | None:
    """
    Return a version in its normal form; None of what is no version.

    >>> normal("23.0"), normal("v23"), normal("25.*")
    ('23.0', '23', None)
    """
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - as above

    with suppress(InvalidVersion):
        return str(Version(version))
    return None


def pinned(requirement: str) -> Pin | None:
    """
    Return what a requirement pins; None where it takes several versions, or is none.

    >>> pinned("Gunicorn[gevent] == 23.0.0 ; python_version > '3.8'"), pinned("gunicorn>=23")
    (Pin(package='gunicorn', version='23.0.0'), None)
    """
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - as above

    with suppress(InvalidRequirement):
        read = Requirement(requirement)
        specifiers = list(read.specifier)
        if len(specifiers) == 1 and specifiers[0].operator == "==":
            version = normal(specifiers[0].version)
            return Pin(read.name.lower(), version) if version else None
    return None
