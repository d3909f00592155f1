"""Profiles: found by name, read, resolved by the server that they are for."""

from lab.profiles.catalogue import (
    described,
    find,
    is_ours,
    is_theirs,
    ladder,
    read,
    read_header,
    usual,
    with_reading,
)
from lab.profiles.named import check_named
from lab.profiles.renamed import as_today
from lab.profiles.show import shown
from lab.profiles.startable import check_startable, warnings

__all__ = ["as_today", "check_named", "check_startable", "described", "find", "is_ours",
           "is_theirs", "ladder", "read", "read_header", "shown", "usual", "warnings",
           "with_reading"]  # fmt: skip
