"""`lab lint`: what is wrong with a configuration, before anything is started."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from lab.bench.machine import project
from lab.cli.lint.formats import FORMATS, LocatedFlaw, ordered
from lab.cli.types import CONTAINER, NAME, whole_number
from lab.config.configuration import Config, Known
from lab.config.edits import diff
from lab.config.files import is_folder, real_path
from lab.config.reading import container_sign, find, start_names, why_folder
from lab.config.sources import script
from lab.config.spot import Spot
from lab.errors import FileError, UsageError
from lab.lint import lint, targets
from lab.lint.flaw import Flaw
from lab.lint.page import explained
from lab.model.wording import counted, in_a_line, visible_lines
from lab.report.edge import say, say_annotations, say_linked

COUNT = whole_number(1, 1_000_000)

UNCHECKED = {"UW018", "GU022"}
"""Rules that say that nothing in a file is checked."""


def _codes(_context: click.Context, option: click.Parameter, value: str) -> tuple[str, ...]:
    codes = tuple(part.strip() for part in value.split(",") if part.strip())
    lint.check_codes(codes, option.opts[0])
    return tuple(map(str.upper, codes))


def _version(
    _context: click.Context, option: click.Parameter, value: str | None
) -> tuple[int, int] | None:
    if value is None:
        return None
    match = re.fullmatch(r"(\d)\.(\d{1,2})", value)
    if match is None:
        raise UsageError(f"{option.opts[0]} {value}: write the version as in 3.13")
    return int(match[1]), int(match[2])


def _targets(
    _context: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> dict[str, targets.TargetVersion]:
    return targets.given(values, option.opts[0]) if values else {}


CONTAINED = "Checked as for a container, because {}; if it does not run in one: --no-container."


@click.command("lint")
@click.argument("files", nargs=-1, metavar="[FILE]...", type=NAME)
@click.option(
    "--select",
    metavar="CODES",
    default="",
    show_default=False,
    callback=_codes,
    help="Check only these rules.",
)
@click.option(
    "--ignore",
    metavar="CODES",
    default="",
    show_default=False,
    callback=_codes,
    help="Ignore these rules: codes or their beginnings, as in UW2,GU001.",
)
@click.option("--all", "remarks", is_flag=True, help="Also print remarks.")
@click.option("--fix", is_flag=True, help="Apply safe fixes of the findings that are shown.")
@click.option(
    "--unsafe-fixes", is_flag=True, help="With --fix or --diff: also fixes that change behaviour."
)
@click.option("--diff", is_flag=True, help="Print the fixes instead of writing them.")
@click.option("--format", type=click.Choice(list(FORMATS)), default="text", help="Output format.")
@click.option("--connections", type=COUNT, default=64, help="Concurrent clients that you expect.")
@click.option("--db-connections", type=COUNT, help="Connections that your database allows.")
@CONTAINER
@click.option(
    "--trusted",
    is_flag=True,
    help="Trust the files: read what they include outside this folder, and the environment.",
)
@click.option(
    "--uwsgi",
    metavar="PATH",
    help="Check against this uWSGI program.  [default: uWSGI 2.0.31; nothing is started]",
)
@click.option(
    "--target-python",
    metavar="X.Y",
    callback=_version,
    help="Python version of uWSGI.  [default: from home, plugins or --uwsgi]",
)
@click.option(
    "--target",
    "targets",
    metavar="SERVER==VERSION",
    multiple=True,
    callback=_targets,
    help="Check for this version of a server, as in gunicorn==23. Repeatable.  [default: the one "
    "that a lock or requirements file beside the configuration pins]",
)
@click.option(
    "--explain", metavar="CODE", help="Print the page of a rule; of UW2 the rules that begin so."
)
@click.option("--exit-zero", is_flag=True, help="Always exit with 0.")
def lint_command(*, files: tuple[str, ...], explain: str | None, **given: Any) -> int:
    """
    Find mistakes in configurations of uWSGI, gunicorn, granian, uvicorn, hypercorn.

    Starts nothing.

    FILE is a uWSGI configuration (.ini, .yaml, .json, .xml, or any file with a line [uwsgi]), a
    gunicorn.conf.py, a hypercorn.toml, a command in quotes, or a file with start commands: a
    Dockerfile, Procfile, compose file, systemd unit, supervisord.conf, Kubernetes manifest,
    render.yaml, fly.toml, package.json or shell script. It is checked with all its servers;
    Procfile:web is one. --fix changes no start command but those of granian, uvicorn and hypercorn,
    in quotes or in a script. - reads such a command from standard input. In a folder, files are
    found by their names, scripts by their first line.

    Exit status: 0 no finding, or only remarks; 1 findings; 2 a file cannot be read or written.
    """
    if explain is not None:
        say(_explained(explain), end="")
        return 0
    _check(files, given)
    gc.disable()  # nothing is made here that only it could remove, and it would take half the time
    expected = {name: given[name] for name in ("connections", "db_connections")}
    known = _known(given["uwsgi"], expected, trusted=given["trusted"])
    known = replace(known, python=given["target_python"] or known.python)
    lint_options: dict[str, Any] = {
        name: given[name] for name in ("select", "ignore", "container", "targets")
    }
    safe = "safe" if given["fix"] or given["diff"] else ""
    fixes = "unsafe" if given["unsafe_fixes"] else safe
    remarks = given["remarks"] or bool(given["select"])
    results: list[_Result] = []
    errors = set[str]()
    changes = False
    fixed_nothing = given["fix"] and not given["diff"]
    signs: list[str] = []
    versions: list[targets.TargetVersion | None] = []
    for file_or_command in _searched(files):
        try:
            linted = lint.lint(file_or_command, known, fixes=fixes, remarks=remarks, **lint_options)
            if given["diff"]:
                _show_diff(linted)
                changes |= bool(linted.before)
            else:
                for file in linted.write([Path(file) for file in files]):
                    fixed_nothing = False
                    say(in_a_line(linted.report(file)), err=True)
        except FileError as error:
            _say_once(in_a_line(f"lab: {error}"), errors)
        else:
            located = [LocatedFlaw(flaw, linted.line(flaw)) for flaw in linted.flaws]
            results.append(_Result(file_or_command, linted.config, located))
            signs += _container_signs(linted)
            versions.append(linted.target)
    located_flaws = _unique(results)
    flaws = [located.flaw for located in located_flaws]
    fixed_nothing |= given["diff"] and not changes
    _say_unsafe(flaws if fixed_nothing else (), is_diff=given["diff"], remarks=remarks)
    # "No findings" would read as if a file that cannot be read were a good one.
    if not given["diff"] and (located_flaws or not errors or given["format"] != "text"):
        _say(located_flaws, given["format"], remarks=remarks)
    if given["format"] == "text":
        codes = [located.flaw.code for located in located_flaws if remarks or located.flaw.shown]
        _say_hints(() if given["diff"] else codes, signs if given["container"] is None else ())
    _say_targets(versions)
    if given["exit_zero"]:
        return 0
    return 2 if errors else int(changes or any(flaw.counts for flaw in flaws))


def _say_once(message: str, errors: set[str]) -> None:
    """Say what cannot be read, which several start commands may name."""
    if message not in errors:
        say(message, err=True)
    errors.add(message)


class _Result(NamedTuple):
    """The findings in a file or a command, by the name that it has for `read`."""

    name: str
    config: Config
    flaws: list[LocatedFlaw]

    @property
    def is_command(self) -> bool:
        """Whether it is a start command in a file."""
        return self.config.start is not None

    @property
    def file(self) -> Path:
        """The file that has the command, or the configuration."""
        start = self.config.start
        return start.spot.file if start else self.config.file

    def others(self) -> set[Path]:
        """Return the real paths of the files that the start command names."""
        settings = (setting.spot.file for setting in self.config.settings)
        files = {self.file, *self.config.texts, *settings} if self.is_command else ()
        return {real_path(file) for file in files if not self.name.startswith(str(file))}

    def is_started_by(self, others: Container[Path]) -> bool:
        """Return whether a start command in another file names this configuration or script."""
        is_script = re.fullmatch(script.CALLED, self.file.name) is not None
        has_own_file = is_script and self.name.startswith(str(self.file))
        may_be = has_own_file or not self.is_command
        return may_be and real_path(self.file) in others


def _unique(results: Sequence[_Result]) -> list[LocatedFlaw]:
    """
    Return what was found, in its order; what is found several times at a place is wrong once.

    A configuration that a start command names is judged as it is started, and alone it has the fix.
    """
    started = set[Path]().union(*(result.others() for result in results))
    alone = [result for result in results if result.is_started_by(started)]
    in_file = {_key(located): located for result in alone for located in result.flaws}
    every: list[LocatedFlaw] = []
    for result in sorted(results, key=lambda result: result.is_command):
        there = set(map(_key, every)) if result.is_command else set()
        every += [
            _with_fix(located, in_file.get(_key(located)))
            for located in result.flaws
            if _key(located) not in there and result not in alone
        ]
    return ordered(every)


def _with_fix(located: LocatedFlaw, in_file: LocatedFlaw | None) -> LocatedFlaw:
    """Return a finding in a start command with the line and the fix that it has in its file."""
    if in_file is None:
        return located
    return in_file._replace(flaw=replace(located.flaw, fix=in_file.flaw.fix))


def _key(located: LocatedFlaw) -> tuple[Spot, str]:
    """Return what two findings have in common that are the same."""
    return located.flaw.spot, located.flaw.code


def _explained(code: str) -> str:
    """Return the page of a rule; of the beginning of several codes a line for each of them."""
    rules = lint.rules_of(code)
    if len(rules) == 1:
        page = project.rule_page(rules[0].code)
        return explained(rules[0]) + f"\nPage: {page}\n" * bool(page)
    return "".join(f"{rule.code}  {rule.title}\n" for rule in rules)


def _searched(names: tuple[str, ...]) -> list[str]:
    """Return what is named; for a folder its configurations, for a file its start commands."""
    files_or_commands: list[str] = []
    for name in names:
        if not is_folder(name):
            files_or_commands += start_names(Path(name)) or [name]
        elif inside := [*find(Path(name))]:
            files_or_commands += inside
        else:
            servers = "uWSGI, gunicorn, granian, uvicorn or hypercorn"
            problem = f"has no configuration of {servers}: give the file"
            raise UsageError(f"{name} {why_folder(Path(name), problem)}")
    return files_or_commands


def _check(files: tuple[str, ...], given: Mapping[str, Any]) -> None:
    """Refuse what cannot be meant."""
    if not files:
        raise UsageError("give a file or a folder: `lab lint uwsgi.ini`, or `lab lint .`")
    if given["unsafe_fixes"] and not (given["fix"] or given["diff"]):
        problem = "give --fix as well to write the fixes, or --diff to print them"
        raise UsageError(f"--unsafe-fixes alone changes nothing: {problem}")
    if given["diff"] and given["format"] != "text":
        raise UsageError("--diff prints a diff and no findings: leave out --diff or --format")


def _known(program: str | None, expected: Mapping[str, Any], *, trusted: bool) -> Known:
    """Return what is known besides the files; only a *program* that is named is started."""
    known = Known.of_caller(**expected)
    if program is not None:
        from lab.bench.profiles.known import of_machine, with_build  # noqa: PLC0415 - needed here

        known = with_build(of_machine(known), program)
    return known.for_files(trusted=trusted)


def _container_signs(linted: lint.LintResult) -> list[str]:
    """Return why a configuration is checked as for a container; empty if it is not."""
    config = linted.config
    unchecked = any(flaw.always and flaw.code in UNCHECKED for flaw in linted.flaws)
    is_in_image = config.start and config.start.surroundings.container
    if unchecked or is_in_image or not config.known.container:
        return []
    return [container_sign(config.start.spot.file if config.start else config.file)]


def _say_unsafe(flaws: Iterable[Flaw], *, is_diff: bool, remarks: bool) -> None:
    """Say how many findings have only a fix that changes behaviour; nothing without any."""
    count = sum(1 for flaw in flaws if flaw.fix and not flaw.fix.safe and (remarks or flaw.shown))
    if count:
        verb = "needs" if count == 1 else "need"
        result = "No safe fix" if is_diff else "Fixed nothing"
        text = f"{result}: {counted(count, 'finding')} {verb} --fix --unsafe-fixes."
        say(text, err=True)


def _say_hints(codes: Sequence[str], signs: Sequence[str]) -> None:
    """Say where a rule is explained, to people, and why a container is assumed."""
    if codes and sys.stderr.isatty():
        say(f"Explain a rule: {project.lab_command()} lint --explain {codes[0]}", err=True)
    if sign := next(filter(None, signs), ""):
        say(CONTAINED.format(sign), err=True)


def _say_targets(versions: Iterable[targets.TargetVersion | None]) -> None:
    """Say for which versions of servers the rules judged, each once."""
    for target in dict.fromkeys(filter(None, versions)):
        say(in_a_line(str(target)), err=True)


def _say(located_flaws: list[LocatedFlaw], form: str, *, remarks: bool) -> None:
    """Print what was found in a form."""
    shown = [located for located in located_flaws if remarks or located.flaw.shown]
    left_out = [located for located in located_flaws if not (remarks or located.flaw.shown)]
    text = FORMATS[form](shown, left_out)
    if form == "github":
        say_annotations(text)
    elif form == "text" and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        codes = {located.flaw.code for located in shown}
        links = {code: page for code in codes if (page := project.rule_page(code))}
        say_linked(text, links)
    else:
        say(text, end="")


def _show_diff(linted: lint.LintResult) -> None:
    """Print the lines that fixes change; no patch where one of them would act on who reads it."""
    names, texts = "".join(map(str, linted.before)), linted.config.texts
    patch = "".join(
        diff(before, texts[file], (in_a_line(str(file)),) * 2)
        for file, before in linted.before.items()
    )
    if visible_lines(patch) != patch or in_a_line(names) != names:
        say("# No patch: control characters are escaped, as in \\x1b. --fix writes the file.")
    say(patch, end="")
