"""What the linter says of itself: of its comments, and of files that it cannot follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from textwrap import shorten

from lab.config.edits import Edit
from lab.config.templates import filled
from lab.config.uwsgi.logic import UNTRUSTED
from lab.lint.flaw import Fix
from lab.lint.rules.alike import SILENT
from lab.lint.rules.rule import Case, Flaw, Severity, rule
from lab.lint.syntax import is_command


@rule(
    "UW900",
    Severity.NO_EFFECT,
    "a suppression without a finding",
    why="the comment would hide the next problem of its kind",
    source="lab/lint/suppress.py",
    bad="""
; lab: ignore[UW205] the workers shall end
master = true
""",
    good="""
; lab: ignore[UW205] the workers shall end
no-orphans = true
""",
    near_miss="# lab: ignore[uw204] a supervisor's template sets it\ndie-on-term = true",
)
def unused_suppression(config: Case) -> Iterator[Flaw]:
    """Nothing is found where it stands."""
    for suppression in config.unused:
        line = config.line(suppression.spot)
        alone = f"[{suppression.code}]" in line.upper()
        edit = Edit(suppression.spot, line, None)
        fix = Fix((edit,), safe=False, description=f"without {line.strip()}")
        text = f"{suppression.code} finds nothing here: remove the comment"
        yield config.flaw(suppression.spot, text, fix if alone else None)


@rule(
    "UW901",
    Severity.REMARK,
    "a configuration that lab cannot read completely",
    why="lab does not run the commands or fetch the addresses that uWSGI reads from, and does not "
    "know the variables of a shell, so rules that need the result are silent",
    source="core/utils.c (uwsgi_open_and_read)",
    bad="ini = exec://./configure",
    good="module = app:app",
    near_miss="[uwsgi]\nini = :shared\n[shared]\nmodule = app:app",
)
def guesses(config: Case) -> Iterator[Flaw]:
    """Something of it cannot be read as uWSGI would."""
    guesses = "" if config.circle else config.guesses
    # What a template fills in is a guess already.
    options = dict.fromkeys(
        setting.option
        for setting in config.unknown_numbers
        if is_command(config, setting.spot) or not filled(setting.value)
    )
    missing = {by.spot for _, by in config.missing}
    unread = [(name, by) for name, by in config.unread_includes if by.spot not in missing]
    if guesses and unread:
        name, by = unread[0]
        name = shorten(name, 90, placeholder=" ...")
        trusted = " without --trusted" * guesses.startswith("without --trusted")
        text = f"this includes {name}, which could not be read{trusted}; {SILENT}"
        yield replace(config.flaw(by.spot, text), always=True)
    guesses = "" if config.unread_includes else guesses
    reasons = [shorten(guesses.removesuffix(UNTRUSTED), 90, placeholder=" ...")] * bool(guesses)
    if options:
        names = shorten(", ".join(options), 90, placeholder=" ...")
        reasons.append(f"lab does not know the value of {names}")
    if reasons:
        advice = "their rules are silent"
        if guesses.endswith(UNTRUSTED):
            advice = "give --trusted to read the environment"
        text = f"some settings could not be checked: {' and '.join(reasons)}; {advice}"
        yield config.flaw(config.top, text)
