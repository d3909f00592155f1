"""How uWSGI reads a file: what is written there is not what it gets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.settings.lint import sections
from lab.settings.rules.rule import Config, Edit, Fix, Flaw, Setting, Severity, Spot, rule
from lab.settings.uwsgi import OFF
from lab.settings.uwsgi.table import atoi

TEXTS = re.compile(
    r"add-header|alarm|attach-|cron|env$|eval|exec-|(final-|error-|response-)?route|hook-|legion-|"
    r"log-?format|log-format|print|smart-|unique-cron"
)
"""Options whose values are commands, formats and texts, in which # ; and quotes mean themselves."""

NO = frozenset({"-", "disable", "disabled", "f", "n", "never", "nil", "none", "null"})
"""Words by which somebody means no, and which uWSGI takes for yes."""

DIGITS = {word: str(n) for n, word in enumerate("zero one two three four five six".split())}
SINGLE = frozenset({"uwsgi_opt_set_str", "uwsgi_opt_set_dyn", "uwsgi_opt_set_logger"})
FORMATS = frozenset({"log-date", "log-strftime", "logdate"})
"""Options whose values are formats of strftime(3)."""


@rule(
    "UW001",
    Severity.ERROR,
    "an unknown option",
    why="without strict it is dropped in silence",
    seen="core/config.c:362; docker-mailman#428",
    bad="procesess = 4",
    good="processes = 4",
)
def unknown_option(config: Config) -> Iterator[Flaw]:
    """One that is only there to be named in others, as %(base), is none, but for strict."""
    strict = config.on("strict")
    own = {each.value.partition("=")[0] for each in config.all("declare-option")}
    own |= set() if strict else {name for each in config.settings for name in _named(each)}
    for each in config.settings:
        name = each.option
        if name in config.table.entries or name in own or re.search(r"[\s:]", name):
            continue
        near = config.table.nearest(name.lower().replace("_", "-"))
        effect = "does not start" if strict else "drops the line without a word"
        text = f"uWSGI has no such option and {effect}; {f'write {near}' if near else 'leave it out'}"
        yield config.flaw(each, text, _edit(config, each.spot, name, near, safe=True))


@rule(
    "UW002",
    Severity.ERROR,
    "a comment after a value",
    why="uWSGI has comments on lines of their own only; behind a value it is part of that",
    seen="core/ini.c:141; uwsgi#2573",
    bad="socket = :8001 # app",
    good="# app\nsocket = :8001",
)
def comment_behind(config: Config) -> Iterator[Flaw]:
    """Behind a number, or a word for yes, it does no harm."""
    for each in config.settings:
        comment = re.search(r"\s+([;#].*)", each.raw)
        if comment is None or TEXTS.match(each.option):
            continue
        value = each.raw[: comment.start()]
        number = config.table.is_number(each.option) and value.isdecimal()
        text, harmless = f'all of "{each.raw}" is the value', number
        if config.table.is_switch(each.option):
            harmless = value.lower() not in OFF
            text = "this is none of the words for no, so it is on"
        text = "it is read as meant" if harmless else text
        fix = None
        if each.spot.file in config.texts:
            old = config.line(each.spot)[each.spot.column - 1 :]
            new = f"{comment[1]}\n{each.option} = {value}"
            fix = Fix((Edit(each.spot, old, new),), safe=True, says="the comment above")
        yield config.flaw(
            each.at(comment.start(1)),
            f"{each.written}: the comment is part of the value, and {text}; put it on a line of "
            "its own",
            fix,
            harmless=harmless,
        )


