"""
Find the profiles, and read one; what a step changes is in `lab.analysis.difference`.

A profile is a file that its server runs without the lab: an ini under profiles/ or of a user's
own, or a TOML that names the commands of any other server, under profiles/peers/. A TOML beside an
ini of the same name runs that ini together with what it needs in front of it.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeGuard

from lab import uwsgi_config
from lab.errors import ProfileError
from lab.model import Profile
from lab.profile_header import Header, line_of, parse_ini, parse_toml
from lab.servers.launch import ROOT
from lab.uwsgi_options import asks_to_close

FOLDER = ROOT / "profiles"
PEERS = FOLDER / "peers"


def find() -> tuple[str, ...]:
    """Return the names of all profiles: our own in alphabetical order, then the peers."""
    return tuple(path.stem for path in (*_own(), *sorted(PEERS.glob("*.toml"))))


def read(name: str) -> Profile:
    """
    Read and resolve a profile.

    Args:
        name: Of a profile of this project, or the path of an ini or TOML (with a slash or suffix).

    Raises:
        ProfileError: There is none, its header is incomplete, or its server refuses it.
        LabError: uWSGI is not installed.
    """
    path = _locate(name)
    header = read_header(path)
    _ancestors(path)
    if path.suffix == ".toml":
        return _peer(path, header)
    options = uwsgi_config.read_options(path, ROOT)
    summary = header.summary or (header.paragraphs[0] if header.paragraphs else path.name)
    return Profile(
        name=path.stem,
        server="uwsgi",
        path=path,
        summary=summary,
        against=header.against,
        options=options,
        digest=_digest(options),
        keepalive=_keeps_connections(options),
        reply=header.reply,
    )


def read_header(path: Path) -> Header:
    """
    Read what a profile's file says about itself, without asking its server.

    Raises:
        ProfileError: It cannot be read, or one of this project's has no summary.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ProfileError(path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ProfileError(path, "is not UTF-8 text") from None
    if path.suffix == ".toml":
        header, _ = parse_toml(text, path)
        wanted = 'a line `summary = "What it does"`'
    else:
        header = parse_ini(text, path)
        wanted = "a section [lab] with `summary = What this step changes`"
    ours = path.resolve().is_relative_to(FOLDER) or header.against or path.suffix == ".toml"
    if ours and header.summary is None:
        raise ProfileError(path, f"has no summary; it needs {wanted}")
    return header


def ladder(name: str = "tuned") -> tuple[str, ...]:
    """
    Return the names from the first profile up to *name*, each against the one before it.

    Raises:
        ProfileError: One of them is missing, or the chain is a circle.
    """
    path = _locate(name)
    return (*reversed(_ancestors(path)), path.stem)


def usual() -> tuple[str, ...]:
    """Return what is compared where nothing else is asked for: the ladder and reference lines."""
    return (*ladder(), *(path.stem for path in _own() if read_header(path).reply is not None))


def _own() -> list[Path]:
    """Return the files of FOLDER's profiles; of an ini and a TOML with one name, the TOML."""
    files = {path.stem: path for suffix in ("ini", "toml") for path in FOLDER.glob(f"*.{suffix}")}
    return [files[name] for name in sorted(files)]


def _locate(name: str) -> Path:
    if "/" in name or name.endswith((".ini", ".toml")):
        path = Path(name).expanduser()
        if not path.is_file():
            raise ProfileError(path, "there is no such file")
        if path.suffix not in {".ini", ".toml"}:
            raise ProfileError(path, "a profile is an .ini of uWSGI or a .toml of another server")
        return path.resolve()
    for path in (FOLDER / f"{name}.toml", FOLDER / f"{name}.ini", PEERS / f"{name}.toml"):
        if path.is_file():
            return path
    close = difflib.get_close_matches(name, find(), n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(find())}"
    raise ProfileError(name, f"there is no such profile; {hint}")


def _ancestors(path: Path) -> tuple[str, ...]:
    """Return the names that *path* is against, nearest first."""
    names = [path.stem]
    while True:
        header = read_header(path)
        if header.against is None:
            return tuple(names[1:])
        if header.against in names:
            circle = " -> ".join((*names, header.against))
            raise ProfileError(path, f"against is a circle: {circle}", header.against_line)
        try:
            following = _locate(header.against)
        except ProfileError as error:
            problem = f"against names {header.against}: {str(error).partition(': ')[2]}"
            raise ProfileError(path, problem, header.against_line) from None
        names.append(header.against)
        path = following


def _peer(path: Path, header: Header) -> Profile:
    text = path.read_text(encoding="utf-8")
    _, table = parse_toml(text, path)
    commands = table.get("run")
    if not _is_commands(commands):
        raise ProfileError(
            path,
            'run must be a list of commands, each a list of words: run = [["server", "{port}"]]',
            line_of(text, "run"),
        )
    app = table.get("app", "app.wsgi:app")
    options = [("app", str(app))]
    options += [("run", json.dumps(command)) for command in commands]
    # Its native configuration is named after it, so that one folder holds many peers.
    for native in sorted(path.parent.glob(f"{path.stem}.*")):
        if native != path and native.is_file():
            options.append((native.name, native.read_text(encoding="utf-8")))
    needs = table.get("needs")
    return Profile(
        name=path.stem,
        server="command",
        path=path,
        summary=header.summary or path.name,
        against=header.against,
        options=tuple(options),
        digest=_digest(tuple(options)),
        commands=tuple(tuple(command) for command in commands),
        fill=(filled := _fill(table.get("fill", []), options, path, text)),
        replace=_replace(table.get("replace", {}), filled, options, path, text),
        keepalive=table.get("keepalive") is True,
        reply=header.reply,
        needs=str(needs) if needs is not None else None,
    )


def _fill(names: object, options: list[tuple[str, str]], path: Path, text: str) -> tuple[str, ...]:
    known = [name for name, _ in options if name not in {"app", "run"}]
    if not isinstance(names, list) or not all(name in known for name in names):
        raise ProfileError(
            path,
            f"fill must be a list of files beside it that begin with its name: {known}",
            line_of(text, "fill"),
        )
    return tuple(names)


def _replace(
    table: object,
    filled: tuple[str, ...],
    options: list[tuple[str, str]],
    path: Path,
    text: str,
) -> tuple[tuple[str, str], ...]:
    if not isinstance(table, dict) or not all(isinstance(new, str) for new in table.values()):
        problem = '[replace] must have lines `"text in the file" = "other text"`'
        raise ProfileError(path, problem, line_of(text, "replace"))
    contents = [content for name, content in options if name in filled]
    for old in table:
        if not any(old in content for content in contents):
            line = line_of(text, json.dumps(old))
            raise ProfileError(path, f"[replace] has {old!r}, which no file of fill has", line)
    return tuple(table.items())


def _is_commands(value: object) -> TypeGuard[list[list[str]]]:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(command, list) and command and all(isinstance(word, str) for word in command)
            for command in value
        )
    )


def _keeps_connections(pairs: Sequence[tuple[str, str]]) -> bool:
    if any(asks_to_close(*pair) for pair in pairs):
        return False
    options = dict(pairs)
    return "http11-socket" in options or int(options.get("http-keepalive", "0")) > 0


def _digest(options: tuple[tuple[str, str], ...]) -> str:
    return hashlib.sha256(json.dumps(options).encode()).hexdigest()
