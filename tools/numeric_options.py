"""
Write uwsgi/numeric-options.txt: the options of uWSGI that are numbers, from its source.

    python tools/numeric_options.py uwsgi-2.0.31/ > uwsgi/numeric-options.txt

Its option tables name for each option the function that reads the value. Those below call atoi(3)
or strtoul(3) and look at no error, so "abc" is 0 and "32k" is 32. The other functions that take a
number (uid, mules, chmod-socket) take something else, too, or say what is wrong.
"""

import re
import sys
from pathlib import Path

READERS = frozenset(
    {"uwsgi_opt_set_int", "uwsgi_opt_set_rawint", "uwsgi_opt_set_16bit", "uwsgi_opt_set_64bit"}
    | {"uwsgi_opt_set_megabytes", "uwsgi_opt_max_vars", "uwsgi_opt_safe_fd"}
    | {"uwsgi_opt_setup_asyncio", "uwsgi_opt_setup_gevent"}
)

ROW = re.compile(
    r'\{\s*(?:\(char \*\)\s*)?"([^"]+)"\s*,\s*\w+\s*,[^,]+,\s*"(?:[^"\\]|\\.)*"\s*,\s*(\w+)\s*,'
)
"""Name, kind of argument, letter, help, function."""

HEADER = """\
# Options of uWSGI {version} whose value is a whole number, and where it takes any other text for
# one, in silence. Written by tools/numeric_options.py from the tables of core/ and of the plugins
# that are part of it by default (buildconf/) or by tools/setup.sh. One name a line, as it stands in
# an ini.
"""

ADDED = Path(__file__).with_name("setup.sh")


def plugins(source: Path) -> list[str]:
    """Return the names of the plugins that our build embeds: the default ones, and setup.sh's."""
    base = (source / "buildconf/base.ini").read_text()
    default = (source / "buildconf/default.ini").read_text()
    own = re.search(r"^main_plugin = (.*)$", default, re.MULTILINE)
    rest = re.search(r"^embedded_plugins = %\(main_plugin\)s,(.*)$", base, re.MULTILINE)
    added = re.search(r"^plugins=(.*)$", ADDED.read_text(), re.MULTILINE)
    assert own is not None
    assert rest is not None
    assert added is not None
    return [name.strip() for each in (own[1], rest[1], added[1]) for name in each.split(",")]


def numeric(source: Path) -> list[str]:
    """Return the names of the options, aliases among them, in alphabetical order."""
    folders = [source / "core", *(source / "plugins" / name for name in plugins(source))]
    text = "".join(
        path.read_text(errors="replace") for folder in folders for path in folder.glob("*.c")
    )
    return sorted({name for name, reader in ROW.findall(text) if reader in READERS})


if __name__ == "__main__":
    source = Path(sys.argv[1])
    version = source.resolve().name.removeprefix("uwsgi-")
    sys.stdout.write(HEADER.format(version=version) + "\n".join(numeric(source)) + "\n")
