"""
Remove from an environment the packages that are not whole, so that pip installs them again.

pip takes a package for installed as soon as its folder `NAME.dist-info` is there, also where an
interruption or a full disk left the half of its files. `RECORD` in that folder lists all files;
pip writes it last, and only then does it name `INSTALLER`, a file of pip's own. Packages of which
a file has gone since are removed, too. Prints the names of what it removed.
"""

from __future__ import annotations

import csv
import shutil
import sysconfig
from pathlib import Path


def main() -> None:
    """Tidy the environment of the interpreter that runs this."""
    for name in remove(Path(sysconfig.get_path("purelib"))):
        print(name)


def remove(packages: Path) -> list[str]:
    """Remove what is not whole in this folder, `site-packages`; return the names."""
    for left in packages.glob("~*"):  # an old version that pip had put aside
        if left.is_dir():
            shutil.rmtree(left)
        else:
            left.unlink()
    halves = [folder for folder in sorted(packages.glob("*.dist-info")) if not _is_whole(folder)]
    for half in halves:
        shutil.rmtree(half)
    return [half.name.split("-")[0] for half in halves]


def _is_whole(info: Path) -> bool:
    try:
        text = (info / "RECORD").read_text()
    except FileNotFoundError:
        return False
    rows = [row for row in csv.reader(text.splitlines()) if len(row) == 3]
    # Bytecode has no size in the list, and may go at any time.
    files = [path for path, _, size in rows if size]
    return f"{info.name}/INSTALLER" in files and all((info.parent / p).is_file() for p in files)


if __name__ == "__main__":
    main()
