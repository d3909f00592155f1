"""What there is to say of a rule: `lab lint --explain`, and the page of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

from lab.config.uwsgi.table import uwsgi_options
from lab.lint.examples import example
from lab.lint.flaw import Flaw
from lab.lint.judge import judged
from lab.lint.rules.rule import SERVERS, Rule


def explained(rule: Rule) -> str:
    """Return a rule's page for a terminal."""
    parts = [f"{rule.code} {rule.severity}: {rule.title}", *sentences(rule)]
    parts += [f"{name}:\n\n{indent(said, '    ')}" for name, said in examples(rule)]
    return "\n\n".join(parts) + "\n"


def examples(rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield a configuration that a rule finds something in, and those that it does not."""
    yield "Bad", rule.bad
    yield "Good", rule.good
    yield "Looks like it, and is not", rule.near


def sentences(rule: Rule) -> Iterator[str]:
    """Yield why a rule is one, what it says, where that was seen, and how it can be fixed."""
    word = rule.why.partition(" ")[0]
    # What is the name of an option or a server stays as it is written.
    name = not word.isalpha() or word in uwsgi_options().entries or word in SERVERS.values()
    yield f"{rule.why if name else rule.why[0].upper() + rule.why[1:]}."
    if said := says(rule):
        yield said
    yield f"Seen: {rule.seen}."
    yield f"Fix: {fix_of(rule)}."


def says(rule: Rule) -> str:
    """Return what a rule says of its bad example, and so what to do; "" where that is its why."""
    message = next((flaw.message for flaw in _found(rule)), "")
    message = message.replace(f"{Path.cwd()}/", "/srv/app/")  # which %d is here
    return "" if rule.why in message else f"In the bad example: {message}."


def fix_of(rule: Rule) -> str:
    """Return whether what a rule finds in its bad example can be fixed, and how."""
    fixes = [flaw.fix for flaw in _found(rule) if flaw.fix is not None]
    if not fixes:
        return "none"
    return "safe (--fix)" if all(fix.safe for fix in fixes) else "unsafe (--unsafe-fixes)"


def _found(rule: Rule) -> list[Flaw]:
    """Return what a rule finds in its bad example."""
    return [flaw for flaw in judged(example(rule.code, rule.bad)) if flaw.code == rule.code]
