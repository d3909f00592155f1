"""What gunicorn's settings mean: those of its configuration file and of its command."""

from __future__ import annotations

import ast
import importlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePath

from lab.errors import ProfileError
from lab.model import Profile
from lab.settings.lint.config import Config, Known
from lab.settings.lint.flaw import Setting, Spot
from lab.settings.meaning import Settings

CARRIED = Path(__file__).with_name("gunicorn.json")
"""The settings of one version, which `tools/gunicorn_settings.py` wrote."""

FLAGS = {
    "--keep-alive": "keepalive",
    "--worker-class": "worker_class",
    "-k": "worker_class",
    "--threads": "threads",
    "--chdir": "chdir",
    "--pythonpath": "pythonpath",
}
"""Word of the command -> setting."""


@cache
def spellings() -> Mapping[str, str]:
    """Return word -> setting: of each setting its own name, and its options without dashes."""
    try:
        installed = importlib.import_module("gunicorn.config").KNOWN_SETTINGS
    except ImportError:
        options: dict[str, list[str]] = json.loads(CARRIED.read_text())["settings"]
    else:
        options = {each.name: each.cli or [] for each in installed}
    words = {
        word.lstrip("-").replace("-", "_"): name
        for name, spelt in options.items()
        for word in spelt
        if word.startswith("--")
    }
    return words | {name: name for name in options}


def read(profile: Profile) -> Settings | None:
    """Return the settings of a profile that runs gunicorn; None for any other."""
    runs = [json.loads(value) for name, value in profile.options if name == "run"]
    command = next((run for run in runs if PurePath(run[0]).name == "gunicorn"), None)
    if command is None:
        return None
    options: dict[str, object] = {}
    for name, text in profile.options:
        if name.endswith(".py"):
            options |= assignments(text)
    return Settings(
        server="gunicorn",
        options=options | _flags(command),
        application=dict(profile.options).get("app"),
    )


def read_file(path: Path, known: Known) -> Config:
    """
    Read a configuration file, without running it.

    What it sets are the names of the module, functions among them. The value of one that is
    computed, imported or set in a block is "", which no rule takes for a value; after an import of
    all names that a module has, each setting is such a one.

    Raises:
        ProfileError: It is not Python.
    """
    text = known.read(path) or ""
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        raise ProfileError(path, f"is not Python: {error.msg}", error.lineno) from error
    lines = text.split("\n")
    settings = []
    for name, node, value, certain in _bindings(body):
        raw = ast.get_source_segment(text, value) if value is not None else None
        settings.append(
            Setting(
                name,
                _literal(value) if certain else "",
                Spot(path, node.lineno, _column(lines, node)),
                raw or "",
                0 if value is None else _column(lines, value),
            )
        )
    return Config("gunicorn", path, tuple(settings), {path: text}, known, top=Spot(path, 1, 1))


def _bindings(
    body: Iterable[ast.AST], *, certain: bool = True
) -> Iterator[tuple[str, ast.stmt, ast.expr | None, bool]]:
    """Yield each name that statements bind, the statement, its value, and whether it is sure."""
    for node in body:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            sure = certain and not isinstance(node, ast.AugAssign)
            for each in (each for target in targets for each in ast.walk(target)):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    yield each.id, node, node.value, sure and each in targets
        elif isinstance(node, ast.FunctionDef):
            yield node.name, node, None, False
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.asname or alias.name for alias in node.names]
            for name in sorted(set(spellings().values())) if names == ["*"] else names:
                yield name, node, None, False
        elif isinstance(node, ast.stmt | ast.ExceptHandler):
            yield from _bindings(ast.iter_child_nodes(node), certain=False)


def _literal(value: ast.expr | None) -> str:
    """Return a value as text, "" of one that is computed."""
    try:
        return "" if value is None else str(ast.literal_eval(value))
    except ValueError:
        return ""


def _column(lines: list[str], node: ast.stmt | ast.expr) -> int:
    """Return where a node begins in its line, in characters from 1; ast counts bytes."""
    return len(lines[node.lineno - 1].encode()[: node.col_offset].decode()) + 1


@cache
def assignments(text: str) -> Mapping[str, object]:
    """
    Return a module's own names and values; one that is computed is its source.

    Kept, because each trial of a run asks again.
    """
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return {}
    found: dict[str, object] = {}
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                value = ast.literal_eval(node.value)
            except ValueError:
                value = ast.unparse(node.value)
            found[node.targets[0].id] = value
    return found


def _flags(command: list[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    words = [part for word in command for part in _split(word)]
    for word, value in zip(words, [*words[1:], ""], strict=True):
        if word in FLAGS:
            found[FLAGS[word]] = int(value) if value.isdecimal() else value
    return found


def _split(word: str) -> list[str]:
    return word.split("=", 1) if word.startswith("--") else [word]
