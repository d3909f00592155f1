"""
A compose file: `command` and `entrypoint` of its services, by the name of the service; of a service
with neither, what the Dockerfile of its `build` starts.

No shell takes them apart. Compose replaces ${NAME} by a variable of whoever calls it.

Source: https://docs.docker.com/reference/compose-file/services/
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from lab.config.files import UnreadableError, read_bytes
from lab.config.line import ShellLine, SourceFile, joined, variables
from lab.config.shell import starts_in
from lab.config.sources import DEVELOPMENT, dockerfile, with_own_names
from lab.config.sources.dockerfile import shell_of
from lab.config.spot import Spot
from lab.config.start import StartCommand, Surroundings
from lab.config.words import LITERAL, words_in
from lab.config.yaml_tree import Node, Scalar, documents, mapping, scalars, sequence, text

CALLED = r"(?!render\.).*\.ya?ml"

HOLDS = r"^services:[ \t\r]*(#.*)?$"

PROXIES = re.compile(
    r"(?:.*/)?(?:nginx|nginx-proxy|nginx-unprivileged|traefik|caddy|haproxy)(?:[:@].*)?"
)
"""Images of reverse proxies."""


def starts(path: Path, text: str) -> tuple[StartCommand, ...]:
    """Return the services that start a server."""
    file = SourceFile(path, text)
    services = {
        name: mapping(node)
        for whole in documents(file)
        for name, node in mapping(mapping(whole).get("services")).items()
    }
    proxies = (name for name, service in services.items() if _is_proxy(service))
    proxy = next((f"the service {name}" for name in proxies), "")
    return with_own_names(
        replace(start, surroundings=replace(start.surroundings, proxy=proxy))
        for name, service in services.items()
        for start in _starts(name, service, file)
    )


def _is_proxy(service: Mapping[str, Node]) -> bool:
    """Return whether a service is a reverse proxy, with an address of its own."""
    return "network_mode" not in service and bool(PROXIES.fullmatch(text(service.get("image"))))


def _starts(name: str, service: Mapping[str, Node], file: SourceFile) -> Iterator[StartCommand]:
    entry, command = (_words(service.get(key), file) for key in ("entrypoint", "command"))
    lines = [line for line in (entry, command) if line is not None]
    if not lines:
        yield from _built(name, service, file)
        return
    image, has_init = text(service.get("image")), text(service.get("init")) == "true"
    is_first = False if has_init else True if entry or shell_of(image) else None
    copies = tuple(_volumes(service, file.path))
    build = service.get("build")
    context = text(build) or text(mapping(build).get("context")) or "."
    around = Surroundings(
        container=True,
        in_shell=False,
        in_list=not isinstance(service.get("command") or service.get("entrypoint"), Scalar),
        is_first_process=is_first,
        shell=shell_of(image),
        stop_signal=text(service.get("stop_signal")),
        supervisor="compose",
        restarts=text(service.get("restart")),
        folder=file.path.parent / context,
        image_folder=text(service.get("working_dir")) or "/",
        copies=copies,
        user=text(service.get("user")).partition(":")[0],
    )
    for start in starts_in(name, joined(lines), around, variables(_environ(service, file))):
        yield replace(start, is_default=not DEVELOPMENT.fullmatch(name))


def _built(name: str, service: Mapping[str, Node], file: SourceFile) -> Iterator[StartCommand]:
    """Yield the command of the image that a service builds, from a Dockerfile below its file."""
    build = service.get("build")
    context = text(build) or text(mapping(build).get("context")) or "." * bool(mapping(build))
    path = file.path.parent / context / (text(mapping(build).get("dockerfile")) or "Dockerfile")
    if not context or "network_mode" in service or (content := _below(file.path, path)) is None:
        return
    target = text(mapping(build).get("target"))
    start = dockerfile.built(path, content, target, _environ(service, file))
    if start is None:
        return
    around = start.surroundings
    around = replace(
        around,
        is_first_process=False if text(service.get("init")) == "true" else around.is_first_process,
        stop_signal=text(service.get("stop_signal")) or around.stop_signal,
        supervisor="compose",
        restarts=text(service.get("restart")),
        copies=(*around.copies, *_volumes(service, file.path)),
        user=text(service.get("user")).partition(":")[0] or around.user,
    )
    is_default = not DEVELOPMENT.fullmatch(name)
    yield replace(start, name=name, surroundings=around, is_default=is_default)


def _below(compose: Path, path: Path) -> str | None:
    """Return the text of a file below the folder of a compose file; None: it is not read."""
    folder, real = os.path.realpath(compose.parent), Path(os.path.realpath(path))
    inside = real.relative_to(folder).parts if real.is_relative_to(folder) else (".",)
    if any(part.startswith(".") for part in inside):
        return None
    with suppress(UnreadableError, UnicodeDecodeError):
        return read_bytes(real).decode()
    return None


def _words(node: Node | None, file: SourceFile) -> ShellLine | None:
    """Return a command; None where there is none."""
    if isinstance(node, Scalar):
        with suppress(ValueError):  # a quote that is not closed
            words = [word for word, _, _ in words_in(node.value)]
            return file.command(map(_live, words), node) if words else None
        return None
    spelt = [(_live(word), begins, ends) for word, begins, ends in scalars(node)]
    return file.words(spelt) if spelt else None


def _live(word: str) -> str:
    return word.replace("$$", LITERAL)


def _environ(
    service: Mapping[str, Node], file: SourceFile
) -> Mapping[str, tuple[str | None, Spot]]:
    """Return the variables of a service; one without a value has that of whoever calls compose."""
    node, values = service.get("environment"), dict[str, tuple[str | None, Spot]]()
    for name, value in mapping(node).items():
        if isinstance(value, Scalar):
            is_set = value.begins < value.ends
            values[name] = _live(value.value) if is_set else None, file.spot(value.begins)
    for entry in scalars(node):
        name, equals, rest = entry.value.partition("=")
        values[name] = _live(rest) if equals else None, file.spot(entry.begins)
    return values


def _volumes(service: Mapping[str, Node], path: Path) -> Iterator[tuple[PurePosixPath, Path]]:
    """Yield the folders here that the container has, as in "./shop:/app"."""
    for node in sequence(service.get("volumes")):
        here, _, there = text(node).partition(":")
        here = here or text(mapping(node).get("source"))
        there = there.partition(":")[0] or text(mapping(node).get("target"))
        if here.startswith(".") and there.startswith("/"):
            yield PurePosixPath(there), path.parent / here
