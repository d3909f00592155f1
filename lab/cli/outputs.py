"""Files that a command is asked to write."""

from __future__ import annotations

import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from lab.cli.types import ParsedType
from lab.errors import FileError, UsageError
from lab.model.wording import in_a_line


def _output(text: str) -> Path:
    """Return the path of a file that can be written; raise ValueError before minutes are spent."""
    if not text.strip():
        raise ValueError(f"{text!r} names no file: name one")
    file = Path(text)
    try:
        with suppress(FileNotFoundError):  # it is to be made
            file.lstat()
        if file.is_dir():
            raise ValueError(f"{text}: it is a folder; name a file")
        if not file.parent.is_dir():
            raise ValueError(f"{file}: there is no folder {file.parent}")
        if file.is_file() or not file.exists():  # and not such as /dev/stdout
            tempfile.TemporaryFile(dir=file.parent).close()
    except OSError as error:
        raise ValueError(f"{file}: cannot be written: {error.strerror}") from error
    return file


OUTPUT = ParsedType(_output, "file")
"""The type of an option that names a file to write."""


def write_new(path: Path, text: str) -> None:
    """
    Write a file that is new.

    Args:
        path: The file.
        text: Its content.

    Raises:
        UsageError: It exists.
        FileError: It cannot be written.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        draft.write_bytes(text.encode("utf-8", "surrogateescape"))
        _link(draft, path)
    except FileExistsError:
        problem = f"--output {in_a_line(str(path))}: the file exists: give another FILE"
        raise UsageError(problem) from None
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _link(draft: Path, path: Path) -> None:
    """Give a file its name: all of it or nothing, and never over another."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        path.touch(exist_ok=False)
        draft.replace(path)
