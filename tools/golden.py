"""
Compare two commits by what `lab` prints for many inputs.

    .venv/bin/python -m tools.golden OLD NEW [--corpus FOLDER]

OLD and NEW are commits; NEW may be `.` for the work tree as it is. The inputs are all stored runs
(`lab report` in each form), all commands (`--help`), and the examples of all rules (`lab lint`,
`lab migrate` to each other server, `lab tune --dry-run`). With --corpus, the configurations in
FOLDER are inputs, too: of uWSGI (*.ini), gunicorn (*.conf.py) and granian (*granian.sh). Prints the
differences, and ends with 1 where there are any. It takes two minutes.

The commands of a commit run in one process, with this checkout's .venv. `tests/test_golden.py`
holds the outputs of the work tree against stored digests; without those of `lab tune`, which depend
on the machine.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parents[1]

COMMANDS = (
    *("ab", "check", "claims", "compare", "lint", "list", "migrate", "report", "run", "selftest"),
    *("show", "stress", "tune", "watch"),
)
PAGE = ".golden-page"
"""Name of a page that is written to be read at once; of several values there is one for each."""

FORMS = {
    "first": [],
    "full": ["--full"],
    "markdown": ["--markdown"],
    "json": ["--json"],
    "html": ["--html", f"{PAGE}.html"],
}
SCREENS = ("first", "full")
"""The forms in which a terminal shows a run."""

SERVERS = {".ini": "uwsgi", ".py": "gunicorn", ".sh": "granian", "": "granian"}
"""Ending of a configuration -> its server."""

WRITE = f"""
import runpy, sys
from pathlib import Path
from typing import Any
tree, to, group, *folders = sys.argv[1:]
runpy.run_path({__file__!r})["write"](Path(tree), Path(to), group, *map(Path, folders))
"""
"""Writes the outputs of a commit, whose tree is first on the path, by this module."""

ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1"}
"""Variables under which the outputs are those of any terminal."""

Case = tuple[str, Path, list[str]]
"""The output's name, the folder in which the command runs, and its words."""


def write_examples(folder: Path) -> None:
    """Write the examples of all rules to *folder*, in a folder for each."""
    from lab.config import servers  # noqa: PLC0415 - the other commit's process needs none of it
    from lab.lint.examples import STARTS  # noqa: PLC0415
    from lab.lint.rules.rule import RULES  # noqa: PLC0415

    for code, rule in RULES.items():
        begins = [path.name for begin, path in STARTS.items() if rule.bad.startswith(begin)]
        name = begins[0] if begins else servers.of_code(code).file
        for kind, example in (("bad", rule.bad), ("good", rule.good), ("near", rule.near_miss)):
            text = example
            if name.endswith(".py") and text.startswith("gunicorn "):
                continue  # a command, which is in no file
            if name.endswith(".ini") and not text.startswith("["):
                text = f"[uwsgi]\n{text}"
            path = folder / f"{code}-{kind}" / name
            path.parent.mkdir(parents=True)
            path.write_text(f"{text}\n", encoding="utf-8", newline="")


