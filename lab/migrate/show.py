"""A migration in words: for a terminal, as Markdown, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lab.migrate.migrated import HIDDEN, Migrated


def as_text(found: Migrated) -> str:
    """Return it for a terminal: what to paste, then what it changes."""
    return "\n".join(_text(found)) + "\n"


def _text(found: Migrated) -> Iterator[str]:
    yield f"# {found.file}"
    yield found.text.rstrip("\n")
    if found.environment:
        yield f"\n# {found.environment_file}"
        yield found.environment.rstrip("\n")
    yield f"\nStart it    {found.start}"
    if found.at_once:
        yield f"At once     {found.at_once} requests, before and after"
    for each in found.open:
        yield f"Open        {each}: not set here, so its lines are left out. Give --env NAME=VALUE"
    for name, notes in found.lists.items():
        if notes:
            yield f"\n{_head(name, found)}"
            between = ": " if name == HIDDEN else " -> "
            yield from (f"  {each.was}{between}{each.becomes}" for each in notes)
    if found.nginx:
        yield "\nIN NGINX, IN THE LOCATION OF THE APPLICATION"
        yield from (f"  {each}" for each in found.nginx)


def _head(name: str, found: Migrated) -> str:
    if name == HIDDEN:
        return f"{found.before.upper()} -> {found.after.upper()}, THOUGH NO OPTION SHOWS IT"
    return name.upper()


def as_markdown(found: Migrated) -> str:
    """Return it as a page, for a pull request."""
    return "\n".join(_markdown(found)) + "\n"


def _markdown(found: Migrated) -> Iterator[str]:
    yield f"# From {found.before} to {found.after}\n"
    language = {"py": "python", "sh": "sh", "ini": "ini"}.get(found.file.rpartition(".")[2], "")
    yield f"`{found.file}`, started by `{found.start}`:\n"
    yield f"```{language}\n{found.text.rstrip()}\n```"
    if found.environment:
        yield f"\nEnvironment:\n\n```sh\n{found.environment.rstrip()}\n```"
    for each in found.open:
        yield f"\nOpen: `{each}` is decided where it serves; its lines are left out."
    for name, notes in found.lists.items():
        if notes:
            yield f"\n## {name.capitalize()}\n\n| before | after |\n|---|---|"
            yield from (f"| {_cell(each.was)} | {_cell(each.becomes)} |" for each in notes)
    if found.nginx:
        yield "\n## nginx\n\n```diff\n" + "\n".join(found.nginx) + "\n```"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def as_json(found: Migrated) -> str:
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
        "status": found.status,
    }
    return json.dumps(whole, indent=1) + "\n"


FORMS = {"text": as_text, "markdown": as_markdown, "json": as_json}
"""Form -> how it is written."""
