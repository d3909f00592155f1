"""
Manifests of Kubernetes: `command` and `args` of the containers, by the name of the container.

No shell takes them apart. $(NAME) is a variable of the container.

Source: https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lab.config.line import SourceFile, variables
from lab.config.shell import starts_in
from lab.config.sources import with_own_names
from lab.config.sources.dockerfile import shell_of
from lab.config.spot import Spot
from lab.config.start import StartCommand, Surroundings, seconds_of
from lab.config.words import LITERAL
from lab.config.yaml_tree import Node, Scalar, documents, mapping, scalars, sequence, text

CALLED = r".*\.ya?ml"

HOLDS = r"^containers:|^[ \t]+-?[ \t]*containers:[ \t\r]*(#.*)?$"

MOST = 1000
"""Mappings in which containers are looked for."""


def starts(path: Path, text: str) -> tuple[StartCommand, ...]:
    """Return the containers that start a server."""
    file = SourceFile(path, text)
    return with_own_names(
        start
        for whole in documents(file)
        for pod in _pods(whole)
        for node in sequence(pod["containers"])
        for start in _starts(mapping(node), pod, file)
    )


def _pods(whole: Node) -> Iterator[Mapping[str, Node]]:
    """Yield the mappings that have containers."""
    waiting, seen = [whole], set[int]()
    while waiting and len(seen) < MOST:
        node = waiting.pop(0)
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            if "containers" in node:
                yield mapping(node)
            waiting += node.values()


def _starts(
    container: Mapping[str, Node], pod: Mapping[str, Node], file: SourceFile
) -> Iterator[StartCommand]:
    words = [*scalars(container.get("command")), *scalars(container.get("args"))]
    if not words:
        return
    image = text(container.get("image"))
    is_first = True if "command" in container or shell_of(image) else None
    around = Surroundings(
        container=True,
        in_shell=False,
        in_list=True,
        is_first_process=is_first,
        shell=shell_of(image),
        stop_time=seconds_of(text(pod.get("terminationGracePeriodSeconds")) or "30"),
        supervisor="kubernetes",
        restarts=text(pod.get("restartPolicy")) or "Always",
        has_other_variables="envFrom" in container,
        image_folder=text(container.get("workingDir")) or "/",
    )
    line = file.words((_live(value), begins, ends) for value, begins, ends in words)
    environ = variables(_environ(container, file))
    yield from starts_in(text(container.get("name")) or "container", line, around, environ)


def _live(word: str) -> str:
    """
    Return a word with ${NAME} for $(NAME), and `LITERAL` for any other `$`.

    >>> _live("$(PORT) $A $$(B)") == "${PORT} " + LITERAL + "A " + LITERAL + "(B)"
    True
    """
    return re.sub(
        r"\$\$(?=\()|\$\((\w+)\)|\$", lambda it: f"${{{it[1]}}}" if it[1] else LITERAL, word
    )


def _environ(
    container: Mapping[str, Node], file: SourceFile
) -> Mapping[str, tuple[str | None, Spot]]:
    """Return the variables of a container; the values of secrets are unknown."""
    values: dict[str, tuple[str | None, Spot]] = {}
    for node in map(mapping, sequence(container.get("env"))):
        name, value = node.get("name"), node.get("value")
        if isinstance(name, Scalar):
            known = _live(value.value) if isinstance(value, Scalar) else None
            values[name.value] = known, file.spot(name.begins)
    return values
