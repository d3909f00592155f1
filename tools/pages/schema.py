"""
The JSON Schemas of a run's files, for other people's programs.

Made from the types that read and write the files, so they cannot say anything else; the words come
from the types' own documentation. Draft 2020-12.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from lab import model, results
from lab.report import summary_file
from tools.pages.files import DOCS, written

FOLDER = DOCS / "schema"

FILES: Mapping[str, tuple[type, str]] = {
    "run.schema.json": (results.Header, "run.json: what was asked, and where it ran"),
    "trial.schema.json": (
        results.TrialLine,
        "A line of trials.ndjson: one trial with its raw readings",
    ),
    "summary.schema.json": (summary_file.SummaryFile, "summary.json: what the run found"),
}
"""File -> the type of its content, and its title."""


def schema(kind: type, title: str) -> dict[str, Any]:
    """Return the schema of *kind*, every property with the description that its field has."""
    _, components = msgspec.json.schema_components((kind,), schema_hook=_path)
    documentation = _documentation()
    for name, component in components.items():
        # Only the model shares its classes; of two with one name the type's own module means its.
        own = documentation.get((kind.__module__, name))
        _describe(component, own or documentation.get((model.__name__, name), {}))
        if kind is summary_file.SummaryFile:
            _without_null(component)
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


def _path(kind: type) -> dict[str, Any]:
    if kind is Path:
        return {"type": "string", "description": "A path."}
    raise NotImplementedError(kind)


def _describe(component: dict[str, Any], fields: Mapping[str, str]) -> None:
    if "description" in component:
        component["description"] = inspect.cleandoc(component["description"])
    for name, content in component.get("properties", {}).items():
        if name in fields:
            # A reference may have neighbours since draft 2019-09.
            content["description"] = fields[name]


def _without_null(component: dict[str, Any]) -> None:
    """Say of a field that may be None what the file does: it is not there then."""
    for name, content in component.get("properties", {}).items():
        kinds = content.get("anyOf")
        if kinds is None or {"type": "null"} not in kinds:
            continue
        (only,) = (each for each in kinds if each != {"type": "null"})
        kept = {key: value for key, value in content.items() if key not in ("anyOf", "default")}
        component["properties"][name] = {**only, **kept}


def _documentation() -> dict[tuple[str, str], dict[str, str]]:
    """Return (module, class) -> field -> the string that stands below it in the source."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for module in (model, results, summary_file):
        for node in ast.parse(inspect.getsource(sys.modules[module.__name__])).body:
            if not isinstance(node, ast.ClassDef):
                continue
            fields = found[module.__name__, node.name] = {}
            for field, below in zip(node.body, node.body[1:], strict=False):
                if (
                    isinstance(field, ast.AnnAssign)
                    and isinstance(field.target, ast.Name)
                    and isinstance(below, ast.Expr)
                    and isinstance(below.value, ast.Constant)
                ):
                    fields[field.target.id] = " ".join(str(below.value.value).split())
    # The line of a trial is made of its fields.
    found[results.__name__, "TrialLine"] = found[model.__name__, "Trial"]
    return found
