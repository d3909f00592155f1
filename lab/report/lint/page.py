"""What there is to say of a rule: `lab lint --explain`, and the page of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent

from lab.settings.lint.judge import judged
from lab.settings.lint.read import example
from lab.settings.rules.rule import SERVERS, Rule
from lab.settings.uwsgi.table import uwsgi_options


def explained(rule: Rule) -> str:
    """Return a rule's page for a terminal."""
    parts = [f"{rule.code} {rule.severity}: {rule.title}", *sentences(rule)]
    parts += [f"{name}:\n\n{indent(said, '    ')}" for name, said in examples(rule)]
    return "\n\n".join(parts) + "\n"


def examples(rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield a configuration that a rule finds something in, and one that it does not."""
    yield "Bad", rule.bad
    yield "Good", rule.good


def sentences(rule: Rule) -> Iterator[str]:
    """Yield why a rule is one, where that was seen, and how what it finds can be fixed."""
    word = rule.why.partition(" ")[0]
    # What is the name of an option or a server stays as it is written.
    name = not word.isalpha() or word in uwsgi_options().entries or word in SERVERS.values()
    yield f"{rule.why if name else rule.why[0].upper() + rule.why[1:]}."
    yield f"Seen: {rule.seen}."
    yield f"Fix: {fix_of(rule)}."


def fix_of(rule: Rule) -> str:
    """Return whether what a rule finds in its bad example can be fixed, and how."""
    found = judged(example(rule.code, rule.bad))
    fixes = [flaw.fix for flaw in found if flaw.code == rule.code and flaw.fix is not None]
    if not fixes:
        return "none"
    return "safe (--fix)" if all(fix.safe for fix in fixes) else "unsafe (--unsafe-fixes)"
