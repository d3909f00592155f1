"""`make databases`, with an apt-get that only says what Debian's would say."""

import os
import shutil
import subprocess

import pytest

from tests.kit.lab_process import ROOT

STUBS = {
    "apt-cache": 'echo "postgresql"; echo "  Depends: postgresql-15"',
    "apt-get": """echo "apt-get $*" >>"$CALLS"
case $* in
    "-s "*) [ -z "$UNKNOWN" ] || exit 100
        echo "Inst libllvm14 (1:14)"; echo "Inst liburing2 (2.3)"
        echo "Inst libperl5 [5.1] (5.2)" ;;
    *download*) [ -z "$OFFLINE" ] || exit 100; for each in "$@"; do touch "$each.deb"; done ;;
esac""",
    "dpkg": """for each in lib/postgresql/15/bin/postgres sbin/mariadbd; do
    mkdir -p "$3/usr/${each%/*}"
    printf '#!/bin/sh\\necho "${0##*/} $*"\\n' >"$3/usr/$each"
    chmod 755 "$3/usr/$each"
done""",
    "mvn": "exit 1",
    "python3": "exit 1",
}


@pytest.fixture
def databases(tmp_path):
    """Return a function that unpacks them in a checkout of their own."""
    for folder in ("tools", "loadtests/backing", "requirements", "bin"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "tools" / "databases.sh", tmp_path / "tools")
    for file in (ROOT / "loadtests" / "backing").glob("mongodb.*"):
        shutil.copy(file, tmp_path / "loadtests" / "backing")
    shutil.copy(ROOT / "requirements" / "secantusdb.txt", tmp_path / "requirements")
    for name, lines in STUBS.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{lines}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if not folder.stat().st_mode & 0o001:  # pytest's are closed to others than their owner
            folder.chmod(0o755)

    def run(**variables):
        environment = {
            "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
            "CALLS": str(tmp_path / "calls"),
        }
        done = subprocess.run(
            ["tools/databases.sh"],
            cwd=tmp_path,
            env=os.environ | environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        done.said = done.stderr.splitlines()
        return done

    return run


def calls(folder):
    """Return what apt-get was asked for so far."""
    return (folder / "calls").read_text().splitlines()


def test_packages_are_taken_apart_and_not_installed(databases, tmp_path):
    """With the libraries that this machine lacks; LLVM and what is to be upgraded are none."""
    databases()
    simulated, fetched = calls(tmp_path)
    assert simulated.startswith("apt-get -s install")
    assert fetched.split("download ")[1].split() == [
        "postgresql-15", "postgresql-client-15", "mariadb-server-core", "mariadb-client-core",
        "liburing2",
    ]  # fmt: skip
    output = subprocess.run(
        [".databases/bin/mariadbd", "--datadir=x"], cwd=tmp_path, stdout=-1, text=True, check=True
    ).stdout
    assert output == "mariadbd --no-defaults --basedir=.databases/bin/../root/usr --datadir=x\n"


def test_what_is_there_is_not_made_again(databases, tmp_path):
    """And what could not be made is tried again, alone."""
    assert databases().returncode == 1
    before = calls(tmp_path)
    again = databases()
    assert calls(tmp_path) == before
    assert again.said[-1].startswith("databases: what stands in MongoDB's place is missing")


@pytest.mark.parametrize(
    ("variable", "why"),
    [
        ("UNKNOWN", "apt-get does not know them: sudo apt-get update && make databases"),
        ("OFFLINE", "they cannot be downloaded; when there is a network: make databases"),
    ],
)
def test_what_cannot_be_had_is_named_in_one_line(databases, variable, why):
    """With what to do; the other one is tried all the same."""
    done = databases(**{variable: "1"})
    assert done.returncode == 1
    assert f"databases: PostgreSQL and MariaDB are missing: {why}" in done.said
    assert done.said[-1].startswith("databases: what stands in MongoDB's place is missing")
