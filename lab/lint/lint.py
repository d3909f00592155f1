"""Lints files: reads them, says what is wrong with them, mends them. Nothing is served."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from lab.config import servers
from lab.config.configuration import Config, Known
from lab.config.edits import applied
from lab.config.equality import same
from lab.config.files import LARGEST, UnreadableError, check_nesting, check_size, read_bytes
from lab.config.server import Server
from lab.config.servers import STDIN
from lab.config.templates import CONFLICT, CONTROL
from lab.errors import ProfileError
from lab.lint.flaw import Flaw
from lab.lint.judge import Chosen, judged
from lab.lint.rules.rule import RULES, Rule

ROUNDS = 50
"""Times that fixes are looked for: a line takes one a round."""

READ_AGAIN = 16 << 20
"""Characters that are read again for that, at most: what is larger is mended by several calls."""

ONE_BY_ONE = 100
"""Fixes of a round that are tried one after the other, where all together change too much."""

BUILD = re.compile(r"^[ \t]*(main_plugin|embedded_plugins|bin_name)[ \t]*=", re.MULTILINE)
"""What only a profile for uwsgiconfig.py has."""

BY_COMMAND = {each.program: each for each in servers.every() if each.reads_command}
"""Program -> its server, where its command is what is read."""

NO_FILES = frozenset({STDIN, *map(Path, BY_COMMAND)})
"""What a command is called that is in no file."""


@dataclass(frozen=True, slots=True)
class Linted:
    """A configuration, and what is wrong with it."""

    config: Config
    flaws: Sequence[Flaw]
    before: Mapping[Path, str]
    """File -> what stands in it, for those that fixes would change."""

    def line(self, flaw: Flaw) -> str:
        """Return the line that a flaw is in; empty where it is in none."""
        inside = flaw.spot.file in self.config.texts and flaw.spot.line
        return self.config.line(flaw.spot) if inside else ""

    def write(self, named: Sequence[Path]) -> Iterator[Path | str]:
        """
        Write what fixes made of the files; yield each, and the text of a command that is in none.

        Args:
            named: Files that the user named; any other is written below the current folder only.

        Raises:
            ProfileError: One cannot be written, or lies elsewhere.
        """
        files = self.before.keys() - NO_FILES
        for file in files:
            if any(file != other and file.resolve() == other.resolve() for other in files):
                problem = f"is read under two names: lint it as {file.resolve()}"
                raise ProfileError(self.config.file, problem)
        for file in files:
            _write(file, self.config.texts[file], named)
            yield file
        yield from (self.config.texts[each] for each in self.before.keys() & NO_FILES)


def lint(
    name: str,
    known: Known,
    *,
    select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    fixes: str = "",
    container: bool | None = None,
) -> Linted:
    """
    Return what is wrong with a configuration.

    Args:
        name: A file; granian's command with its arguments; or "-", for what standard input says.
        known: What is known besides.
        select: Codes of the rules that count, or their beginnings; all without any.
        ignore: Of those that do not, beside what the file's project leaves out.
        container: Whether it runs in one; None if a Dockerfile says so.
        fixes: "safe" or "unsafe" to mend what can be mended; nothing is written.

    Raises:
        ProfileError: There is no such file, or it is none that can be read.
    """
    path, known = _located(name, known)
    container = in_container(path) if container is None else container
    known = replace(known if path in NO_FILES else known.beside(path), container=container)
    chosen = _with_project(path, Chosen(select, ignore))
    before = config = _read(path, known)
    flaws = judged(config, chosen)
    size = sum(map(len, before.texts.values()))
    for _ in range(min(ROUNDS, 1 + READ_AGAIN // max(1, size)) if fixes else 0):
        wanted = [each for each in flaws if each.fix and (each.fix.safe or fixes == "unsafe")]
        mended = _mended(config, wanted, known, guarded=fixes == "safe")
        if mended.texts == config.texts:
            break
        config, flaws = mended, judged(mended, chosen)
    after = config.texts
    changed = {f: text for f, text in before.texts.items() if after.get(f, text) != text}
    return Linted(config, flaws, changed)


def linted(
    config: Config,
    every: Sequence[Flaw],
    *,
    select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
) -> Linted:
    """
    Return the same of a configuration that has been read and judged.

    Args:
        config: As it was read.
        every: What all rules find in it.
        select: See `lint`.
        ignore: See `lint`.

    Raises:
        ProfileError: It is none that is judged, such as a template.
    """
    path = config.file
    _check_text(path, config.texts[path], servers.of_file(path))
    chosen = _with_project(path, Chosen(select, ignore))
    return Linted(config, judged(config, chosen, every=every), {})


def in_container(path: Path) -> bool:
    """Return whether a Dockerfile, or the name of its folder, says that it is for one."""
    folders = (path.absolute().parent, Path.cwd())
    return folders[0].name == "docker" or any((each / "Dockerfile").exists() for each in folders)


def _mended(config: Config, flaws: Sequence[Flaw], known: Known, *, guarded: bool) -> Config:
    """
    Return a configuration as the fixes of *flaws* leave it.

    Args:
        config: As it is.
        flaws: Each with a fix.
        known: As it was read with.
        guarded: Whether a fix counts only if the server then does the same.
    """
    fixes = [each.fix.edits for each in flaws if each.fix]
    mended = _read(config.file, replace(known, overlay=applied(config.texts, fixes)))
    if not guarded or same(config, mended):
        return mended
    if len(flaws) == 1:
        return config
    for flaw in flaws[:ONE_BY_ONE]:
        config = _mended(config, [flaw], known, guarded=True)
    return config


def _located(name: str, known: Known) -> tuple[Path, Known]:
    """Return the path of what is read, and what is known then: a command is known by its text."""
    if name == "-":
        most = max(each.largest for each in BY_COMMAND.values())
        return STDIN, replace(known, overlay={STDIN: sys.stdin.read(most + 1)})
    path = Path(name)
    there = os.path.exists(name)  # noqa: PTH110 - of no name it says that it is too long
    file, _, section = name.rpartition(":")
    if not there and os.path.isfile(file) and not file.endswith(".py"):  # noqa: PTH113 - so is this
        return Path(file), replace(known, section=section)
    if there and path.is_file():
        return path, known
    words = [] if there else _split(name)
    if server := next((word for word in map(_name, words) if word in BY_COMMAND), None):
        return Path(server), replace(known, overlay={Path(server): name})
    raise ProfileError(path, _no_file(words) if there or words[1:] else _missing(file))


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a quote that is not closed, or that of a name
        return command.split()


def _name(word: str) -> str:
    return PurePath(word).name


def _no_file(words: Sequence[str]) -> str:
    """Return what a name is that is none of a file's, and what to do."""
    if not words:
        return "is no file but a pipe, a socket or a device: write it to a file, and name that"
    server = servers.of_command(words)
    if server is None:
        return "there is no such file"
    form, program = server.file, server.program
    if not form:
        return f"is a command of {program}, for which there are no rules"
    file = next((word for word in words if word.endswith(PurePath(form).suffix)), None)
    instead = f"name {file}" if file else f"write its options into a {form}, and name that"
    read = " and ".join(f"{each}'s" for each in BY_COMMAND)
    return f"is a command of {program}, and only {read} is read: {instead}"


