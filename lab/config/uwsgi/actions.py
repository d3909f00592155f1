"""
What keeps a configuration from being given to uWSGI to find out what it means.

uWSGI does some of what it reads as soon as it reads it: `stop` ends a server, `spooler` makes a
folder, `plugin` and `autoload` run code, and what has a scheme is fetched or run. If it ends there
for a fault, it still does what is for its end (`fallback-config`, `exec-as-user-atexit`, the
`vacuum` of a pidfile). So it is asked only if each option is of a kind that is known to do nothing
but to keep a value, and no other reader than the one for inis has a part in it. All else only
`lab.config.uwsgi.reader` reads.

Sources: uWSGI 2.0.31, core/uwsgi.c (main, the functions of options, vacuum, uwsgi_exec_atexit),
core/config.c (add_exported_option_do, uwsgi_at_file_read), core/utils.c (uwsgi_open_and_read).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.config.configuration import Config
from lab.config.uwsgi.table import uwsgi_options

KEEPS = re.compile(
    "uwsgi_opt_(logic|noop|load|load_ini|set_placeholder|envdir"
    "|true|false|set_(int|rawint|16bit|64bit|megabytes|null|str|str_spaced|umask|env|uid|gid|cap"
    "|logger|req_logger)|unset_env|safe_fd|max_vars|pcre_jit|fileserve_mode|pyver|pythonpath"
    "|add_(string_list|string_list_custom|dyn_dict|addr_list|regexp_\\w+|socket|lazy_socket"
    "|shared_socket|cron|cron2|unique_cron|daemon|daemon2|mule|mules|farm)"
    "|static_map|check_static|chmod_socket|logfile_chmod|log_date|setup_\\w+|corerouter"
    "|http_to_https|[ug]id)"
)
"""Functions of options that keep a value, or read a file or a user's name for it."""

NOT_ASKED = re.compile(
    r"inject-\w+|fallback-config|autoload|flock-?\w*|(hook|exec|call|mount|umount)-.*|.*emperor.*"
    r"|vassal.*|early-.*"
)
"""Options of such a function that act all the same, when they are read or when uWSGI ends."""

ENDING = ("vacuum", "pidfile", "pidfile2", "safe-pidfile", "safe-pidfile2")
"""The first removes the others, also where uWSGI ends because of a fault further below."""


def acting(config: Config) -> str | None:
    """
    Return the first thing for which uWSGI is not asked about a configuration; None without.

    What a condition seems to leave out counts as well: uWSGI may decide it otherwise.
    """
    return next(_acting(config), None)


def _acting(config: Config) -> Iterator[str]:
    for name, value in _written(config):
        if "@(" in value or _acts(name):
            yield f"{name} = {value}"
    yield from config.unread
    yield from (file.name for file in config.forms)
    # uWSGI reads bytes, and finds options in them that are none in what they stand for.
    yield from (file.name for file, text in config.texts.items() if text.startswith("\ufeff"))
    if config.on(ENDING[0]) and (removed := config.first(*ENDING[1:])):
        yield f"{removed.option} = {removed.value}"


def _written(config: Config) -> Iterator[tuple[str, str]]:
    """Yield each option that counts, as it counts, and each that is written anywhere."""
    for setting in config.settings:
        yield setting.option, setting.value
    for line in config.ini_lines:
        if not (line.is_header or line.is_comment):
            yield line.option, line.text.partition("=")[2].strip()


def _acts(name: str) -> bool:
    """Return whether an option may do more than keep a value; what is none does nothing."""
    entry = uwsgi_options().entries.get(name)
    if entry is None:
        return False
    return NOT_ASKED.fullmatch(name) is not None or not KEEPS.fullmatch(entry.setter)
