"""
Reads an ini as uWSGI does, and keeps where everything stands.

The order of things is uWSGI's: variables such as %d are replaced in the whole text, which is then
cut into lines; an option counts when its line is read, which is also when files are included and
conditions decided; $(X), @(X) and %(x) are replaced at the end; `inherit` comes last of all.

Nothing is run and no network is asked, so what exec:// or http:// would say is unknown here.

Sources: uWSGI 2.0.31, core/ini.c, core/config.c, core/utils.c (magic_sub, uwsgi_apply_config_pass),
core/uwsgi.c (config_magic_table_fill, uwsgi_setup).
"""

from __future__ import annotations

import glob
import os
import re
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lab.settings.lint.config import Config, Known
from lab.settings.lint.flaw import Setting, Spot
from lab.settings.uwsgi.table import OptionTable, atoi, uwsgi_options
from lab.settings.uwsgi.variables import (
    as_bytes,
    as_text,
    computed,
    logical_lines,
    of_file,
    of_machine,
    replaced,
)

BLANKS = " \t\r"
"""What uWSGI takes away around a name and a value."""

ENDS = ("end", "endfor", "endif", "end-if", "end-for")

LOGIC = "uwsgi_logic_opt_"
"""Begins the name of the function behind a condition or a loop, in the option table."""

MOST = 50
"""Includes in an include. Where there are more, a file includes itself in the end."""

UNKNOWABLE = "btTiIjJ"
"""Letters of variables such as %t that say something else each time, or elsewhere."""


def read(path: Path, known: Known, table: OptionTable | None = None) -> Config:
    """
    Return the configuration that uWSGI gets from an ini file.

    What cannot be known - a file that is missing, the output of a command - is left out, and
    `Config.guesses` says so.
    """
    reading = Ini(known, table or uwsgi_options(), known.cwd or path.absolute().parent)
    section = f":{known.section}" if known.section else ""
    reading.load(f"{path.absolute()}{section}", path)
    reading.finish()
    return Config(
        server="uWSGI",
        file=path,
        settings=tuple(each.setting() for each in reading.exported),
        texts=reading.texts,
        known=known,
        table=reading.table,
        top=reading.top or Spot(path, 1, 1),
        guesses=reading.guesses,
        unread=reading.unread,
        absent=tuple(reading.absent),
        circle=reading.circle,
    )


@dataclass(slots=True)
class Exported:
    """An option as it counts so far; texts are bytes in Latin-1, as uWSGI compares them."""

    name: str
    value: str
    written: Setting
    """Where it stands, and how."""

    placeholder: bool = False
    """Whether it is no option, but what `set-ph` makes."""

    done: bool = False
    """Whether nothing in it is replaced any more."""

    def setting(self) -> Setting:
        """Return it as text."""
        return replace(self.written, option=as_text(self.name), value=as_text(self.value))


