"""What a configuration lacks, in words: for a terminal, as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping

from lab.cli.tune.missing import Lack, MissingSettings
from lab.config import servers
from lab.config.configuration import Config
from lab.model.wording import counted, in_a_line

UNMEASURED = "Nothing was started, and nothing measured."


def as_text(found: MissingSettings) -> str:
    """Return it for a terminal: the answer, what to paste, what to change."""
    return "\n".join(_text(found)) + "\n"


def _text(found: MissingSettings) -> Iterator[str]:
    yield f"{_answer(found)} {UNMEASURED}"
    if is_command(found.before):
        if found.lacks:
            yield from ("\nIn the place of your command:\n", found.after.texts[found.after.file])
    else:
        yield from _lines(found)
    if found.by_hand:
        yield "\nBy hand, for it stands elsewhere:\n"
        yield from (f"  {flaw.code}  {flaw.reason}\n         {why}" for flaw, why in found.by_hand)
    if found.tries:
        yield from ("\nA measured `lab tune` would try:\n", *(f"  {each}" for each in found.tries))
    yield from _closing(found)


def _lines(found: MissingSettings) -> Iterator[str]:
    if found.block:
        yield from (f"\nPaste at the end of {_end(found.before)}:\n", *found.block)
    if found.changes:
        yield "\nChange:"
    for each in found.changes:
        yield ""
        yield from (*(f"- {line}" for line in each.removed), *(f"+ {line}" for line in each.added))


def _answer(found: MissingSettings) -> str:
    name = in_a_line(str(found.before.file))
    if not found.anything:
        unread = found.before.guesses and f", as far as it is read ({found.before.guesses})"
        return f"{name}: nothing is missing for safety{in_a_line(unread)}."
    noun = "option" if is_command(found.before) else "line"
    more = sum(1 for each in found.lacks if not each.is_change)
    other = len(found.lacks) - more
    parts = []
    if more:
        parts.append(f"{counted(more, noun)} {'is' if more == 1 else 'are'} missing for safety")
    if other:
        parts.append(f"{counted(other, noun)} of yours should change")
    if found.by_hand:
        parts.append(f"{counted(len(found.by_hand), 'line')} must be written by hand")
    return f"{name}: {', and '.join(parts)}."


def _closing(found: MissingSettings) -> Iterator[str]:
    if found.lacks:
        code = found.lacks[0].code
        yield f"\nWhy, in full    lab lint --explain {code}, or {found.lacks[0].page}"
        if not is_command(found.before):
            yield "The way back    your file, which stays as it is: --output FILE writes another"
    if found.left:
        codes = ", ".join(sorted({each.code for each in found.left}))
        name = "" if is_command(found.before) else f": lab lint {_quoted(found.before)}"
        blank = "" if found.lacks else "\n"
        yield f"{blank}Besides         {codes}, for which no line is known{name}"


def _quoted(config: Config) -> str:
    return in_a_line(shlex.quote(str(config.file)))


def is_command(config: Config) -> bool:
    """Return whether a configuration is a command, and no file."""
    return servers.named(config.file.name) is not None


def _end(config: Config) -> str:
    """Return where lines are added."""
    line = config.line(config.top).strip("\ufeff \t\r")
    return line if line.startswith("[") else in_a_line(config.file.name)


def as_json(found: MissingSettings) -> str:
    """Return it as one JSON object."""
    file = found.before.file
    whole = {
        "file": str(file),
        "server": found.before.server,
        "missing": [_entry(each) for each in found.lacks],
        "by_hand": [
            {"code": flaw.code, "reason": flaw.reason, "why": why} for flaw, why in found.by_hand
        ],
        "left": [{"code": each.code, "message": each.message} for each in found.left],
        "block": "".join(f"{line}\n" for line in found.block),
        "text": found.after.texts[file],
        "measured": False,
        "tries": list(found.tries),
        "status": found.status,
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
