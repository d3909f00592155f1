"""
Compile Flask and Werkzeug by Cython, as they are, into a folder of their own: `.framework`.

    .venv/bin/python tools/framework.py          compile what is pinned (make framework)
    PYTHON tools/framework.py check              say what lies there, if PYTHON can use it

The sources are the installed ones, of the pinned versions, each compared with the hash that its
wheel brought. The folder holds both packages whole, and comes first on the path of who wants it;
site-packages stays as it is. What is compiled is there without its source: an interpreter that
cannot load it finds no module at all, and never plain Python under the name of compiled. A
traceback has file and line, as in "flask/ctx.py", line 383.

The check runs in any environment, such as a user's own, and so needs nothing but Python.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from pathlib import Path
from shutil import rmtree
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OVERLAY = ROOT / ".framework"
RECORD = "record.json"
PINS = ROOT / "requirements" / "service.txt"

PACKAGES = ("flask", "werkzeug")

MODULES = (
    "flask/ctx",
    "flask/wrappers",
    "werkzeug/datastructures/headers",
    "werkzeug/routing/matcher",
    "werkzeug/sansio/response",
    "werkzeug/wrappers/response",
)
"""
What a request passes through and gains by being compiled, without what cannot be compiled as it is.

`studies/framework.py modules` measures each alone. What cannot be compiled:
flask/app and werkzeug/routing/map: a warning names its caller by counting frames, and compiled code
has none; two tests of Flask see that. werkzeug/local: two tests of Werkzeug. flask/sansio/app and
flask/sansio/scaffold: their folder is no package (it has no __init__.py), so Cython takes them for
modules at the top, and puts one into sys.modules as "app".
"""

WITHOUT_GAIN = ("werkzeug/sansio/request", "werkzeug/wrappers/request")
"""What a request passes through as well, and what stays plain: compiled, it saves no time."""

DIRECTIVES = "annotation_typing=False,binding=True"
"""Types for people stay that, and a compiled function is bound to its object as a plain one is."""

FLAGS = f"{sysconfig.get_config_var('CFLAGS')} -g0"
"""The interpreter's own; without debug information, which has this folder's name in it."""


class FrameworkError(Exception):
    """It cannot be compiled, or not be used here; the message is one line that says what to do."""


def main() -> int:
    """Compile, or check."""
    arguments = sys.argv[1:]
    if arguments not in ([], ["check"]):
        print(__doc__)
        return 0 if arguments == ["--help"] else 2
    try:
        print(check() if arguments else build())
    except FrameworkError as error:
        print(f"framework: {error}", file=sys.stderr)
        return 1
    return 0


def check(overlay: Path = OVERLAY) -> str:
    """
    Return what was compiled, in a line.

    Raises:
        FrameworkError: There is nothing, or nothing for this interpreter and its packages.
    """
    try:
        record = json.loads((overlay / RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FrameworkError(f"there is no {overlay}: make framework") from None
    if set(record["modules"]) != set(MODULES):
        raise FrameworkError(f"{overlay} is of an earlier version of this project: make framework")
    here = sysconfig.get_config_var("SOABI")
    if record["abi"] != here:
        raise FrameworkError(
            f"{overlay} is for {record['abi']}, and {sys.executable} is {here}: after "
            "`make setup PYTHON=...` with such a Python, make framework"
        )
    for package in PACKAGES:
        try:
            installed = version(package)
        except PackageNotFoundError:
            installed = "none"
        if installed != record[package]:
            wanted = " ".join(f"{name}=={record[name]}" for name in PACKAGES)
            raise FrameworkError(
                f"{overlay} has {package} {record[package]}, and {sys.prefix} has {installed}: "
                f"{sys.executable} -m pip install {wanted}, or make framework for another pin"
            )
    versions = ", ".join(f"{name} {record[name]}" for name in PACKAGES)
    return f"{versions}, {len(record['modules'])} modules compiled by Cython {record['cython']}"


def build(overlay: Path = OVERLAY, modules: Sequence[str] = MODULES) -> str:
    """
    Compile *modules*, and put the result in the place of *overlay*; return in a line what was done.

    Raises:
        FrameworkError: Interpreter or versions do not fit, a source was changed, or it failed.
    """
    began = time.monotonic()
    _check_interpreter()
    sources: dict[str, bytes] = {}
    for package in PACKAGES:
        sources |= _sources(_pinned(package))
    overlay.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=overlay.parent, prefix=".framework-") as name:
        made = Path(name) / "made"
        for path, content in sources.items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_bytes(content)
        _compile(made, modules)
        rmtree(made / "build", ignore_errors=True)  # the compiler's own copies
        for module in modules:
            for suffix in (".py", ".c"):
                (made / f"{module}{suffix}").unlink()
        record = json.dumps(_record(sources, modules), indent=1) + "\n"
        (made / RECORD).write_text(record, encoding="utf-8")
        if overlay.exists():
            rmtree(overlay)
        made.rename(overlay)
    size = sum(path.stat().st_size for path in overlay.rglob("*.so"))
    seconds = time.monotonic() - began
    made_of = f"{len(modules)} modules, {size / 1e6:.0f} MB, in {seconds:.0f} s"
    return f"framework: {overlay}: {made_of}"


def _check_interpreter() -> None:
    """Refuse an interpreter that no compiled module can be made for."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise FrameworkError(f"{sys.version.split()[0]} of {sys.prefix} is no CPython with a GIL")


