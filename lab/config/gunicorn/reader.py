"""What stands in a gunicorn.conf.py, which is a module of Python: it is read and never run."""

from __future__ import annotations

import ast
import dis
import importlib.util
import json
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from lab.config.configuration import Config, Known
from lab.config.files import FORMATTED, LINES, PLAIN, UnreadableError, check_nesting, check_size
from lab.config.meaning import ComputedValue
from lab.config.spot import Setting, Spot
from lab.errors import ProfileError

CARRIED = Path(__file__).with_name("settings.json")
"""The settings of one version, which `tools/gunicorn_settings.py` wrote."""

_FORMATTED = re.compile("\\b[rR]?[fFtT][rR]?[\"']")
"""Begins a string in which expressions stand."""

LARGEST = 1 << 16
"""Bytes of the largest module that is read, of which Python's trees take a thousand times."""

LEVELS = ("debug", "info", "warning", "error", "critical")
"""Levels at which gunicorn logs; any other is info (gunicorn/glogging.py:201)."""

NAMESPACES = frozenset({"exec", "globals", "locals", "vars", "setattr"})
"""Functions by which a module may bind any of its names."""

READS = frozenset({"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"})
"""Instructions of Python's that read a name which is no function's own."""


@cache
def carried() -> Mapping[str, Any]:
    """Return what `tools/gunicorn_settings.py` wrote."""
    content: dict[str, Any] = json.loads(CARRIED.read_text(encoding="utf-8"))
    return content


@cache
def spellings() -> Mapping[str, str]:
    """Return word -> setting: of each setting its own name, and its options without dashes."""
    options: dict[str, list[str]] = carried()["settings"]
    words = {
        word.lstrip("-").replace("-", "_"): name
        for name, spelt in options.items()
        for word in spelt
        if word.startswith("--")
    }
    return words | {name: name for name in options}


def takes_no_value(word: str) -> bool:
    """Return whether a word of gunicorn's command is an option that no value follows."""
    return word in carried()["flags"]


def hooks(text: str) -> tuple[str, ...]:
    """Return the functions of a configuration file that gunicorn calls, in its order."""
    kinds = carried()["validators"]
    calls = {"validate_callable", "validate_post_request"}
    items_view = assignments(text).items()
    return tuple(name for name, value in items_view if value and kinds.get(name) in calls)


def read(path: Path, known: Known) -> Config:
    """
    Read a configuration file, without running it.

    What it sets are the names of the module, functions among them. The value of one that is
    computed, imported or set in a block is "", which no rule takes for a value; so is each setting
    after an import of all names that a module has, and where its namespace is written to as a dict.

    Raises:
        ProfileError: It is not Python.
    """
    written = known.required(path)
    text = python_text(_bytes(written), path)
    lines = text.split("\n")
    settings = []
    for binding in all_bindings(text):
        raw = "" if binding.value is None else _source(lines, binding.value)
        settings.append(
            Setting(
                binding.name,
                "" if isinstance(binding.meaning, ComputedValue) else str(binding.meaning),
                Spot(path, binding.node.lineno, _column(lines, binding.node)),
                raw,
                0 if binding.value is None else _column(lines, binding.value),
            )
        )
    return Config("gunicorn", path, tuple(settings), {path: written}, known, top=Spot(path, 1, 1))


def check_settings(config: Config) -> None:
    """
    Refuse a file that is no configuration of gunicorn; one that is called so is one.

    Raises:
        ProfileError: It sets nothing of gunicorn.
    """
    file, names = config.file, {setting.option for setting in config.settings}
    if not file.name.startswith(config.server) and names.isdisjoint(carried()["settings"]):
        problem = "sets nothing of gunicorn: give its configuration file, or the command in quotes"
        raise ProfileError(file, problem)


def python_text(data: bytes, path: Path) -> str:
    """
    Return a module's text as Python reads it: by its coding comment, or its byte order mark.

    Raises:
        ProfileError: It is not Python.
    """
    try:
        text = importlib.util.decode_source(data)
        bindings(text)
    except UnreadableError as error:
        raise ProfileError(path, str(error), error.line) from None
    except SyntaxError as error:
        if error.msg.startswith("Exceeds the limit"):
            digits = sys.get_int_max_str_digits()
            problem = f"has a number of more than {digits:,} digits, which Python does not read"
            raise ProfileError(path, problem, error.lineno) from error
        raise ProfileError(path, f"is not Python: {error.msg}", error.lineno) from error
    except (ValueError, LookupError) as error:  # no text of its encoding, or with a null
        raise ProfileError(path, f"is not Python: {error}") from error
    except (RecursionError, MemoryError) as error:
        raise ProfileError(path, "is nested too deeply") from error
    return text


def _bytes(text: str) -> bytes:
    """Return what stands in the file of a text as `Known.read` has it."""
    return text.encode("utf-8", "surrogateescape")


def names_read(config: Config) -> frozenset[str]:
    """Return the names of a file that it reads itself, and not those that are a function's own."""
    return _names_read(python_text(_bytes(config.texts[config.file]), config.file))


