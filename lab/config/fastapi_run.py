"""
`fastapi run` and `fastapi dev`, which start uvicorn with other defaults.

Source: fastapi-cli 0.0.34, fastapi_cli/cli.py:284 (uvicorn.run), discover.py:39
(get_module_data_from_path).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from lab.config.files import is_file

PROGRAM = "fastapi"

VERBS = ("run", "dev")

VALUES = frozenset(
    {"--host", "--port", "--workers", "--root-path", "--forwarded-allow-ips", "--reload-dir"}
)
"""Options with a value, which uvicorn has, too."""

FLAGS = frozenset({"--reload", "--no-reload", "--proxy-headers", "--no-proxy-headers"})

OWN_VALUES = {"--app": "app", "--entrypoint": "entrypoint", "-e": "entrypoint"}
"""Options with a value that uvicorn does not have -> what they say."""

OWN_FLAGS = frozenset({"--verbose", "-v"})

VARIABLES = ("WEB_CONCURRENCY=", "FORWARDED_ALLOW_IPS=", "PORT=")
"""What the variables begin with that count; those of uvicorn's options do not."""

PATHS = ("main.py", "app.py", "api.py", "app/main.py", "app/app.py", "app/api.py")
"""Files that are looked for where the command names none."""

Word = tuple[str, int]
"""A word of a command for uvicorn, and the number of the word that it stands for."""


def is_start(words: Sequence[str]) -> bool:
    """Return whether a command starts a server."""
    return words[:1] == [PROGRAM] and any(verb in words[1:] for verb in VERBS)


def unknown(words: Sequence[str]) -> Iterator[str]:
    """Yield the options that the command does not have."""
    known = VALUES | FLAGS | OWN_FLAGS | OWN_VALUES.keys()
    names = (word.partition("=")[0] for word in words[1:])
    yield from (name for name in names if name.startswith("-") and name not in known)


def as_uvicorn(words: Sequence[str], port: str, exists: Callable[[str], bool]) -> list[Word]:
    """
    Return the command of uvicorn that a command stands for.

    Args:
        words: The command; the first word is its program.
        port: The variable PORT, which sets the port where no option does; empty: unset.
        exists: Whether there is a file of that name in the folder that it is started in.
    """
    verb = next(at for at, word in enumerate(words) if word in VERBS)
    named: dict[str, tuple[str, int]] = {}
    made: list[Word] = [("uvicorn", 0)]
    path, is_dev = "", words[verb] == "dev"
    for name, value, at in _arguments(words, verb + 1):
        if not name:
            path = value[0]
        elif name in OWN_VALUES:
            named[OWN_VALUES[name]] = value
        elif name in VALUES:
            made += [(name, at), value]
        elif name in FLAGS - {"--no-reload"}:
            made.append((name, at))
    given = {name for name, _ in made}
    defaults = {"--host": "127.0.0.1" if is_dev else "0.0.0.0", "--port": port}
    for name, default in defaults.items():
        made += [(name, verb), (default, verb)] if default and name not in given else []
    if is_dev and "--no-reload" not in words and "--reload" not in given:
        made.append(("--reload", verb))
    return [*made, *_target(named, path, verb, exists)]


def _arguments(words: Sequence[str], at: int) -> Iterator[tuple[str, tuple[str, int], int]]:
    """Yield options, and the path without a name, with value and place; unknown ones have none."""
    while at < len(words):
        name, equals, value = words[at].partition("=")
        behind = "".join(words[at + 1 : at + 2])
        takes = name in VALUES or name in OWN_VALUES
        if not name.startswith("-"):
            yield "", (words[at], at), at
        elif takes and not equals:
            yield name, (behind, at + 1), at
        else:
            yield name, (value, at), at
        is_known = takes or name in FLAGS | OWN_FLAGS or not name.startswith("-")
        may_be_value = bool(behind) and not behind.startswith("-") and not behind.endswith(".py")
        at += 2 if not equals and (takes or (not is_known and may_be_value)) else 1


def _target(
    named: Mapping[str, tuple[str, int]], path: str, verb: int, exists: Callable[[str], bool]
) -> Iterator[Word]:
    """Yield the words for what is served; none where nothing names it."""
    if entrypoint := named.get("entrypoint"):
        yield entrypoint
        return
    if path := path or next(filter(exists, PATHS), ""):
        folder, module = _module(path, exists)
        if folder not in {".", ""}:
            yield from (("--app-dir", verb), (folder, verb))
        yield f"{module}:{named.get('app', ('app', 0))[0]}", verb


def _module(path: str, exists: Callable[[str], bool]) -> tuple[str, str]:
    """Return the folder that a module is imported from, and its full name."""
    file = PurePosixPath(path)
    file = file.parent if file.name == "__init__.py" else file
    names, folder = [file.stem], file.parent
    while folder.name and exists(str(folder / "__init__.py")):
        names.insert(0, folder.name)
        folder = folder.parent
    return str(folder), ".".join(names)


def exists_in(folder: Path) -> Callable[[str], bool]:
    """Return what says whether a file is in a folder."""
    return lambda name: is_file(folder / name)
