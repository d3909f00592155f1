"""How uWSGI reads a file: what is written there is not what it gets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lab.config import sections
from lab.config.uwsgi import OFF
from lab.config.uwsgi.table import Entry, atoi
from lab.lint.rules.alike import instead
from lab.lint.rules.rule import WHY, Case, Flaw, Setting, Severity, Spot, rule
from lab.lint.syntax import is_command

TEXTS = re.compile(
    "add-header|alarm|attach-|cron|eval|exec-|hook-|legion-|log-?format|print|smart-|unique-cron"
    "|(final-|error-|response-)?route"
)
"""Options whose values are commands, formats and texts, in which # ; and quotes mean themselves."""

NO = frozenset({"-", "disable", "disabled", "f", "n", "never", "nil", "none", "null"})
"""Words by which somebody means no, and which uWSGI takes for yes; and so are those mistyped."""

NEARLY = ("false", "disable", "disabled")
"""Words for no that are long enough to tell what is mistyped."""

DIGITS = {word: str(n) for n, word in enumerate(("zero", "one", "two", "three", "four"))}

OTHERS = {
    "process": "processes", "log-file": "logto", "logfile": "logto", "user": "uid",
    "log-buffering": None, "chmod-sock": "chmod-socket", "exec-pre": "exec-pre-app",
    "exec-before": "exec-pre-app",
}  # fmt: skip
"""What is no option of uWSGI's -> the option that does what its name says; None without one."""

MILLISECONDS = frozenset({"log-slow"})
"""Options in which a second is 1000; of the others that are a time it is 1."""

PLACEHOLDERS = ("set-placeholder", "set-ph")

MAGIC = frozenset("%([bcdeghijknopstuvxCDEGIJNOPSTUVX0123456789")
"""Characters that mean something behind a %: core/uwsgi.c, config_magic_table_fill."""

MOST_SOUGHT = 20
"""Unknown names of a configuration for which the option that is meant is looked for."""

FORMATS = frozenset({"log-date", "logdate"})
"""Options whose values are formats of strftime(3)."""


@rule(
    "UW001",
    Severity.ERROR,
    "an unknown option",
    why="uWSGI ignores the line without a warning, unless strict is set",
    source="core/config.c:383 `unknown config directive`; docker-mailman#428",
    bad="procesess = 4",
    good="processes = 4",
    near_miss="procesess = 4\nprocesses = %(procesess)",
)
def unknown_option(config: Case) -> Iterator[Flaw]:
    """One that is only there to be named in others, as %(base), is none, but for strict."""
    config = replace(config, as_read=True)  # a name that no server knows is wrong in any case
    strict = config.on("strict")
    declared = config.all("declare-option", *PLACEHOLDERS)
    placeholder_names = {setting.value.partition("=")[0] for setting in declared}
    unread = bool(config.guesses) or _foreign_plugins(config)  # it may be an option of theirs
    placeholder_names |= (
        set() if strict else {name for setting in config.settings for name in _named(setting)}
    )
    sought: set[str] = set()
    for setting in config.settings:
        name = setting.option
        if name in config.table.entries or name in placeholder_names or re.search(r"[\s:]", name):
            continue
        if len(sought) < MOST_SOUGHT:
            sought.add(name)
        meant = _meant_option(config, name) if name in sought else None
        if unread and meant is None:
            continue
        effect = " and ignores the line without a warning"
        effect = ", and with strict it does not start" if strict else effect
        advice = f"write {meant}" if meant else "leave it out"
        fix = instead(config, setting.spot, name, meant, safe=False)
        if name not in sought:
            advice, fix = "write the option that you mean, or leave it out", None
        yield config.flaw(setting, f"uWSGI has no such option{effect}; {advice}", fix)


@rule(
    "UW002",
    Severity.ERROR,
    "a comment after a value",
    why="uWSGI knows comments only on lines of their own, so this one is part of the value. After "
    "a number or a word for yes that does no harm, and --fix moves the comment",
    source="core/ini.c:141 `this is a comment`; uwsgi#2573",
    bad="socket = :8001 # app",
    good="# app\nsocket = :8001",
    near_miss="socket = /run/app#1.sock",
)
def comment_behind(config: Case) -> Iterator[Flaw]:
    """Behind a number, or a word for yes, it does no harm."""
    for setting in config.settings:
        comment = re.search(r"(?<!\s)\s+([;#].*)", setting.raw)
        if comment is None or TEXTS.match(setting.option) or setting.raw.startswith("exec://"):
            continue
        value = setting.raw[: comment.start()]
        harmless = config.table.is_number(setting.option)  # of which a text is another rule's
        effect = "which then is not the address, path or name that you mean"
        if config.table.is_switch(setting.option):
            harmless = value.lower() not in OFF
            effect = "which then is no word for no, so the option is on"
        effect = "which uWSGI still reads as you mean it" if harmless else effect
        unknown = setting.option not in {*config.table.entries, *config.named}
        effect = "and lab does not know this option" if unknown else effect
        written = re.sub(r"\s+", " ", setting.written)
        text = f"{written}: the comment is part of the value, {effect}; write it on the line above"
        new = f"{comment[1]}\n{setting.option} = {value}"
        fix = instead(config, setting.spot, _rest(config, setting.spot), new, safe=harmless)
        yield config.flaw(setting.at(comment.start(1)), text, fix, harmless=harmless or unknown)