@rule(
    "UW003",
    Severity.ERROR,
    "no number where one is read",
    why='uWSGI takes the digits at the beginning, and 0 where there are none: "30s" is 30, "4k" 4',
    seen="core/uwsgi.c:4028",
    bad="post-buffering = true",
    good="post-buffering = 8192",
)
def no_number(config: Config) -> Iterator[Flaw]:
    """What is read as it was meant, as "off" for 0, is none."""
    for each in config.settings:
        value = re.split(r"\s+[;#]", each.value)[0]
        unknown = re.search(r"[%$@]\(|^[\"']", value)  # another rule's
        if not config.table.is_number(each.option) or each.option == "http-keepalive" or unknown:
            continue
        if re.fullmatch(r"[+-]?\d+", value) or value.lower() in OFF | NO:
            continue
        meant = _meant(each.option, value)
        text = f"a number is read there, and of this that is {atoi(value)}"
        advice = f"; write {each.option} = {meant}" if meant else "; write a number"
        yield config.flaw(each, text + advice, config.change(each, meant) if meant else None)


@rule(
    "UW004",
    Severity.ERROR,
    "a word for no that is yes",
    why="only false, off, no and 0 are no; any other text is yes",
    seen="core/uwsgi.c:3943",
    bad="master = none",
    good="master = false",
)
def yes_by_mistake(config: Config) -> Iterator[Flaw]:
    """Switched on."""
    for each in config.settings:
        if config.table.is_switch(each.option) and each.value.lower() in NO:
            text = "only false, off, no and 0 are no, so this is yes; write false"
            yield config.flaw(each, text, config.change(each, "false"))


@rule(
    "UW005",
    Severity.ERROR,
    "quotes around a value",
    why="they are part of the value",
    seen="core/ini.c:141; uwsgi#1089; django#6970",
    bad='module = "app:app"',
    good="module = app:app",
)
def quotes(config: Config) -> Iterator[Flaw]:
    """Also around the value of an environment variable."""
    for each in config.settings:
        name, _, content = each.raw.partition("=")
        start = len(name) + 1 if each.option == "env" else 0
        bare = content if start else each.raw
        found = re.fullmatch(r"""(["'])(.*)\1""", bare)
        if found is None or (TEXTS.match(each.option) and not start):
            continue
        fix = _edit(config, each.at(start), bare, found[2], safe=True)
        text = f"{each.written}: the quotes are part of the value; leave them out"
        yield config.flaw(each.at(start), text, fix)


@rule(
    "UW006",
    Severity.ERROR,
    "a line without =",
    why="all of it is taken for an option's name",
    seen="core/ini.c:41",
    bad="processes: 4",
    good="processes = 4",
)
def no_equals(config: Config) -> Iterator[Flaw]:
    """A switch alone on its line is on; that is none."""
    for each in config.settings:
        words = re.fullmatch(r"([\w-]+)\s*[:\s]\s*(.*)", each.option)
        if each.raw or words is None or each.option in config.table.entries:
            continue
        known = words[1] in config.table.entries
        advice = f"write {words[1]} = {words[2]}" if known else "write OPTION = VALUE"
        new = f"{words[1]} = {words[2]}" if known else None
        text = f'without "=" all of it is an option\'s name, which uWSGI does not know; {advice}'
        yield config.flaw(each, text, _edit(config, each.spot, each.option, new, safe=True))


@rule(
    "UW007",
    Severity.ERROR,
    "no [uwsgi], or more than that in its line",
    why="a section with another name is not read, and uWSGI starts as if its options were not there",
    seen="core/ini.c:138",
    bad="[uwsgi] ; main\nprocesses = 4",
    good="[uwsgi]\nprocesses = 4",
)
def section_misnamed(config: Config) -> Iterator[Flaw]:
    """Of a section the last character is cut off, and the rest is its name."""
    names = sections.asked(config)
    passed: set[object] = set()
    for each in sections.lines(config):
        name = each.text[1:].partition("]")[0].strip().lower()
        if each.is_header and name == "uwsgi" and each.section not in names:
            fix = _edit(config, each.spot, each.text, "[uwsgi]", safe=True)
            text = f'{each.text} is the section "{each.section}", which is not read; write [uwsgi]'
            yield config.flaw(each.spot, text, fix)
        elif not (each.section or each.is_header or each.is_comment or each.spot.file in passed):
            passed.add(each.spot.file)
            if not config.texts[each.spot.file].startswith("\ufeff"):
                text = f"{each.text}: it stands in no section, so it is not read; write [uwsgi] above"
                fix = _edit(config, each.spot, each.text, f"[uwsgi]\n{each.text}", safe=False)
                yield config.flaw(each.spot, text, fix)


