"""Profiles: found by name, read, resolved."""

from lab.bench.profiles.catalogue import (
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
from lab.bench.profiles.option_names import check_named
from lab.bench.profiles.show import shown
from lab.bench.profiles.startable import check_startable, warnings

__all__ = ["check_named", "check_startable", "described", "find", "is_ours", "is_theirs", "ladder",
           "read", "read_header", "shown", "usual", "warnings", "with_reading"]  # fmt: skip