@rule(
    "UW003",
    Severity.ERROR,
    "a non-numeric value for a numeric option",
    why='uWSGI takes the digits at the beginning, and 0 where there are none: "30s" is 30, "4k" is '
    "4",
    source="core/uwsgi.c:4031 `atoi`; docs/reference/production-settings.md",
    bad="post-buffering = true",
    good="post-buffering = 8192",
    near_miss="set-placeholder = body=8192\npost-buffering = %(body)",
)
def no_number(config: Case) -> Iterator[Flaw]:
    """What is read as it was meant, as "off" for 0, is none."""
    for setting in config.settings:
        if not config.table.is_number(setting.option) or setting.option == "http-keepalive":
            continue
        value = re.split(r"(?<!\s)\s+[;#]", setting.value)[0]
        if re.search(r"[%$@]\(|^[\"']", value):  # another rule's
            continue
        if re.fullmatch(r"[+-]?\d+", value) or value.lower() in OFF | NO:
            continue
        meant = _meant(config.table.entries[setting.option], value)
        what = "this" if setting.value == setting.raw else f'"{setting.value}"'
        text = f"uWSGI reads a number here, and takes {what} for {atoi(value)}"
        advice = f"; write {setting.option} = {meant}" if meant else "; write a number"
        yield config.flaw(setting, text + advice, config.change(setting, meant) if meant else None)


@rule(
    "UW004",
    Severity.ERROR,
    "a word for no that means yes",
    why="only false, off, no and 0 mean no, so the option is on; write false",
    source='core/uwsgi.c:3948 `strcasecmp("false", value)`',
    bad="master = none",
    good="master = false",
    near_miss="master = OFF",
)
def yes_by_mistake(config: Case) -> Iterator[Flaw]:
    """Switched on."""
    for setting in config.settings:
        value = setting.value.lower()
        if not config.table.is_switch(setting.option) or value in OFF:
            continue
        if value in NO or config.table.nearest(value, NEARLY):
            yield config.flaw(setting, fix=config.change(setting, "false"))


@rule(
    "UW005",
    Severity.ERROR,
    "quotes around a value",
    why="the quotes are part of the value; leave them out",
    source="core/ini.c:151 `ini_rstrip(val)`; uwsgi#1089; django#6970",
    bad='module = "app:app"',
    good="module = app:app",
    near_miss='module = app:app\nexec-asap = "/srv/my app/prepare"',
)
def quotes(config: Case) -> Iterator[Flaw]:
    """Also around the value of an environment variable."""
    for setting in config.settings:
        name, _, content = setting.raw.partition("=")
        start = len(name) + 1 if setting.option == "env" else 0
        bare = content if start else setting.raw
        match = re.fullmatch(r"""(["'])(.*)\1""", bare)
        if match is None or TEXTS.match(setting.option):
            continue
        fix = instead(config, setting.at(start), bare, match[2], safe=False)
        yield config.flaw(setting.at(start), f"{setting.written}: {WHY}", fix)


@rule(
    "UW009",
    Severity.ERROR,
    "a single %",
    why="uWSGI replaces % and the next character by a variable of its own, which is empty if "
    "unknown, and a % at the end of a line joins the next line to this one",
    source='core/utils.c:1832 `magic_table`; core/utils.c:1857 `magic_table[i] = ""`; uwsgi#1683',
    bad="log-date = %Y-%m-%d",
    good="log-date = %%Y-%%m-%%d",
    near_miss="log-date = %%d.%%m.\nlogto = /var/log/%n.log",
)
def single_percent(config: Case) -> Iterator[Flaw]:
    """At the end of a comment it makes a comment of the next line."""
    if not any("%" in text for text in config.texts.values()):
        return
    got = {(setting.spot.file, setting.spot.line): setting for setting in config.settings}
    names = config.section_names
    for line in config.ini_lines:
        eaten = [at for at in _percents(line) if line.section in names or line.is_comment]
        if not eaten:
            continue
        text = line.text
        spot = Spot(line.spot.file, line.spot.line, line.spot.column + eaten[0])
        setting = got.get((line.spot.file, line.spot.line))
        becomes = f', so the value is "{setting.value}"' if setting else ""
        places = frozenset(eaten)
        new = "".join("%%" if at in places else char for at, char in enumerate(text))
        if text.endswith("%") and len(text) - 1 in places:
            what = "a % at the end of a line joins the next line to this one"
        else:
            what = f"uWSGI takes {text[eaten[0] : eaten[0] + 2]} for a variable of its own{becomes}"
        message = f"{text}: {what}; write %%"
        yield config.flaw(spot, message, instead(config, line.spot, text, new, safe=False))


