"""
A profile as `run.json` has it: one object, whatever it is made of in `lab.model.profile`.

What a peer has stands among its keys, and so does what there is of a private copy: `own` says there
whether there is one. Programs of others read that file, so it stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any

from lab.model.profile import Own, Peer

Content = Mapping[str, Any]
"""What JSON was decoded to."""

PEER = tuple(field.name for field in fields(Peer))
OWN = tuple(field.name for field in fields(Own))


def flat(header: Content) -> Content:
    """Return the content of a `run.json`, made of the model's types, as it is written."""
    return _with_profiles(header, _flat)


def nested(header: Content) -> Content:
    """Return the content of a `run.json` as the model's types have it; a damaged one as it is."""
    try:
        return _with_profiles(header, _nested)
    except (KeyError, TypeError, AttributeError):
        return header  # which is told by whoever reads it


def _flat(profile: Content) -> Content:
    kept = {name: value for name, value in profile.items() if name not in ("peer", "own")}
    own = profile["own"]
    return {**kept, **profile["peer"], "own": own is not None, **(own or asdict(Own()))}


def _nested(profile: Content) -> Content:
    peer = {name: profile[name] for name in PEER if name in profile}
    own = {name: profile[name] for name in OWN if name in profile} if profile.get("own") else None
    return {**profile, "peer": peer, "own": own}


def _with_profiles(header: Content, told: Callable[[Content], Content]) -> Content:
    """Return *header* with each profile of its arms, and of its counter-runs' arms, as *told*."""

    def arm(content: Content) -> Content:
        return {**content, "profile": told(content["profile"])}

    plan = header["plan"]
    counters = [{**each, "arm": arm(each["arm"])} for each in header.get("counters", ())]
    return {**header, "plan": {**plan, "arms": [*map(arm, plan["arms"])]}, "counters": counters}
