"""
A configuration of Supervisor: the `command` of its programs, by their names.

No shell takes a command apart. %(ENV_NAME)s is a variable of Supervisor's environment.

Source: https://supervisord.org/configuration.html, sections [program:x] and [fcgi-program:x]
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from configparser import ParsingError, RawConfigParser
from pathlib import Path

from lab.config.line import SourceFile, variables
from lab.config.shell import starts_in
from lab.config.sources import with_own_names
from lab.config.spot import Spot
from lab.config.start import StartCommand, Surroundings, seconds_of
from lab.config.words import LITERAL, words_in
from lab.errors import ProfileError

CALLED = r".*\.(?:conf|ini)"

HOLDS = r"^\[(?:fcgi-)?program:"

_PROGRAM = re.compile(r"(?:fcgi-)?program:\s*(.*?)\s*")

_RESTARTS = {
    **dict.fromkeys(("true", "yes", "on", "1"), "always"),
    **dict.fromkeys(("false", "no", "off", "0"), "no"),
    "unexpected": "on-failure",
}
"""`autorestart` -> when a program that has ended is started again, as systemd calls it."""

_NAMED = re.compile(
    r"^(?:\[(?P<section>.*?)\]|(?P<key>command|environment)[ \t]*[=:][ \t]*"
    r"(?P<value>[^\n]*(?:\n[ \t]+[^\n]*)*))",
    re.MULTILINE | re.IGNORECASE,
)
"""A section, or a value in one that is of use here, with its indented lines."""

_EXPRESSION = re.compile(r"%%|%\((\w+)\)[-#0 +]*\d*[sd]")

_ENTRY = re.compile(r"""(?<!\w)(\w+)\s*=\s*("[^"]*"|'[^']*'|[^,\s]*)""")
"""A variable in `environment`."""

_ALL = "supervisord"
"""The section whose environment all programs have."""

_Places = Mapping[str, tuple[int, int]]
"""Key -> where its value begins and ends."""

_Environ = dict[str, tuple[str | None, Spot]]
"""Variable -> its value, and where it is set."""


def starts(path: Path, text: str) -> tuple[StartCommand, ...]:
    """Return the programs that are a server."""
    return with_own_names(_starts(SourceFile(path, text)))


def _starts(file: SourceFile) -> Iterator[StartCommand]:
    # As Supervisor has it.
    parser = RawConfigParser(inline_comment_prefixes=(";", "#"), strict=False)
    try:
        parser.read_string(file.text)
    except ParsingError as error:
        line = getattr(error, "lineno", 0) or error.errors[0][0]
        problem = "is not a configuration of Supervisor: this line has no =, and no section"
        raise ProfileError(file.path, problem, line) from None
    places = _places(file.text)
    common: _Environ = {}
    if parser.has_section(_ALL):
        common = _environ(parser[_ALL], places[_ALL], {"here": "."}, file)
    for section in parser.sections():
        if program := _PROGRAM.fullmatch(section):
            yield from _program(program[1], parser[section], places[section], common, file)


def _places(text: str) -> dict[str, dict[str, tuple[int, int]]]:
    """Return where values begin and end: section -> key -> two offsets."""
    places = defaultdict[str, dict[str, tuple[int, int]]](dict)
    section = ""
    for match in _NAMED.finditer(text):
        if match["key"]:
            places[section][match["key"].lower()] = match.span("value")
        else:
            section = match["section"]
    return places


def _program(
    name: str,
    values: Mapping[str, str],
    places: _Places,
    common: _Environ,
    file: SourceFile,
) -> Iterator[StartCommand]:
    first = values.get("numprocs_start", "0")
    known = {"program_name": name, "process_num": first, "here": "."}
    folder = _live(values.get("directory", ""), known)
    around = Surroundings(
        in_shell=False,
        is_first_process=False,
        stop_signal=f"SIG{values.get('stopsignal', 'TERM').upper().removeprefix('SIG')}",
        stop_time=seconds_of(values.get("stopwaitsecs", "10")),
        supervisor="supervisord",
        escapes={"%": "%%"},
        restarts=_RESTARTS.get(values.get("autorestart", "unexpected").lower(), ""),
        folder=Path(folder) if folder.startswith("/") else None,
        user=values.get("user", ""),
    )
    environ = common | _environ(values, places, known, file)
    try:
        words = [_live(word, known) for word, _, _ in words_in(values.get("command", ""))]
    except ValueError:  # a quote is not closed
        return
    if words:
        line = file.command(words, ("", *places.get("command", (0, 0))))
        yield from starts_in(name, line, around, variables(environ))


def _environ(
    values: Mapping[str, str], places: _Places, known: Mapping[str, str], file: SourceFile
) -> _Environ:
    """Return the variables that a section sets."""
    spot = file.spot(places.get("environment", (0, 0))[0])
    return {
        entry[1]: (_live(entry[2].strip("\"'"), known), spot)
        for entry in _ENTRY.finditer(values.get("environment", ""))
    }


def _live(value: str, known: Mapping[str, str]) -> str:
    """Return a value with Supervisor's expressions replaced; $NAME is what is not in the file."""

    def replaced(match: re.Match[str]) -> str:
        name = match[1]
        return "%" if name is None else known.get(name, f"${name.removeprefix('ENV_')}")

    return _EXPRESSION.sub(replaced, value.replace("$", LITERAL))
