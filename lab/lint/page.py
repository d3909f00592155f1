"""The documentation of a rule: `lab lint --explain`, and the page of all rules."""

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
    shown = (*examples(rule), ("Not a finding", rule.near_miss))
    parts += [f"{name}:\n\n{indent(text, '    ')}" for name, text in shown]
    return "\n\n".join(parts) + "\n"


def examples(rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield the bad and the good example of a rule, with their headings."""
    yield "Bad", rule.bad
    yield "Good", rule.good


def sentences(rule: Rule) -> Iterator[str]:
    """Yield why a rule exists, its message, its source, and how a finding can be fixed."""
    word = rule.why.partition(" ")[0]
    # The name of an option or a server stays as it is.
    is_name = not word.isalpha() or word in uwsgi_options().entries or word in SERVERS.values()
    yield f"{rule.why if is_name else rule.why[0].upper() + rule.why[1:]}."
    if message := message_of(rule):
        yield f"Message: {message}."
    yield f"Source: {rule.source}."
    if rule.server:
        yield f"Tried on: {versions_of(rule)}."
    yield f"Fix: {fix_of(rule)}."


def versions_of(rule: Rule) -> str:
    """Return the version on which a rule was tried, and those for which it holds."""
    only = f"; it holds for {rule.versions}" if rule.versions else ""
    return f"{rule.server} {rule.tried}{only}"


def message_of(rule: Rule) -> str:
    """Return the message for a rule's bad example, without what is set there; "" if it is why."""
    flaw = next(iter(_flaws(rule)), None)
    if flaw is None or rule.why in flaw.message:
        return ""
    message = flaw.message[flaw.message.find(flaw.reason) :]
    return message.replace(f"{Path.cwd()}/", "/srv/app/")  # which %d is here


def fix_of(rule: Rule) -> str:
    """Return how the finding in a rule's bad example can be fixed."""
    fixes = [flaw.fix for flaw in _flaws(rule) if flaw.fix is not None]
    if not fixes:
        return "none"
    return "safe (--fix)" if all(fix.safe for fix in fixes) else "unsafe (--fix --unsafe-fixes)"


def _flaws(rule: Rule) -> list[Flaw]:
    """Return what a rule finds in its bad example."""
    return [flaw for flaw in judged(example(rule.code, rule.bad)) if flaw.code == rule.code]
