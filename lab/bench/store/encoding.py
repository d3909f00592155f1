"""What is stored of a run as JSON: the model's types, with paths and names of any bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lab.errors import ResultsError

T = TypeVar("T")


def encode(value: object) -> bytes:
    r"""Return *value*, made of the model's types, as JSON; a byte of no UTF-8 is written \udcff."""
    try:
        return msgspec.json.encode(value, enc_hook=_encode_path)
    except UnicodeEncodeError:  # as of a folder with such a name
        return msgspec.json.encode(_text(builtins(value)))


def builtins(value: object) -> Any:
    """Return *value*, made of the model's types, as the lists and mappings that JSON has."""
    return msgspec.to_builtins(value, enc_hook=_encode_path)


def decode(
    text: bytes, kind: type[T], path: Path, line: int | None = None, problem: str = "damaged"
) -> T:
    """
    Return *text* as *kind*.

    Raises:
        ResultsError: It is not JSON, or not of that kind; with *path*, *line* and *problem*.
    """
    try:
        return msgspec.json.decode(text, type=kind, dec_hook=_decode_path)
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8; brackets without end
        raise ResultsError(path, f"{problem}: {error}", line) from error


def _text(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_text(key): _text(content) for key, content in value.items()}
    return [_text(content) for content in value] if isinstance(value, list | tuple) else value


def _encode_path(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value))


def _decode_path(kind: type, value: object) -> Path:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise TypeError(f"Expected `{kind.__name__}`, got `{type(value).__name__}`")
