"""Configurations of a few lines, and what the linter finds in them."""

from pathlib import Path

from lab.settings.lint.config import Known
from lab.settings.lint.read import reader_of
from lab.settings.rules import flaws

NAMES = {"UW": "uwsgi.ini", "GU": "gunicorn.conf.py", "GR": "granian.cmd"}
"""How a rule's code begins -> the file that its examples stand in."""

MUCH = Known(container=True, root=True, db_connections=100, somaxconn=4096)
"""What is known where every rule has something to say."""


def whole(code, text):
    """Return the whole file of an example; without a section it is the body of `[uwsgi]`."""
    sections = any(line.lstrip("\ufeff").startswith("[") for line in text.splitlines())
    return text if code[:2] != "UW" or sections else f"[uwsgi]\n{text}\n"


def found(folder, text, code="UW", known=None):
    """Return the flaws in *text*, as a file of *folder* for the server that *code* begins with."""
    path = Path(folder, NAMES[code[:2]])
    path.write_text(whole(code, text), encoding="utf-8")
    return list(flaws(reader_of(path)(path, known or Known())))


def codes(folder, text, code="UW", known=None):
    """Return the codes of the flaws in *text*, each once, in order."""
    return list(dict.fromkeys(flaw.code for flaw in found(folder, text, code, known)))
