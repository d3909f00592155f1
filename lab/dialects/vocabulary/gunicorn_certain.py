"""Which settings of a gunicorn.conf.py have no value that reading alone would tell, and why."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.dialects.config import Config
from lab.dialects.gunicorn.command import PROGRAM
from lab.dialects.gunicorn.read import Binding, bindings, carried, from_functions, python_text
from lab.dialects.spot import Setting
from lab.dialects.vocabulary.senses import by_option
from lab.dialects.vocabulary.service import one_line, written

HELD = frozenset({"bind", "wsgi_app", "worker_class", "protocol"})
"""Settings that are read by functions of their own."""

READS = frozenset({"get", "copy", "keys", "items", "values"})
"""Methods of a mapping that leave it as it is."""

SETS = frozenset({"putenv", "unsetenv", "load_dotenv", "read_env"})
"""Functions that change the environment."""

CHANGED = "is set again, changed, or set in a block (if, try, for), so its value is not known"
USED = "the list is used again in the file, which may change it, so its value is not known"
ENVIRONMENT = "the file itself changes os.environ, so the variable's value is not known"
ANY = "it may set any setting, so those that it may set are not known: write them out"
KEPT = "it changes the environment of the application, too: set the variable where it is started"


@dataclass(frozen=True, slots=True)
class Uncertain:
    """What is not known of a configuration."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Setting -> why its value is not known; empty where another note says so."""

    notes: tuple[tuple[str, str], ...] = ()
    """What is lost: as it is written, and why."""


def uncertain(config: Config, last: Mapping[str, Setting]) -> Uncertain:
    """Return what is not known of the settings that count, each the *last* of its name."""
    names: dict[str, str] = {}
    notes: list[tuple[str, str]] = []
    files = {each.spot.file for each in config.settings} - {Path(PROGRAM)}
    for file in files:
        text = config.texts.get(file) if file in config.texts else config.known.read(file)
        if text is None or file.name == PROGRAM:
            continue
        module = python_text(text.encode("utf-8", "surrogateescape"), file)
        own = {name: each for name, each in last.items() if each.spot.file == file}
        for name, reason in _of_module(module, own):
            names[name] = reason
            if reason:
                line = own[name].spot.line
                notes.append((f"line {line}: {written(own[name])}", reason))
        notes += _beside(module, names)
    return Uncertain(names, tuple(dict.fromkeys(notes)))


def _of_module(text: str, own: Mapping[str, Setting]) -> Iterator[tuple[str, str]]:
    tree = _parsed(text)
    options = by_option(PROGRAM)
    found = (*bindings(text), *from_functions(text))
    by_name = {each.name: each for each in found}
    values = [id(each.value) for each in found if each.value is not None]
    read = {
        each.id
        for each in ast.walk(tree)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }
    changes = any(True for _ in _changes(tree))
    for name in own:
        binding = by_name.get(name)
        if binding is None or (name not in options and name not in HELD):
            continue
        if not binding.sure:
            yield name, CHANGED if binding.source else ""
        elif changes and _reads_environment(binding):
            yield name, ENVIRONMENT
        elif _is_list(binding) and (name in read or values.count(id(binding.value)) > 1):
            yield name, USED


def _beside(text: str, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what is lost beside the settings: imports of all names, and changed variables."""
    tree = _parsed(text)
    if "" in names.values():
        settings = set(carried()["settings"])
        node = next(
            each.node
            for each in (*bindings(text), *from_functions(text))
            if each.name in settings and not each.source
        )
        yield f"line {node.lineno}: {one_line(ast.unparse(node))}", ANY
    for node in _changes(tree):
        yield f"line {node.lineno}: {one_line(ast.unparse(node))}", KEPT


def _changes(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield what may change the variables of the environment."""
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if _called(child) in SETS and isinstance(node, ast.Call) and node.func is child:
                yield node
            elif _called(child) == "environ" and isinstance(child, ast.expr):
                if isinstance(node, ast.Attribute) and node.attr in READS:
                    continue
                if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                    continue
                if not isinstance(node, ast.Compare):
                    yield node if isinstance(node, ast.expr) else child


def _called(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _reads_environment(binding: Binding) -> bool:
    names = {_called(each) for each in ast.walk(binding.value)} if binding.value else set()
    return bool(names & {"environ", "getenv"})


def _is_list(binding: Binding) -> bool:
    return isinstance(binding.value, ast.List)


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)
