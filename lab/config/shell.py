"""The commands of servers in a text for a shell, which may have others before and behind them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import NamedTuple

from lab.config import fastapi_run, servers
from lab.config.files import text_below
from lab.config.line import ShellLine, SourceFile, aligned, joined, quoted
from lab.config.server import Server
from lab.config.spot import Spot
from lab.config.start import StartCommand, Surroundings
from lab.config.words import LITERAL, operators, with_literals, words_in
from lab.config.wrappers import INITS, WRAPPERS, Wrapper

SHELLS = frozenset({"sh", "ash", "bash", "dash", "zsh"})

DEEPEST = 5
"""Shells in each other that are read."""

SWITCHERS = frozenset({"su", "runuser"})
"""Programs that give a command to the shell of another user by -c."""

_SCRIPT = re.compile(r".*\.sh|.*entrypoint[\w.-]*|wait-for[\w.-]*")
"""Names of scripts that start what stands behind them, as the ENTRYPOINT of an image does."""

_SHEBANG = re.compile(r"#!.*\b(?:ba|da|a)?sh\b")

PROGRAMS = ("/usr/local/bin", "/usr/bin", "/bin")
"""Folders of an image in which a program is looked for that is named without a folder."""

_ARGUMENTS = re.compile(r"\$\{?[@*\d]")
"""How a script has the words behind its name."""

_WAITS = re.compile(r"""^[ \t]*"?\$\{?@\}?"?[ \t\r]*$""", re.MULTILINE)
"""How a script starts the command behind its name, and stays."""

_VARIABLE = re.compile(r"[A-Za-z_]\w*\+?=")

_SEVERAL = re.compile(r'\$(\w+|[@*]|\{\w+(:?-\s*-[^{}]*)?\})|"\$@"')
"""A word that a shell may replace by several."""

_KEYWORDS = frozenset({"then", "else", "do", "{", "!", "if", "elif", "while", "until"})
"""Words of a shell that may stand before a command."""

_OPENS = frozenset({"if", "case", "for", "while", "until"})
_CLOSES = frozenset({"fi", "esac", "done"})
"""Words between which a command may not be run."""

_LABEL = re.compile(r"\s*(?:[^\s()$=]*\)|(?:function\s+)?[\w-]+\s*\(\))\s*")
"""What begins a branch of `case`, or a function."""

_PATTERN = re.compile(r"(\bcase\s[^\n;]*?\sin\b\s*+|;;&?\s*+|;&\s*+)(?!esac\b)(\(?[^()\n;]*+\))")
"""The pattern of a branch of `case`, behind what stands before it."""

_ENDS_AT_ONCE = {
    "": {"--version", "--help", "--check-config", "--print-config"},
    "uwsgi": {"--version", "--help", "--stop", "--reload", "--build-plugin", "--connect-and-read"},
}
"""Program -> options with which it serves nothing; "": of all others."""

_BRACKETS = re.compile(
    r"""(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"\\();&|])+|[\n;&|]+|[()]""", re.DOTALL
)
"""A word, operators or a bracket of a text for a shell."""

