"""
A render.yaml: `startCommand` and `dockerCommand` of its services, by the name of the service.

A shell takes a startCommand apart. $PORT is set by the platform.

Source: https://render.com/docs/blueprint-spec
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lab.config.line import SourceFile, variables
from lab.config.shell import starts_in
from lab.config.sources import with_own_names
from lab.config.spot import Spot
from lab.config.start import StartCommand, Surroundings, seconds_of
from lab.config.yaml_tree import Node, Scalar, documents, mapping, sequence, text

CALLED = r"render\.ya?ml"


def starts(path: Path, text: str) -> tuple[StartCommand, ...]:
    """Return the services that start a server."""
    file = SourceFile(path, text)
    services = (
        service for whole in documents(file) for service in sequence(mapping(whole).get("services"))
    )
    return with_own_names(
        start for service in services for start in _starts(mapping(service), file)
    )


def _starts(service: Mapping[str, Node], file: SourceFile) -> Iterator[StartCommand]:
    folder = file.path.parent / text(service.get("rootDir")).lstrip("/")
    stop_time = seconds_of(text(service.get("maxShutdownDelaySeconds")) or "30")
    around = Surroundings(
        container=True, in_shell=True, supervisor="render", folder=folder, stop_time=stop_time
    )
    environ = variables(_environ(service, file))
    for key in ("startCommand", "dockerCommand"):
        if isinstance(node := service.get(key), Scalar):
            name = text(service.get("name")) or "service"
            yield from starts_in(name, file.line(*node), around, environ)


def _environ(
    service: Mapping[str, Node], file: SourceFile
) -> Mapping[str, tuple[str | None, Spot]]:
    values: dict[str, tuple[str | None, Spot]] = {}
    for node in map(mapping, sequence(service.get("envVars"))):
        key, value = node.get("key"), node.get("value")
        if isinstance(key, Scalar):
            known = value.value if isinstance(value, Scalar) else None
            values[key.value] = known, file.spot(key.begins)
    return values
