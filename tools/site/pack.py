"""
Packs the modules that the page needs, compiled, into two archives. Runs inside Pyodide.

A module is needed if an answer to the example of some rule imports it. `engine.mjs` has mounted the
checkout, the packages of a virtual environment, and the folder for the archives.
"""

from __future__ import annotations

import importlib.util
import json
import marshal
import sys
import zipfile
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path, PurePosixPath

CHECKOUT, PACKAGES, OUT = Path("/checkout"), Path("/packages"), Path("/out")
SITES = (CHECKOUT, PACKAGES)

LIBRARY = Path(f"/lib/python{sys.version_info.major}{sys.version_info.minor}.zip")
"""Python's own modules."""

ENCODINGS = ("ascii", "cp437", "latin_1", "utf_16", "utf_16_be", "utf_16_le", "utf_8_sig")
"""Encodings that a text, or an archive, may need, and no example does."""

DATA = (".json", ".toml")

EPOCH = (1980, 1, 1, 0, 0, 0)

TEXTS = (
    *("uwsgi:\n  http: :80\n", '{"uwsgi": {"http": ":80"}}', "<uwsgi><http>:80</http></uwsgi>"),
    *("web: gunicorn a:b\napi: granian a:b\n", "#!/bin/sh\nexec granian a:b\n", "granian a:b"),
    *("uwsgi --http :80 --module a:b", "<!DOCTYPE a><a/>", "{", "x = (", "uwsgi:\n - {", "\0"),
    "[uwsgi]\nhttp = :80\nfor-times = 99999999\nprocesses = 4\nendfor =\n",
)
"""One of each kind, and what cannot be read, besides the examples of rules."""


def use() -> None:
    """Answer all that the page may be asked, so that all that it needs is imported."""
    from web import answers  # noqa: PLC0415 - found by the path that `main` sets

    answers.warm()
    texts = (*(rule["text"] for rule in answers.rules().values()), *TEXTS)
    for text in texts:
        answer = json.loads(answers.answered(json.dumps({"text": text})))
        for finding in answer["findings"].get("list", ()):
            if finding["fix"]:
                answers.fixed(json.dumps({"text": text, "finding": finding}))


def modules() -> Iterator[Path]:
    """Yield the files of the modules that are imported."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    yield from map(Path, filter(None, files))


def library(files: list[Path]) -> Mapping[str, bytes]:
    """Return name -> content of the modules of Python among the files, and of `ENCODINGS`."""
    inside = {str(file.relative_to(LIBRARY)) for file in files if file.is_relative_to(LIBRARY)}
    inside |= {f"encodings/{name}.py" for name in ENCODINGS}
    with zipfile.ZipFile(LIBRARY) as archive:
        return {name: archive.read(name) for name in inside}


def ours(files: list[Path]) -> Mapping[str, bytes]:
    """Return the same of `lab` and of packages that it uses, with the data beside its modules."""
    contents = {}
    for site in SITES:
        for file in files:
            if file.is_relative_to(site):
                data = (near for near in file.parent.iterdir() if near.suffix in DATA)
                for path in (file, *(data if site == CHECKOUT else ())):
                    contents[str(path.relative_to(site))] = path.read_bytes()
    return contents


def compiled(name: str, source: bytes) -> bytes:
    """Return a module as Python imports it, without its documentation."""
    code = compile(source, name, "exec", dont_inherit=True, optimize=2)
    # Never checked against its source, which is not there.
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code)


def packed(contents: Mapping[str, bytes]) -> bytes:
    """Return an archive; it is compressed as a whole, which is smaller than file by file."""
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as files:
        for name, content in sorted(contents.items()):
            is_module = PurePosixPath(name).suffix == ".py"
            info = zipfile.ZipInfo(f"{name}c" if is_module else name, EPOCH)
            files.writestr(info, compiled(name, content) if is_module else content)
    return archive.getvalue()


def main() -> None:
    """Write both archives."""
    sys.path[:0] = map(str, SITES)
    use()
    files = list(modules())
    (OUT / "stdlib.zip").write_bytes(packed(library(files)))
    (OUT / "lab.zip").write_bytes(packed(ours(files)))


main()
