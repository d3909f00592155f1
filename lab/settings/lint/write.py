"""Writes a file anew: all of it or nothing, and only where the user looks."""

from __future__ import annotations

import os
import secrets
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from lab.errors import ProfileError


def replace(path: Path, text: str, named: Collection[Path]) -> None:
    """
    Put *text* in the place of a file's; mode and, as far as allowed, owner stay.

    A symbolic link stays one: what it points to is written.

    Args:
        path: The file.
        text: What it is to hold; bytes that were no UTF-8 as surrogates, as it was read.
        named: Files that the user named.

    Raises:
        ProfileError: It lies outside of the current folder, and nobody named it; or it cannot be
            written, as on a disk that is full.
    """
    target = path.resolve()
    if not target.is_relative_to(Path.cwd()) and (path not in named or path.is_symlink()):
        problem = "is not fixed, because it lies outside of this folder: name it to fix it"
        raise ProfileError(target, problem)
    new = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        was = target.stat()
        try:
            new.write_bytes(text.encode("utf-8", "surrogateescape"))
            with suppress(PermissionError):
                os.chown(new, was.st_uid, was.st_gid)
            new.chmod(was.st_mode & 0o7777)  # after chown, which clears some of it
            new.replace(target)
        finally:
            new.unlink(missing_ok=True)
    except OSError as error:
        raise ProfileError(path, f"cannot be written: {error.strerror}") from error
