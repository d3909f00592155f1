"""The digest by which two versions of a profile are told apart."""

from __future__ import annotations

import hashlib
import json


def digest_of(options: tuple[tuple[str, str], ...]) -> str:
    """Return the SHA-256 of resolved options, in hexadecimal."""
    return hashlib.sha256(json.dumps(options).encode()).hexdigest()