def _missing(file: str) -> str:
    """Return what to do about a name that nothing has; *file* is what stands before a colon."""
    if os.path.isfile(file):  # noqa: PTH113 - of no name it says that it is too long
        return f"there is no such file, and only an .ini has sections: name {file}"
    return f"there is no file {file}" if file.endswith(".ini") else "there is no such file"


def _read(path: Path, known: Known) -> Config:
    named = servers.of_file(path)
    try:
        text = known.text(path, named.largest if named else LARGEST)
    except UnreadableError as error:
        raise ProfileError(path, str(error), error.line) from None
    server = named or servers.of_file(path, text)
    _check_text(path, text, server)
    if server is None:
        every = (end for each in servers.every() for end in each.endings)
        kinds = ", ".join(end for end in every if end.startswith("."))
        hint = "or of any name with a line [uwsgi]"
        raise ProfileError(path, f"is none of the files that can be read: {kinds}, {hint}")
    return server.read(path, known)


def _check_text(path: Path, text: str, server: Server | None) -> None:
    """Refuse what is no text, or none that its server gets."""
    if "\0" in text:
        raise ProfileError(path, "is no text, for it has bytes of value 0: save it as UTF-8")
    if server and server.templates and (found := CONTROL.search(text) or CONFLICT.search(text)):
        if found.re is CONTROL:
            problem = f"is a template, for it has {found[1]!r}: name a file that is made of it"
        else:
            problem = "is not merged to its end: choose a side of the conflict"
        raise ProfileError(path, problem, text.count("\n", 0, found.start()) + 1)
    if server and server.templates and (found := BUILD.search(text)):
        problem = f"is what uWSGI is built by, for it has {found[1]}: name the ini of a server"
        raise ProfileError(path, problem, text.count("\n", 0, found.start(1)) + 1)


