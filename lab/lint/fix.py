"""What texts become by fixes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from lab.lint.flaw import Edit, Fix


def applied(texts: Mapping[Path, str], fixes: Iterable[Fix]) -> dict[Path, str]:
    """
    Return the texts as the fixes leave them, comments and order kept.

    Of two fixes of one line the first is applied: after it the other may be another one. A fix of
    what does not stand there is left out.
    """
    lines = {file: text.split("\n") for file, text in texts.items()}
    claimed: set[tuple[Path, int, bool]] = set()
    edits: list[Edit] = []
    for fix in fixes:
        places = {_place(each) for each in fix.edits}
        if places.isdisjoint(claimed) and all(_fits(lines, each) for each in fix.edits):
            claimed |= places
            edits += fix.edits
    # From the end, so that places above stay what they are.
    for edit in sorted(edits, key=lambda each: (*_place(each), each.spot.column), reverse=True):
        _apply(lines[edit.spot.file], edit)
    return {file: "\n".join(each) for file, each in lines.items()}


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
