"""
A Python file: `uvicorn.run("module:name", ...)` with literals, or variables of the environment.

The file is parsed and never run. A call with any other argument is left out: of that nobody knows
what it starts, as of `uvicorn.run(app)`.

Source: uvicorn 0.54.0, uvicorn/main.py:503 (run).
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

from lab.config.gunicorn.reader import python_text
from lab.config.line import SourceFile
from lab.config.shell import starts_in
from lab.config.sources import with_own_names
from lab.config.start import StartCommand, Surroundings
from lab.config.uvicorn.command import PROGRAM, TABLE
from lab.config.vocabulary import values
from lab.config.vocabulary.values import Cpus, Expression, Variable

CALLED = r"(?!.*gunicorn)(?!.*\.conf\.py$).+\.py"

HOLDS = r"^[ \t]*uvicorn\.run\("

Word = tuple[str, int, int]
"""A word, and where it begins and ends in the file."""


def starts(path: Path, text: str) -> tuple[StartCommand, ...]:
    """Return the calls that start uvicorn; one that reloads is for development."""
    file = SourceFile(path, text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(python_text(text.encode("utf-8", "surrogateescape"), path))
    return with_own_names(
        replace(start, is_default="--reload" not in start.words)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"{PROGRAM}.run"
        for words in [_words(node, file)]
        if words is not None
        for start in starts_in(PROGRAM, file.words(words), Surroundings(folder=path.parent))
    )


def _words(call: ast.Call, file: SourceFile) -> list[Word] | None:
    """Return the command that a call stands for; None where nobody knows it without running it."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    target = next(iter(call.args), named.pop("app", None))
    if len(call.args) > 1 or None in named or not isinstance(target, ast.Constant):
        return None
    if not isinstance(target.value, str):
        return None
    words = [(PROGRAM, *_offsets(call.func, file)), (target.value, *_offsets(target, file))]
    options = {entry.get("variable"): name for name, entry in TABLE.carried["options"].items()}
    for name, node in named.items():
        option = options.get(name, str(name).replace("_", "-"))
        option_words = _option(option, node)
        if option_words is None:
            return None
        begins, ends = _offsets(node, file)
        begins = file.text.rfind(str(name), 0, begins)  # of the keyword, which stands before it
        words += [(word, begins, ends) for word in option_words]
    return words


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