def _with_project(path: Path, chosen: Chosen) -> Chosen:
    """
    Return the choice with that of the nearest pyproject.toml above a file.

    Raises:
        ProfileError: It says what cannot be meant.
    """
    files = (folder / "pyproject.toml" for folder in path.absolute().parents)
    file = next((each for each in files if each.is_file()), None)
    if file is None:
        return chosen
    try:
        text = read_bytes(file).decode()
        check_size(text)
        check_nesting(text)
        table = tomllib.loads(text)
    except UnreadableError as error:
        raise ProfileError(file, str(error), error.line) from None
    except ValueError as error:
        raise ProfileError(file, f"cannot be read: {error}") from None
    said: Any = table
    for name in ("tool", "lab", "lint"):
        said = said.get(name, {})
        if not isinstance(said, dict):
            raise ProfileError(file, f"has a {name} that is no table")
    for key, codes in said.items():
        if key != "ignore" or not isinstance(codes, list):
            raise ProfileError(file, '[tool.lab.lint] knows ignore = ["CODE"]')
        check_codes(codes, f"{file}: [tool.lab.lint]")
    return replace(chosen, ignore=(*chosen.ignore, *map(str.upper, said.get("ignore", ()))))


def check_codes(codes: Sequence[str], where: str) -> None:
    """
    Refuse what no rule's code begins with.

    Raises:
        ProfileError: There is such a one; the message begins with *where*.
    """
    for code in codes:
        if not code or not any(each.startswith(code.upper()) for each in RULES):
            raise ProfileError(where, f"there is no rule {code}: docs/reference/lint.md has all")


def rule_of(code: str) -> Rule:
    """
    Return the rule of a code.

    Raises:
        ProfileError: There is none.
    """
    if code.upper() not in RULES:
        raise ProfileError("--explain", f"there is no rule {code}: docs/reference/lint.md has all")
    return RULES[code.upper()]


def _write(path: Path, text: str, named: Sequence[Path]) -> None:
    """Put *text* in the place of a file's, all of it or nothing; mode and owner stay."""
    target = path.resolve()
    elsewhere = not target.is_relative_to(Path.cwd())
    linked = target != Path(os.path.normpath(path.absolute()))
    if elsewhere and (path not in named or linked):
        raise ProfileError(
            target, "is not fixed, because it lies outside of this folder: name it so"
        )
    new = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        was = target.stat()
        try:
            new.write_bytes(text.encode("utf-8", "surrogateescape"))
            with suppress(PermissionError):
                os.chown(new, was.st_uid, was.st_gid)
            new.chmod(was.st_mode & 0o7777)  # after chown, which clears some of it
            new.replace(target)
        finally:
            new.unlink(missing_ok=True)
    except OSError as error:
        raise ProfileError(path, f"cannot be written: {error.strerror}") from error