@lru_cache(maxsize=8)
def _names_read(text: str) -> frozenset[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        codes = [compile(text, "", "exec")]
    names: set[str] = set()
    for code in codes:  # which grows
        codes += (const for const in code.co_consts if isinstance(const, CodeType))
        names |= {
            instruction.argval
            for instruction in dis.get_instructions(code)
            if instruction.opname in READS
        }
    return frozenset(names)


class Binding(NamedTuple):
    """A name of a module, and what it is bound to."""

    name: str
    node: ast.stmt | ast.expr | ast.pattern | ast.ExceptHandler
    """Where the name stands, or begins to be told of."""

    value: ast.expr | None
    """None of a function, an import, and what is unpacked or changed in its place."""

    sure: bool
    """Whether it always runs."""

    source: str
    """The value as Python; "" where another module decides whether there is one."""

    @property
    def meaning(self) -> object:
        """Its value, or `ComputedValue` with its source."""
        if self.sure and self.value:
            return literal(self.value, self.source)
        return ComputedValue(self.source)


@lru_cache(maxsize=64)
def parsed(text: str) -> ast.Module:
    """Return the tree of a module that `bindings` has read; nobody changes it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an escape that is none, which Python says at the start
        return ast.parse(text)


@lru_cache(maxsize=8)
def all_bindings(text: str) -> tuple[Binding, ...]:
    """Return what a module binds, and what its functions may bind when they are called."""
    return *bindings(text), *_from_functions(parsed(text))


@lru_cache(maxsize=64)
def bindings(text: str) -> tuple[Binding, ...]:
    """
    Return what a module binds; kept, because each trial of a run asks again.

    Raises:
        UnreadableError: It is too much for Python's parser.
    """
    check_size(text, LARGEST)
    check_nesting(text, FORMATTED if _FORMATTED.search(text) else PLAIN)
    tree = parsed(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(tree, "", "exec")  # which refuses what a parser lets pass, and runs nothing
    module_bindings = list(_bound(tree.body))
    plain = {id(binding.node) for binding in module_bindings}
    module_bindings += (binding for binding in _in_passing(tree) if id(binding.node) not in plain)
    if len(module_bindings) > LINES:
        raise UnreadableError(f"sets more than {LINES:,} names, so lab does not read it")
    module_bindings.sort(key=lambda binding: binding.node.lineno)
    return tuple(module_bindings)


def _bound(body: Iterable[ast.AST], *, sure: bool = True) -> Iterator[Binding]:
    for node in body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets if node.value is not None else ():
                yield from _assigned(target, node.value, node, sure=sure)
        elif isinstance(node, ast.AugAssign):
            yield from _assigned(node.target, None, node, sure=False)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield Binding(node.name, node, None, False, f"def {node.name}")
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.asname or alias.name for alias in node.names]
            for name in sorted(set(spellings().values())) if names == ["*"] else names:
                source = "" if names == ["*"] else ast.unparse(node)
                yield Binding(name, node, None, False, source)
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _bound(ast.iter_child_nodes(node), sure=False)


def _in_passing(tree: ast.AST) -> Iterator[Binding]:
    """Yield the names that loops, patterns, `with`, `except`, `del` and := bind in a module."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Lambda() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                continue
            case ast.comprehension():  # its target is its own
                waiting += [node.iter, *node.ifs]
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield Binding(name, node, None, False, name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield Binding(name, node, None, False, name)
            case ast.MatchMapping(rest=str(name)) | ast.ExceptHandler(name=str(name)):
                yield Binding(name, node, None, False, name)
        waiting += ast.iter_child_nodes(node)


def _from_functions(tree: ast.AST) -> Iterator[Binding]:
    """Yield what may be bound whenever a function is called; when that is, is not known."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield from (Binding(name, node, None, False, f"global {name}") for name in node.names)
        elif isinstance(node, ast.Name) and node.id in NAMESPACES:
            for name in sorted(set(spellings().values())):
                yield Binding(name, node, None, False, "")
            return


def _assigned(
    target: ast.expr, value: ast.expr | None, node: ast.stmt, *, sure: bool
) -> Iterator[Binding]:
    """Yield the names of one side of an assignment, each with its own value."""
    if isinstance(target, ast.Name):
        yield Binding(target.id, target, value, sure, ast.unparse(value or node))
    elif isinstance(target, ast.Tuple | ast.List):
        values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        stars = any(isinstance(node, ast.Starred) for node in (*target.elts, *values))
        pairs = not stars and len(values) == len(target.elts)
        for at, elt in enumerate(target.elts):
            yield from _assigned(elt, values[at] if pairs else None, node, sure=sure and pairs)
    elif isinstance(target, ast.Starred):
        yield from _assigned(target.value, None, node, sure=False)


def literal(value: ast.expr | str, source: str = "") -> object:
    """
    Return the value of an expression, and of one that is no literal its source, `ComputedValue`.

    Args:
        value: The expression, or its source.
        source: Of an expression, where that is known: to write it anew takes long.
    """
    try:
        return ast.literal_eval(value)
    except (SyntaxError, TypeError, ValueError):
        return ComputedValue(value if isinstance(value, str) else source or ast.unparse(value))


def _source(lines: list[str], node: ast.expr) -> str:
    """Return how an expression is written; `ast.get_source_segment` cuts all lines for each."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    end = lines[last].encode()[: node.end_col_offset].decode()
    return "\n".join((*lines[first:last], end))[_column(lines, node) - 1 :]


def _column(lines: list[str], node: ast.stmt | ast.expr | ast.pattern | ast.ExceptHandler) -> int:
    """Return where a node begins in its line, in characters from 1; ast counts bytes."""
    return len(lines[node.lineno - 1].encode()[: node.col_offset].decode()) + 1


def assignments(text: str) -> Mapping[str, object]:
    """
    Return a module's own names and values, {} of what is no Python.

    One that is computed, or that does not always run, is `ComputedValue`, with its source.
    """
    try:
        return {binding.name: binding.meaning for binding in bindings(text)}
    except (SyntaxError, ValueError, UnreadableError):
        return {}
