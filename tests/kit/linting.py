"""Configurations of a few lines, and what the linter finds in them."""

from pathlib import Path

from lab.settings.lint.config import Known
from lab.settings.lint.judge import judged
from lab.settings.lint.read import example
from lab.settings.uwsgi.table import uwsgi_options

MUCH = Known(
    container=True,
    here=True,
    root=True,
    db_connections=100,
    somaxconn=4096,
    options=frozenset(name for name in uwsgi_options().entries if not name.startswith("route")),
    plugins=frozenset({"python"}),
    python=(3, 12),
    overlay={Path("venv/pyvenv.cfg").absolute(): "home = /usr/bin\nversion = 3.11.7\n"},
)
"""What is known where every rule has something to say, but for those of `ELSEWHERE`."""

ELSEWHERE = {"UW116": Known(root=False)}
"""Code -> what is known where its rule has something to say."""


def found(text, code="UW", known=None):
    """Return the flaws in *text*, a configuration of the server that *code* begins with."""
    return judged(example(code, text, known))


def codes(text, code="UW", known=None):
    """Return the codes of the flaws in *text*, each once, in the order of their places."""
    return list(dict.fromkeys(flaw.code for flaw in found(text, code, known)))