@rule(
    "UW008",
    Severity.ERROR,
    "a byte order mark",
    why="the first line begins with it, so [uwsgi] is no section and nothing of it is read",
    seen="core/ini.c:136",
    bad="\ufeff[uwsgi]\nprocesses = 4",
    good="[uwsgi]\nprocesses = 4",
)
def byte_order_mark(config: Config) -> Iterator[Flaw]:
    """Editors write it and do not show it."""
    for file, text in config.texts.items():
        if text.startswith("\ufeff"):
            spot = Spot(file, 1, 1)
            message = (
                "the file begins with a byte order mark, so its first line is no section, and what "
                "follows is not read; save it as UTF-8 without one"
            )
            yield config.flaw(spot, message, _edit(config, spot, "\ufeff", "", safe=True))


@rule(
    "UW009",
    Severity.ERROR,
    "a single %",
    why="% and the next character are a variable, an unknown one is empty; at the end of a line it "
    "takes the line's end away",
    seen="core/utils.c:1823; uwsgi#1683",
    bad="log-date = %Y-%m-%d",
    good="log-date = %%Y-%%m-%%d",
)
def single_percent(config: Config) -> Iterator[Flaw]:
    """At the end of a comment it makes a comment of the next line."""
    got = {(each.spot.file, each.spot.line): each for each in config.settings}
    names = sections.asked(config)
    for each in sections.lines(config):
        eaten = [at for at in _percents(each) if each.section in names or each.is_comment]
        if not eaten:
            continue
        text = each.text
        spot = Spot(each.spot.file, each.spot.line, each.spot.column + eaten[0])
        setting = got.get((each.spot.file, each.spot.line))
        becomes = f', so the value is "{setting.value}"' if setting else ""
        new = "".join("%%" if at in eaten else char for at, char in enumerate(text))
        if text.endswith("%") and len(text) - 1 in eaten:
            what = "% at the end of a line takes the next line into this one"
        else:
            what = f"uWSGI takes {text[eaten[0] : eaten[0] + 2]} for a variable of its own{becomes}"
        message = f"{text}: {what}; write %%"
        yield config.flaw(spot, message, _edit(config, each.spot, text, new, safe=True))


@rule(
    "UW010",
    Severity.ERROR,
    "a condition without an end",
    why="everything below belongs to it, in the files that are read later, too",
    seen="core/config.c:441",
    bad="if-env = DEBUG\nlog-5xx = true\nmaster = true",
    good="if-env = DEBUG\nlog-5xx = true\nendif =\nmaster = true",
)
def no_end(config: Config) -> Iterator[Flaw]:
    """The end of the file does not end it."""
    found = list(sections.options(config))
    for at, each in enumerate(found):
        inside = each.inside or each.spot
        below = [line for line in found[at + 1 :] if line.spot.file == each.spot.file]
        if not sections.opens(config, each.option) or inside != each.spot:
            continue
        if any(line.option in sections.ENDS for line in below):
            continue
        fix = None
        if below:
            fix = Fix((Edit(below[0].spot, "", "endif ="),), safe=False, says="endif =")
        text = f"{each.text}: no endif follows, so all below belongs to it; add endif ="
        yield config.flaw(each.spot, text, fix)


@rule(
    "UW011",
    Severity.ERROR,
    "a condition in a condition",
    why='uWSGI ends with "recursive logic in options is not supported"',
    seen="core/uwsgi.c:4704",
    bad="if-env = A\nif-env = B\nmaster = true\nendif =\nendif =",
    good="if-env = A\nmaster = true\nendif =",
)
def condition_inside(config: Config) -> Iterator[Flaw]:
    """A loop is one, too."""
    for each in sections.options(config):
        if each.inside and sections.opens(config, each.option):
            text = (
                f"{each.text}: it stands inside the one of line {each.inside.line}, and uWSGI does "
                "not start; end that first"
            )
            yield config.flaw(each.spot, text)


