"""
The Fibonacci sequence, compiled by Cython where that was possible and in pure Python elsewhere.

    >>> import fib
    >>> fib.get(8)
    [0, 1, 1, 2, 3, 5, 8]

Three algorithms give the same answer at very different cost: `loop` adds, as the article does;
`get` copies from a table; `get_json` copies the finished text. `last_index` says where it ends.

Two variables choose the build when the package is imported, and "", "0", "false" and "no" count
as unset:

FIB_PURE_PYTHON=1: use pure Python even if the compiled build is there. Where it is not asked for,
pure Python is used with a RuntimeWarning.
FIB_REQUIRE_CYTHON=1: refuse to be imported in pure Python, so that no measurement and no image
can fall back unnoticed.
"""

from __future__ import annotations

import importlib
import os
import warnings
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from fib._build import build_info as _describe
from fib._build import failure

__all__ = [
    "BUILD",
    "FALLBACK",
    "TABLE_DIGITS",
    "build_info",
    "get",
    "get_json",
    "last_index",
    "loop",
]

_REBUILD = "FIB_BUILD=cython pip install --no-deps --editable ."


def _is_set(name: str) -> bool:
    """Whether the environment variable *name* asks for something."""
    return os.environ.get(name, "").strip().lower() not in {"", "0", "false", "no"}


def _import_compiled() -> ModuleType:
    """Import the compiled build that lies in this folder."""
    # import_module, because `from fib import _core_c` disguises a failure as a circular import.
    compiled = importlib.import_module("fib._core_c")
    if Path(str(compiled.__file__)).parent != Path(__file__).parent:
        # The finder of an editable installation lends its extension to any copy of the package.
        raise ModuleNotFoundError("another copy of the package has it", name="fib._core_c")
    return compiled


def _select() -> tuple[ModuleType, str | None]:
    """Import the build to use, and say why it is not the compiled one."""
    pure, required = _is_set("FIB_PURE_PYTHON"), _is_set("FIB_REQUIRE_CYTHON")
    if pure and required:
        raise ImportError("FIB_PURE_PYTHON and FIB_REQUIRE_CYTHON contradict each other: unset one")
    if pure:
        return importlib.import_module("fib._core"), "FIB_PURE_PYTHON is set"
    try:
        return _import_compiled(), None
    except ImportError as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name == "fib._core_c"
        fallback = failure() or "not built" if absent else f"cannot be loaded: {error}"
        if required:
            raise ImportError(
                f"FIB_REQUIRE_CYTHON is set, but fib._core_c is of no use: {fallback}. "
                f"Build it for this interpreter: {_REBUILD}"
            ) from error
    # Absent also where it was built for another interpreter, whose name its file bears. Broken, for
    # example, where a second interpreter in one uWSGI process loads it, which single-interpreter =
    # true prevents.
    warnings.warn(
        f"fib._core_c {fallback}; using pure Python. Build it: {_REBUILD}",
        RuntimeWarning,
        stacklevel=3,
    )
    return importlib.import_module("fib._core"), fallback


if TYPE_CHECKING:  # both builds have the types of the source
    from fib import _core as _chosen

    FALLBACK: str | None = None
else:
    _chosen, FALLBACK = _select()
"""Why the compiled build is not in use; None when it is."""

BUILD: str = "cython" if _chosen.COMPILED else "pure"
"""Which build answers: "cython" or "pure"."""

TABLE_DIGITS = _chosen.TABLE_DIGITS
"""Up to 10**TABLE_DIGITS answers come from the table, and cost no addition."""

loop = _chosen.loop
get = _chosen.get
get_json = _chosen.get_json
last_index = _chosen.last_index


def build_info() -> dict[str, object]:
    """
    Describe which build answers, and what made it.

    Returns:
        "build" and "fallback" as `BUILD` and `FALLBACK`, "file" that was loaded and, where a
        compiled build was recorded, "built" (SHA-256 of its sources, versions of Cython and
        Python, compiler) and "stale": whether the sources have changed since.
    """
    return {"build": BUILD, "fallback": FALLBACK, "file": _chosen.__file__, **_describe()}