def configurations(folder: Path) -> Iterator[Path]:
    """Yield the configurations in *folder*, in order."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".ini" or path.name.endswith((".conf.py", "granian", "granian.sh")):
            yield path


def cases(tree: Path, folders: list[Path], forms: Collection[str] = FORMS) -> Iterator[Case]:
    """
    Yield all commands.

    Args:
        tree: The checkout; its stored runs are reported.
        folders: Their configurations are linted, translated and tuned.
        forms: Those of FORMS in which a run is reported.
    """
    yield "help/lab.txt", tree, ["--help"]
    for command in COMMANDS:
        yield f"help/{command}.txt", tree, [command, "--help"]
    for run in sorted((tree / "docs" / "runs").glob("*/run.json")):
        name = run.parent.name
        for form in forms:
            words = ["report", f"docs/runs/{name}", *FORMS[form]]
            yield f"report/{name}.{form}", tree, words
    for folder in folders:
        for path in configurations(folder):
            name = str(path.relative_to(folder)).replace("/", "~")
            where, file = path.parent, path.name
            yield f"lint/{name}.txt", where, ["lint", "--all", file]
            yield f"tune/{name}.txt", where, ["tune", "--dry-run", file]
            for target in ("uwsgi", "gunicorn", "granian"):
                if target != SERVERS[path.suffix]:
                    words = ["migrate", file, "--to", target]
                    yield f"migrate/{name}.{target}.txt", where, words


def output(folder: Path, words: list[str]) -> str:
    """Return what `lab` prints for *words* in *folder*, and its status."""
    from lab.cli import main  # noqa: PLC0415 - the commit's that is first on the path

    status: str | int | None = 0
    printed = io.TextIOWrapper(buffer := io.BytesIO(), "utf-8")
    os.chdir(folder)
    with (
        mock.patch.object(sys, "argv", ["lab", *words]),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        try:
            main()
        except SystemExit as ended:
            status = ended.code
    printed.flush()
    text = buffer.getvalue().decode()
    for page in sorted(folder.glob(f"{PAGE}*.html")):
        text += page.read_text(encoding="utf-8")
        page.unlink()
    text = text.replace(str(folder), "/folder")
    return f"$ lab {' '.join(words)}\n{text}exit status {status}\n"


def write(tree: Path, to: Path, group: str, *folders: Path) -> None:
    """
    Write outputs to the folder *to*.

    Args:
        tree: As in `cases`.
        to: It may not exist yet.
        group: "help", "report", "lint", "migrate" or "tune"; of a report, what a terminal shows.
            Empty for all.
        folders: As in `cases`.
    """
    with _concluded_once() if group == "report" else contextlib.nullcontext():
        for name, where, words in cases(tree, list(folders), SCREENS if group else FORMS):
            if name.startswith(group):
                path = to / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(output(where, words), encoding="utf-8")


@contextlib.contextmanager
def _concluded_once() -> Iterator[None]:
    """Let the forms of a run, one after the other, share its summaries."""
    from lab.analysis.points import summaries  # noqa: PLC0415 - as in `output`
    from lab.bench.store.folder import read_run  # noqa: PLC0415

    read = functools.lru_cache(maxsize=1)(read_run)
    last: list[Any] = [None, ()]

    def remembered(run: Any) -> Any:
        if last[0] is not run:
            last[:] = [run, summaries(run)]
        return last[1]

    with mock.patch.multiple("lab.cli.report", read_run=read, summaries=remembered):
        yield


def started(tree: Path, to: Path, group: str, *folders: Path) -> subprocess.Popen[bytes]:
    """Start a process that writes the outputs of a checkout, as `write` does."""
    words = [str(tree), str(to), group, *map(str, folders)]
    environment = os.environ | ENVIRONMENT | {"PYTHONPATH": str(tree)}
    return subprocess.Popen([sys.executable, "-P", "-c", WRITE, *words], env=environment)


def compare(commits: tuple[str, str], corpus: list[Path]) -> int:
    """Print the differences between the outputs of two commits; return 1 where there are any."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_examples(folder / "examples")
        processes = []
        for commit, side in zip(commits, ("old", "new"), strict=True):
            tree = ROOT if commit == "." else folder / "tree" / side
            if commit != ".":
                tree.mkdir(parents=True)
                archive = subprocess.check_output(["git", "archive", commit], cwd=ROOT)
                subprocess.run(["tar", "-x", "-C", str(tree)], input=archive, check=True)
            processes.append(started(tree, folder / side, "", folder / "examples", *corpus))
        statuses = [process.wait() for process in processes]
        if any(statuses):
            return 2
        difference = subprocess.run(["diff", "-ruN", "old", "new"], cwd=folder, check=False)
        count = sum(path.is_file() for path in (folder / "new").rglob("*"))
    if difference.returncode == 0:
        print(f"the same: {count} outputs")
    return difference.returncode


def main() -> int:
    """Compare two commits, as the command line says."""
    line = argparse.ArgumentParser(prog="tools.golden", description=__doc__.splitlines()[1])
    line.add_argument("old", metavar="OLD")
    line.add_argument("new", metavar="NEW")
    line.add_argument("--corpus", metavar="FOLDER", type=Path, action="append", default=[])
    options = line.parse_args()
    return compare((options.old, options.new), [folder.absolute() for folder in options.corpus])


if __name__ == "__main__":
    sys.exit(main())