@rule(
    "UW012",
    Severity.ERROR,
    "a name that stands for nothing",
    why="it stays as it is; in a sum it counts as 0",
    seen="core/config.c:595",
    bad="chdir = %(bsae)/app\nset-ph = base=/srv",
    good="chdir = %(base)/app\nset-ph = base=/srv",
)
def unresolved(config: Config) -> Iterator[Flaw]:
    """A variable of the environment may be there elsewhere, so that is a remark."""
    own = {"_"} | {each.option for each in config.settings}
    own |= {each.value.partition("=")[0] for each in config.all("set-placeholder", "resolve")}
    for each in config.settings:
        if TEXTS.match(each.option) and each.option != "env":
            continue
        unknown = sorted(set(_named(each)) - own)
        if unknown:
            text = f"there is no {unknown[0]}, so {_gets(each)}; name an option or a set-placeholder"
            yield config.flaw(each, text)
        elif variable := re.search(r"\$\((\w+)\)", each.value):
            text = f"where {variable[1]} is not set, as here, {variable[0]} stays as it is"
            yield config.flaw(each, text, harmless=True)


@rule(
    "UW013",
    Severity.ERROR,
    "env with blanks, or without =",
    why="the text goes to putenv(3) as it is: the name ends with a blank, or is taken away",
    seen="core/uwsgi.c:4398",
    bad="env = DEBUG = 1",
    good="env = DEBUG=1",
)
def env_with_blanks(config: Config) -> Iterator[Flaw]:
    """Blanks around the first = are part of name and value."""
    for each in config.all("env"):
        name, equals, content = each.raw.partition("=")
        if not equals:
            text = "without = this takes the variable away; write NAME=VALUE, or unenv"
            yield config.flaw(each, text)
        elif name != name.strip() or content != content.lstrip():
            meant = f"{name.strip()}={content.strip()}"
            text = f"the blanks are part of name and value; write env = {meant}"
            yield config.flaw(each, text, config.change(each, meant, safe=True))


@rule(
    "UW014",
    Severity.ERROR,
    "an option twice",
    why="of an option with one value the last line counts, of a placeholder the first",
    seen="core/uwsgi.c:3996",
    bad="harakiri = 30\nharakiri = 60",
    good="harakiri = 60",
)
def twice(config: Config) -> Iterator[Flaw]:
    """In one file and outside conditions: an include is there to be overridden."""
    free = {(each.spot.file, each.spot.line) for each in sections.options(config) if not each.inside}
    last: dict[tuple[object, str], Setting] = {}
    for each in config.settings:
        if (each.spot.file, each.spot.line) not in free or not _is_single(config, each.option):
            continue
        placeholder = each.value.partition("=")[0] if "placeholder" in _setter(config, each) else ""
        key = (each.spot.file, config.table.canonical(each.option) + placeholder)
        before = last.setdefault(key, each)
        if before.spot != each.spot:
            dead, counts = (each, before) if placeholder else (before, each)
            last[key] = counts
            text = f"line {counts.spot.line} counts, {counts.written}; leave this one out"
            yield config.flaw(dead, text, config.drop(dead, safe=True))


@rule(
    "UW015",
    Severity.ERROR,
    "a line that ends with \\",
    why="lines cannot be continued: it is part of the value",
    seen="core/ini.c:75",
    bad="module = app:app \\",
    good="module = app:app",
)
def continued(config: Config) -> Iterator[Flaw]:
    """The next line is an option of its own."""
    for each in config.settings:
        if each.raw.endswith("\\"):
            text = "uWSGI does not continue lines, so the \\ is part of the value; write one line"
            yield config.flaw(each, text)