@rule(
    "UW012",
    Severity.ERROR,
    "a name that does not exist",
    why="uWSGI leaves an unknown name in the value, and counts it as 0 in a sum. So it does with "
    "every name in an option that it obeys before it replaces names",
    source='core/config.c:797 `ov = ""`; core/uwsgi.c:2262 `uwsgi_apply_config_pass`; uwsgi#2777',
    bad="module = app:app\nchdir = %(bsae)/app\nset-ph = base=/srv",
    good="module = app:app\nchdir = %(base)/app\nset-ph = base=/srv",
    near_miss="module = app:app\nchdir = %(base)/app\nbase = /srv",
)
def unresolved(config: Case) -> Iterator[Flaw]:
    """A variable of the environment, or what a fragment names, may be there: a remark."""
    fragment = not (config.sockets() or config.all("module", "wsgi", "wsgi-file", "file", "mount"))
    option_names = {"_"} | {setting.option for setting in config.settings}
    for setting in config.settings:
        if "(" not in setting.value + setting.raw or TEXTS.match(setting.option) or config.guesses:
            continue  # what is not read may name it
        entry = config.table.entries.get(setting.option)
        early = entry and "IMMEDIATE" in entry.flags and setting.option not in PLACEHOLDERS
        variable = re.search(r"\$\((\w+)\)", setting.value)
        if unknown := sorted(set(_named(setting)) - option_names):
            stays = (
                "the text stays as it is"
                if "%(" in setting.value
                else f'the value is "{setting.value}"'
            )
            advice = "write the name of an option or a set-placeholder"
            if fragment:
                advice = (
                    "write a name that exists, unless the file that includes this one has "
                    f"{unknown[0]}"
                )
            text = f"{unknown[0]} does not exist, so {stays}; {advice}"
            yield config.flaw(setting, text, harmless=fragment)
        elif early and re.search(r"[$%]\(", setting.value):
            text = "uWSGI obeys this option before it replaces names; write the value itself"
            yield config.flaw(setting, text)
        elif variable and not is_command(config, setting.spot):  # where a shell replaces it
            text = f"if {variable[1]} is not set, the text stays as it is; make sure that it is set"
            yield config.flaw(setting, text, harmless=True)


@rule(
    "UW013",
    Severity.ERROR,
    "env with spaces, or without =",
    why="uWSGI passes the text to putenv(3) unchanged, so the name ends with a space, or the "
    "variable is removed",
    source="core/uwsgi.c:4399 `putenv(value)`",
    bad="env = DEBUG = 1",
    good="env = DEBUG=1",
    near_miss="env = FLAGS=-O2 -D X = 1",
)
def env_with_blanks(config: Case) -> Iterator[Flaw]:
    """Blanks around the first = are part of name and value."""
    for setting in config.all("env"):
        name, equals, content = setting.raw.partition("=")
        if not equals:
            text = "without = this removes the variable; write NAME=VALUE, or unenv"
            yield config.flaw(setting, text)
        elif name != name.strip() or content != content.lstrip():
            meant = f"{name.strip()}={content.strip()}"
            text = f"the spaces are part of name and value; write env = {meant}"
            fix = config.change(setting, meant, from_raw=True)
            yield config.flaw(setting, text, fix)


