"""
The documentation of the site: `docs/` as it is, a page for each rule, a page for each meaning.

Sphinx makes the pages. A link to a file that is no page of the site becomes a link to the
repository.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from lab.cli.commands import cli
from lab.config.servers import TRANSLATABLE
from lab.config.vocabulary.senses import Sense, senses
from lab.lint.page import examples, fix_of, message_of, sentences
from lab.lint.rules.rule import RULES, Rule
from lab.model.document import table
from lab.model.wording import UNKNOWN
from lab.report import markdown
from tools.pages import lint, vocabulary
from tools.pages.files import DOCS, ROOT, RUNS, names

COPIED = (".md", ".svg", ".png")
"""Files of `docs/` that the site has; data is in the repository."""

LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]*)(#[^)\s]*)?(?=\))")

FENCE = re.compile(r"(^ *```.*?^ *```)", re.DOTALL | re.MULTILINE)

PARTS = {
    "Learn": "tutorials/*",
    "How to": "how-to/*",
    "Look up": "reference/*",
    "Understand": "explanation/*",
    "Contribute": "contributing/*",
}
"""Heading in the navigation -> the pages below it."""


def write_sources(folder: Path, repository: str, tries: Mapping[str, Any]) -> None:
    """
    Write what Sphinx reads.

    Args:
        folder: A folder that does not exist.
        repository: Address of the repository, for links to files.
        tries: Code of a rule -> a true value if the page of the linter can show its example.
    """
    files = [path for path in DOCS.rglob("*") if path.suffix in COPIED]
    pages = {path.relative_to(ROOT) for path in files}
    for path in files:
        target = folder / _renamed(path.relative_to(ROOT))
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            target.write_text(linked(text, path.relative_to(ROOT), pages, repository))
        else:
            shutil.copy(path, target)
    with (folder / "docs" / "index.md").open("a", encoding="utf-8") as index:
        index.writelines(_navigation())
    written = {**_rules(tries), **_meanings()}
    for name, text in written.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(linked(text, Path(name), {*pages, *map(Path, written)}, repository))


def _renamed(path: Path) -> Path:
    """Return the path of a page: README.md, which GitHub shows for a folder, is its index."""
    return path.with_name("index.md") if path.name == "README.md" else path


def linked(text: str, page: Path, pages: set[Path], repository: str) -> str:
    """
    Return a page with its links as the site has them.

    Args:
        text: The page, in Markdown.
        page: Its path in the repository.
        pages: The paths that are on the site.
        repository: Address of the repository.
    """

    def target(match: re.Match[str]) -> str:
        path, section = match[1], match[2] or ""
        there = Path(os.path.normpath(page.parent / path))
        if there in pages:
            return f"{PurePosixPath(path).parent / _renamed(there).name}{section}"
        kind = "tree" if (ROOT / there).is_dir() else "blob"
        return f"{repository}/{kind}/main/{there.as_posix()}{section}"

    parts = FENCE.split(text)
    parts[::2] = (LINK.sub(target, part) for part in parts[::2])
    return "".join(parts)


def _navigation() -> Iterator[str]:
    for title, pattern in PARTS.items():
        yield f"\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {title}\n\n{pattern}\n"
        if title == "Look up":
            yield "/rules/index\n/options/index\nruns/index\n"
        yield "```\n"


def _rules(tries: Mapping[str, Any]) -> dict[str, str]:
    """Return path -> text of the pages of the rules."""
    index = ["# Rules\n", "`lab lint` checks these rules. Each has a page.\n"]
    for beginning, title in lint.GROUPS.items():
        rules = [rule for code, rule in sorted(RULES.items()) if code.startswith(beginning)]
        links = ((f"[{rule.code}]({rule.code}.md)", rule.severity, rule.title) for rule in rules)
        rows = ((link, severity, lint.prose(title)) for link, severity, title in links)
        index += [
            f"## {title}\n",
            markdown.render_table(table("", ("rule", "class", "finds"), rows)),
        ]
    pages = {f"rules/{code}.md": _rule(rule, tries.get(code)) for code, rule in RULES.items()}
    return {"rules/index.md": "\n".join(index) + "\n", **pages}


def _rule(rule: Rule, can_try: Any) -> str:
    """Return the page of a rule."""
    server = next((one for one in TRANSLATABLE.values() if one.name == rule.server), None)
    checked = f"Checked against {server.name} {server.version}. " if server else ""
    source = "; ".join(lint.evidence(one, "../docs/") for one in rule.source.split("; "))
    parts = ["---\norphan: true\n---\n", f"# {rule.code}: {lint.prose(rule.title)}\n"]
    if can_try:
        parts.append(f"*{rule.severity}* · [Try it online](../#rule={rule.code})\n")
    else:
        parts.append(f"*{rule.severity}*\n")
    parts.append(f"{lint.prose(next(sentences(rule)))}\n")
    if message := message_of(rule):
        parts.append(f"Message: {lint.prose(message)}.\n")
    for name, text in (*examples(rule), ("Not a finding", rule.near_miss)):
        parts.append(f"## {name}\n\n```{lint.language(rule)}\n{text}\n```\n")
    parts.append(f"## Source\n\n{source}.\n\n{checked}Fix: {fix_of(rule)}.\n")
    parts.append(f"## Suppress it\n\n`lab lint --ignore {rule.code}`; see")
    parts.append("[how to suppress a finding](../docs/how-to/lint.md).\n")
    return "\n".join(parts)


def _meanings() -> dict[str, str]:
    """Return path -> text of the pages of the meanings."""
    rows = ((f"[{sense.means}]({key}.md)", *_names(sense)) for key, sense in senses().items())
    heads = ("meaning", *(server.name for server in TRANSLATABLE.values()))
    opening = "# Options\n\nWhat an option is called elsewhere. Each meaning has a page.\n"
    index = f"{opening}\n{_table(heads, rows)}\n"
    pages = {f"options/{key}.md": _meaning(sense) for key, sense in senses().items()}
    return {"options/index.md": index, **pages}


def _names(sense: Sense) -> Iterator[str]:
    """Yield the first option of each server for a meaning."""
    for program in TRANSLATABLE:
        names = sense.columns[program].names if program in sense.columns else ()
        yield vocabulary.option(names[0], program) if names else UNKNOWN


def _meaning(sense: Sense) -> str:
    """Return the page of a meaning: what an option is called elsewhere."""
    servers = ", ".join(server.name for server in TRANSLATABLE.values())
    title = f"{sense.means[:1].upper()}{sense.means[1:]}: {servers}"
    rows = (
        (
            f"{server.name} {server.version}",
            vocabulary.spelling(sense, program),
            ", ".join(f"`{line}`" for line in vocabulary.sources_of(sense, program)) or UNKNOWN,
        )
        for program, server in TRANSLATABLE.items()
    )
    return (
        f"---\norphan: true\n---\n# {title}\n\n{_table(('server', 'option', 'source'), rows)}\n"
        "`lab migrate uwsgi.ini --to gunicorn` translates a configuration by this table; "
        "[all options](index.md), [how to migrate](../docs/how-to/migrate.md), "
        "[try it online](../).\n"
    )


def _table(heads: Any, rows: Any) -> str:
    return markdown.render_table(table("", heads, rows))


def write_reports(site: Path) -> None:
    """Write the report of each stored run as a page beside the list of runs."""
    for name in names():
        folder = site / "docs" / "runs" / name
        folder.mkdir(parents=True)
        words = ["report", str(RUNS / name), "--full", "--html", str(folder / "index.html")]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            cli.main(words, "lab", standalone_mode=False)
