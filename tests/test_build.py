"""Installing: what is compiled, what happens without a compiler, what is shipped."""

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.kit.lab_process import ROOT, python

FILES = ["setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE"]


@pytest.fixture
def project(tmp_path):
    """A copy of what a build reads, without anything compiled."""
    # The README is a stand-in: its text is not our subject, but setuptools warns without one.
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "README.md").write_text("A copy.\n")
    for package in ("app", "fib", "profiles"):
        ignore = shutil.ignore_patterns("*.so", "_core_c.json", "__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignore)
    return tmp_path


def build(folder, **variables):
    """Run the article's build command in *folder*."""
    return python(folder, "setup.py", "--quiet", "build_ext", "--inplace", **variables)


def answer(folder):
    """Which build answers in *folder*, and why not the other."""
    return python(folder, "-c", "import fib; print(fib.BUILD, '|', fib.FALLBACK, '|', fib.get(2))")


@pytest.mark.costly
def test_a_missing_compiler_is_loud_and_not_fatal(project):
    """By default the build ends well, says what to install, and pure Python answers."""
    result = build(project, CC="/nonexistent/cc")
    assert result.returncode == 0
    assert "THE COMPILED EXTENSION WAS NOT BUILT. PURE PYTHON WILL ANSWER" in result.stderr
    assert "No such file or directory: '/nonexistent/cc'" in result.stderr
    assert "apt-get install gcc libc6-dev python3-dev" in result.stderr
    done = answer(project)
    assert done.stdout.startswith("pure | not built: [Errno 2] No such file or directory")
    assert done.stdout.endswith("| [0, 1, 1, 2]\n")


@pytest.mark.slow
def test_a_missing_compiler_is_fatal_where_the_extension_is_demanded(project):
    """FIB_BUILD=cython fails, and says what to install."""
    result = build(project, CC="/nonexistent/cc", FIB_BUILD="cython")
    assert result.returncode == 1
    assert "apt-get install gcc libc6-dev python3-dev" in result.stderr


@pytest.mark.slow
def test_a_build_that_fails_removes_what_an_earlier_one_left(project):
    """After a failed build no older extension answers for the newer sources."""
    import fib

    if fib.BUILD == "pure":
        pytest.skip(f"needs an extension to leave behind: {fib.FALLBACK}")
    shutil.copy(fib.build_info()["file"], project / "fib")
    assert answer(project).stdout.startswith("cython")
    build(project, CC="/nonexistent/cc")
    assert answer(project).stdout.startswith("pure | not built")


def test_a_pure_build_removes_the_extension(project):
    """FIB_BUILD=pure leaves no extension that would go on being imported."""
    (project / "fib" / "_core_c.cpython-311-x86_64-linux-gnu.so").write_bytes(b"old")
    (project / "fib" / "_core_c.json").write_text("{}")
    result = build(project, FIB_BUILD="pure")
    assert result.returncode == 0, result.stderr
    assert sorted(p.name for p in (project / "fib").glob("_core_c*")) == [
        "_core_c.pxd",
        "_core_c.pyi",
    ]


def test_a_mistyped_mode_is_refused(project):
    """An unknown FIB_BUILD is an error that lists the known ones."""
    result = build(project, FIB_BUILD="cpython")
    assert result.returncode == 1
    assert "FIB_BUILD='cpython' is not known: use auto, cython or pure" in result.stderr


@pytest.mark.slow
def test_the_article_s_command_compiles_in_place(project):
    """`python setup.py build_ext --inplace` gives an extension, its record, and no C file."""
    # 4 s: Cython and the C compiler really run.
    result = build(project, FIB_BUILD="cython")
    assert result.returncode == 0, result.stderr
    assert answer(project).stdout == "cython | None | [0, 1, 1, 2]\n"
    record = json.loads((project / "fib" / "_core_c.json").read_text())
    assert record["python"] == sys.version.split()[0]
    assert list((project / "fib").glob("*.c")) == []
    changed = "import fib; print(fib.build_info()['stale'])"
    assert python(project, "-c", changed).stdout == "False\n"


def test_the_source_distribution_holds_the_c_types(project):
    """The sdist carries the .pxd, without which a build from it would be untyped, and no C file."""
    result = python(project, "setup.py", "--quiet", "sdist", "--dist-dir", "dist")
    assert result.returncode == 0, result.stderr
    [archive] = (project / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {Path(name).relative_to(Path(name).parts[0]) for name in tar.getnames()}
    wanted = {"setup.py", "fib/_core.py", "fib/_core_c.pxd", "fib/_core_c.pyi", "fib/py.typed"}
    assert wanted <= {str(name) for name in names}
    assert not [name for name in names if name.suffix in {".c", ".so"}]


@pytest.mark.slow
def test_an_installed_package_serves_without_a_checkout(project, tmp_path):
    """`fibonacci serve` finds tuned and production where a wheel has put them."""
    made = python(
        project, "setup.py", "--quiet", "bdist_wheel", "--dist-dir", "dist", FIB_BUILD="pure"
    )
    assert made.returncode == 0, made.stderr
    [wheel] = (project / "dist").glob("*.whl")
    venv = tmp_path / "venv"
    assert python(tmp_path, "-m", "venv", "--without-pip", str(venv)).returncode == 0
    into = ("--python", str(venv / "bin/python"), "install", "--no-deps", "--no-index", str(wheel))
    done = python(tmp_path, "-m", "pip", *into)
    assert done.returncode == 0, done.stderr
    for name in ("tuned", "production"):
        printed = subprocess.run(
            [venv / "bin/fibonacci", "serve", "--print", name],
            env={"PATH": str(Path(sys.executable).parent)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert printed.stdout.split()[-1] == f"{venv}/share/fibonacci/profiles/{name}.ini"


def test_nothing_that_an_installation_made_is_kept():
    """Every file kept is a regular one, and none is of a kind that is ignored."""
    # A link to somebody's own .peers is a broken one elsewhere, where `make peers` then fails.
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    entries = subprocess.check_output(["git", "ls-files", "--stage"], cwd=ROOT, text=True)
    links = [entry for entry in entries.splitlines() if entry.startswith("120000")]
    ignored = subprocess.check_output(
        ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"], cwd=ROOT, text=True
    )
    assert (links, ignored) == ([], "")