@rule(
    "UW014",
    Severity.ERROR,
    "an option that is set twice",
    why="of an option with one value the last line counts, and of a placeholder the first",
    source="core/uwsgi.c:4128 `*ptr = (char *) value`; core/config.c:697 `exported_opts[i]->value`",
    bad="harakiri = 30\nharakiri = 60",
    good="harakiri = 60",
    near_miss="harakiri = 30\nif-env = SLOW\nharakiri = 60\nendif =",
)
def twice(config: Case) -> Iterator[Flaw]:
    """In one file and outside conditions: an include is there to be overridden."""
    free = {(line.spot.file, line.spot.line) for line in config.option_lines if not line.inside}
    used = {name for setting in config.settings for name in _named(setting)}
    last: dict[tuple[object, str], Setting] = {}
    for setting in config.settings:
        if (setting.spot.file, setting.spot.line) not in free or not _is_single(
            config, setting.option
        ):
            continue
        placeholder = setting.value.partition("=")[0] if setting.option in PLACEHOLDERS else ""
        key = (setting.spot.file, config.table.canonical(setting.option) + placeholder)
        before = last.setdefault(key, setting)
        if before.spot != setting.spot:
            dead, counts = (setting, before) if placeholder else (before, setting)
            last[key] = counts
            if dead.option in used - {counts.option}:
                continue  # it is there to be named, as home in %(home)/venv
            text = (
                f"the value in line {counts.spot.line} counts, {counts.written}; leave this one out"
            )
            again = dead.value == counts.value
            yield config.flaw(dead, text, config.drop(dead), harmless=again)


def _foreign_plugins(config: Case) -> bool:
    """Return whether a plugin is loaded of which no option is known here; python3 is python."""
    ours = {entry.plugin for entry in config.table.entries.values()}
    values = (setting.value for setting in config.all("plugins", "plugin", "need-plugins"))
    names = {name.rstrip("0123456789.") for name in re.split(r"[,\s]+", ",".join(values))}
    return bool(names - ours - {""})


def _rest(config: Case, spot: Spot) -> str:
    """Return a line from a place on."""
    return config.line(spot)[spot.column - 1 :] if spot.file in config.texts else ""


def _named(setting: Setting) -> list[str]:
    """Return the options and placeholders that a value names, as in %(base) or %(cores * 2)."""
    if "%(" not in setting.raw or TEXTS.match(setting.option):
        return []
    inner = re.findall(r"%\(([^)]*)\)", setting.raw)
    words = (word for expression in inner for word in expression.split())
    return [word for word in words if not re.fullmatch(r"[-+*/]+|\d+|%.", word)]


def _meant_option(config: Case, name: str) -> str | None:
    """Return the option that a name is a mistyped form of, or another word for."""
    spelt = name.lower().replace("_", "-")
    # A letter too many, too few or in the wrong place; `log-file` is no `log-filter`.
    alike = config.table.of_length(len(spelt) - 1, len(spelt) + 1)
    return OTHERS[spelt] if spelt in OTHERS else config.table.nearest(spelt, alike)


def _meant(option: Entry, value: str) -> str | None:
    """Return the number that somebody means by a text; None where that is not clear."""
    lowered = value.lower()
    if lowered in DIGITS:
        return DIGITS[lowered]
    if lowered == "auto" and option.name in {"processes", "workers"}:
        return "%k"
    if lowered in {"true", "yes", "on"}:
        return "8192" if option.name == "post-buffering" else "1"
    unit = re.fullmatch(r"(\d+)\s*(?:(ms)|(s)(?:ec(?:ond)?s?)?|([kmg])(?:i?b)?)", lowered)
    if unit is None:
        return None
    if unit[4]:
        return _bytes(option, atoi(unit[1]), unit[4])
    milliseconds = option.name in MILLISECONDS
    if unit[2]:
        return unit[1] if milliseconds else None
    return f"{unit[1]}000" if milliseconds else unit[1]


def _bytes(option: Entry, size: int, unit: str) -> str | None:
    """Return a size in k, m or g as an option has it, in megabytes or bytes; None of no size."""
    power = "kmg".index(unit) + 1
    if option.setter == "uwsgi_opt_set_megabytes":
        return str(size * 1024 ** (power - 2)) if power > 1 else None
    return str(size * 1024**power) if re.search("size|buffer|limit", option.name) else None


def _is_single(config: Case, option: str) -> bool:
    """Return whether only one of several values counts."""
    entry = config.table.entries.get(option)
    text = entry is not None and entry.setter in {"uwsgi_opt_set_str", "uwsgi_opt_set_placeholder"}
    return text or config.table.is_number(option) or config.table.is_switch(option)


def _percents(line: sections.Line) -> Iterator[int]:
    """Yield where a % stands that cannot be meant for a variable."""
    for match in re.finditer(r"%(.?)", line.text):
        char = match[1]
        if char in {"%", "("}:
            continue
        escape = re.match(
            "(%20|%2[1-9A-Fa-f]|%3[A-Fa-f]|%40|%5[B-Eb-e]|%7[B-Eb-e])", line.text[match.start() :]
        )
        wrong = char not in MAGIC or escape or line.option in FORMATS
        if not char or (wrong and not line.is_comment):
            yield match.start()
