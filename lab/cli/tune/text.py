"""What a configuration lacks, in words: for a terminal, as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping

from lab.bench.machine import project
from lab.cli.tune.missing import Lack, MissingSettings
from lab.config import servers
from lab.config.configuration import Config
from lab.config.servers import GROUPS
from lab.model.document import Block, Diff, table
from lab.model.wording import counted, in_a_line
from lab.report import plain

UNMEASURED = "Nothing was started or measured."


def as_text(missing_settings: MissingSettings) -> str:
    """Return it for a terminal."""
    return plain.render(blocks(missing_settings))


def blocks(missing_settings: MissingSettings) -> Iterator[Block]:
    """Yield the answer, what to paste, what to change."""
    before, after = missing_settings.before, missing_settings.after
    yield f"{answer(missing_settings)} {UNMEASURED}"
    if is_command(before):
        if missing_settings.lacks:
            yield from (f"{place_of_block(before)}:", after.texts[after.file])
    else:
        if missing_settings.block:
            yield f"{place_of_block(before)}:"
            yield "\n".join(missing_settings.block)
        if missing_settings.changes:
            yield "Change:"
        for change in missing_settings.changes:
            removed = (f"- {line}" for line in change.removed)
            yield Diff("", (*removed, *(f"+ {line}" for line in change.added)))
    if missing_settings.by_hand:
        yield "To edit by hand, in other files:"
        yield "\n".join(
            f"  {flaw.code}  {flaw.reason}\n         {why}"
            for flaw, why in missing_settings.by_hand
        )
    if missing_settings.tries:
        yield "Without --dry-run, `lab tune` would also try:"
        yield "\n".join(f"  {_explained(change)}" for change in missing_settings.tries)
    if rows := [*_closing(missing_settings)]:
        yield table("", ("", ""), rows)
    yield from _other_findings(missing_settings)


def answer(missing_settings: MissingSettings) -> str:
    """Return in a sentence how many lines are missing."""
    name = in_a_line(missing_settings.script or str(missing_settings.before.file))
    noun = "option" if is_command(missing_settings.before) else "line"
    needed = missing_settings.needed
    more = sum(1 for lack in needed if not lack.is_change)
    other = len(needed) - more
    parts = []
    if more:
        parts.append(f"{counted(more, noun)} {'is' if more == 1 else 'are'} missing for safety")
    if other:
        parts.append(f"{counted(other, noun)} of yours should be changed")
    if missing_settings.by_hand:
        parts.append(f"{counted(len(missing_settings.by_hand), 'line')} must be edited by hand")
    nothing = "nothing new" if missing_settings.ignored else "nothing is missing for safety"
    parts = parts or [f"{nothing}{_unread(missing_settings)}"]
    return " ".join((f"{name}: {', and '.join(parts)}.", *_beside(missing_settings, noun)))


def _unread(missing_settings: MissingSettings) -> str:
    guesses = missing_settings.before.guesses
    return in_a_line(f", as far as lab can read the file ({guesses})") if guesses else ""


def _beside(missing_settings: MissingSettings, noun: str) -> Iterator[str]:
    """Yield what is no part of the answer: what a comment suppresses, and what is advised."""
    if missing_settings.ignored:
        yield f"Ignored in the file: {', '.join(missing_settings.ignored)}."
    if count := len(missing_settings.lacks) - len(missing_settings.needed):
        verb = "is" if count == 1 else "are"
        yield f"{counted(count, noun)} {verb} advised, which is a remark of `lab lint --all`."


def _explained(change: str) -> str:
    """Return a change that is tried, with what its group is about."""
    meaning = GROUPS.get(change.partition(":")[0])
    return f"{change} ({meaning})" if meaning else change


def _closing(missing_settings: MissingSettings) -> Iterator[tuple[str, str]]:
    is_file = not is_command(missing_settings.before)
    if missing_settings.lacks:
        code = missing_settings.lacks[0].code
        explain = f"{project.lab_command()} lint --explain {code}"
        yield "Why, in full", f"{explain}, or {missing_settings.lacks[0].page}"
        if is_file:
            yield "Undo", "your file is unchanged; --output FILE writes a new one"


def _other_findings(missing_settings: MissingSettings) -> Iterator[str]:
    """Yield the codes of findings that are not about safety."""
    if not missing_settings.left:
        return
    is_file = not is_command(missing_settings.before)
    printed = f", not part of the {'block' if is_file else 'command'} above"
    codes = ", ".join(sorted({flaw.code for flaw in missing_settings.left}))
    name = missing_settings.script or (str(missing_settings.before.file) if is_file else "")
    command = f"{project.lab_command()} lint {in_a_line(shlex.quote(name))}"
    how = f" Run `{command}`." if name else ""
    yield f"Also found{printed if missing_settings.lacks else ''}: {codes}.{how}"


def is_command(config: Config) -> bool:
    """Return whether a configuration is a command, and no file."""
    return servers.named(config.file.name) is not None


def place_of_block(config: Config) -> str:
    """Return what to do with the lines that are missing: "Paste at the end of [uwsgi]"."""
    if is_command(config):
        return "Instead of your command"
    line = config.line(config.top).strip("\ufeff \t\r")
    end = line if line.startswith("[") else in_a_line(config.file.name)
    return f"Paste at the end of {end}"


def as_json(missing_settings: MissingSettings) -> str:
    """Return it as one JSON object."""
    file = missing_settings.before.file
    whole = {
        "file": str(file),
        "server": missing_settings.before.server,
        "missing": [_entry(lack) for lack in missing_settings.lacks],
        "by_hand": [
            {"code": flaw.code, "reason": flaw.reason, "why": why}
            for flaw, why in missing_settings.by_hand
        ],
        "left": [{"code": flaw.code, "message": flaw.message} for flaw in missing_settings.left],
        "block": "".join(f"{line}\n" for line in missing_settings.block),
        "text": missing_settings.after.texts[file],
        "measured": False,
        "tries": list(missing_settings.tries),
        "status": missing_settings.status,
    }
    return json.dumps(whole, indent=1) + "\n"


def _entry(lack: Lack) -> Mapping[str, object]:
    return {
        "code": lack.code,
        "reason": lack.reason,
        "evidence": lack.evidence,
        "page": lack.page,
        "removed": list(lack.removed),
        "added": list(lack.added),
    }


FORMS: Mapping[str, Callable[[MissingSettings], str]] = {"text": as_text, "json": as_json}
"""Form -> how it is written."""
