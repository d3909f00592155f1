"""Which settings of a gunicorn.conf.py have no value that reading alone would tell, and why."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lab.config.configuration import Config
from lab.config.gunicorn import PROGRAM
from lab.config.gunicorn.reader import all_bindings, carried, parsed, python_text
from lab.config.spot import Setting
from lab.config.vocabulary.senses import by_option
from lab.config.vocabulary.service import one_line, written

HELD = frozenset({"bind", "wsgi_app", "worker_class", "protocol"})
"""Settings that are read by functions of their own."""

READS = frozenset({"get", "copy", "keys", "items", "values"})
"""Methods of a mapping that leave it as it is."""

SETS = frozenset({"putenv", "unsetenv", "load_dotenv", "read_env"})
"""Functions that change the environment."""

CHANGED = "is set again, changed, or set in a block (if, try, for), so its value is unknown"
USED = "the file uses the list again and may change it, so its value is unknown"
ENVIRONMENT = "the file changes os.environ, so the value of the variable is unknown"
ANY = "this may set any setting, so the settings that it sets are unknown: write them out"
KEPT = (
    "this also changes the environment of the application: set the variable where you start the "
    "server"
)


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
    files = dict.fromkeys(setting.spot.file for setting in config.settings)
    for file in files:
        text = config.texts.get(file) if file in config.texts else config.known.read(file)
        if text is None or file.name == PROGRAM:
            continue
        module = python_text(text.encode("utf-8", "surrogateescape"), file)
        changes = list(_changes(parsed(module)))
        settings = {name: setting for name, setting in last.items() if setting.spot.file == file}
        for name, reason in _of_module(module, settings, changed=bool(changes)):
            names[name] = reason
            if reason:
                line = settings[name].spot.line
                notes.append((f"line {line}: {written(settings[name])}", reason))
        if "" in names.values():
            notes.append((_line(_writer_of_any(module)), ANY))
        notes += ((_line(node), KEPT) for node in changes)
    return Uncertain(names, tuple(dict.fromkeys(notes)))


def _of_module(
    text: str, settings: Mapping[str, Setting], *, changed: bool
) -> Iterator[tuple[str, str]]:
    """
    Yield the settings whose values are not known, each with the reason.

    Args:
        text: The module's.
        settings: Those that it sets.
        changed: Whether it changes the environment.
    """
    options = by_option(PROGRAM)
    every = all_bindings(text)
    by_name = {binding.name: binding for binding in every}
    values = [id(binding.value) for binding in every if binding.value is not None]
    read = {
        node.id
        for node in ast.walk(parsed(text))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    for name in settings:
        binding = by_name.get(name)
        if binding is None or (name not in options and name not in HELD):
            continue
        value = binding.value
        if not binding.sure:
            yield name, CHANGED if binding.source else ""
        elif changed and _reads_environment(value):
            yield name, ENVIRONMENT
        elif isinstance(value, ast.List) and (name in read or values.count(id(value)) > 1):
            yield name, USED


def _writer_of_any(text: str) -> ast.AST:
    """Return what may set any setting, such as an import of all names."""
    settings = carried()["settings"]
    return next(b.node for b in all_bindings(text) if b.name in settings and not b.source)


def _line(node: ast.AST) -> str:
    """Return the line of a node, and its source."""
    return f"line {getattr(node, 'lineno', 0)}: {one_line(ast.unparse(node))}"


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


def _reads_environment(value: ast.expr | None) -> bool:
    names = {_called(node) for node in ast.walk(value)} if value else set()
    return bool(names & {"environ", "getenv"})
