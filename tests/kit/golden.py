"""Texts that are stored and compared byte for byte."""

import os
from fnmatch import fnmatch


def check_golden(path, text):
    """Compare *text* with the file *path*, or write that where GOLDEN=PATTERN matches its name."""
    if fnmatch(path.name, os.environ.get("GOLDEN", "")):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
