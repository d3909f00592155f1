"""Profiles: found by name, read, resolved by the server that they are for."""

from lab.profiles.catalogue import (
    FOLDER,
    PEERS,
    described,
    find,
    ignored,
    ladder,
    read,
    read_header,
    usual,
)

__all__ = ["FOLDER", "PEERS", "described", "find", "ignored", "ladder", "read", "read_header",
           "usual"]  # fmt: skip
