"""Texts that are stored and compared byte for byte."""

import os
from fnmatch import fnmatch


def stored(path, text):
    """Return the text of the file *path*; GOLDEN=PATTERN writes *text* where the name matches."""
    if fnmatch(path.name, os.environ.get("GOLDEN", "")):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")


def check_golden(path, text):
    """Compare *text* with the file *path*, which GOLDEN=PATTERN writes: see `stored`."""
    assert text == stored(path, text)