def _pinned(package: str) -> Distribution:
    """Return the installed distribution of *package*, if it is the pinned one."""
    pinned = re.search(rf"^{package}==(\S+)", PINS.read_text(encoding="utf-8"), re.MULTILINE)
    assert pinned is not None
    try:
        installed = distribution(package)
    except PackageNotFoundError:
        raise FrameworkError(f"{sys.prefix} has no {package}: make setup") from None
    if installed.version != pinned[1]:
        problem = (
            f"{sys.prefix} has {package} {installed.version}, and {PINS.name} pins {pinned[1]}"
        )
        raise FrameworkError(f"{problem}: make setup")
    return installed


def _sources(installed: Distribution) -> dict[str, bytes]:
    """Return path -> content of the files of a package, each as its wheel brought it."""
    contents = {}
    for file in installed.files or ():
        if file.parts[0] not in PACKAGES or file.hash is None:  # such as what Python has compiled
            continue
        content = Path(str(file.locate())).read_bytes()
        digest = hashlib.new(file.hash.mode, content).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != file.hash.value:
            wanted = f"pip install --force-reinstall --no-deps -r {PINS.relative_to(ROOT)}"
            raise FrameworkError(f"{file.locate()} was changed since it was installed: {wanted}")
        contents[str(file)] = content
    return contents


def _compile(folder: Path, modules: Sequence[str]) -> None:
    """Compile modules in *folder*, beside their sources."""
    command = [sys.executable, "-m", "Cython.Build.Cythonize", "--inplace", "--quiet", "-3"]
    command += [f"--parallel={len(os.sched_getaffinity(0))}", f"--directive={DIRECTIVES}"]
    done = subprocess.run(
        [*command, *(f"{module}.py" for module in modules)],
        cwd=folder,
        env=os.environ | {"CFLAGS": FLAGS},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    missing = [module for module in modules if not (folder / f"{module}{suffix}").is_file()]
    if done.returncode or missing:
        raise FrameworkError(f"not compiled: {', '.join(missing)}; make setup?\n{done.stdout}")


def _record(sources: dict[str, bytes], modules: Sequence[str]) -> dict[str, Any]:
    """Return what was compiled by what; the same whenever it is made of the same."""
    return {
        "abi": sysconfig.get_config_var("SOABI"),
        **{package: version(package) for package in PACKAGES},
        "cython": version("cython"),
        "directives": DIRECTIVES,
        "flags": FLAGS,
        "modules": {
            module: hashlib.sha256(sources[f"{module}.py"]).hexdigest() for module in modules
        },
    }


if __name__ == "__main__":
    sys.exit(main())