class Ini:
    """An ini that is being read, with what it includes."""

    def __init__(self, known: Known, table: OptionTable, folder: Path) -> None:
        self.known = known
        self.table = table
        self.folder = folder
        self.exported: list[Exported] = []
        self.texts: dict[Path, str] = {}
        self.top: Spot | None = None
        self.guesses = ""
        self.unread: dict[str, str | None] = {}
        self.absent: list[tuple[Path, str, Setting | None]] = []
        self.circle: Setting | None = None
        self._magic = of_machine(folder)
        self._last = ""
        self._named = (Path(), Path())  # the path of the file that was named, and that name
        self._depth = 0
        self._test = ""  # name of the function of the condition or loop that is open
        self._argument = ""
        self._inside = False  # whether what is exported is what that one lets through

    def load(self, name: str, shown: Path | None = None, by: Setting | None = None) -> None:
        """
        Read a file, or a section of it.

        Args:
            name: As an option has it, a section behind a colon.
            shown: What the places call it; None for its path.
            by: The option that asks for it; None for the file that was named.
        """
        if "://" in name or name == "-":
            self._elsewhere(name)
            return
        file, _, section = name.rpartition(":") if ":" in name else (name, "", "")
        path = Path(os.path.normpath(self.folder / as_text(file or self._last)))
        if shown:
            self._named = path, shown
        if path == self._named[0]:
            path = self._named[1]
        text = self.known.read(path)
        if text is None:
            self.guess(f"it cannot read {path}")
            return
        if file:
            self._last = file
            self._magic |= of_file(as_bytes(str(self.folder)), file)
        self._magic["x"] = section
        if shown:
            self._magic |= {letter.upper(): self._magic[letter] for letter in "odspcenx"}
        self.texts[path] = text
        for letter in re.findall(rf"(?<!%)(?:%%)*%([{UNKNOWABLE}])", text):
            self.guess(f"it does not know %{letter}")
        wanted = section or "uwsgi"
        if not self._lines(path, as_bytes(text), wanted):
            self.absent.append((path, as_text(wanted), by))

    def finish(self) -> None:
        """Replace what refers to something else, and read what is inherited."""
        self._replace("$", self._environ)
        self._replace("@", self._content)
        self._replace("%", self._placeholder)
        for each in self.exported:  # which grows
            if each.name == "inherit":
                self._include(each, ".ini")
                self._depth += 1  # one follows the other: deep enough, it is a circle

    def _lines(self, path: Path, text: str, wanted: str) -> bool:
        """Take the options of one section, and return whether it is there."""
        written = self.texts[path].split("\n")
        section, there = "", False
        # All of it first: what is included has variables of its own.
        for number, line in list(logical_lines(text, self._magic)):
            key = line.partition("\0")[0].strip(BLANKS)
            if key.startswith("["):
                section = key[1:-1]
                there |= section == wanted
                if section == wanted and self.top is None:
                    self.top = Spot(path, number, 1)
            elif key and key[0] not in ";#" and section == wanted:
                name, _, value = key.partition("=")
                place = _place(written[number - 1], path, number)
                self._take(name.rstrip(BLANKS), value.strip(BLANKS), place)
        return there

    def _take(self, name: str, value: str, written: Setting) -> None:
        """Export an option, or what the open condition or loop makes of it."""
        if name in ENDS and not self._inside:
            self._test = ""
        if self._inside or not self._test:
            self._export(Exported(name, value, written))
            return
        self._inside = True
        written = replace(written, loop=self._test.startswith("for"))
        for replacement in list(self._cases()):
            made = value if replacement is None else value.replace("%(_)", replacement)
            self._export(Exported(name, made, written))
        self._inside = False

    def _export(self, option: Exported) -> None:
        """Add an option, and do at once what it asks for at once."""
        self.exported.append(option)
        entry = self.table.entries.get(as_text(option.name))
        if option.placeholder or entry is None or "IMMEDIATE" not in entry.flags:
            return
        option.done = True
        match entry.setter:
            case "uwsgi_opt_logic" if self._inside:
                self.guess("there is a condition in a condition, which uWSGI refuses")
            case "uwsgi_opt_logic":
                self._test, self._argument = entry.data.removeprefix(LOGIC), option.value
            case "uwsgi_opt_set_placeholder":
                name, _, value = option.value.partition("=")
                only = entry.data == "1" or self._first("strict") is not None
                self._export(Exported(name, value, option.written, only, only))
            case "uwsgi_opt_load_ini":
                self._include(option)
            case "uwsgi_opt_load":
                self._include(option, ".ini")
            case "uwsgi_opt_add_custom_option":
                self.guess(f"it does not read what {as_text(option.value)} stands for")
            case "uwsgi_opt_resolve":
                self.guess(f"it does not look up {as_text(option.value)}")
            case setter if setter in OTHER_LOADS or option.name.startswith("inject-"):
                self._elsewhere(option.value)

    def _include(self, option: Exported, ending: str = "") -> None:
        if not option.value.endswith(ending):
            self._elsewhere(option.value)
        elif self._depth == MOST:
            self.circle = self.circle or option.written
            self.guess("it includes itself")
        elif self.circle is None:
            self._depth += 1
            self.load(option.value, by=option.written)
            self._depth -= 1

    def _elsewhere(self, name: str) -> None:
        """Note what uWSGI reads and this does not, with its text where it is a file."""
        shown = as_text(name)
        self.guess(f"it does not read {shown}")
        known = "" if "://" in shown else shown.partition(":")[0]
        self.unread[shown] = self.known.read(self.folder / known) if known else None

    def guess(self, why: str) -> None:
        """Note the first reason why uWSGI may get something else."""
        self.guesses = self.guesses or why

    # -- conditions and loops ----------------------------------------------------------------------

    def _cases(self) -> Iterator[str | None]:
        """Yield what %(_) means, for each time that an option comes through."""
        test, said = self._test, self._argument
        if test == "for":
            yield from (token for token in said.split(" ") if token)
        elif test == "for_times":
            yield from map(str, range(1, atoi(said) + 1))
        elif test == "for_glob":
            found = sorted(glob.glob(as_text(said), root_dir=self.folder))  # noqa: PTH207 - as C has it
            marked = (each + "/" * (self.folder / each).is_dir() for each in found)
            yield from map(as_bytes, marked) if found else [said]
        elif test == "for_readline":
            text = self.known.read(self.folder / as_text(said)) or ""
            yield from (as_bytes(line.rstrip("\r")) for line in text.splitlines())
        else:
            yield from self._condition(test.removeprefix("if_"), said)

    def _condition(self, test: str, said: str) -> Iterator[str | None]:
        """Yield what %(_) means where a condition holds; nothing where it does not."""
        wanted = not test.startswith("not_")
        kind = test.removeprefix("not_")
        meaning: str | None = said
        path = self.folder / as_text(said)
        match kind:
            case "env" | "opt":
                name, equals, value = said.partition("=")
                meaning = self._environ(name) if kind == "env" else self._first(name)
                holds = meaning is not None and (not equals or meaning == value)
            case "exists":
                holds = bool(said) and os.access(path, os.R_OK)
            case "file":
                holds = path.is_file()
            case "dir":
                holds = bool(said) and path.is_dir()
            case "hostname":
                holds = said == socket.gethostname()
            case "plugin" if self.known.plugins is not None:
                holds = as_text(said) in self.known.plugins
            case "reload":
                meaning, holds = None, False
            case _:
                self.guess(f"it does not know whether there is {as_text(said)}")
                holds = False
        if holds is wanted:
            yield meaning

    # -- what refers to something else -------------------------------------------------------------

    def _replace(self, symbol: str, meaning: Callable[[str], str | None]) -> None:
        for each in self.exported:
            if not each.done:
                value = replaced(each.value, symbol, meaning)
                if value is None:
                    self.guess(f"{as_text(each.name)} contains itself, and uWSGI does not end")
                each.value = value or ""

    def _environ(self, name: str) -> str | None:
        value = self.known.environ.get(as_text(name))
        return None if value is None else as_bytes(value)

    def _first(self, name: str) -> str | None:
        return next((each.value for each in self.exported if each.name == name), None)

    def _content(self, name: str) -> str | None:
        if "://" in name:
            self.guess(f"it does not read @({as_text(name)})")
            return None
        text = self.known.read(self.folder / as_text(name))
        if text is None:
            self.guess(f"it cannot read {as_text(name)}")
        return None if text is None else as_bytes(re.sub(r"[\n\r]\Z", "", text))

    def _placeholder(self, key: str) -> str | None:
        """Return the value of an option, or of several and numbers, joined or computed."""
        if " " not in key:
            return self._first(key)
        made: str | None = None
        operator = ""
        for word in key.split(" "):
            if word in ("+", "-", "*", "/"):
                operator = word
            elif word in ("++", "--"):
                made = None if made is None else str(atoi(made) + (1 if word == "++" else -1))
                operator = ""
            elif word:
                value = word if re.fullmatch("[0-9]*", word) else self._first(word) or ""
                made = computed(made or "", operator, value)
                operator = ""
        return made


OTHER_LOADS = frozenset(
    {"uwsgi_opt_load_config", "uwsgi_opt_load_json", "uwsgi_opt_load_ldap"}
    | {"uwsgi_opt_load_sqlite3", "uwsgi_opt_load_xml", "uwsgi_opt_load_yml"}
)
"""Functions that read a file that is no ini."""


def _place(line: str, file: Path, number: int) -> Setting:
    """Return where an option of a line stands, and how its value is written."""
    name, equals, value = line.rstrip(BLANKS).partition("=")
    column = len(name) - len(name.lstrip(BLANKS)) + 1
    begins = len(name) + len(equals) + len(value) - len(value.lstrip(BLANKS)) + 1
    return Setting(name.strip(BLANKS), "", Spot(file, number, column), value.strip(BLANKS), begins)
