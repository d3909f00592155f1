"""Numbers as files of others may have them: what is outside of these bounds, no run has written."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

MOST = 2**53
"""Largest number that is stored: up to it JSON's readers tell each integer from the next one."""

Count = Annotated[int, Meta(ge=0, le=MOST)]
Number = Annotated[int, Meta(ge=1, le=MOST)]
"""A count of at least one."""
Amount = Annotated[float, Meta(ge=0, le=MOST)]
Positive = Annotated[float, Meta(gt=0, le=MOST)]
Reading = Annotated[float, Meta(ge=-MOST, le=MOST)]
"""What a probe read: a clock may have been set back."""
Instant = Annotated[float, Meta(ge=0, lt=253402300800)]
"""POSIX seconds, up to the year 9999."""
