"""
Build the extension fib._core_c; everything else about the package is in pyproject.toml.

FIB_BUILD decides:
  auto    (default) compile; where that is impossible say so, loudly, and install pure Python
  cython  compile or fail: for CI, images and wheels
  pure    do not compile, and remove what an earlier build left
"""

import hashlib
import json
import os
import shutil
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import BaseError, CCompilerError

SOURCES = ["fib/_core.py", "fib/_core_c.pxd"]  # in the order in which fib/_build.py hashes them
RECORD = "_core_c.json"
CARRIED = ("loadtests", "profiles", "uwsgi")
"""Folders that go into the wheel, as lab/carried: lab/bench/machine/project.py finds them."""
MODE = os.environ.get("FIB_BUILD") or "auto"

NO_EXTENSION = """
******************************************************************************
fib: THE COMPILED EXTENSION WAS NOT BUILT.{consequence}

Why:  {why}

What to install, and then to install this project again:
  Debian, Ubuntu   apt-get install gcc libc6-dev python3-dev
  Fedora           dnf install gcc python3-devel
  Alpine           apk add gcc musl-dev python3-dev
  macOS            xcode-select --install
  without build isolation, also: pip install cython
******************************************************************************
"""


def source_digest():
    """SHA-256 over the sources, by which fib.build_info() tells a stale extension."""
    return hashlib.sha256(b"".join(Path(source).read_bytes() for source in SOURCES)).hexdigest()


class BuildExtension(build_ext):
    """Compile with Cython at build time only, and record what was made or why it was not."""

    def build_extension(self, ext):
        target = Path(self.get_ext_fullpath(ext.name))
        record = target.with_name(RECORD)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)  # a failure must not leave an older build to be installed
        try:
            ext.sources = self.generated_sources(ext)
            super().build_extension(ext)
        except (BaseError, CCompilerError, ImportError) as error:
            why = str(error) or type(error).__name__
            # Where pip is too old to relay a backend's warnings, fib.FALLBACK still says it.
            needs = "cython" if isinstance(error, ImportError) else "gcc libc6-dev python3-dev"
            failed = f"not built: {why} (install {needs}, then this project again)"
            record.write_text(json.dumps({"failed": failed}) + "\n")
            if MODE == "cython":
                raise BaseError(NO_EXTENSION.format(why=why, consequence="")) from error
            consequence = " PURE PYTHON WILL ANSWER, MORE SLOWLY."
            warnings.warn(NO_EXTENSION.format(why=why, consequence=consequence), stacklevel=2)
            raise BaseError(why) from error  # optional extension: setuptools goes on without it
        made = {
            "source_sha256": source_digest(),
            "cython": version("cython"),
            "python": sys.version.split()[0],
            "compiler": " ".join(self.compiler.compiler_so),
        }
        record.write_text(json.dumps(made, indent=1) + "\n")

    def generated_sources(self, ext):
        """Translate to C under build/, always: Cython does not see that the .pxd has changed."""
        # Here, because without Cython everything but the extension can still be installed.
        from Cython.Build import cythonize  # noqa: PLC0415
        from Cython.Compiler.Errors import CompileError  # noqa: PLC0415

        try:
            return cythonize([ext], build_dir="build/cython", force=True, quiet=True)[0].sources
        except CompileError as error:
            raise BaseError(f"Cython refused {SOURCES[0]}: {error}") from error

    def copy_extensions_to_source(self):
        """Do the same for `build_ext --inplace` and editable installations, record included."""
        super().copy_extensions_to_source()
        for ext in self.extensions:
            built = Path(self.build_lib, self.get_ext_filename(ext.name))
            in_place = Path("fib", built.name)
            if not built.exists():
                in_place.unlink(missing_ok=True)
            self.copy_file(str(built.with_name(RECORD)), str(in_place.with_name(RECORD)))


class BuildPackages(build_py):
    """Take along what the lab compares, and asks for, where there is no checkout."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        for folder in CARRIED:
            target = Path(self.build_lib, "lab/carried", folder)
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(folder, target, ignore=shutil.ignore_patterns("__pycache__"))


if MODE not in {"auto", "cython", "pure"}:
    sys.exit(f"FIB_BUILD={MODE!r} is not known: use auto, cython or pure")

if MODE == "pure":
    for left in [*Path("fib").glob("_core_c.*.so"), Path("fib", RECORD)]:
        left.unlink(missing_ok=True)
    extensions = []
else:
    # optional: setuptools goes on without an extension that failed. It stays set because
    # Cython, whose cythonize() drops it, is only asked for the sources.
    extensions = [
        Extension("fib._core_c", SOURCES[:1], depends=SOURCES[1:], optional=MODE == "auto")
    ]

setup(ext_modules=extensions, cmdclass={"build_ext": BuildExtension, "build_py": BuildPackages})
