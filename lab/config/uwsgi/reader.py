"""
Reads a configuration as uWSGI does, and keeps where everything stands.

The order of things is uWSGI's: variables such as %d are replaced in the whole text, which is then
cut into lines; an option counts when its line is read, which is also when files are included and
conditions decided; $(X), @(X) and %(x) are replaced at the end; `inherit` comes last of all.

Nothing is run, written or connected to, so what exec:// or http:// would say is unknown here. What
is read and made is limited (`Budget`), whatever the files say.

Sources: uWSGI 2.0.31, core/ini.c, core/config.c, core/utils.c (magic_sub, uwsgi_apply_config_pass),
core/uwsgi.c (config_magic_table_fill, uwsgi_setup).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from lab.config.configuration import Config, Known
from lab.config.files import LINES
from lab.config.spot import Setting, Spot
from lab.config.templates import filled
from lab.config.uwsgi import formats
from lab.config.uwsgi.logic import OF_VARIABLE, Logic
from lab.config.uwsgi.table import Entry, OptionTable, atoi, uwsgi_options
from lab.config.uwsgi.variables import (
    Budget,
    TooMuchError,
    as_bytes,
    as_options,
    as_text,
    computed,
    logical_lines,
    of_file,
    of_machine,
    replaced,
)
from lab.errors import ProfileError

BLANKS = " \t\r"
"""What uWSGI takes away around a name and a value."""

ENDS = ("end", "endfor", "endif", "end-if", "end-for")

MOST = 50
"""Includes in an include. Where there are more, a file includes itself in the end."""

UNKNOWABLE = "btTiIjJ"
"""Letters of variables such as %t that say something else each time, or elsewhere."""

Form = Callable[[str, str], Iterator[formats.Pair]]

Sections = Mapping[str, tuple[int, Sequence[tuple[int, str, str]]]]
"""By name, the number of its first header, and of each option its number, its line and itself."""


def read(path: Path, known: Known, table: OptionTable | None = None) -> Config:
    """
    Return the configuration that uWSGI gets from a file: an ini, or what `forms.FORMS` reads.

    What cannot be known - a file that is missing, the output of a command - is left out, and
    `Config.guesses` says so.

    Raises:
        ProfileError: The file that is named is none of its form, or there is too much of it.
    """
    reading = Reader(known, table or uwsgi_options(), known.cwd or path.absolute().parent)
    reading.take_variables(Spot(path, 1, 0))
    try:
        reading.load(as_bytes(str(path.absolute())), as_bytes(known.section), shown=path)
        reading.finish()
    except formats.FormError as error:
        raise ProfileError(path, str(error), error.line) from None
    except TooMuchError as error:
        raise ProfileError(path, f"is more than the lab reads: {error}") from None
    return Config(
        server="uWSGI",
        file=path,
        settings=tuple(option_state.setting() for option_state in reading.exported),
        texts=reading.texts,
        known=known,
        table=reading.table,
        top=reading.top or Spot(path, 1, 1),
        guesses=reading.guesses,
        unread=tuple(reading.unread),
        unread_includes=tuple(reading.unread_includes),
        forms=frozenset(reading.forms),
        variables=frozenset(reading.variables),
        relative=reading.relative,
        absent=tuple(reading.absent),
        missing=tuple(reading.missing),
        circle=reading.circle,
    )


def check_section(config: Config) -> None:
    """
    Refuse a file in which uWSGI reads nothing.

    Raises:
        ProfileError: It has no section of the name that uWSGI reads.
    """
    file = config.file
    if section := next((name for path, name, _ in config.absent if path == file), None):
        if formats.is_foreign(config.texts[file], file, config.table.entries):
            raise ProfileError(file, "is not a uWSGI file: give the server's command in quotes")
        raise ProfileError(file, f"has no section [{section}] that uWSGI would read: add it")


@dataclass(slots=True)
class OptionState:
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
        at = self.written
        return Setting(as_text(self.name), as_text(self.value), at.spot, at.raw, at.column, at.loop)


class Reader:
    """A configuration that is being read, with what it includes."""

    def __init__(self, known: Known, table: OptionTable, folder: Path) -> None:
        self.known = known
        self.table = table
        self.folder = folder
        self.exported: list[OptionState] = []
        self.texts: dict[Path, str] = {}
        self.forms: set[Path] = set()
        self.top: Spot | None = None
        self.guesses = ""
        self.unread: list[str] = []
        self.unread_includes: list[tuple[str, Setting]] = []
        self.variables: set[str] = set()
        self.relative = False
        self.absent: list[tuple[Path, str, Setting | None]] = []
        self.missing: list[tuple[Path, Setting]] = []
        self.circle: Setting | None = None
        self._budget = Budget()
        self._named: dict[str, OptionState] = {}  # the first of each name
        self._letters: dict[Path, Sequence[str]] = {}  # letters of those in an ini's text
        self._sections: dict[tuple[object, ...], Sections] = {}  # by ini, and what these stand for
        self._magic = of_machine(folder, known.cpus)
        self._last = ""
        self._top = (Path(), Path())  # the path of the file that was named, and that name
        self._depth = 0
        self._logic = Logic(known, self._path, self._environ, self._first, self.guess)
        self._inside = False  # whether what is exported is what a condition lets through

    def load(
        self,
        file: str,
        section: str = "",
        form: Form | None = None,
        *,
        shown: Path | None = None,
        by: Setting | None = None,
    ) -> None:
        """
        Read a file, or a section of it.

        Args:
            file: Its name; empty for the ini that was read last.
            section: Of it; empty for [uwsgi].
            form: What reads it; None for an ini, or what its name says where it is *shown*.
            shown: What the places call the file that the user named; None for any other.
            by: The option that asks for it.
        """
        self._budget.spend(files=not shown)
        path = Path(os.path.normpath(self._path(file or self._last)))
        if shown:
            self._top = path, shown
            form = formats.FORMS.get(shown.suffix)
        if path == self._top[0]:
            path = self._top[1]
        text = self.known.required(path) if shown else self.known.read(path)
        if text is None:
            may = self.known.reaches(path)
            self.guess(f"{'lab cannot' if may else 'without --trusted lab does not'} read {path}")
            if by:
                self._not_read(path, by, may=may)
            return
        self._budget.spend(characters=len(text))
        if file:
            self._last = self._last if form else file
            self._magic |= of_file(as_bytes(str(self.folder)), file)
        self._magic["x"] = section
        if shown:
            self._magic |= {letter.upper(): self._magic[letter] for letter in "odspcenx"}
        self.texts[path] = text
        self.relative |= "%v" in text
        for letter in _unknowable(text):
            self.guess(f"lab does not know %{letter}")
        wanted = section or "uwsgi"
        if form is not None:
            self.forms.add(path)
        there = self._options(path, text, wanted, form) if form else self._lines(path, text, wanted)
        if not there:
            self.absent.append((path, as_text(wanted), by))

    def take_variables(self, spot: Spot) -> None:
        """Take the options that variables are, which stand in no file; they come first."""
        for _, option, value in as_options(self.known.environ):
            written = Setting(option, value, spot, "")
            self._export(OptionState(as_bytes(option), as_bytes(value), written))

    def finish(self) -> None:
        """Replace what refers to something else, and read what is inherited."""
        self._replace("$", self._environ)
        self._replace("@", self._content)
        self._replace("%", self._placeholder)
        for option_state in self.exported:  # which grows
            if option_state.name == "inherit":
                self._include(option_state)
                self._depth += 1  # one follows the other: deep enough, it is a circle

    def _lines(self, path: Path, text: str, wanted: str) -> bool:
        """Take the options of one section of an ini, and return whether it is there."""
        if path not in self._letters:
            self._letters[path] = sorted(set(re.findall(r"%(.)", text)))
        # They are others in what is included, and after it.
        key = path, *(self._magic.get(letter, "") for letter in self._letters[path])
        if key not in self._sections:
            self._sections[key] = _sections(text, self._magic)
        sections = self._sections[key]
        if wanted not in sections:
            return False
        header, lines = sections[wanted]
        if self.top is None:
            self.top = Spot(path, header, 1)
        for number, written, line in lines:
            name, _, value = line.partition("=")
            if unknown := filled(written):
                self.guess(f"lab does not know what {unknown} stands for")
            place = _place(written, path, number)
            self._take(name.rstrip(BLANKS), value.strip(BLANKS), place)
        return True

    def _options(self, path: Path, text: str, wanted: str, form: Form) -> bool:
        """Take the options of a file that is no ini, and return whether there are any."""
        lines = list(logical_lines(as_bytes(text), self._magic))
        try:
            pairs, doubt = formats.options(
                "\n".join(as_text(line) for _, line in lines), wanted, form
            )
        except formats.FormError as error:
            no_section = isinstance(error, formats.NoSectionError)
            if no_section and formats.is_foreign(text, path, self.table.entries):
                return False
            if path == self._top[1]:
                line = None if error.line is None else lines[min(error.line, len(lines)) - 1][0]
                raise formats.FormError(str(error), line) from None
            self.guess(f"{path} {error}")
            return True
        if doubt:
            self.guess(doubt)
        written = text.split("\n")
        for pair in pairs:
            number = lines[min(pair.line, len(lines)) - 1][0]  # XML ends lines by CR, too
            column = written[number - 1].find(pair.name) + 1 or 1
            place = Setting(pair.name, "", Spot(path, number, column), pair.value)
            self._take(as_bytes(pair.name), as_bytes(pair.value), place)
        return bool(pairs)

    def _take(self, name: str, value: str, written: Setting) -> None:
        """Export an option, or what the open condition or loop makes of it."""
        if name in ENDS and not self._inside:
            self._logic.test = ""
        if self._inside or not self._logic.test:
            self._export(OptionState(name, value, written))
            return
        self._inside = True
        written = replace(written, loop=self._logic.is_loop)
        for replacement in self._logic.cases():
            made = value if replacement is None else value.replace("%(_)", replacement)
            self._export(OptionState(name, made, written))
        self._inside = False

    def _export(self, option: OptionState) -> None:
        """Add an option."""
        self.exported.append(option)
        self._named.setdefault(option.name, option)
        if len(self.exported) > LINES:
            raise TooMuchError(f"it has more than {LINES:,} options")
        self._budget.spend(characters=len(option.value))
        entry = self.table.entries.get(as_text(option.name))
        if not option.placeholder and entry is not None and "IMMEDIATE" in entry.flags:
            option.done = True
            self._obey(option, entry)

    def _obey(self, option: OptionState, entry: Entry) -> None:
        """Do what an option asks for at once."""
        match entry.setter:
            case "uwsgi_opt_logic" if self._inside:
                self.guess("there is a condition in a condition, which uWSGI refuses")
            case "uwsgi_opt_logic":
                self._logic.open(entry, option.value)
            case "uwsgi_opt_set_placeholder":
                name, _, value = option.value.partition("=")
                only = entry.data == "1" or self._first("strict") is not None
                self._export(OptionState(name, value, option.written, only, only))
            case "uwsgi_opt_load_ini":
                self._load(option, option.value)
            case "uwsgi_opt_load":
                self._include(option)
            case setter if setter in formats.LOADS:
                self._load(option, option.value, formats.LOADS[setter])
            case "uwsgi_opt_add_custom_option":
                self.guess(f"lab does not read what {as_text(option.value)} stands for")
            case "uwsgi_opt_resolve":
                self.guess(f"lab does not look up {as_text(option.value)}")
            case setter if setter in OTHER_LOADS or option.name.startswith("inject-"):
                self._elsewhere(option, option.value)

    def _include(self, option: OptionState) -> None:
        """Read what an option names whose form its name says, as `include` does."""
        ending = PurePath(option.value).suffix
        if ending == ".ini" or ending in formats.FORMS:
            self._load(option, option.value, formats.FORMS.get(ending))
        else:
            self._elsewhere(option, option.value)

    def _load(self, option: OptionState, name: str, form: Form | None = None) -> None:
        file, _, section = name.rpartition(":") if ":" in name else (name, "", "")
        if "://" in name or name == "-" or (form and not file):
            self._elsewhere(option, name)
        elif self._depth == MOST:
            self.circle = self.circle or option.written
            self.guess("the file includes itself")
        elif self.circle is None:
            self._depth += 1
            self.load(file, section, form, by=option.written)
            self._depth -= 1

    def _elsewhere(self, option: OptionState, name: str) -> None:
        """Note what uWSGI reads and this does not."""
        self.guess(f"lab does not read {as_text(name)}")
        self.unread.append(as_text(name))
        self.unread_includes.append((as_text(name), option.written))

    def _not_read(self, path: Path, by: Setting, *, may: bool) -> None:
        """Note an include that was not read, and whether it is missing, if lab *may* look."""
        self.unread_includes.append((str(path), by))
        looked_for = (may or self.known.here) and not self.known.pasted
        if looked_for and not self.known.exists(path):
            self.missing.append((path, by))

    def _path(self, name: str) -> Path:
        """Return where a file lies that is named."""
        self.relative |= not name.startswith("/")
        return self.folder / as_text(name)

    def guess(self, why: str) -> None:
        """Note why uWSGI may get something else: the first reason, a variable after all others."""
        if not self.guesses or self.guesses.startswith(OF_VARIABLE):
            self.guesses = self.guesses if why.startswith(OF_VARIABLE) and self.guesses else why

    def _replace(self, symbol: str, meaning: Callable[[str], str | None]) -> None:
        for option_state in self.exported:
            if not option_state.done and symbol in option_state.value:
                value = replaced(option_state.value, symbol, meaning, self._budget)
                if value is None:
                    self.guess(
                        f"{as_text(option_state.name)} contains itself, and uWSGI does not end"
                    )
                option_state.value = value or ""

    def _environ(self, name: str) -> str | None:
        self.variables.add(as_text(name))
        value = self.known.environ.get(as_text(name))
        return None if value is None else as_bytes(value)

    def _first(self, name: str) -> str | None:
        option_state = self._named.get(name)
        return None if option_state is None else option_state.value

    def _content(self, name: str) -> str | None:
        if "://" in name or self.known.confined:
            self.guess(f"lab does not read @({as_text(name)})")
            return None
        self._budget.spend(files=1)
        text = self.known.read(self._path(name))
        if text is None:
            self.guess(f"lab cannot read {as_text(name)}")
        self._budget.spend(characters=len(text or ""))
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


OTHER_LOADS = frozenset({"uwsgi_opt_load_config", "uwsgi_opt_load_ldap", "uwsgi_opt_load_sqlite3"})
"""Functions that load what no reader here reads."""


def _unknowable(text: str) -> list[str]:
    """Return the letters of the variables in a text that only uWSGI knows."""
    if "%" not in text:  # the search is slow, and each included section is the whole file again
        return []
    return re.findall(rf"(?<!%)(?:%%)*%([{UNKNOWABLE}])", text)


def _sections(text: str, magic: Mapping[str, str]) -> Sections:
    """Return the sections of an ini."""
    written = text.split("\n")
    sections: dict[str, tuple[int, list[tuple[int, str, str]]]] = {}
    lines: list[tuple[int, str, str]] = []
    for number, line in logical_lines(as_bytes(text), magic):
        key = line.partition("\0")[0].strip(BLANKS)
        if key.startswith("["):
            _, lines = sections.setdefault(key[1:-1], (number, []))
        elif key and key[0] not in ";#":
            lines.append((number, written[number - 1], key))
    return sections


def _place(line: str, file: Path, number: int) -> Setting:
    """Return where an option of a line stands, and how its value is written."""
    name, equals, value = line.rstrip(BLANKS).partition("=")
    column = len(name) - len(name.lstrip(BLANKS)) + 1
    begins = len(name) + len(equals) + len(value) - len(value.lstrip(BLANKS)) + 1
    return Setting(name.strip(BLANKS), "", Spot(file, number, column), value.strip(BLANKS), begins)
