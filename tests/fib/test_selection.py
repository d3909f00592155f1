"""Which build is used, and how it is told."""

import shutil
from pathlib import Path

import pytest

import fib
from tests.kit.lab_process import python

SOURCES = ["__init__.py", "_build.py", "_core.py", "_core_c.pxd"]
TELL = "import fib; print(fib.BUILD, '|', fib.FALLBACK)"

compiled_only = pytest.mark.skipif(fib.BUILD == "pure", reason=f"not compiled: {fib.FALLBACK}")


@pytest.fixture
def copy(tmp_path):
    """A copy of the package without anything compiled."""
    (tmp_path / "fib").mkdir()
    for name in SOURCES:
        shutil.copy(Path(fib.__file__).with_name(name), tmp_path / "fib")
    return tmp_path


def run(folder, code=TELL, **variables):
    """Run *code* in a fresh interpreter that finds the package in *folder*."""
    return python(folder, "-c", code, **variables)


HERE = Path(fib.__file__).parent.parent


@compiled_only
@pytest.mark.parametrize("value", ["", "0", "false", "No"])
def test_the_compiled_build_is_the_default(value):
    """A variable that is empty, 0, false or no counts as unset."""
    assert run(HERE, FIB_PURE_PYTHON=value).stdout == "cython | None\n"


def test_pure_python_can_be_asked_for():
    """FIB_PURE_PYTHON=1 uses the source even where a compiled build exists, and says so."""
    assert run(HERE, FIB_PURE_PYTHON="1").stdout == "pure | FIB_PURE_PYTHON is set\n"


def test_contradictory_switches_are_refused():
    """Asking for both builds at once is an error that names both variables."""
    result = run(HERE, FIB_PURE_PYTHON="1", FIB_REQUIRE_CYTHON="1")
    assert result.returncode == 1
    assert "FIB_PURE_PYTHON and FIB_REQUIRE_CYTHON contradict each other" in result.stderr


def test_a_package_that_was_not_compiled_works_and_says_so(copy):
    """Without an extension pure Python answers, with a warning; another copy's is not used."""
    result = run(copy)
    assert result.stdout == "pure | not built\n"
    assert "RuntimeWarning: fib._core_c not built; using pure Python" in result.stderr
    assert "FIB_BUILD=cython pip install" in result.stderr


def test_an_extension_of_another_interpreter_is_absent(copy):
    """What was built for another Python bears its name, and is as good as not built."""
    (copy / "fib" / "_core_c.cpython-27-x86_64-linux-gnu.so").write_bytes(b"")
    result = run(copy)
    assert result.stdout == "pure | not built\n"
    assert "RuntimeWarning: fib._core_c not built" in result.stderr


def test_no_warning_where_pure_python_is_asked_for(copy):
    """FIB_PURE_PYTHON=1 without an extension is what was asked for, and says nothing."""
    result = run(copy, FIB_PURE_PYTHON="1")
    assert (result.stdout, result.stderr) == ("pure | FIB_PURE_PYTHON is set\n", "")


def test_a_required_extension_that_is_missing_stops_the_import(copy):
    """FIB_REQUIRE_CYTHON=1 refuses pure Python and says how to build the extension."""
    result = run(copy, FIB_REQUIRE_CYTHON="1")
    assert result.returncode == 1
    assert "FIB_REQUIRE_CYTHON is set, but fib._core_c is of no use: not built" in result.stderr
    assert "FIB_BUILD=cython pip install" in result.stderr


def test_a_broken_extension_falls_back_loudly(copy):
    """An extension that cannot be loaded is a RuntimeWarning, and pure Python answers."""
    (copy / "fib" / "_core_c.so").write_bytes(b"not a library")
    result = run(copy)
    assert result.stdout.startswith("pure | cannot be loaded: ")
    assert "RuntimeWarning: fib._core_c cannot be loaded" in result.stderr


def test_a_required_extension_that_is_broken_stops_the_import(copy):
    """With FIB_REQUIRE_CYTHON=1 a broken extension is an error, not a warning."""
    (copy / "fib" / "_core_c.so").write_bytes(b"not a library")
    result = run(copy, FIB_REQUIRE_CYTHON="1")
    assert result.returncode == 1
    assert "of no use: cannot be loaded" in result.stderr


@compiled_only
def test_the_extension_was_made_of_the_present_sources():
    """build_info names what compiled the extension and that it is not stale."""
    info = fib.build_info()
    assert info["build"] == "cython"
    assert info["fallback"] is None
    assert info["stale"] is False
    assert set(info["built"]) == {"source_sha256", "cython", "python", "compiler"}


@compiled_only
def test_an_extension_older_than_its_sources_is_called_stale(copy):
    """build_info compares the sources with those that were compiled."""
    shutil.copy(HERE / "fib" / "_core_c.json", copy / "fib")
    with (copy / "fib" / "_core.py").open("a") as source:
        source.write("# changed since\n")
    result = run(copy, "import fib; print(fib.build_info()['stale'])")
    assert result.stdout == "True\n"


@compiled_only
def test_the_c_types_were_used():
    """C functions are hidden from Python: were they visible, the .pxd would have been ignored."""
    from fib import _core, _core_c

    typed = {"_append_u64", "_append_big", "_last", "_TABLE", "_ENDS", "_STARTS", "_TEXT"}
    assert typed <= set(vars(_core))
    assert typed.isdisjoint(vars(_core_c))
