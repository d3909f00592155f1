"""
What a configuration lacks so that no request is lost: what the linter knows a line for.

Each line is a finding's, with its reason and its evidence, so that a comment which says that
something is meant so holds here as well. None is for speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from textwrap import wrap

from lab.config import servers
from lab.config.configuration import Config
from lab.config.edits import lines_of
from lab.config.steps import Put, Step
from lab.errors import ProfileError
from lab.lint.case import Case
from lab.lint.flaw import Flaw, Severity
from lab.lint.judge import judged
from lab.lint.lint import READ_AGAIN, linted
from lab.lint.rules import flaws
from lab.lint.rules.rule import RULES

SAFETY = ("UW3", "GU", "GR", "UV")
"""How the codes of rules begin that are about requests which are lost."""

LACKS = 4
"""Exit status where something is missing."""

REMARKS = frozenset({"UW303", "UW317", "GU006"})
"""Rules whose remarks count, too: what they add does no harm where it was not needed."""

WIDTH = 94
"""Columns of a comment, behind its mark."""

MOST = 40
"""Lines that are looked for: a line may bring the next, as a master the question of SIGTERM."""


@dataclass(frozen=True, slots=True)
class Lack:
    """What one finding adds, changes or takes out."""

    code: str
    reason: str
    """A clause."""

    steps: tuple[Step, ...]
    added: tuple[str, ...]
    """Lines of the file as they come, below their comments."""

    removed: tuple[str, ...]
    """Lines that go."""

    is_change: bool
    """Whether it is about an option that is written."""

    is_remark: bool
    """Whether `lab lint` calls it a remark: it is advised, and not missing for safety."""

    @property
    def evidence(self) -> str:
        """The evidence: file:line of the server's source, a stored run, or an issue."""
        return RULES[self.code].source

    @property
    def page(self) -> str:
        """Where the documentation has all of it."""
        return f"docs/reference/lint.md#{self.code.lower()}"


@dataclass(frozen=True, slots=True)
class MissingSettings:
    """A configuration, and what it lacks."""

    before: Config
    after: Config
    """With all of it."""

    lacks: Sequence[Lack]
    by_hand: Sequence[tuple[Flaw, str]] = ()
    """What this file cannot take, each with why and what to do."""

    left: Sequence[Flaw] = ()
    """Errors and dangers for which the linter knows no line."""

    tries: Sequence[str] = ()
    """What a measured `lab tune` would try, a group a line."""

    ignored: Sequence[str] = ()
    """Codes of the findings about safety that comments in the file suppress."""

    script: str = ""
    """Where the command stands, as in "Procfile:web"; empty of a command that was typed."""

    @property
    def block(self) -> Sequence[str]:
        """The lines that come and take no other's place."""
        return [line for lack in self.lacks if not lack.removed for line in lack.added]

    @property
    def changes(self) -> Sequence[Lack]:
        """What takes the place of lines that are there."""
        return [lack for lack in self.lacks if lack.removed]

    @property
    def status(self) -> int:
        """The exit status."""
        return LACKS if self.needed or self.by_hand else 0

    @property
    def needed(self) -> Sequence[Lack]:
        """What is missing for safety, without what is only advised."""
        return [lack for lack in self.lacks if not lack.is_remark]


def missing(config: Config, tries: Sequence[str] = (), script: str = "") -> MissingSettings:
    """
    Return what a configuration lacks, with what a measured tune would try; nothing is run.

    Raises:
        ProfileError: It is of a form that is not changed.
    """
    servers.edited(config, ())
    lacks: list[Lack] = []
    by_hand: list[tuple[Flaw, str]] = []
    now, attempted = config, set[tuple[str, tuple[Step, ...]]]()
    size = sum(map(len, config.texts.values()))
    every = list(flaws(Case.of(config)))
    current = linted(config, every).flaws
    for _ in range(min(MOST, 1 + READ_AGAIN // max(1, size))):
        wanted = (
            flaw
            for flaw in current
            if flaw.steps and _counts(flaw) and (flaw.code, flaw.steps) not in attempted
        )
        flaw = min(wanted, key=lambda finding: finding.code, default=None)
        if flaw is None:
            break
        attempted.add((flaw.code, flaw.steps))
        try:
            lack, now = _lack(now, flaw)
        except ProfileError as error:
            by_hand.append((flaw, str(error)))
        else:
            lacks.append(lack)
            current = linted(now, list(flaws(Case.of(now)))).flaws
    left = [flaw for flaw in current if not flaw.steps or not _counts(flaw)]
    worst = [flaw for flaw in left if flaw.severity in {Severity.ERROR, Severity.DANGEROUS}]
    ignored = _ignored(config, every)
    return MissingSettings(config, now, lacks, by_hand, worst, tries, ignored, script)


def _ignored(config: Config, every: Sequence[Flaw]) -> Sequence[str]:
    """Return the codes of the findings about safety that the comments in a file suppress."""
    shown = {(flaw.code, flaw.spot) for flaw in judged(config, every=every)}
    safety = (flaw for flaw in every if flaw.steps and _counts(flaw) and flaw.counts)
    return sorted({flaw.code for flaw in safety if (flaw.code, flaw.spot) not in shown})


def _counts(flaw: Flaw) -> bool:
    """Return whether a finding is about requests that are lost."""
    bad = flaw.severity is Severity.DANGEROUS or flaw.code in REMARKS
    return flaw.code.startswith(SAFETY) and bad


def _lack(config: Config, flaw: Flaw) -> tuple[Lack, Config]:
    """Return what a finding changes, and the configuration with it and its reason."""
    comment = _comment(flaw)
    first, *others = flaw.steps
    commented_steps = [(first, comment), *((step, ()) for step in others)]
    text = servers.edited(config, commented_steps)
    removed, added = _differing(config.texts[config.file], text)
    is_change = any(_is_written(config, step) for step in flaw.steps)
    remark = not flaw.counts
    lack = Lack(flaw.code, flaw.reason, flaw.steps, added, removed, is_change, remark)
    return lack, servers.with_text(config, text)


def _differing(before: str, after: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines that go, and those that come."""
    old, new = ([line.rstrip("\r\n") for line in lines_of(text)] for text in (before, after))
    head = _alike(old, new)
    old, new = old[head:], new[head:]
    tail = _alike(old[::-1], new[::-1])
    old, new = old[: len(old) - tail], new[: len(new) - tail]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    parts = [opcode for opcode in matcher.get_opcodes() if opcode[0] != "equal"]
    gone = (line for _, begins, ends, *_ in parts for line in old[begins:ends])
    come = (line for *_, begins, ends in parts for line in new[begins:ends])
    return tuple(gone), tuple(come)


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _comment(flaw: Flaw) -> Sequence[str]:
    """Return what stands above a line: the reason, the rule, and where that was seen."""
    advised = "" if flaw.counts else "advised: "
    comment = f"{advised}{flaw.reason} ({flaw.code}: {source(flaw.code)})"
    return wrap(comment, WIDTH, break_long_words=False, break_on_hyphens=False)


def source(code: str) -> str:
    """Return the first of a rule's evidence, in a few letters."""
    return RULES[code].source.partition(";")[0].partition(" `")[0]


def _is_written(config: Config, step: Step) -> bool:
    """Return whether a step is about what the user wrote."""
    adds = isinstance(step, Put) and config.table.repeats(step.option)
    return not adds and config.last(step.option) is not None
