"""Reads a configuration of any server that rules are written for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lab.dialects import granian, gunicorn
from lab.dialects.config import Config, Known
from lab.dialects.uwsgi import places
from lab.dialects.uwsgi.forms import FORMS

Reader = Callable[[Path, Known], Config]

COMMAND, STDIN = Path("granian"), Path("-")
"""What granian's command is called that is given in quotes, or on standard input."""

READERS: dict[str, Reader] = {
    ".ini": places.read,
    **dict.fromkeys(FORMS, places.read),
    ".py": gunicorn.read_file,
    COMMAND.name: granian.read,
    STDIN.name: granian.read,
}
"""How a file's name ends -> what reads it."""

EXAMPLES = {"UW": Path("uwsgi.ini"), "GU": Path("gunicorn.conf.py"), "GR": COMMAND}
"""How a rule's code begins -> the file that its examples are."""

MUCH = Known(
    container=True,
    here=True,
    root=True,
    db_connections=100,
    somaxconn=4096,
    plugins=frozenset({"python"}),
    python=(3, 12),
    overlay={Path("venv/pyvenv.cfg").absolute(): "home = /usr/bin\nversion = 3.11.7\n"},
)
"""What is known of the rules' examples: so much that each rule has something to say."""

ELSEWHERE = {"UW107": Known(options=frozenset({"static-map"})), "UW116": Known(root=False)}
"""Code -> what is known of its rule's examples, where that is something else."""


HEADER = re.compile(r"^[ \t]*\[uwsgi\]", re.MULTILINE)
"""What only an ini of uWSGI's has, whatever its name is."""


def reader_of(path: Path, text: str = "") -> Reader | None:
    """Return what reads a file, by its name, or else by its *text*; None where nothing does."""
    by_name = next((each for end, each in READERS.items() if path.name.endswith(end)), None)
    return by_name or (places.read if HEADER.search(text) else None)


def example(code: str, text: str, known: Known | None = None) -> Config:
    """
    Return the configuration that a rule's example is.

    Args:
        code: The rule's.
        text: The whole file; of uWSGI without any section, what stands below `[uwsgi]`.
        known: What is known besides; without it, what makes the rule speak.
    """
    path = EXAMPLES[code[:2]]
    sections = any(line.lstrip("\ufeff \t").startswith("[") for line in text.splitlines())
    whole = text if code[:2] != "UW" or sections else f"[uwsgi]\n{text}"
    reader = reader_of(path)
    assert reader is not None, f"nothing reads {path}"
    known = known or ELSEWHERE.get(code, MUCH)
    return reader(path, replace(known, overlay={**known.overlay, path: f"{whole}\n"}))
