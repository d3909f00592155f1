"""A migration in words: for a terminal, as Markdown, as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict

from lab.cli.migrate.migration import HIDDEN, Migration
from lab.cli.migrate.trial import SideBySide, lines, status_of

HEAD = "Put to the test, beside each other"
"""What stands above the table of a measurement."""


def as_text(found: Migration, tried: SideBySide | None = None) -> str:
    """Return it for a terminal: what to paste, then what it changes, then what was seen."""
    seen = ("", HEAD.upper(), *lines(tried)) if tried else ()
    return "\n".join((*_text(found), *seen)) + "\n"


def _text(found: Migration) -> Iterator[str]:
    yield f"# {found.file}"
    yield found.text.rstrip("\n")
    if found.environment:
        yield f"\n# {found.environment_file}"
        yield found.environment.rstrip("\n")
    yield f"\nStart it    {found.start}"
    if found.at_once:
        yield f"At once     {found.at_once} requests, before and after"
    if found.translation.service.addresses:
        yield "Address     that of the old server: give it another one while both run"
    for each in found.open:
        yield f"Open        {each}: decided here as if no variable were set. Give --env NAME=VALUE"
    for name, notes in found.lists.items():
        if notes:
            yield f"\n{_head(name, found)}"
            between = ": " if name == HIDDEN else " -> "
            yield from (f"  {each.was}{between}{each.becomes}" for each in notes)
    if found.nginx:
        yield "\nIN NGINX, IN THE LOCATION OF THE APPLICATION"
        yield from (f"  {each}" for each in found.nginx)


def _head(name: str, found: Migration) -> str:
    if name == HIDDEN:
        return f"{found.before.upper()} -> {found.after.upper()}, THOUGH NO OPTION SHOWS IT"
    return name.upper()


def as_markdown(found: Migration, tried: SideBySide | None = None) -> str:
    """Return it as a page, for a pull request."""
    seen = _table(tried) if tried else ()
    return "\n".join((*_markdown(found), *seen)) + "\n"


def _markdown(found: Migration) -> Iterator[str]:
    yield f"# From {found.before} to {found.after}\n"
    language = {"py": "python", "sh": "sh", "ini": "ini"}.get(found.file.rpartition(".")[2], "")
    yield f"`{found.file}`, started by `{found.start}`:\n"
    yield f"```{language}\n{found.text.rstrip()}\n```"
    if found.environment:
        yield f"\nEnvironment:\n\n```sh\n{found.environment.rstrip()}\n```"
    for each in found.open:
        yield f"\nOpen: `{each}` is decided where it serves, and here as if no variable were set."
    for name, notes in found.lists.items():
        if notes:
            yield f"\n## {name.capitalize()}\n\n| before | after |\n|---|---|"
            yield from (f"| {_cell(each.was)} | {_cell(each.becomes)} |" for each in notes)
    if found.nginx:
        yield "\n## nginx\n\n```diff\n" + "\n".join(found.nginx) + "\n```"


def _table(tried: SideBySide) -> Iterator[str]:
    yield f"\n## {HEAD}\n\n| | question | before | after |\n|---|---|---|---|"
    for each in tried.contrasts:
        cells = map(_cell, (each.question, each.before, each.after))
        yield f"| {_cell(each.mark and 'differs')} | {' | '.join(cells)} |"
    yield ""
    yield from (f"- {_cell(note)}" for note in tried.notes)


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def as_json(found: Migration, tried: SideBySide | None = None) -> str:
    """Return it as one JSON object."""
    made = found.translation
    listed = {
        name.replace(" ", "_"): [{"was": each.was, "becomes": each.becomes} for each in notes]
        for name, notes in found.lists.items()
    }
    whole = {
        "from": made.service.program,
        "to": made.to,
        "file": found.file,
        "configuration": found.text,
        "environment": found.environment,
        "start": found.start,
        "open": list(found.open),
        **listed,
        "nginx": list(found.nginx),
        "status": status_of(found, tried),
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
