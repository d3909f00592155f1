"""
A compose file: `command` and `entrypoint` of its services, by the name of the service; of a service
with neither, what the Dockerfile of its `build` starts.

No shell takes them apart. Compose replaces ${NAME} by a variable of whoever calls it.

Source: https://docs.docker.com/reference/compose-file/services/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from lab.config.files import is_file, text_below
from lab.config.line import ShellLine, SourceFile, joined, variables
from lab.config.shell import starts_in
from lab.config.sources import DEVELOPMENT, dockerfile, with_own_names
from lab.config.sources.dockerfile import shell_of
from lab.config.spot import Spot
from lab.config.start import StartCommand, Surroundings, seconds_of
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
    built, environ = Surroundings(), dict[str, tuple[str | None, Spot]]()
    if dockerfile_of := _dockerfile(service, file):
        built, of_image = dockerfile.image(*dockerfile_of)
        environ |= of_image
    is_known = entry or shell_of(image) or built.is_first_process
    is_first = False if has_init else True if is_known else None
    around = replace(
        built,
        container=True,
        in_shell=False,
        in_list=not isinstance(service.get("command") or service.get("entrypoint"), Scalar),
        is_first_process=is_first,
        shell=shell_of(image) or built.shell,
        stop_signal=text(service.get("stop_signal")) or built.stop_signal,
        stop_time=_stop_time(service, file.path),
        supervisor="compose",
        escapes={"$": "$$"},
        restarts=text(service.get("restart")),
        has_other_variables="env_file" in service,
        folder=file.path.parent / (_context(service) or "."),
        image_folder=text(service.get("working_dir")) or built.image_folder or "/",
        copies=(*built.copies, *_volumes(service, file.path)),
        user=text(service.get("user")).partition(":")[0] or built.user,
        cpus=text(service.get("cpuset")),
    )
    environ |= _environ(service, file)
    for start in starts_in(name, joined(lines), around, variables(environ)):
        yield replace(start, is_default=not DEVELOPMENT.fullmatch(name))


def _built(name: str, service: Mapping[str, Node], file: SourceFile) -> Iterator[StartCommand]:
    """Yield the command of the image that a service builds, from a Dockerfile below its file."""
    dockerfile_of = None if "network_mode" in service else _dockerfile(service, file)
    if dockerfile_of is None:
        return
    has_init = text(service.get("init")) == "true"
    for start in dockerfile.built(*dockerfile_of, _environ(service, file)):
        around = start.surroundings
        around = replace(
            around,
            is_first_process=False if has_init else around.is_first_process,
            stop_signal=text(service.get("stop_signal")) or around.stop_signal,
            stop_time=_stop_time(service, file.path),
            supervisor="compose",
            restarts=text(service.get("restart")),
            has_other_variables="env_file" in service,
            copies=(*around.copies, *_volumes(service, file.path)),
            user=text(service.get("user")).partition(":")[0] or around.user,
            cpus=text(service.get("cpuset")),
        )
        is_default = not DEVELOPMENT.fullmatch(name)
        yield replace(start, name=name, surroundings=around, is_default=is_default)


def _stop_time(service: Mapping[str, Node], path: Path) -> float | None:
    """Return the seconds of a stop; None where another file may say it."""
    override = path.with_name(f"{path.stem}.override{path.suffix}")
    is_set = "stop_grace_period" in service
    if not is_set and ("extends" in service or is_file(override)):
        return None
    return seconds_of(text(service.get("stop_grace_period")) or "10s")


def _context(service: Mapping[str, Node]) -> str:
    """Return the folder that the image of a service is built in; empty if none is built."""
    build = service.get("build")
    return text(build) or text(mapping(build).get("context")) or "." * bool(mapping(build))


def _dockerfile(service: Mapping[str, Node], file: SourceFile) -> tuple[Path, str, str] | None:
    """Return the Dockerfile of a service, its text and the stage that is built; None without it."""
    build, context = mapping(service.get("build")), _context(service)
    path = file.path.parent / context / (text(build.get("dockerfile")) or "Dockerfile")
    content = text_below(path, (file.path.parent,)) if context else None
    return None if content is None else (path, content, text(build.get("target")))


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
