"""The digest by which two versions of a profile are told apart."""

from __future__ import annotations

import ast
import hashlib
import json

COMMENTS = ("#", ";", "//")
"""What begins a whole-line comment: of INI, nginx and Python, and of JavaScript and Go."""


def digest_of(options: tuple[tuple[str, str], ...]) -> str:
    """Return the SHA-256 of resolved options, in hexadecimal."""
    return hashlib.sha256(json.dumps(options).encode()).hexdigest()


def told(name: str, text: str) -> str:
    r"""
    Return what a file tells its server: the text without empty lines and whole-line comments.

    Args:
        name: Of the file. The opening docstring of a Python module is a comment, too.
        text: Its content.

    >>> told("x.conf", "# Two.\n\nworkers 2;\n")
    'workers 2;'
    """
    lines = text.splitlines()
    if name.endswith(".py"):
        lines = lines[_docstring(text) :]
    kept = (line for line in lines if line.strip() and not line.strip().startswith(COMMENTS))
    return "\n".join(kept)


def _docstring(text: str) -> int:
    """Return the number of lines up to the end of a module's docstring; 0 where it has none."""
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return 0  # its server will say so
    first = body[0] if body else None
    constant = first.value if isinstance(first, ast.Expr) else None
    found = isinstance(constant, ast.Constant) and isinstance(constant.value, str)
    return (first.end_lineno or 0) if first is not None and found else 0
