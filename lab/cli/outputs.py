"""Files that a command is asked to write, which must not be there yet."""

from __future__ import annotations

from pathlib import Path

from lab.errors import FileError, UsageError
from lab.model.wording import in_a_line


def write_new(path: Path, text: str, errors: str = "surrogateescape") -> None:
    """
    Write a file that is new.

    Args:
        path: The file.
        text: Its content.
        errors: What becomes of characters that UTF-8 has not: see `str.encode`.

    Raises:
        UsageError: It is there already.
        FileError: It cannot be written.
    """
    try:
        with path.open("xb") as file:
            file.write(text.encode("utf-8", errors))
    except FileExistsError:
        problem = f"--output {in_a_line(str(path))}: it is there already: name another FILE"
        raise UsageError(problem) from None
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror}") from None
