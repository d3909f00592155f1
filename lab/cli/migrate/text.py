"""A migration in words: for a terminal, as Markdown, as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict

from lab.cli.migrate.migration import HIDDEN, Migration
from lab.cli.migrate.trial import SideBySide, lines, status_of

HEAD = "Put to the test, beside each other"
"""What stands above the table of a measurement."""


def as_text(migration: Migration, tried: SideBySide | None = None) -> str:
    """Return it for a terminal: what to paste, then what it changes, then what was seen."""
    seen = ("", HEAD.upper(), *lines(tried)) if tried else ()
    return "\n".join((*_text(migration), *seen)) + "\n"


def _text(migration: Migration) -> Iterator[str]:
    yield f"# {migration.file}"
    yield migration.text.rstrip("\n")
    if migration.environment:
        yield f"\n# {migration.environment_file}"
        yield migration.environment.rstrip("\n")
    yield f"\nStart it    {migration.start}"
    if migration.at_once:
        yield f"At once     {migration.at_once} requests, before and after"
    if migration.translation.service.addresses:
        yield "Address     that of the old server: give it another one while both run"
    for each in migration.open:
        yield f"Open        {each}: decided here as if no variable were set. Give --env NAME=VALUE"
    for name, notes in migration.lists.items():
        if notes:
            yield f"\n{_head(name, migration)}"
            between = ": " if name == HIDDEN else " -> "
            yield from (f"  {note.was}{between}{note.becomes}" for note in notes)
    if migration.nginx:
        yield "\nIN NGINX, IN THE LOCATION OF THE APPLICATION"
        yield from (f"  {each}" for each in migration.nginx)


def _head(name: str, migration: Migration) -> str:
    if name == HIDDEN:
        return f"{migration.before.upper()} -> {migration.after.upper()}, THOUGH NO OPTION SHOWS IT"
    return name.upper()


def as_markdown(migration: Migration, tried: SideBySide | None = None) -> str:
    """Return it as a page, for a pull request."""
    seen = _table(tried) if tried else ()
    return "\n".join((*_markdown(migration), *seen)) + "\n"


def _markdown(migration: Migration) -> Iterator[str]:
    yield f"# From {migration.before} to {migration.after}\n"
    language = {"py": "python", "sh": "sh", "ini": "ini"}.get(migration.file.rpartition(".")[2], "")
    yield f"`{migration.file}`, started by `{migration.start}`:\n"
    yield f"```{language}\n{migration.text.rstrip()}\n```"
    if migration.environment:
        yield f"\nEnvironment:\n\n```sh\n{migration.environment.rstrip()}\n```"
    for each in migration.open:
        yield f"\nOpen: `{each}` is decided where it serves, and here as if no variable were set."
    for name, notes in migration.lists.items():
        if notes:
            yield f"\n## {name.capitalize()}\n\n| before | after |\n|---|---|"
            yield from (f"| {_cell(note.was)} | {_cell(note.becomes)} |" for note in notes)
    if migration.nginx:
        yield "\n## nginx\n\n```diff\n" + "\n".join(migration.nginx) + "\n```"


def _table(tried: SideBySide) -> Iterator[str]:
    yield f"\n## {HEAD}\n\n| | question | before | after |\n|---|---|---|---|"
    for contrast in tried.contrasts:
        cells = map(_cell, (contrast.question, contrast.before, contrast.after))
        yield f"| {_cell(contrast.mark and 'differs')} | {' | '.join(cells)} |"
    yield ""
    yield from (f"- {_cell(note)}" for note in tried.notes)


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def as_json(migration: Migration, tried: SideBySide | None = None) -> str:
    """Return it as one JSON object."""
    made = migration.translation
    listed = {
        name.replace(" ", "_"): [{"was": note.was, "becomes": note.becomes} for note in notes]
        for name, notes in migration.lists.items()
    }
    whole = {
        "from": made.service.program,
        "to": made.to,
        "file": migration.file,
        "configuration": migration.text,
        "environment": migration.environment,
        "start": migration.start,
        "open": list(migration.open),
        **listed,
        "nginx": list(migration.nginx),
        "status": status_of(migration, tried),
    }
    if tried is not None:
        whole["measured"] = asdict(tried)
    return json.dumps(whole, indent=1) + "\n"


FORMS: Mapping[str, Callable[[Migration, SideBySide | None], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "json": as_json,
}
"""Form -> how it is written."""
