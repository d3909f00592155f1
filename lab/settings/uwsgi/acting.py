"""
What uWSGI does as soon as it reads a configuration, long before it serves anything.

Some options act at once: `stop` ends a server, `spooler` makes a folder, `http-zerg` connects. What
has a scheme is fetched, and what exec:// names is run. A file that says so is not given to uWSGI to
find out what it means: `lab.settings.uwsgi.places` reads it instead.

Sources: uWSGI 2.0.31, core/uwsgi.c (main, the functions of options), core/config.c
(add_exported_option_do), core/spooler.c (uwsgi_opt_add_spooler), plugins/corerouter/corerouter.c
(uwsgi_opt_corerouter_zerg).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from lab.settings.lint.config import Config
from lab.settings.lint.sections import OTHER_FORMS, lines
from lab.settings.uwsgi.table import Entry, uwsgi_options

HARMLESS = re.compile(
    "uwsgi_opt_(logic|noop|load|load_ini|true|set_placeholder|set_int|set_null|set_umask|pcre_jit"
    "|add_string_list|envdir)"
)
"""
Functions of options that uWSGI obeys at once, and that do no more than say something.

Others act: `stop` ends a server, `plugin` runs code, `fallback-config` starts a server if this one
ends.
"""

INJECTED = ("inject-before", "inject-after")
"""Options that put what a file, or an address, holds around each file that is read."""

LATER = re.compile("uwsgi_opt_(add_spooler|corerouter_zerg)")
"""Functions of options that act when all has been read, before the first hook."""

OF_EVERY_START = re.compile("uwsgi_opt_(load_plugin|resolve)")
"""Functions that reach nothing but the server's own plug-ins, and the resolver."""


def acting(config: Config, *, own: bool = False) -> str | None:
    """
    Return the first thing in a configuration by which uWSGI acts while it reads it; None without.

    What a condition seems to leave out counts as well: uWSGI may decide it otherwise.

    Args:
        config: As it is read without uWSGI.
        own: Whether its plug-ins may be loaded, as when it is going to be served.
    """
    return next(_acting(config, own), None)


def _acting(config: Config, own: bool) -> Iterator[str]:
    yield from (f"{name} = {value}" for name, value in _written(config) if _acts(name, value, own))
    for name, text in config.unread.items():
        if text is None or _in_other_form(own).search(text):
            yield name
    for file, text in config.texts.items():
        if file.suffix in OTHER_FORMS and (found := _in_other_form(own).search(text)):
            yield found[0].strip()


def _written(config: Config) -> Iterator[tuple[str, str]]:
    """Yield each option that counts, as it counts, and each that is written anywhere."""
    for each in config.settings:
        yield each.option, each.value
    for line in lines(config):
        if not (line.is_header or line.is_comment):
            yield line.option, line.text.partition("=")[2].strip()


def _acts(name: str, value: str, own: bool) -> bool:
    if re.search(r"@\(.*://", value):
        return True
    entry = uwsgi_options().entries.get(name)
    return entry is not None and _is_acting(entry, own)


def _is_acting(entry: Entry, own: bool) -> bool:
    if own and OF_EVERY_START.fullmatch(entry.setter):
        return False
    at_once = "IMMEDIATE" in entry.flags and not HARMLESS.fullmatch(entry.setter)
    return at_once or entry.name in INJECTED or LATER.fullmatch(entry.setter) is not None


@cache
def _in_other_form(own: bool) -> re.Pattern[str]:
    """
    Return what finds in YAML, JSON or XML a key that acts, or reads another file, or is hidden.

    Such a file is not understood here, so a word that could be a key is one.
    """
    entries = uwsgi_options().entries.values()
    names = [each.name for each in entries if _is_acting(each, own)]
    names += [each.name for each in entries if each.setter.startswith("uwsgi_opt_load_ini")]
    keys = "|".join(map(re.escape, (*names, "include", "inherit")))
    return re.compile(
        rf"<({keys})[\s/>]|(?<![\w-])({keys})[\"']?\s*:|@\(.*://|\\[uUx]|&#", re.MULTILINE
    )
