"""How uWSGI goes through a file: lines, sections, conditions, includes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lab.config import sections
from lab.config.uwsgi.formats import is_foreign
from lab.lint.rules.alike import SILENT, instead
from lab.lint.rules.rule import WHY, Case, Flaw, Severity, Spot, rule

LOADS = frozenset({"uwsgi_opt_load", "uwsgi_opt_load_ini"})
"""Functions of options that read another file."""


@rule(
    "UW006",
    Severity.ERROR,
    "a line without =",
    why="uWSGI takes the whole line for the name of an option",
    source="core/ini.c:48 `key[i] == '='`",
    bad="processes: 4",
    good="processes = 4",
    near_miss="processes = 4\nmaster",
)
def no_equals(config: Case) -> Iterator[Flaw]:
    """A switch alone on its line is on; that is none."""
    for setting in config.settings:
        words = re.fullmatch(r"([\w-]+)\s*[:\s]\s*(.*)", setting.option)
        if setting.raw or words is None or setting.option in config.table.entries:
            continue
        known = words[1] in config.table.entries
        advice = f"write {words[1]} = {words[2]}" if known else "write OPTION = VALUE"
        new = f"{words[1]} = {words[2]}" if known else None
        text = (
            'without "=" the whole line is the name of an option, which uWSGI does not know; '
            f"{advice}"
        )
        yield config.flaw(
            setting, text, instead(config, setting.spot, setting.option, new, safe=False)
        )


@rule(
    "UW007",
    Severity.ERROR,
    "a misspelt [uwsgi], or options above it",
    why="uWSGI does not read options outside of [uwsgi], and starts as if they did not exist",
    source="core/ini.c:138 `section[strlen(section) - 1] = 0`",
    bad="[uwsgi] ; main\nprocesses = 4",
    good="[uwsgi]\nprocesses = 4",
    near_miss="[uwsgi]\nprocesses = 4\n[uwsgi:staging]\nprocesses = 2",
)
def section_misnamed(config: Case) -> Iterator[Flaw]:
    """Of a section the last character is cut off, and the rest is its name."""
    names = config.section_names
    passed: set[object] = set()
    for line in config.ini_lines:
        if _is_ours(line) and line.section not in names:
            yield _misnamed(config, line)
        elif not (line.section or line.is_header or line.is_comment or line.spot.file in passed):
            passed.add(line.spot.file)
            if not config.texts[line.spot.file].startswith("\ufeff"):
                text = (
                    f"{line.text}: the line is in no section, so uWSGI ignores it; write [uwsgi] "
                    "above it"
                )
                fix = instead(config, line.spot, line.text, f"[uwsgi]\n{line.text}", safe=False)
                yield config.flaw(line.spot, text, fix)


@rule(
    "UW008",
    Severity.ERROR,
    "a byte order mark, or UTF-16",
    why="with this mark in front of it [uwsgi] is not a section, so uWSGI ignores everything in "
    "it, and it reads nothing at all of UTF-16; save the file as UTF-8 without a mark",
    source="core/ini.c:136 `key[0] == '['`",
    bad="\ufeff[uwsgi]\nprocesses = 4",
    good="[uwsgi]\nprocesses = 4",
    near_miss="[uwsgi]\n; \ufeff\nprocesses = 4",
)
def byte_order_mark(config: Case) -> Iterator[Flaw]:
    """Editors write it and do not show it."""
    for file, text in config.texts.items():
        if text.startswith("\ufeff"):
            spot = Spot(file, 1, 1)
            fix = instead(config, spot, "\ufeff", "", safe=False)
            yield config.flaw(spot, f"a byte order mark: {WHY}", fix)


@rule(
    "UW010",
    Severity.ERROR,
    "a condition without endif",
    why="the condition applies to everything below it, including files that are read later",
    source="core/config.c:441 `endif`",
    bad="if-env = DEBUG\nlog-5xx = true\nmaster = true",
    good="if-env = DEBUG\nlog-5xx = true\nendif =\nmaster = true",
    near_miss="if-env = DEBUG\nlog-5xx = true\nend-if =\nmaster = true",
)
def no_end(config: Case) -> Iterator[Flaw]:
    """The end of the file does not end it."""
    lines = config.option_lines
    ends = {line.spot.file: at for at, line in enumerate(lines) if line.option in sections.ENDS}
    for at, option_line in enumerate(lines):
        ended = ends.get(option_line.spot.file, -1) > at
        if ended or option_line.inside or not sections.opens(config.table, option_line.option):
            continue
        below = [line for line in lines[at + 1 : at + 2] if line.spot.file == option_line.spot.file]
        fix = instead(config, below[0].spot, "", "endif =", safe=False) if below else None
        text = (
            f"{option_line.text}: no endif follows, so the condition applies to everything below "
            "it; add endif ="
        )
        yield config.flaw(option_line.spot, text, fix)


@rule(
    "UW011",
    Severity.ERROR,
    "a condition inside a condition",
    why="uWSGI does not start; end the first condition before the second",
    source="core/uwsgi.c:4704 `recursive logic in options is not supported`",
    bad="if-env = A\nif-env = B\nmaster = true\nendif =\nendif =",
    good="if-env = A\nmaster = true\nendif =",
    near_miss="if-env = A\nmaster = true\nendif =\nif-env = B\nmaster = true\nendif =",
)
def condition_inside(config: Case) -> Iterator[Flaw]:
    """A loop is one, too."""
    for line in config.option_lines:
        if line.inside and sections.opens(config.table, line.option):
            text = (
                f"{line.text}: this condition is inside that of line {line.inside.line}, and {WHY}"
            )
            yield config.flaw(line.spot, text)


@rule(
    "UW015",
    Severity.ERROR,
    "a line that ends with \\",
    why="uWSGI does not continue lines, so the \\ is part of the value; write one line",
    source="core/ini.c:64 `ini[i] == '\\n'`",
    bad="module = app:app \\",
    good="module = app:app",
    near_miss="module = app:app\nroute = ^/page/\\d+\\.html$ last:",
)
def continued(config: Case) -> Iterator[Flaw]:
    """The next line is an option of its own."""
    for setting in config.settings:
        if setting.raw.endswith("\\"):
            yield config.flaw(setting)


@rule(
    "UW016",
    Severity.ERROR,
    "a relative include",
    why="uWSGI looks for the file in the folder that it is started in, not beside this file; write "
    "%d before the name",
    source="core/uwsgi.c:1073 `uwsgi_expand_path`; core/utils.c:3639 `realpath`",
    bad="ini = base.ini",
    good="ini = %dbase.ini",
    near_miss="[uwsgi]\nini = :shared\n[shared]\nprocesses = 4",
)
def relative_include(config: Case) -> Iterator[Flaw]:
    """A remark, because that may be the folder of the file."""
    for setting in config.settings:
        entry = config.table.entries.get(setting.option)
        loads = entry is not None and entry.setter in LOADS
        if loads and re.match(r"[\w.-]", setting.raw) and "://" not in setting.raw:
            fix = config.change(setting, f"%d{setting.raw}", from_raw=True)
            yield config.flaw(setting, fix=fix, harmless=True)


@rule(
    "UW017",
    Severity.ERROR,
    "a second [uwsgi]",
    why="uWSGI reads both sections, and of an option in both the last value counts",
    source="core/ini.c:147 `section_asked`; docs/reference/production-settings.md",
    bad="[uwsgi]\nprocesses = 4\n[uwsgi]\nprocesses = 2",
    good="[uwsgi]\nprocesses = 4",
    near_miss="[uwsgi]\nprocesses = 4\n[uwsgi-test]\nprocesses = 2",
)
def second_section(config: Case) -> Iterator[Flaw]:
    """Its values replace those of the first."""
    first: dict[tuple[object, str], Spot] = {}
    names = config.section_names
    for line in config.ini_lines:
        if line.is_header and line.section in names:
            spot = first.setdefault((line.spot.file, line.section), line.spot)
            if spot != line.spot:
                text = (
                    f"{line.text} already begins in line {spot.line}, and these values replace the "
                    "earlier ones; merge the two sections"
                )
                yield config.flaw(line.spot, text)


@rule(
    "UW018",
    Severity.ERROR,
    "no section that uWSGI reads",
    why="uWSGI reads one section, [uwsgi] unless another is named. Without that section it ignores "
    "the file, logs so, and goes on",
    source="core/ini.c:164 `Can't find section`",
    bad="[app]\nprocesses = 4",
    good="[uwsgi]\nprocesses = 4",
    near_miss="[app]\nprocesses = 2\n[uwsgi]\nprocesses = 4",
)
def no_section(config: Case) -> Iterator[Flaw]:
    """
    Where it is only misspelt, or not the first thing in the file, another rule says so.

    A file of another program, as Compose or Kubernetes, may be called as uWSGI's are: a remark.
    """
    for file, section, by in config.absent:
        lines = [line for line in config.ini_lines if line.spot.file == file]
        names = [line.section for line in lines if line.is_header]
        loose = any(not (line.section or line.is_header or line.is_comment) for line in lines)
        misspelt = section == "uwsgi" and any(_is_ours(line) for line in lines)
        if loose or misspelt or config.texts[file].startswith("\ufeff"):
            continue
        advice = f"write [{section}] above the options"
        if names:
            advice += f", or name a section that exists: {file.name}:{names[0]}"
        where = "this file" if by is None else file
        what = f"{where} has no section [{section}]"
        if file in config.forms:
            what, advice = f"{where} has no options", f'put them below "{section}"'
        text = f"{what}, so uWSGI reads nothing of it; {advice}"
        foreign = is_foreign(config.texts[file], file, config.table.entries)
        if foreign:
            what = f"{where} looks like a file of another program, so nothing in it is checked"
            text = f"{what}; give the server's command in quotes"
        flaw = config.flaw(by or Spot(file, 1, 1), text, harmless=foreign)
        yield replace(flaw, always=foreign and by is None)


@rule(
    "UW019",
    Severity.ERROR,
    "a file that includes itself",
    why="uWSGI includes the file again each time it reads this line, until it crashes; remove this "
    "line, or the one by which that file includes this one",
    source="core/uwsgi.c:4722 `uwsgi_ini_config`",
    bad="ini = %duwsgi.ini",
    good="ini = %dbase.ini",
    near_miss="[uwsgi]\nini = %duwsgi.ini:shared\n[shared]\nprocesses = 4",
)
def circle(config: Case) -> Iterator[Flaw]:
    """Also by way of others."""
    if config.circle is not None:
        yield config.flaw(config.circle)


@rule(
    "UW020",
    Severity.ERROR,
    "an include that does not exist",
    why="uWSGI exits at once if a file that it includes does not exist; create the file, or put "
    "if-exists around the line",
    source="core/utils.c:3640 `uwsgi_error_realpath(src)`",
    bad="ini = /etc/uwsgi/shop.ini",
    good="if-exists = /etc/uwsgi/shop.ini\nini = %(_)\nendif =",
    near_miss="[uwsgi]\nini = :shop\n[shop]\nprocesses = 4",
)
def include_missing(config: Case) -> Iterator[Flaw]:
    """In a container a file that is named by its whole path may be there: a remark."""
    here = config.known.here and not config.known.container
    for path, by in config.missing:
        if re.search(r"[$%@]\(", by.raw):
            continue  # another rule says that uWSGI does not replace the name
        text = f"{path} does not exist, so uWSGI exits at once"
        if not here:
            text = (
                f"{path} does not exist on this machine, and uWSGI exits at once where it is "
                "missing"
            )
        advice = "create the file, or put if-exists around the line"
        may_exist = config.known.container and by.raw.startswith("/")
        flaw = config.flaw(by, f"{text}, and {SILENT}; {advice}", harmless=may_exist)
        yield replace(flaw, always=True)


def _misnamed(config: Case, line: sections.Line) -> Flaw:
    """Return what is wrong with a line that is meant to be [uwsgi]; a comment in it stays."""
    text = f'{line.text} is the section "{line.section}", which uWSGI does not read; write [uwsgi]'
    comment = re.fullmatch(r"\[.*\]\s*([;#].*)", line.text)
    new = f"{comment[1]}\n[uwsgi]" if comment else "[uwsgi]"
    if "\r" in line.text:
        text = (
            "the lines end with CR alone, so uWSGI takes them for a single line; end them with LF"
        )
        new = line.text.replace("\r", "\n")
    return config.flaw(line.spot, text, instead(config, line.spot, line.text, new, safe=False))


def _is_ours(line: sections.Line) -> bool:
    """Return whether a line is meant to begin [uwsgi]."""
    return line.is_header and line.text[1:].partition("]")[0].strip().lower() == "uwsgi"
