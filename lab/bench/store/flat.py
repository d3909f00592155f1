"""
A profile as `run.json` stores it: one object, with the fields of its `Peer` and `PrivateCopy`.

The key `own` is a boolean: whether the profile has a private copy. Other programs read `run.json`,
so it keeps this form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Any

from lab.model.profile import Peer, PrivateCopy

Content = dict[str, Any]
"""A JSON object."""


def flatten(header: Content) -> Content:
    """Change the profiles of *header* from the form of the model to that of `run.json`."""
    for arm in _arms(header):
        profile = arm["profile"]
        peer, copy = profile.pop("peer"), profile.pop("private_copy")
        profile |= {**peer, "own": copy is not None, **(copy or asdict(PrivateCopy()))}
    return header


def nest(header: Content) -> None:
    """
    Change the profiles of *header*, the content of a `run.json`, to the form of the model.

    Raises:
        KeyError, TypeError, AttributeError: *header* is damaged.
    """
    for arm in _arms(header):
        profile = arm["profile"]
        copy = _part(PrivateCopy, profile) if profile.pop("own", False) else None
        arm["profile"] = {**profile, "peer": _part(Peer, profile), "private_copy": copy}


def _part(kind: type[Peer | PrivateCopy], profile: Content) -> Content:
    return {field.name: profile[field.name] for field in fields(kind) if field.name in profile}


def _arms(header: Content) -> Iterator[Content]:
    yield from header["plan"]["arms"]
    for counter in header.get("counters", ()):
        yield counter["arm"]
