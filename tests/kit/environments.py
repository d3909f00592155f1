"""Virtual environments of a user's, as small as they can be."""

import sys
import venv
from pathlib import Path


def empty(folder: Path) -> Path:
    """Return a real environment without any package, of the Python that runs the tests."""
    venv.create(folder, symlinks=True)
    return folder


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
