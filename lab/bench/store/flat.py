"""
A profile as `run.json` has it: one object, with the fields of its `Peer` and its `PrivateCopy`.

There `own` is a boolean: whether the profile has a private copy. Other programs read `run.json`, so
it keeps this form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Any

from lab.model.profile import Peer, PrivateCopy

Content = dict[str, Any]
"""A JSON object."""


def flatten(header: Content) -> Content:
    """Bring the profiles of *header*, from the model's form, into that of `run.json`; return it."""
    for arm in _arms(header):
        profile = arm["profile"]
        peer, own = profile.pop("peer"), profile.pop("own")
        profile |= {**peer, "own": own is not None, **(own or asdict(PrivateCopy()))}
    return header


def nest(header: Content) -> None:
    """
    Bring the profiles of *header*, the content of a `run.json`, into the model's form.

    Raises:
        KeyError, TypeError, AttributeError: *header* is damaged.
    """
    for arm in _arms(header):
        profile = arm["profile"]
        own = _part(PrivateCopy, profile) if profile.get("own") else None
        arm["profile"] = {**profile, "peer": _part(Peer, profile), "own": own}


def _part(kind: type[Peer | PrivateCopy], profile: Content) -> Content:
    return {field.name: profile[field.name] for field in fields(kind) if field.name in profile}


def _arms(header: Content) -> Iterator[Content]:
    yield from header["plan"]["arms"]
    for counter in header.get("counters", ()):
        yield counter["arm"]