_TOKEN = re.compile(
    r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|(?P<comment>(?<![^\s;&|()])\#[^\n]*)"""
    r"""|(?P<heredoc><<-?[ \t]*(?P<quote>['"]?)(?P<word>\w+)(?P=quote))|<<<|[^\\'"\#\n<]+|.|\n""",
    re.DOTALL | re.VERBOSE,
)


def start_of(name: str, line: str, spot: Spot, surroundings: Surroundings) -> StartCommand | None:
    """
    Return the command in a line that starts a server; None where none does for certain.

    `cd FOLDER &&` before the command says its folder.

    Args:
        name: By which its file calls it.
        line: The line.
        spot: Where the line begins.
        surroundings: What the file says besides.
    """
    return next(starts_in(name, ShellLine(line, ((0, spot),)), surroundings), None)


def starts_in(
    name: str, line: ShellLine, surroundings: Surroundings, variables: Sequence[ShellLine] = ()
) -> Iterator[StartCommand]:
    """
    Yield the commands in a text for a shell that start a server, in their order.

    Args:
        name: By which its file calls them.
        line: The text.
        surroundings: What the file says besides.
        variables: What the file sets, as it stands before a command: "WORKERS=2".
    """
    around = replace(surroundings, environ={**surroundings.environ, **dict(_values(variables))})
    yield from _starts(_Place(name, around, tuple(variables)), line, 0)


@dataclass(frozen=True, slots=True)
class _Place:
    """What is the same for all commands of a text."""

    name: str
    surroundings: Surroundings
    variables: tuple[ShellLine, ...]
    is_script: bool = False
    """Whether the text is that of a script, whose shell waits for what it starts without `exec`."""

    caller: Spot | None = None
    """The command, outside of this text, whose shell waits for what is started here."""

    followed: set[Path] = field(default_factory=set)
    """Scripts that were read: none is read again, so that a few cannot be read without end."""


def _starts(place: _Place, line: ShellLine, depth: int) -> Iterator[StartCommand]:
    whole = replace(line, text=_without_patterns(without_comments(line.text)))
    spans = [*_subshells(whole.text)]
    line = replace(whole, text=_blanked(whole.text, spans))
    begins, inside, others, is_file = 0, 0, False, False
    for start, end in (*operators(line.text), (len(line.text), len(line.text))):
        for opens, closes in spans if depth < DEEPEST else ():
            if begins <= opens < start:
                yield from _starts(place, whole.cut(opens + 1, closes), depth + 1)
        try:
            command = _Command.of(line.cut(begins, start))
        except ValueError:  # a quote that is not closed
            return
        is_whole = command.line.text.count("(") == command.line.text.count(")")
        if is_whole and not is_file and command.may_start(place.surroundings):
            command = command._replace(is_in_background=line.text[start:end] == "&")
            alone = not others and start == len(line.text)
            before = line.text[:begins].strip()
            yield from command.starts(place, before, alone=alone, depth=depth)
        words = [word.value for word in command.words]
        is_cd = words[:1] == ["cd"] and len(words) == 2
        is_file = re.search("[<>]", line.text[start:end]) is not None  # behind it stands a file
        others |= bool(words) and not (is_cd and line.text[start:end] in {"&&", ";", "\n"})
        if is_cd and "$" not in words[1]:
            around = place.surroundings.in_folder(words[1], line.place(0).file.parent)
            place = replace(place, surroundings=around)
        inside += (command.first in _OPENS) - (command.first in _CLOSES)
        exported = command.exported(certain=not inside)
        place = replace(place, variables=(*place.variables, *exported))
        begins = end


def unknown_options(text: str, program: str) -> str:
    """
    Return the first variable in a command that may stand for options; empty for none.

    >>> unknown_options("gunicorn $OPTIONS a:b", "gunicorn")
    '$OPTIONS'
    >>> unknown_options('gunicorn --bind $ADDRESS "$APP"', "gunicorn")
    ''
    """
    server = servers.named(program)
    is_flag = (server and server.takes_no_value) or (lambda _: False)
    before = ""
    for value, raw, _ in words_in(text):
        is_value = before.startswith("-") and "=" not in before and not is_flag(before)
        if _SEVERAL.fullmatch(raw) and not is_value:
            return raw
        before = value
    return ""


def _without_patterns(text: str) -> str:
    """
    Return a text for a shell with blanks for the patterns of `case`: of the same length.

    >>> _without_patterns("case $1 in web|uwsgi) a ;; (b | c) d ;; esac")
    'case $1 in            a ;;         d ;; esac'
    """
    return _PATTERN.sub(lambda it: it[1] + " " * len(it[2]), text)


def _subshells(text: str) -> Iterator[tuple[int, int]]:
    """
    Yield where the brackets of each subshell stand, without those inside another.

    >>> [*_subshells("(cd a && b $(c)) && d=(e f) && g() { (h); }")]
    [(0, 15), (37, 39)]
    """
    opened: list[int | None] = []  # where each bracket opens, if a subshell does
    begins = True  # a command
    for token in _BRACKETS.finditer(text):
        part, opens = token[0], None
        if part == "(":
            opens = token.start() if begins else None
            opened.append(opens)
        elif part == ")" and opened:
            opens = opened.pop()
            if opens is not None and not any(it is not None for it in opened):
                yield opens, token.start()
            opens = None
        begins = part[0] in "\n;&|" or opens is not None or part in _KEYWORDS


def _blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with blanks in the place of spans."""
    for begins, end in spans:
        text = f"{text[:begins]}{' ' * (end + 1 - begins)}{text[end + 1 :]}"
    return text


def is_for_shell(name: str, text: str) -> bool:
    """Return whether a file is a script for a shell, by its name or its first line."""
    return re.search(r"\.(?:ba|da|a)?sh$", name) is not None or _SHEBANG.match(text) is not None


def without_comments(text: str) -> str:
    """
    Return a text for a shell with blanks for what is no command: of the same length.

    >>> without_comments("echo a # it's")
    'echo a       '
    """
    parts: list[str] = []
    waiting: list[str] = []  # words that end a heredoc
    at = 0
    while token := _TOKEN.match(text, at):
        part, at = token[0], token.end()
        if token["heredoc"]:
            waiting.append(token["word"])
        if token["comment"] or part in {"\\\n", "\\\r"}:
            part = " " * len(part)
        parts.append(part)
        if part == "\n" and waiting:
            ends = _end_of_heredocs(text, at, waiting)
            parts.append(" " * (ends - at))
            at, waiting = ends, []
    return "".join(parts)


def _end_of_heredocs(text: str, at: int, waiting: Sequence[str]) -> int:
    """Return where the lines end that heredocs have, the last word included."""
    for word in waiting:
        end = re.compile(rf"^\t*{word}[ \t\r]*$", re.MULTILINE).search(text, at)
        at = end.end() if end else at
    return at


def _values(variables: Sequence[ShellLine]) -> Iterator[tuple[str, str]]:
    """Yield the variables whose values are known."""
    for line in variables:
        name, _, raw = line.text.partition("=")
        if "$" not in with_literals(raw):
            yield name, "".join(shlex.split(raw))


class _Word(NamedTuple):
    value: str
    raw: str
    begins: int


class _Command(NamedTuple):
    """One command of a text."""

    line: ShellLine
    words: Sequence[_Word]
    first: str = ""
    """The first word as it is written, which may be a keyword."""

    at: int = 0
    """The first word behind variables, and what starts the command behind it."""

    kept: int | None = None
    """The first word that stays; None: that at *at*."""

    is_exec: bool = False
    is_in_background: bool = False
    script_at: int | None = None
    """The last word that is a script which may start the command behind it; None: there is none."""

    user: str = ""

    @classmethod
    def of(cls, line: ShellLine) -> _Command:
        """
        Return a command, taken apart.

        Raises:
            ValueError: A quote is not closed.
        """
        label = _LABEL.match(line.text)
        line = line.cut(label.end() if label else 0, len(line.text))
        words = [_Word(*word) for word in words_in(line.text)]
        begins = next((n for n, word in enumerate(words) if word.value not in _KEYWORDS), 0)
        first = words[0].value if words else ""
        return cls(line, words[begins:], first).behind_wrappers()

    @property
    def program(self) -> str:
        """The program that the command starts; empty for none."""
        return PurePath(self.words[self.at].value).name if self.at < len(self.words) else ""

    def may_start(self, around: Surroundings) -> bool:
        """Return whether the command starts a server, or a shell or a script that may."""
        is_known = servers.named(self.program) is not None or self.is_fastapi
        has_text = self.program in SHELLS or self.switches_user
        return has_text or is_known or bool(self.script) or around.in_list

    @property
    def switches_user(self) -> bool:
        """Whether the command gives another to the shell of another user."""
        names_program = {"-u", "--user", "--"} & {*self._values(self.at + 1)}
        return self.program in SWITCHERS and not names_program and self._text() is not None

    @property
    def script(self) -> str:
        """The script that the command runs, if it is one; empty for none."""
        if self.program in SHELLS:
            behind = (word for word in self._values(self.at + 1) if not word.startswith("-"))
            return next(behind, "")
        if self.script_at is not None:
            return self.words[self.script_at].value
        word = self.words[self.at].value if self.at < len(self.words) else ""
        return word if "/" in word else ""

    @property
    def is_fastapi(self) -> bool:
        """Whether the command is `fastapi run` or `fastapi dev`, which start uvicorn."""
        return fastapi_run.is_start([self.program, *self._values(self.at + 1)])

    def _values(self, begins: int) -> list[str]:
        return [word.value for word in self.words[begins:]]

    def exported(self, *, certain: bool) -> list[ShellLine]:
        """Return the variables that the command sets for the others; *certain*: their values."""
        is_export = [word.value for word in self.words[:1]] == ["export"]
        if not is_export and self.at < len(self.words):  # they are those of its own command
            return []
        words = self.words[is_export:]
        lines = [self._cut(word) for word in words if _VARIABLE.match(word.raw)]
        return lines if certain else [_unknown(line) for line in lines]

    def _cut(self, word: _Word) -> ShellLine:
        return self.line.cut(word.begins, word.begins + len(word.raw))

    def behind_wrappers(self) -> _Command:
        """Return the command with what starts it, and whom it runs as."""
        command = self
        while command.at < len(self.words):
            word = self.words[command.at]
            program = re.sub(r"^(python|pypy)[\d.]*$", "python", PurePath(word.value).name)
            if _VARIABLE.match(word.raw):
                command = command._replace(at=command.at + 1)
            elif command.switches_user:
                behind = [word.value for word in self.words[command.at + 1 :]]
                users = _operands(behind, {"-s", "--shell", "-g", "--group", "-c", "--command"})
                return command._replace(user=next(users, ""))
            elif wrapper := WRAPPERS.get(program):
                command = command.behind(program, wrapper)
            elif _SCRIPT.fullmatch(program):
                behind = [word.value for word in self.words[command.at + 1 :]]
                is_next = servers.named("".join(behind[:1])) or "".join(behind[:1]) in WRAPPERS
                dashes = 0 if is_next or "--" not in behind else behind.index("--") + 1
                command = command._replace(at=command.at + 1 + dashes, script_at=command.at)
            else:
                break
        return command

    def behind(self, program: str, wrapper: Wrapper) -> _Command:
        """Return the command behind a program that starts it."""
        at, takes, verb, words = self.at + 1, wrapper.takes.split(), wrapper.verb, wrapper.words
        user = self.user
        while at < len(self.words):
            value = self.words[at].value
            if value.startswith("-"):
                user = self.words[at + 1].value if _names_user(program, value, self, at) else user
                at += 1 + (value in takes)
            elif verb:
                if value != verb:
                    break
                verb, at = "", at + 1
            elif words:
                user = value if wrapper.user else user
                words, at = words - 1, at + 1
            else:
                break
        kept = self.at if wrapper.changes and self.kept is None else self.kept
        at = len(self.words) if verb else at
        is_exec = self.is_exec or program == "exec"
        return self._replace(at=at, kept=kept, is_exec=is_exec, user=user)

    def starts(
        self, place: _Place, before: str, *, alone: bool, depth: int
    ) -> Iterator[StartCommand]:
        """Yield the server that the command starts, or those that a shell in it starts."""
        place = replace(place, surroundings=self._around(place.surroundings))
        server = servers.named("uvicorn" if self.is_fastapi else self.program)
        text = self._text()
        is_script = not text and (self.script_at is not None or not server)
        script = self._script_text(place) if is_script else None
        takes = script is not None and _ARGUMENTS.search(script.text) is not None
        if server and (takes or not script):
            values = {word.value for word in self.words[self.at :]}
            if not values & _ENDS_AT_ONCE.get(server.program, _ENDS_AT_ONCE[""]):
                yield self._start(self._started(place, script), server, before, alone=alone)
        elif takes and self._has_server():
            return  # which is read without the script
        elif depth < DEEPEST and (inside := text or script):
            yield from _starts(self._inside(place, inside), inside, depth + 1)
        elif depth < DEEPEST and place.surroundings.in_list and (entry := self._entry()):
            around = replace(place.surroundings, in_list=False, is_one_entry=True)
            yield from _starts(replace(place, surroundings=around), entry, depth + 1)

    def _around(self, around: Surroundings) -> Surroundings:
        """Return what is around a process that the command starts."""
        if self.user:
            around = replace(around, user=self.user.partition(":")[0])
        if self.is_exec:
            around = replace(around, shell="")
        if any(PurePath(word.value).name in INITS for word in self.words[: self.at]):
            around = replace(around, is_first_process=False)
        return around

    def _started(self, place: _Place, script: ShellLine | None) -> _Place:
        """Return the same for the server; *script*: the one that it stands behind."""
        around, waits = place.surroundings, self._waits(place)
        if script and (waiting := _WAITS.search(script.text)):
            waits = script.place(waiting.start())
        elif self.script_at is not None:
            around = replace(around, is_first_process=None)
        around = replace(around, waits=waits, in_background=self.is_in_background)
        return replace(place, surroundings=around)

    def _inside(self, place: _Place, text: ShellLine) -> _Place:
        """Return the same for the commands in a text that the command runs."""
        around, caller = place.surroundings, place.caller
        if self.program in SHELLS - {"sh"}:
            around = replace(around, shell=self.program)
        if self.program in SWITCHERS:
            around = replace(around, is_first_process=None)
        if text.place(0).file != self.line.place(0).file:
            folder = around.folder or self.line.place(0).file.parent
            around, caller = replace(around, folder=folder), self._waits(place)
            place = replace(place, is_script=True)
        around = replace(around, in_shell=True, in_list=False)
        variables = (*place.variables, *self._variables())
        return replace(place, surroundings=around, variables=variables, caller=caller)

    def _has_server(self) -> bool:
        """Return whether a word is the name of a server."""
        return any(servers.named(PurePath(word).name) for word in self._values(0))

    def _waits(self, place: _Place) -> Spot | None:
        """Return the command whose shell waits for this one; None where that becomes it."""
        if place.caller or not place.is_script:
            return place.caller
        becomes = self.is_exec and not self.is_in_background
        return None if becomes else self.line.place(self.words[0].begins)

    def _script_text(self, place: _Place) -> ShellLine | None:
        """Return the text of the script that the command runs; None: it is not here."""
        around, file = place.surroundings, self.line.place(0).file
        name = self.script or (self.program if around.in_list else "")
        names = [name, *(f"{folder}/{name}" for folder in PROGRAMS if "/" not in name)]
        paths = [path for named in names for path in around.copied(named)]
        if not around.container:
            paths.append((around.folder or file.parent) / name)
        for path in paths if name else ():
            text = text_below(path, (file.parent, Path())) if path not in place.followed else None
            if text is not None and (self.program in SHELLS or is_for_shell(path.name, text)):
                place.followed.add(path)
                return SourceFile(path, text).part(0, len(text))
        return None

    def _text(self) -> ShellLine | None:
        """Return what a shell gets by -c."""
        behind = self.words[self.at + 1 :]
        flags = (n for n, it in enumerate(behind) if re.fullmatch(r"-\w*c|--command", it.value))
        at = next(flags, len(behind)) + 1
        if at >= len(behind):
            return None
        return self._unquoted(behind[at])

    def _entry(self) -> ShellLine | None:
        """Return the first word, if it has blanks."""
        word = self.words[0]
        return self._unquoted(word) if re.search(r"\s", word.value) else None

    def _unquoted(self, word: _Word) -> ShellLine:
        value = with_literals(word.raw).replace(LITERAL, "$")
        return aligned(value, word.raw, lambda at: self.line.place(word.begins + at))

    def _variables(self) -> list[ShellLine]:
        """Return the variables that stand before the command."""
        return [self._cut(word) for word in self.words[: self.at] if _VARIABLE.match(word.raw)]

    def _start(self, place: _Place, server: Server, before: str, *, alone: bool) -> StartCommand:
        kept = self.at if self.kept is None else self.kept
        known = [line for line in place.variables if self._is_read(server, line.text)]
        variables = self._variables()
        if self.is_fastapi:
            variables = [line for line in variables if self._is_read(server, line.text)]
        words = self._as_uvicorn(place) if self.is_fastapi else map(self._cut, self.words[kept:])
        line = joined((*known, *variables, *words))
        wrappers = [word.raw for word in self.words[:kept] if not _VARIABLE.match(word.raw)]
        return StartCommand(
            place.name,
            server.program,
            tuple(word.value for word in self.words[self.at :]),
            self.line.place(self.words[0].begins),
            line.text.replace("\n", " "),
            alone,
            " ".join(filter(None, (before, *wrappers))),
            place.surroundings,
            line.places,
        )

    def _is_read(self, server: Server, variable: str) -> bool:
        """Return whether the server reads a variable."""
        if self.is_fastapi:
            return variable.startswith(fastapi_run.VARIABLES)
        return server.takes_variable(variable) or variable.startswith("PORT=")

    def _as_uvicorn(self, place: _Place) -> Iterator[ShellLine]:
        """Yield the words of the command of uvicorn that `fastapi run` stands for."""
        around = place.surroundings
        port = around.environ.get("PORT", "" if around.in_shell is False else "${PORT:-8000}")
        folder = around.folder or self.line.place(0).file.parent
        words = [self.program, *self._values(self.at + 1)]
        raws = [word.raw for word in self.words[self.at :]]
        for text, at in fastapi_run.as_uvicorn(words, port, fastapi_run.exists_in(folder)):
            raw = (
                raws[at] if text == words[at] else quoted(text) if "${" not in text else f'"{text}"'
            )
            yield ShellLine(raw, ((0, self.line.place(self.words[self.at + at].begins)),))


def _operands(words: Sequence[str], takes: Collection[str]) -> Iterator[str]:
    """Yield the words that are neither options nor the values of options."""
    before = ""
    for word in words:
        if not word.startswith("-") and before not in takes:
            yield word
        before = word


def _names_user(program: str, option: str, command: _Command, at: int) -> bool:
    """Return whether the user stands behind an option."""
    of_user = {"sudo", "runuser", "setpriv", "chpst"}
    is_user = program in of_user and option in {"-u", "--user", "--reuid"}
    return is_user and at + 1 < len(command.words)


def _unknown(line: ShellLine) -> ShellLine:
    """Return a variable with a value that nobody knows."""
    name = line.text.partition("=")[0].rstrip("+")
    return replace(line, text=f"{name}=${name}")
