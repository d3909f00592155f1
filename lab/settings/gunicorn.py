"""What gunicorn's settings mean: those of its configuration file and of its command."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from functools import cache
from pathlib import PurePath

from lab.model import Profile
from lab.settings.meaning import Settings

FLAGS = {
    "--keep-alive": "keepalive",
    "--worker-class": "worker_class",
    "-k": "worker_class",
    "--threads": "threads",
}
"""Word of the command -> setting."""


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
