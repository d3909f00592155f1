"""
A Dockerfile: CMD and ENTRYPOINT of its last stage, or of the stage that is named.

Sources: https://docs.docker.com/reference/dockerfile/; moby/buildkit, frontend/dockerfile/parser
and dockerfile2llb/convert.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from lab.config.line import ShellLine, SourceFile, variables
from lab.config.shell import SHELLS, starts_in
from lab.config.sources import with_own_names
from lab.config.spot import Spot
from lab.config.start import StartCommand, Surroundings
from lab.config.words import LITERAL, with_literals, words_in

CALLED = r"(?:.*\.)?(?:Dockerfile|Containerfile|dockerfile)(?:[.-].*)?"

MOST_STAGES, MOST_COPIES = 50, 200
"""Stages, and files that are copied to one, which are looked at: the last ones."""

MOST_NAMES, MOST_OF_STAGE = 4, 12
"""Names of one COPY from a stage, and files that they stand for, which are looked at."""

MOST_CHARACTERS = 256
"""Of a value with variables that is known."""

_HEREDOC = re.compile(r"<<-?(['\"]?)(\w+)\1")

_STRING = re.compile(r'"(?:\\.|[^"\\])*"')

_ESCAPE = re.compile(r"#[ \t]*escape[ \t]*=[ \t]*(`)", re.IGNORECASE)

_DASH = re.compile(
    r"(?:docker\.io/)?(?:library/)?(?:python|debian|ubuntu|buildpack-deps)"
    r"(?::(?!.*(?:alpine|windows)).*)?|.*:.*(?:buster|bullseye|bookworm|trixie).*"
)
"""Images of Debian and Ubuntu, whose `sh` is dash."""


class Instruction(NamedTuple):
    """One instruction, whose comments and ends of lines are blanks."""

    name: str
    value: ShellLine
    begins: int
    """Offset of the value."""


def shell_of(image: str) -> str:
    """Return what `sh` is in an image, as "dash"; empty: unknown."""
    return "dash" if _DASH.fullmatch(image) else ""


def starts(path: Path, text: str) -> tuple[StartCommand, ...]:
    """Return the command of each stage that starts a server; the last stage is what is built."""
    file = SourceFile(path, text)
    stages = list(_stages(file))[-MOST_STAGES:]
    commands = [
        replace(start, is_default=stage is stages[-1])
        for stage in stages
        for start in stage.starts(file)
    ]
    return with_own_names(commands)


def built(
    path: Path, text: str, target: str, environ: Mapping[str, tuple[str | None, Spot]]
) -> Iterator[StartCommand]:
    """
    Yield the servers that an image starts which is built.

    Args:
        path: The Dockerfile.
        text: Its text.
        target: The stage that is built; empty: the last one.
        environ: Variables that count more than those of the image; see `variables`.
    """
    file = SourceFile(path, text)
    stage = _built(file, target)
    if stage is not None:
        stage.environ |= environ
        yield from stage.starts(file)


def image(
    path: Path, text: str, target: str
) -> tuple[Surroundings, Mapping[str, tuple[str | None, Spot]]]:
    """
    Return what a built image has, whatever it starts, and its variables; see `built`.

    Whether a command is the first process is known where the image has no ENTRYPOINT.
    """
    file = SourceFile(path, text)
    stage = _built(file, target)
    if stage is None:
        return Surroundings(), {}
    is_first = None if stage.entrypoint else True
    return replace(stage.surroundings(file), is_first_process=is_first), stage.environ


def _built(file: SourceFile, target: str) -> _Stage | None:
    """Return the stage that is built; None where there is none."""
    stages = list(_stages(file))[-MOST_STAGES:]
    return next((stage for stage in reversed(stages) if target in {"", stage.name}), None)


def instructions(file: SourceFile) -> Iterator[Instruction]:
    """Yield the instructions of a Dockerfile, in its order."""
    sign = _ESCAPE.match(file.text)
    escape = sign[1] if sign else "\\"
    ends = re.compile(rf"{re.escape(escape)}[ \t\r]*\n|\n|\Z")
    at = 0
    while at < len(file.text):
        begins, parts, goes_on = at, list[str](), True
        while goes_on and at < len(file.text):
            end = ends.search(file.text, at)
            assert end is not None
            line = file.text[at : end.start()]
            is_comment = line.lstrip().startswith("#") or not line.strip()
            goes_on = bool(parts) if is_comment else len(end[0]) > 1
            parts.append((" " * len(line) if is_comment else line) + " " * len(end[0]))
            at = end.end()
        value = "".join(parts).rstrip()
        if match := re.match(r"[\ufeff\s]*([A-Za-z]+)[ \t]+(?=\S)", value):
            name, start = match[1].upper(), begins + match.end()
            line_of = file.part(start, begins + len(value), value[match.end() :])
            yield Instruction(name, line_of, start)
            if name in {"RUN", "COPY", "ADD"}:
                for _, word in _HEREDOC.findall(value):
                    end = re.compile(rf"^\t*{word}[ \t\r]*$", re.MULTILINE).search(file.text, at)
                    at = end.end() if end else len(file.text)


@dataclass
class _Stage:
    """One stage: what its image has, as far as the file says."""

    name: str
    image: str
    environ: dict[str, tuple[str | None, Spot]] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=dict)
    inherited: Instruction | None = None
    """The CMD of the stage that it begins with, which an ENTRYPOINT takes away."""

    command: Instruction | None = None
    entrypoint: Instruction | None = None
    shell: str | None = None
    user: str = ""
    folder: str = "/"
    stop_signal: str = ""
    copies: tuple[tuple[PurePosixPath, Path], ...] = ()

    def take(self, instruction: Instruction, path: Path, stages: Mapping[str, _Stage]) -> None:
        """Take an instruction of the stage; *stages* are those above it, by name."""
        text = instruction.value.text
        match instruction.name:
            case "ENV":
                values = dict(_environ(instruction))
                self.environ |= values
                known = {name: value for name, (value, _) in values.items() if value}
                self.arguments |= {
                    name: _replaced(value, self.arguments) for name, value in known.items()
                }
            case "ARG":
                self.arguments |= dict(_argument(text))
            case "CMD":
                self.command = instruction
            case "ENTRYPOINT":
                self.entrypoint = instruction
                self.command = None if self.command is self.inherited else self.command
            case "SHELL":
                words = exec_words(instruction) or [("", 0, 0)]
                self.shell = PurePosixPath(words[0][0]).name
            case "USER":
                self.user = text.partition(":")[0]
            case "WORKDIR":
                folder = _replaced(text.strip("\"'"), self.arguments)
                self.folder = str(PurePosixPath(self.folder, folder))
            case "STOPSIGNAL":
                self.stop_signal = text
            case "COPY" | "ADD":
                names = _replaced(text, self.arguments)
                copies = self._copied(names, path, stages)
                self.copies = (*self.copies, *copies)[-MOST_COPIES:]

    def _copied(
        self, text: str, path: Path, stages: Mapping[str, _Stage]
    ) -> Iterator[tuple[PurePosixPath, Path]]:
        """Yield what COPY puts where."""
        folder = PurePosixPath(self.folder)
        from_stage = re.search(r"--from=(\S+)", text)
        if from_stage is None:
            yield from _copies(text, folder, path)
        elif other := stages.get(from_stage[1].lower()):
            yield from islice(_copies_of_stage(text, folder, other.copies), MOST_OF_STAGE)

    def surroundings(self, file: SourceFile) -> Surroundings:
        """Return what a process of the stage has around it."""
        around = Surroundings(image_folder=self.folder, copies=self.copies)
        return replace(
            around,
            container=True,
            in_shell=False,
            is_first_process=True,
            shell=shell_of(self.image) if self.shell is None else self.shell,
            stop_signal=self.stop_signal,
            folder=around.in_folder(".", file.path.parent).folder,
            user=self.user,
        )

    def starts(self, file: SourceFile) -> Iterator[StartCommand]:
        """Yield the servers that the stage starts; of a script those of all its branches."""
        around = self.surroundings(file)
        if self.shell not in {None, *SHELLS}:
            return
        environ = variables(self.environ)
        for line, known in self._lines(file, around):
            if starts := [*starts_in(self.name, line, known, environ)]:
                yield from starts
                return

    def _lines(
        self, file: SourceFile, around: Surroundings
    ) -> Iterator[tuple[ShellLine, Surroundings]]:
        """Yield what the image starts; a command behind an ENTRYPOINT also alone."""
        in_list = replace(around, in_list=True)
        in_shell = replace(around, in_shell=True)
        entry, command = self.entrypoint, self.command
        first, words = entry and exec_words(entry), command and exec_words(command)
        if entry and first is None:
            yield entry.value, in_shell
            return
        if whole := [*(first or ()), *(words or ())]:
            yield file.words(whole), in_list
        if words and first:
            yield file.words(words), replace(in_list, is_first_process=None)
        elif command and words is None:
            is_first = None if first else True
            yield command.value, replace(in_shell, is_first_process=is_first)


def _stages(file: SourceFile) -> Iterator[_Stage]:
    """Yield the stages of a Dockerfile, in its order."""
    arguments: dict[str, str] = {}
    stages: dict[str, _Stage] = {}
    stage: _Stage | None = None
    for instruction in instructions(file):
        text = instruction.value.text
        if instruction.name == "FROM":
            words = [word for word in text.split() if not word.startswith("--")]
            image = _replaced(words[0], arguments) if words else ""
            name = words[2] if len(words) > 2 and words[1].lower() == "as" else str(len(stages))
            base = stages.get(image.lower(), _Stage("", image))
            stages.pop(name.lower(), None)  # the last of a name is the last stage
            stage = stages[name.lower()] = replace(
                base,
                name=name,
                inherited=base.command,
                environ=dict(base.environ),
                arguments=dict(base.arguments),
            )
        elif stage is not None:
            stage.take(instruction, file.path, stages)
        elif instruction.name == "ARG":
            arguments |= dict(_argument(text))
    yield from stages.values()


def _argument(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the default of an argument, if it has one."""
    name, equals, value = text.partition("=")
    if equals:
        yield name.strip(), value.strip("\"' ")


