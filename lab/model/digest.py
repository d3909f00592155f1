"""The digest of a profile: it differs if the options do."""

from __future__ import annotations

import ast
import hashlib
import json

COMMENTS = ("#", ";", "//")
"""Beginnings of comment lines in INI, nginx, Python, JavaScript and Go."""


def digest_of(options: tuple[tuple[str, str], ...]) -> str:
    """Return the SHA-256 of resolved options, in hexadecimal."""
    return hashlib.sha256(json.dumps(options).encode()).hexdigest()


def without_comments(name: str, text: str) -> str:
    r"""
    Return *text* without empty lines and whole-line comments.

    Args:
        name: The name of the file. In Python, the docstring of the module is a comment, too.
        text: The content of the file.

    >>> without_comments("x.conf", "# Two.\n\nworkers 2;\n")
    'workers 2;'
    """
    lines = text.splitlines()
    if name.endswith(".py"):
        lines = lines[_docstring(text) :]
    kept = (line for line in lines if line.strip() and not line.strip().startswith(COMMENTS))
    return "\n".join(kept)


def _docstring(text: str) -> int:
    """Return the number of lines up to the end of a module's docstring; 0 without one."""
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return 0  # the server will report it
    first = body[0] if body else None
    constant = first.value if isinstance(first, ast.Expr) else None
    is_text = isinstance(constant, ast.Constant) and isinstance(constant.value, str)
    return (first.end_lineno or 0) if first is not None and is_text else 0
