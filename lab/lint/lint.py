"""Lints files: reads them, says what is wrong with them, mends them. Nothing is served."""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from lab.config import servers, sources
from lab.config.configuration import Config, Known
from lab.config.edits import applied
from lab.config.equality import same
from lab.config.files import UnreadableError, check_nesting, check_size, read_bytes
from lab.config.reading import read, read_file
from lab.config.servers import STDIN
from lab.config.shell import unknown_options
from lab.config.start import StartCommand
from lab.config.steps import Put
from lab.errors import ProfileError
from lab.lint.flaw import Flaw
from lab.lint.judge import Chosen, judged
from lab.lint.rules.rule import RULES, Rule
from lab.lint.suppress import keys, suppressions
from lab.lint.targets import TargetVersion, target_of
from lab.model.wording import alternatives

ROUNDS = 50
"""Times that fixes are looked for: a line takes one a round."""

READ_AGAIN = 16 << 20
"""Characters that are read again for that, at most: what is larger is mended by several calls."""

ONE_BY_ONE = 100
"""Fixes of a round that are tried one after the other, where all together change too much."""

COMMANDS = tuple(server.program for server in servers.every() if server.file)
"""Programs whose command is linted."""

NO_FILES = frozenset({STDIN, *map(Path, COMMANDS)})
"""What a command is called that is in no file."""


class LintResult(NamedTuple):
    """A configuration, and what is wrong with it."""

    config: Config
    flaws: Sequence[Flaw]
    before: Mapping[Path, str]
    """File -> what stands in it, for those that fixes would change."""

    fixed: Counter[tuple[Path, str]] = Counter()  # noqa: RUF012 - nobody changes it
    """File and code -> findings that the fixes remove."""

    target: TargetVersion | None = None
    """The version of the server for which the rules judged; None: unknown."""

    def line(self, flaw: Flaw) -> str:
        """Return the line that a flaw is in; empty where it is in none."""
        inside = flaw.spot.file in self.config.texts and flaw.spot.line
        return self.config.line(flaw.spot) if inside else ""

    def write(self, named: Sequence[Path]) -> Iterator[Path]:
        """
        Write what fixes made of the files; yield each, and the program of a command in no file.

        Args:
            named: Files that the user named; any other is written below the current folder only.

        Raises:
            ProfileError: One cannot be written, or lies elsewhere.
        """
        files = self.before.keys() - NO_FILES
        for file in files:
            if any(file != other and file.resolve() == other.resolve() for other in files):
                problem = f"is read under two names: lint it as {file.resolve()}"
                raise ProfileError(self.config.file, problem)
        for file in files:
            _write(file, self.config.texts[file], named)
            yield file
        yield from self.before.keys() & NO_FILES

    def report(self, file: Path) -> str:
        """Return how many findings of which rules the fixes of a file remove, in a sentence."""
        codes = {code: count for (fixed, code), count in self.fixed.items() if fixed == file}
        count = sum(codes.values())
        what = f"Fixed {count} finding{'s' * (count != 1)}"
        rules = ", ".join(sorted(codes))
        if file in NO_FILES:
            return f"{what} ({rules}): {self.config.texts[file]}"
        return f"{what} in {file} ({rules})"