@rule(
    "UW016",
    Severity.ERROR,
    "a relative include",
    why="it is looked for in the folder that uWSGI is started in, not beside this file",
    seen="core/utils.c:3216",
    bad="ini = base.ini",
    good="ini = %dbase.ini",
)
def relative_include(config: Config) -> Iterator[Flaw]:
    """The start from another folder fails."""
    for each in config.settings:
        loads = "uwsgi_opt_load" in _setter(config, each) or each.option == "include"
        if loads and re.match(r"[\w.-]", each.raw) and "://" not in each.raw:
            text = "it is looked for in the folder that uWSGI is started in; write %d before it"
            yield config.flaw(each, text, config.change(each, f"%d{each.raw}", safe=True))


@rule(
    "UW017",
    Severity.ERROR,
    "a second [uwsgi]",
    why="both are read, and of an option in both the last line counts",
    seen="core/ini.c:148; docs/reference/production-settings.md",
    bad="[uwsgi]\nprocesses = 4\n[uwsgi]\nprocesses = 2",
    good="[uwsgi]\nprocesses = 4",
)
def second_section(config: Config) -> Iterator[Flaw]:
    """Its values replace those of the first."""
    first: dict[tuple[object, str], Spot] = {}
    names = sections.asked(config)
    for each in sections.lines(config):
        if each.is_header and each.section in names:
            spot = first.setdefault((each.spot.file, each.section), each.spot)
            if spot != each.spot:
                text = (
                    f"{each.text} has begun in line {spot.line}: both are read, and these values "
                    "replace those; make one section of them"
                )
                yield config.flaw(each.spot, text)


def _edit(config: Config, spot: Spot, old: str, new: str | None, *, safe: bool) -> Fix | None:
    """Return the fix that writes *new* in the place of *old*; None without one."""
    if new is None or spot.file not in config.texts:
        return None
    return Fix((Edit(spot, old, new),), safe, new.replace("\n", ", "))


def _setter(config: Config, setting: Setting) -> str:
    entry = config.table.entries.get(setting.option)
    return entry.setter if entry else ""


def _named(setting: Setting) -> list[str]:
    """Return the options and placeholders that a value names, as in %(base) or %(cores * 2)."""
    if TEXTS.match(setting.option) and setting.option != "env":
        return []
    inner = re.findall(r"%\(([^)]*)\)", setting.raw)
    return [name for each in inner for name in each.split() if not re.fullmatch(r"[-+*/]+|\d+", name)]


def _gets(setting: Setting) -> str:
    """Return what becomes of a value that names what is not there."""
    stays = "%(" in setting.value
    return "the text stays as it is" if stays else f'it counts as 0 or nothing: "{setting.value}"'


def _meant(option: str, value: str) -> str | None:
    """Return the number that somebody means by a text; None where that is not clear."""
    lowered = value.lower()
    if lowered in DIGITS:
        return DIGITS[lowered]
    if lowered == "auto" and option in {"processes", "workers"}:
        return "%k"
    if lowered in {"true", "yes", "on"}:
        return "8192" if option == "post-buffering" else "1"
    unit = re.fullmatch(r"(\d+)\s*(s|sec|seconds?|k|kb|kib)", lowered)
    if unit is None:
        return None
    return str(int(unit[1]) * 1024) if unit[2].startswith("k") else unit[1]


def _is_single(config: Config, option: str) -> bool:
    """Return whether only one of several values counts."""
    entry = config.table.entries.get(option)
    known = config.table.is_number(option) or config.table.is_switch(option)
    return entry is not None and (
        known or entry.setter in SINGLE or entry.setter == "uwsgi_opt_set_placeholder"
    )


def _percents(line: sections.Line) -> Iterator[int]:
    """Yield where a % stands that cannot be meant for a variable."""
    for found in re.finditer(r"%(.?)", line.text):
        char, rest = found[1], line.text[found.end() :]
        if char in {"%", "("}:
            continue
        escape = re.match(r"[0-9A-Fa-f]", rest) and char.isdigit() and not chr(
            int(char + rest[0], 16)
        ).isalnum()
        if not char or (
            not line.is_comment and (char not in MAGIC or escape or line.option in FORMATS)
        ):
            yield found.start()