def _replaced(text: str, arguments: Mapping[str, str]) -> str:
    """Return a text with the defaults of arguments; one that is unknown stays."""
    pattern = r"\$\{?(\w+)(?::-([^}]*))?\}?"
    whole = re.sub(pattern, lambda it: arguments.get(it[1], it[2] or it[0]), text)
    return whole if len(whole) <= MOST_CHARACTERS else text


def exec_words(instruction: Instruction) -> list[tuple[str, int, int]] | None:
    """Return the words of the exec form, each with its offsets; None of the shell form."""
    text = instruction.value.text
    with suppress(ValueError, RecursionError):
        words = json.loads(text)
        if isinstance(words, list) and all(isinstance(word, str) for word in words):
            spans = [match.span() for match in _STRING.finditer(text)]
            at = instruction.begins
            return [
                (word.replace("$", LITERAL), at + begins, at + ends)
                for word, (begins, ends) in zip(words, spans, strict=True)
            ]
    return None


def _environ(instruction: Instruction) -> Iterator[tuple[str, tuple[str | None, Spot]]]:
    """Yield the variables that ENV sets."""
    value = instruction.value
    with suppress(ValueError):  # a quote that is not closed
        words = list(words_in(value.text))
        if words and "=" not in words[0][1]:
            name, rest = words[0][0], value.text[len(words[0][1]) :].strip()
            yield name, (rest, value.place(0))
            return
        for _, raw, begins in words:
            name, _, text = with_literals(raw).partition("=")
            yield name, (text, value.place(begins))