def lint(
    name: str,
    known: Known,
    *,
    select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    fixes: str = "",
    remarks: bool = True,
    container: bool | None = None,
    targets: Mapping[str, TargetVersion] | None = None,
) -> LintResult:
    """
    Return what is wrong with a configuration.

    Args:
        name: As `lab.config.reading.read` takes it.
        known: What is known besides.
        select: Codes of the rules that count, or their beginnings; all without any.
        ignore: Of those that do not, beside what the file's project leaves out.
        container: Whether it runs in one; None if a Dockerfile says so.
        fixes: "safe" or "unsafe" to mend what can be mended; nothing is written.
        remarks: Whether also remarks are mended that are not shown without --all.
        targets: Program -> the version of it that serves; without it, files beside the
            configuration may name the version.

    Raises:
        ProfileError: There is no such file, or it is none that can be read.
    """
    before = config = read(name, known, commands=COMMANDS, container=container, strict=False)
    target = target_of(config, targets or {})
    known = replace(config.known, targets={target.program: target.version} if target else {})
    before = config = replace(config, known=known)
    if config.start is not None:
        chosen = _with_project(config.start.spot.file, Chosen(select, ignore))
        result = _in_its_file(config, config.start, judged(config, chosen))
        return result._replace(target=target)
    chosen = _with_project(config.file, Chosen(select, ignore))
    flaws = judged(config, chosen)
    size = sum(map(len, before.texts.values()))
    fixed: Counter[tuple[Path, str]] = Counter()
    wanted = _wanted(flaws, fixes, remarks=remarks)
    for _ in range(min(ROUNDS, 1 + READ_AGAIN // max(1, size)) if fixes else 0):
        if not wanted:
            break
        mended = _mended(config, wanted, known, guarded=fixes == "safe")
        if mended.texts == config.texts:
            break
        config, flaws = mended, judged(mended, chosen)
        left = _wanted(flaws, fixes, remarks=remarks)
        fixed += _by_file(wanted) - _by_file(left)
        wanted = left
    after = config.texts
    changed = {f: text for f, text in before.texts.items() if after.get(f, text) != text}
    return LintResult(config, flaws, changed, fixed, target)


def _wanted(flaws: Sequence[Flaw], fixes: str, *, remarks: bool) -> list[Flaw]:
    """Return the flaws whose fixes are to be written; see `lint`."""
    return [
        flaw
        for flaw in flaws
        if flaw.fix and (flaw.fix.safe or fixes == "unsafe") and (remarks or flaw.shown)
    ]


def _by_file(flaws: Sequence[Flaw]) -> Counter[tuple[Path, str]]:
    """Return file that a fix changes, and code -> flaws."""
    return Counter((flaw.fix.edits[0].spot.file, flaw.code) for flaw in flaws if flaw.fix)


def linted(
    config: Config,
    every: Sequence[Flaw],
    *,
    select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
) -> LintResult:
    """
    Return the same of a configuration that has been read and judged.

    Args:
        config: As it was read.
        every: What all rules find in it.
        select: See `lint`.
        ignore: See `lint`.

    Raises:
        ProfileError: The file of the project that says which rules count cannot be read.
    """
    chosen = _with_project(config.file, Chosen(select, ignore))
    return LintResult(config, judged(config, chosen, every=every), {})


def _in_its_file(config: Config, start: StartCommand, flaws: Sequence[Flaw]) -> LintResult:
    """Return what is wrong with a start command, at its places; the file has no fixes."""
    file = start.spot.file
    text = config.known.required(file)
    texts = {**config.texts, file: text}
    del texts[config.file]
    names = [one.name for one in sources.starts_of(file, text) if one.is_default]
    process = start.name if names[1:] and start.name in names else ""
    unknown = unknown_options(start.text, start.program)
    placed = [
        replace(
            flaw,
            message=f"{process}: {flaw.message}" if process else flaw.message,
            spot=start.place(flaw.spot),
            process=process,
            fix=None,
        )
        if flaw.spot.file == config.file
        else replace(flaw, fix=None)
        for flaw in flaws
        if not (unknown and _is_of_absence(config, flaw))
    ]
    ignored = {suppression.key for suppression in suppressions({file: text})}
    lines, above = text.split("\n"), start.spot.line
    while above > 1 and lines[above - 2].rstrip().endswith("\\"):
        above -= 1
    begins = replace(start.spot, line=above)
    counts = [
        flaw
        for flaw in placed
        if ignored.isdisjoint({*keys(flaw, file), *keys(replace(flaw, spot=begins), file)})
    ]
    return LintResult(replace(config, texts=texts), counts, {})


def _is_of_absence(config: Config, flaw: Flaw) -> bool:
    """Return whether a flaw is that an option is not there."""
    puts = (step for step in flaw.steps if isinstance(step, Put))
    is_missing = flaw.spot == config.top and flaw.code[:2] != "ST"
    return is_missing or any(config.last(put.option) is None for put in puts)


def _mended(config: Config, flaws: Sequence[Flaw], known: Known, *, guarded: bool) -> Config:
    """
    Return a configuration as the fixes of *flaws* leave it.

    Args:
        config: As it is.
        flaws: Each with a fix.
        known: As it was read with.
        guarded: Whether a fix counts only if the server then does the same.
    """
    fixes = [flaw.fix.edits for flaw in flaws if flaw.fix]
    mended = read_file(config.file, replace(known, overlay=applied(config.texts, fixes)))
    if not guarded or same(config, mended):
        return mended
    if len(flaws) == 1:
        return config
    for flaw in flaws[:ONE_BY_ONE]:
        config = _mended(config, [flaw], known, guarded=True)
    return config


def _with_project(path: Path, chosen: Chosen) -> Chosen:
    """
    Return the choice with that of the nearest pyproject.toml above a file.

    Raises:
        ProfileError: It says what cannot be meant.
    """
    files = (folder / "pyproject.toml" for folder in path.absolute().parents)
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        return chosen
    try:
        text = read_bytes(file).decode()
        check_size(text)
        check_nesting(text)
        table = tomllib.loads(text)
    except UnreadableError as error:
        raise ProfileError(file, str(error), error.line) from None
    except ValueError as error:
        raise ProfileError(file, f"cannot be read: {error}") from None
    section: Any = table
    for name in ("tool", "lab", "lint"):
        section = section.get(name, {})
        if not isinstance(section, dict):
            raise ProfileError(file, f"has a {name} that is not a table")
    for key, codes in section.items():
        if key != "ignore" or not isinstance(codes, list):
            raise ProfileError(file, '[tool.lab.lint] can only have ignore = ["CODE"]')
        check_codes(codes, f"{file}: [tool.lab.lint]")
    return replace(chosen, ignore=(*chosen.ignore, *map(str.upper, section.get("ignore", ()))))


def check_codes(codes: Sequence[str], where: str) -> None:
    """
    Refuse what no rule's code begins with.

    Raises:
        ProfileError: There is such a one; the message begins with *where*.
    """
    for code in codes:
        if not _begin_with(code):
            raise ProfileError(where, _no_rule(code))


def rules_of(code: str) -> list[Rule]:
    """
    Return the rules whose codes begin so.

    Raises:
        ProfileError: There is none.
    """
    if rules := [RULES[name] for name in _begin_with(code)]:
        return rules
    raise ProfileError("--explain", _no_rule(code))


def _begin_with(code: str) -> list[str]:
    """Return the codes of rules that begin with a text; none of an empty text."""
    return sorted(rule for rule in RULES if code and rule.startswith(code.upper()))


def _no_rule(code: str) -> str:
    beginnings = alternatives(sorted({rule[:2] for rule in RULES}))
    return f"rule {code} does not exist: rules begin with {beginnings}; list them with --explain UW"


def _write(path: Path, text: str, named: Sequence[Path]) -> None:
    """Put *text* in the place of a file's, all of it or nothing; mode and owner stay."""
    target = path.resolve()
    elsewhere = not target.is_relative_to(Path.cwd())
    linked = target != Path(os.path.normpath(path.absolute()))
    if elsewhere and (path not in named or linked):
        raise ProfileError(
            target, "is outside of this folder, so lab does not fix it: give its path"
        )
    new = target.with_name(f".{target.name}.{os.urandom(4).hex()}")
    try:
        was = target.stat()
        try:
            new.write_bytes(text.encode("utf-8", "surrogateescape"))
            with suppress(PermissionError):
                os.chown(new, was.st_uid, was.st_gid)
            new.chmod(was.st_mode & 0o7777)  # after chown, which clears some of it
            new.replace(target)
        finally:
            new.unlink(missing_ok=True)
    except OSError as error:
        raise ProfileError(path, f"cannot be written: {error.strerror}") from error
