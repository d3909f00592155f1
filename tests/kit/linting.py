"""Configurations of a few lines, and what the linter finds in them."""

from lab.lint.examples import example
from lab.lint.judge import judged


def found(text, code="UW", known=None):
    """Return the flaws in *text*, a configuration of the server that *code* begins with."""
    return judged(example(code, text, known))


def found_by(code, text, known=None):
    """Return the flaws that one rule finds in *text*."""
    return [flaw for flaw in found(text, code, known) if flaw.code == code]


def codes(text, code="UW", known=None):
    """Return the codes of the flaws in *text*, each once, in the order of their places."""
    return list(dict.fromkeys(flaw.code for flaw in found(text, code, known)))
