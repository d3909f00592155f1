"""Profiles: found by name, read, resolved."""

from lab.bench.profiles.catalogue import (
    described,
    find,
    is_ours,
    is_users_own,
    ladder,
    read,
    read_header,
    usual,
    with_reading,
)
from lab.bench.profiles.option_names import check_keep_and_drop
from lab.bench.profiles.show import lines_of
from lab.bench.profiles.startable import check_startable, warnings

__all__ = ["check_keep_and_drop", "check_startable", "described", "find", "is_ours",
           "is_users_own", "ladder", "lines_of", "read", "read_header", "usual", "warnings",
           "with_reading"]  # fmt: skip
