"""
The JSON Schemas of a run's files, for other people's programs.

Made from the types that read and write the files, so they cannot say anything else; the words come
from the types' own documentation. Draft 2020-12.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

import lab.model
from lab.analysis.summary import Row, Tally
from lab.bench.store import folder
from lab.model.measurement import Trial
from lab.model.profile import Peer, PrivateCopy
from lab.report.summary_json import Source, SummaryDocument, sources
from tools.pages.files import DOCS, written

FOLDER = DOCS / "schema"

FILES: Mapping[str, tuple[type, str]] = {
    "run.schema.json": (folder.RunHeader, "run.json: what was asked, and where it ran"),
    "trial.schema.json": (
        folder.TrialLine,
        "A line of trials.ndjson: one trial with its raw readings",
    ),
    "summary.schema.json": (SummaryDocument, "summary.json: what the run found"),
}
"""File -> the type of its content, and its title."""

NAMES = {Row: "Profile", Tally: "Finding"}
"""What classes are called in the summary's schema, where it is not by their own name."""


def schema(kind: type, title: str) -> dict[str, Any]:
    """Return the schema of *kind*, every property with the description that its field has."""
    written = _written(kind) if kind is SummaryDocument else kind
    _, components = msgspec.json.schema_components((written,), schema_hook=_path)
    if kind is not SummaryDocument:
        known = _model() | vars(folder) | {"TrialLine": Trial}
        for name, component in components.items():
            _describe(component, _words(known[name]))
        _flatten(components)
    root = components.pop(kind.__name__)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **root,
        "title": title,
        "$defs": components,
    }


def render(kind: type, title: str) -> str:
    """Return the schema as the file has it."""
    text = json.dumps(schema(kind, title), ensure_ascii=False, indent=1)
    return text.replace("#/$defs/" + kind.__name__ + '"', '#"') + "\n"


def refresh() -> list[Path]:
    """Rewrite the schemas that are not their types' any more, and return them."""
    changed = (written(FOLDER / name, render(*content)) for name, content in FILES.items())
    return [path for paths in changed for path in paths]


def _model() -> dict[str, Any]:
    """Return what the files of `lab.model` define, by name."""
    files = (
        import_module(f"lab.model.{module.name}") for module in iter_modules(lab.model.__path__)
    )
    return {name: value for file in files for name, value in vars(file).items()}


def _path(kind: type) -> dict[str, Any]:
    if kind is Path:
        return {"type": "string", "description": "A path."}
    raise NotImplementedError(kind)


def _flatten(components: dict[str, Any]) -> None:
    """Describe a profile as one object, in the form of `lab.bench.store.flat`."""
    if "Profile" not in components:
        return
    properties = components["Profile"]["properties"]
    del properties["peer"], properties["private_copy"]
    properties["own"] = {
        "type": "boolean",
        "default": False,
        "description": "Whether trials serve a private copy, and not the file itself.",
    }
    for part in (Peer, PrivateCopy):
        properties |= components.pop(part.__name__)["properties"]


def _describe(component: dict[str, Any], fields: Mapping[str, str]) -> None:
    if "description" in component:
        component["description"] = inspect.cleandoc(component["description"])
    for name, content in component.get("properties", {}).items():
        if name in fields:
            # A reference may have neighbours since draft 2019-09.
            content["description"] = fields[name]


@cache
def _words(kind: type) -> Mapping[str, str]:
    """Return the string that stands below each field of a class in its source."""
    (definition,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(definition, ast.ClassDef)
    descriptions = {}
    for field, below in zip(definition.body, definition.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ):
            descriptions[field.target.id] = _line(str(below.value.value))
    return descriptions


@cache
def _written(kind: type) -> type:
    """Return a type with the fields that `lab.report.summary_json` writes of *kind*."""
    fields: list[tuple[str, Any, Any]] = []
    for name, source in sources(kind).items():
        hint, words = _origin(kind, source)
        known = msgspec.Meta(description=words or _words(kind).get(name))
        written: Any = Annotated[_within(_present(hint)), known]
        if NoneType in get_args(hint):
            fields.append((name, written | msgspec.UnsetType, msgspec.UNSET))
        else:
            fields.append((name, written, msgspec.NODEFAULT))
    documented = {"__doc__": inspect.getdoc(kind)}
    name = NAMES.get(kind, kind.__name__)
    return msgspec.defstruct(name, fields, namespace=documented, kw_only=True)


def _within(hint: Any) -> Any:
    """Return *hint* with every class in it as it is written."""
    if isinstance(hint, type) and is_dataclass(hint):
        return _written(hint)
    arguments = tuple(map(_within, get_args(hint)))
    return get_origin(hint)[arguments] if arguments else hint


def _present(hint: Any) -> Any:
    """Return *hint* without None."""
    if NoneType not in get_args(hint):
        return hint
    (kept,) = (argument for argument in get_args(hint) if argument is not NoneType)
    return kept


def _origin(kind: type, source: Source) -> tuple[Any, str]:
    """Return the type of what a field of *kind* is written from, and its words."""
    if not isinstance(source, str):
        return get_type_hints(source)["return"], _line(source.__doc__ or "")
    name, _, rest = source.partition(".")
    member = getattr(kind, name)
    if isinstance(member, property):
        hint, words = get_type_hints(member.fget)["return"], _line(member.__doc__ or "")
    else:
        hint, words = get_type_hints(kind)[name], _words(kind).get(name, "")
    if not rest:
        return hint, words
    inner, words = _origin(_present(hint), rest)
    return (inner | None if NoneType in get_args(hint) else inner), words


def _line(text: str) -> str:
    return " ".join(text.split())
