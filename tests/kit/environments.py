"""Virtual environments of a user's, as small as they can be."""

import shutil
import sys
import venv
from importlib.metadata import distribution
from pathlib import Path

from tests.kit.lab_process import ROOT

PIP = "from pip._internal.cli.main import main\nraise SystemExit(main())\n"

UV = f"""\
import sys
from pathlib import Path

sys.path.insert(0, {str(ROOT)!r})
from tests.kit.environments import with_pip

with_pip(Path(sys.argv[-1]))
"""


def empty(folder: Path) -> Path:
    """Return a real environment without any package, of the Python that runs the tests."""
    venv.create(folder, symlinks=True)
    return folder


def with_pip(folder: Path) -> Path:
    """Return a real environment with a copy of this one's pip, which takes a tenth of the time."""
    packages = next(empty(folder).glob("lib/python*/site-packages"))
    pip = distribution("pip")
    for name in ("pip", f"pip-{pip.version}.dist-info"):
        shutil.copytree(str(pip.locate_file(name)), packages / name)
    program = folder / "bin" / "pip"
    program.write_text(f"#!{folder}/bin/python\n{PIP}")
    program.chmod(0o755)
    return folder


def put_uv(folder: Path, monkeypatch) -> None:
    """Put a program on PATH that makes such environments, as `uv venv` does."""
    program = folder / "uv-of-tests" / "uv"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{UV}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")


def pretended(folder: Path, version: str, *programs: str) -> Path:
    """Return what looks like an environment of a *version*, with *programs* that only end."""
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {version}\n")
    (folder / "bin" / "python").symlink_to(sys.executable)
    for name in programs:
        path = folder / "bin" / name
        path.write_text("#!/bin/sh\nexit 0\n")
        path.chmod(0o755)
    return folder


def empty_home(folder: Path, monkeypatch) -> Path:
    """Return an empty home, and let it be that of whatever is started."""
    home = folder / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home
