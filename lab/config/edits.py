"""Changes of texts, line by line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.config.spot import Spot


@dataclass(frozen=True, slots=True)
class Edit:
    """
    One change of a file.

    `Edit(spot, "true", "1")` puts a text in the place of another; `Edit(spot, "", "x = 1")` adds a
    line below that of *spot*; `Edit(spot, line, None)` takes the line away, whose text is *old*.
    """

    spot: Spot
    old: str
    new: str | None


def applied(texts: Mapping[Path, str], changes: Iterable[Sequence[Edit]]) -> dict[Path, str]:
    """
    Return the texts as the changes leave them, comments and order kept.

    Of a change all edits are made, or none. Of two changes of one line the first is made: after it
    the other may be another one. A change of what does not stand there is left out.
    """
    lines = {file: text.split("\n") for file, text in texts.items()}
    claimed: set[tuple[Path, int, bool]] = set()
    edits: list[Edit] = []
    for change in changes:
        places = {_place(edit) for edit in change}
        if places.isdisjoint(claimed) and all(_fits(lines, edit) for edit in change):
            claimed |= places
            edits += change
    # From the end, so that places above stay what they are.
    for edit in sorted(edits, key=lambda edit: (*_place(edit), edit.spot.column), reverse=True):
        _apply(lines[edit.spot.file], edit)
    return {file: "\n".join(file_lines) for file, file_lines in lines.items()}


def lines_of(text: str) -> list[str]:
    r"""
    Return the lines of a text with their ends, which are \n alone.

    `str.splitlines` takes more for a line's end than `patch` and the servers do.

    >>> lines_of("a\x0cb\r\nc")
    ['a\x0cb\r\n', 'c']
    """
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def diff(before: str, after: str, names: tuple[str, str]) -> str:
    """Return what changes as `diff -u` prints it; `patch -R` takes it back."""
    old, new = map(_quoted, names)
    lines = difflib.unified_diff(lines_of(before), lines_of(after), old, new)
    return "".join(line if line.endswith("\n") else f"{line}{NO_END}" for line in lines)


NO_END = "\n\\ No newline at end of file\n"
"""What diff prints after a last line without its end."""


def _quoted(name: str) -> str:
    """Return a file's name as `patch` reads it: a tab ends one with blanks."""
    if re.search(r'[\x00-\x1f"]', name):
        octal = re.sub(r'[\x00-\x1f"\\]', lambda match: rf"\{ord(match[0]):03o}", name)
        return f'"{octal}"'
    return f"{name}\t" if " " in name else name


def _place(edit: Edit) -> tuple[Path, int, bool]:
    """Return which line an edit changes, or below which one it adds another."""
    return edit.spot.file, edit.spot.line, not edit.old


def _fits(lines: Mapping[Path, list[str]], edit: Edit) -> bool:
    """Return whether what an edit replaces stands where it says."""
    text = lines.get(edit.spot.file, [])
    if not 0 < edit.spot.line <= len(text):
        return False
    line = text[edit.spot.line - 1]
    if edit.new is None:
        return line.removesuffix("\r") == edit.old
    return not edit.old or line.startswith(edit.old, _start(line, edit))


def _start(line: str, edit: Edit) -> int:
    """Return where an edit begins; Python counts no mark of the byte order, which is the first."""
    return edit.spot.column - 1 + (line.startswith("\ufeff") and edit.old[0] != "\ufeff")


def _apply(lines: list[str], edit: Edit) -> None:
    index = edit.spot.line - 1
    line = lines[index]
    if edit.new is None:
        del lines[index]
    elif not edit.old:
        lines.insert(index + 1, edit.new + "\r" * line.endswith("\r"))
    else:
        start = _start(line, edit)
        lines[index] = line[:start] + edit.new + line[start + len(edit.old) :]
