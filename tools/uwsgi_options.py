"""
Write what this project knows of uWSGI's options, from the tables in its source.

    .venv/bin/python -m tools.uwsgi_options            download the pinned version's source
    .venv/bin/python -m tools.uwsgi_options FOLDER     an unpacked one
    .venv/bin/python -m tools.uwsgi_options --check    write nothing; 1 if something would change

lab/config/uwsgi/options.json is what the linter reads. app/numeric-options.txt is what
app/serve.py reads, which runs in images without the lab.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lab.config.uwsgi.table import JSON, NUMBERS, Entry

ROOT = Path(__file__).resolve().parents[1]
NUMERIC = ROOT / "app/numeric-options.txt"

TEXT = r'"(?:[^"\\]|\\.)*"'

ROW = re.compile(
    rf'\{{\s*(?:\(char \*\)\s*)?"([^"]+)"\s*,\s*(no|required|optional)_argument\s*,[^,]+,'
    rf"\s*(?:\(char \*\)\s*)?(?:{TEXT}\s*)+,\s*(\w+)\s*,\s*([^,}}]+?)\s*(?:,\s*([\w| ]+?)\s*)?\}}"
)
"""Name, kind of argument, letter, help, function, what it is told, flags."""

HEADER = """\
# Options of uWSGI {version} whose value is a whole number, and where it takes any other text for
# one, in silence. Written by tools/uwsgi_options.py from the tables of core/ and of the plugins
# that are part of it by default (buildconf/) or by tools/setup.sh. One name a line, as it stands in
# an ini.
"""


def main() -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0].strip())
    parser.add_argument("folder", type=Path, nargs="?", help="uWSGI's source, unpacked")
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        source = arguments.folder or download(Path(temporary))
        made = {JSON: table(source), NUMERIC: numeric(source)}
    problems = []
    for path, text in made.items():
        if path.read_text(encoding="utf-8") != text:
            problems.append(f"{path.relative_to(ROOT)}: the source has other options")
            if not arguments.check:
                path.write_text(text, encoding="utf-8")
    for problem in problems:
        print(problem)
    return int(arguments.check and bool(problems))


def download(folder: Path) -> Path:
    """Return the folder of the pinned version's source, which is downloaded and unpacked."""
    pinned = re.search(
        r"^uwsgi==(\S+)", (ROOT / "requirements/service.txt").read_text(), re.MULTILINE
    )
    assert pinned is not None
    version = pinned[1]
    ways = ("--no-binary", ":all:", "--no-deps", "--dest", str(folder), f"uwsgi=={version}")
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *ways], check=True)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return folder / f"uwsgi-{version}"


def table(source: Path) -> str:
    """Return options.json."""
    rows = {
        option.name: [
            option.argument,
            option.setter,
            option.data,
            " ".join(sorted(option.flags)),
            option.plugin,
            option.line,
        ]
        for option in options(source)
    }
    lines = (f"{json.dumps(name)}: {json.dumps(rows[name])}" for name in sorted(rows))
    body = ",\n".join(lines)
    return f'{{"version": "{version_of(source)}", "options": {{\n{body}\n}}}}\n'


def numeric(source: Path) -> str:
    """Return numeric-options.txt."""
    ours = {"", *embedded(source)}
    names = {e.name for e in options(source) if e.setter in NUMBERS and e.plugin in ours}
    return HEADER.format(version=version_of(source)) + "\n".join(sorted(names)) + "\n"


def options(source: Path) -> Iterator[Entry]:
    """
    Yield the options, each once.

    Of two plug-ins that have one of the same name the one counts that a build has by default.
    """
    default = embedded(source)
    plugins = sorted(
        (directory.name for directory in (source / "plugins").iterdir() if directory.is_dir()),
        key=lambda name: (name not in default, name),
    )
    seen: set[str] = set()
    for plugin in ("", *plugins):
        folder = source / "plugins" / plugin if plugin else source / "core"
        for path in sorted([*folder.glob("*.c"), *folder.glob("*.cc")]):
            for entry in _rows(path, path.relative_to(source), plugin):
                if entry.name not in seen:
                    seen.add(entry.name)
                    yield entry


def _rows(path: Path, name: Path, plugin: str) -> Iterator[Entry]:
    text = path.read_text(errors="replace")
    for row in ROW.finditer(text):
        data = "" if row[4] == "NULL" else row[4].replace("(void *)", "").strip().strip('"')
        flags = frozenset(re.findall(r"UWSGI_OPT_(\w+)", row[5] or ""))
        line = text.count("\n", 0, row.start()) + 1
        yield Entry(row[1], row[2], row[3], data, flags, plugin, f"{name.as_posix()}:{line}")


def embedded(source: Path) -> list[str]:
    """Return the names of the plugins that our build embeds: the default ones, and setup.sh's."""
    base = (source / "buildconf/base.ini").read_text()
    default = (source / "buildconf/default.ini").read_text()
    main_plugins = re.search(r"^main_plugin = (.*)$", default, re.MULTILINE)
    rest = re.search(r"^embedded_plugins = %\(main_plugin\)s,(.*)$", base, re.MULTILINE)
    setup = (ROOT / "tools/setup.sh").read_text(encoding="utf-8")
    added = re.search(r"^plugins=(.*)$", setup, re.MULTILINE)
    assert main_plugins is not None
    assert rest is not None
    assert added is not None
    return [
        name.strip() for names in (main_plugins[1], rest[1], added[1]) for name in names.split(",")
    ]


def version_of(source: Path) -> str:
    """Return the version that a folder is named after."""
    return source.resolve().name.removeprefix("uwsgi-")


if __name__ == "__main__":
    sys.exit(main())