def _copies(text: str, folder: PurePosixPath, path: Path) -> Iterator[tuple[PurePosixPath, Path]]:
    """Yield what COPY puts where; the folder that an image is built in is not certain."""
    words = [word for word in text.split() if not word.startswith("--")]
    if "<<" in text:
        return
    if text.startswith("["):
        with suppress(ValueError, RecursionError):
            words = [word for word in json.loads(text) if isinstance(word, str)]
    *names, to = words or [""]
    for here in dict.fromkeys((path.parent.parent, Path(), path.parent)):
        for name in names:
            source = name.lstrip("/")
            if "*" in source or "?" in source:
                yield folder / to, here / Path(source).parent
                continue
            yield folder / to, here / source
            yield folder / to / PurePosixPath(source).name, here / source


def _copies_of_stage(
    text: str, folder: PurePosixPath, copies: Sequence[tuple[PurePosixPath, Path]]
) -> Iterator[tuple[PurePosixPath, Path]]:
    """Yield what COPY puts where from a stage into which files of this machine were copied."""
    *names, to = [word for word in text.split() if not word.startswith("--")] or [""]
    for source in (PurePosixPath("/", name) for name in names[-MOST_NAMES:]):
        for there, here in copies:  # by their texts: pathlib takes 20 times as long
            if f"{there}/".startswith(f"{source}/".replace("//", "/")):
                yield folder / to / there.relative_to(source), here
            elif f"{source}/".startswith(f"{there}/"):
                yield folder / to, here / source.relative_to(there)
                yield folder / to / source.name, here / source.relative_to(there)
