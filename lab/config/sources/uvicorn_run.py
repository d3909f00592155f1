"""
A Python file: `uvicorn.run("module:name", ...)` with literals, or variables of the environment.

The file is parsed and never run. `uvicorn.run(app)` serves a name of the file itself. A call with
any other argument is not read: of that nobody knows what it starts.

Source: uvicorn 0.54.0, uvicorn/main.py:503 (run).
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from lab.config.gunicorn.reader import all_bindings, python_text
from lab.config.line import SourceFile
from lab.config.shell import starts_in
from lab.config.sources import with_own_names
from lab.config.start import StartCommand, Surroundings
from lab.config.uvicorn.command import PROGRAM, TABLE
from lab.config.vocabulary import values
from lab.config.vocabulary.values import Cpus, Expression, Variable
from lab.errors import ProfileError
from lab.model.wording import in_a_line

CALLED = r"(?!.*gunicorn)(?!.*\.conf\.py$).+\.py"

HOLDS = r"^[ \t]*uvicorn\.run\("

Word = tuple[str, int, int]
"""A word, and where it begins and ends in the file."""


def starts(path: Path, text: str) -> tuple[StartCommand, ...]:
    """
    Return the calls that start uvicorn; one that reloads is for development.

    Raises:
        ProfileError: It is not Python, or of no call lab knows what it starts.
    """
    file = SourceFile(path, text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(python_text(text.encode("utf-8", "surrogateescape"), path))
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"{PROGRAM}.run"
    ]
    read = [_words(call, file, tree) for call in calls]
    unread = next((one for one in read if isinstance(one, Unread)), None)
    if unread is not None and not any(isinstance(one, list) for one in read):
        problem = f"{PROGRAM}.run has {unread.what}, and lab runs no file: give uvicorn's command"
        raise ProfileError(path, f"{problem} in quotes", unread.line)
    return with_own_names(
        replace(start, is_default="--reload" not in start.words)
        for words in read
        if isinstance(words, list)
        for start in starts_in(PROGRAM, file.words(words), Surroundings(folder=path.parent))
    )


class Unread(NamedTuple):
    """An argument that only running the file would tell."""

    what: str
    line: int

    @classmethod
    def of(cls, node: ast.expr, name: str = "") -> Unread:
        """Return an argument of a call."""
        source = in_a_line(ast.unparse(node))
        return cls(f"{name}={source}" if name else source, node.lineno)


def _words(call: ast.Call, file: SourceFile, tree: ast.Module) -> list[Word] | Unread:
    """Return the command that a call stands for, or what nobody knows without running it."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    target = next(iter(call.args), named.pop("app", None))
    if None in named:
        return Unread(f"**{in_a_line(ast.unparse(named[None]))}", call.lineno)
    if len(call.args) > 1 or target is None:
        return Unread("other arguments than names with values", call.lineno)
    served = _served(target, file)
    if served is None or (isinstance(target, ast.Name) and _is_at_import(call, tree)):
        return Unread.of(target)
    words = [(PROGRAM, *_offsets(call.func, file)), (served, *_offsets(target, file))]
    options = {entry.get("variable"): name for name, entry in TABLE.carried["options"].items()}
    for name, node in named.items():
        option = options.get(name, str(name).replace("_", "-"))
        option_words = _option(option, node)
        if option_words is None:
            return Unread.of(node, str(name))
        begins, ends = _offsets(node, file)
        begins = file.text.rfind(str(name), 0, begins)  # of the keyword, which stands before it
        words += [(word, begins, ends) for word in option_words]
    return words


def _served(target: ast.expr, file: SourceFile) -> str | None:
    """Return what is served; of an object that the file binds, its name in the file."""
    match target:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name) if file.path.stem.isidentifier():
            bound = all_bindings(file.text)
            top = {binding.name for binding in bound if binding.node.col_offset == 0}
            return f"{file.path.stem}:{name}" if name in top else None
    return None


def _is_at_import(call: ast.Call, tree: ast.Module) -> bool:
    """Return whether a call is made when the file is imported, as another server would do."""
    return any(isinstance(node, ast.Expr) and node.value is call for node in tree.body)


def _option(option: str, node: ast.expr) -> list[str] | None:
    """Return the words that a keyword stands for; None where its value is unknown."""
    match node:
        case ast.Constant(value=None):
            return []
        case ast.Constant(value=bool() as value):
            if TABLE.is_flag(option):
                words = TABLE.spelt(option, str(value))
                return [*words] if value or words != (f"--{option}",) else []
            return [f"--{option}", str(value).lower()]
        case ast.List(elts=entries) | ast.Tuple(elts=entries) if option in TABLE.collects:
            several = [_option(option, entry) for entry in entries]
            known = [words for words in several if words is not None]
            return [*chain(*known)] if len(known) == len(several) else None
    computed = values.of_python(ast.unparse(node))
    text = None if computed is None else _in_shell(computed)
    return None if text is None else [f"--{option}", text]


def _in_shell(value: Expression) -> str | None:
    """Return how a shell computes a value; None where it is more than a variable."""
    parts: list[str] = []
    for part in value.parts:
        match part:
            case Variable(name=name, default=None, times=1):
                parts.append(f"${{{name}}}")
            case Variable(name=name, default=default, times=1):
                parts.append(f"${{{name}:-{default}}}")
            case Variable() | Cpus():
                return None
            case _:
                parts.append(str(part))
    return "".join(parts)


def _offsets(node: ast.expr, file: SourceFile) -> tuple[int, int]:
    """Return where a node begins and ends; ast counts the bytes of a line."""
    lines: Mapping[int, str] = dict(enumerate(file.text.split("\n"), start=1))

    def offset(line: int, column: int) -> int:
        before = lines[line].encode("utf-8", "surrogateescape")[:column]
        return file.offset(line, len(before.decode("utf-8", "surrogateescape")) + 1)

    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    begins = offset(node.lineno, node.col_offset)
    return begins, offset(node.end_lineno, node.end_col_offset)
