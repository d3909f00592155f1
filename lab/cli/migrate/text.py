"""A migration in words: for a terminal, as Markdown, as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict

from lab.cli.migrate.migration import HIDDEN, Migration
from lab.cli.migrate.trial import SideBySide, of_measurement, status_of
from lab.config.vocabulary.addresses import bound, host_and_port
from lab.model.document import Block, Diff, Listing, table
from lab.report import markdown, plain

NGINX = "In nginx, in the location of the application"


def blocks(migration: Migration, tried: SideBySide | None = None) -> Iterator[Block]:
    """Yield what to paste, then what it changes, then what was seen."""
    yield Listing(migration.file, migration.text)
    if migration.environment:
        yield Listing(migration.environment_file, migration.environment)
    yield table("", ("", ""), _facts(migration))
    for name, notes in migration.lists.items():
        if notes:
            head, between = name.capitalize(), " -> "
            if name == HIDDEN:
                between = " - "
            rows = ((note.was, note.becomes) for note in notes)
            yield table(head, ("before", "after"), rows, between=between)
    if migration.nginx:
        yield Diff(NGINX, migration.nginx)
    if tried is not None:
        yield from of_measurement(tried)


def _facts(migration: Migration) -> Iterator[tuple[str, str]]:
    yield "Start it", migration.start
    if migration.concurrency:
        yield "Concurrency", migration.concurrency
    if not migration.translation.service.addresses:
        yield "Address", "not known: write one before you start the new server"
    if migration.translation.service.application is None:
        yield "Application", "not known: write it in place of MODULE:CALLABLE"
    if addresses := migration.shared_addresses:
        shown = ", ".join(
            str(address.path or host_and_port(bound(address))) for address in addresses
        )
        ways = {"path" if address.path else "port" for address in addresses}
        way = ways.pop() if len(addresses) == 1 else "address"
        yield "Address", f"Both use {shown}: to run both, give one another {way}"
    for condition in migration.open:
        yield "Condition", condition


def as_text(migration: Migration, tried: SideBySide | None = None) -> str:
    """Return it for a terminal."""
    return plain.render(blocks(migration, tried))


def as_markdown(migration: Migration, tried: SideBySide | None = None) -> str:
    """Return it as a page, for a pull request."""
    title = f"From {migration.before} to {migration.after}"
    return markdown.render_blocks(title, blocks(migration, tried))


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
