"""The direction of imports, the size of modules, and what one package may know."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import UnionType

import pytest

from lab.model.workload import Wire
from tests.kit.lab_process import ROOT
from tools.pages import house
from tools.pages.house import BENCH, FIGURE, PACKAGES, arrows, files, render

VAGUE = {"each": 0, "found": 0, "said": 0, "told": 0, "asked": 2, "own": 0}
"""Names that say nothing of what they hold -> how many there may be; a change lowers a number."""

DOES_IO = frozenset({"os", "shutil", "socket", "subprocess", "tempfile", "time", "urllib"})
"""Modules that `lab.analysis` may not import: what it says follows from its arguments alone."""


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Return the full names that a file imports."""
    return tuple(house.imports(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a file's syntax tree."""
    return tuple(ast.walk(ast.parse(path.read_text())))


def definitions(kind: type | UnionType) -> Iterator[tuple[Path, ast.stmt]]:
    """Yield the definitions of one kind in `lab`, with their files."""
    for path in files("lab"):
        for node in nodes(path):
            if isinstance(node, kind):
                yield path, node


def texts_of(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a file or a class that are no documentation."""
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in documentation
        ):
            yield node.value


def is_notice(node: ast.AST) -> bool:
    """Return whether *node* is the definition of a class of notices."""
    return isinstance(node, ast.ClassDef) and "Notice" in map(ast.unparse, node.bases)


def lines_of(function: ast.FunctionDef) -> int:
    """Return the lines of a function's body, without its docstring."""
    body = function.body[ast.get_docstring(function) is not None :] or function.body
    return function.end_lineno - body[0].lineno + 1


def test_the_sequence_imports_nothing_of_ours():
    """fib stands alone."""
    for path in files("fib"):
        foreign = [name for name in imports(path) if name.split(".")[0] in {"app", "lab"}]
        assert not foreign, f"{path} imports {foreign}"


def test_the_application_knows_nothing_of_the_lab():
    """app imports fib at most."""
    for path in files("app"):
        foreign = [name for name in imports(path) if name.split(".")[0] == "lab"]
        assert not foreign, f"{path} imports {foreign}"


def test_app_is_the_service_and_nothing_else():
    """
    What is compared beside it, and asks nothing of it, lies with the workload that asks it.

    The service for ASGI servers has its documents and answers from `app`, without Flask: no text is
    there twice.
    """
    assert len(files("app")) <= 14
    for path in files("loadtests/workloads"):
        of_service = path.parts[-2:] == ("fib", "_asgi.py")
        others = {"lab"} if of_service else {"app", "lab"}
        foreign = [name for name in imports(path) if name.split(".")[0] in others]
        assert not foreign, f"{path} imports {foreign}"


def test_the_lab_shares_no_code_with_what_it_measures():
    """lab knows fib and app by HTTP alone, so a number cannot flatter itself; nor who judges."""
    for path in files("lab"):
        ours = {"app", "fib", "loadtests", "studies", "tests", "tools"}
        foreign = [name for name in imports(path) if name.split(".")[0] in ours]
        assert not foreign, f"{path} imports {foreign}"


def members(folder: str) -> set[str]:
    """Return the packages and modules of a package of `lab`."""
    paths = (ROOT / folder).iterdir()
    names = {path.stem for path in paths if path.suffix == ".py" or (path / "__init__.py").exists()}
    return names - {"__init__"}


def test_every_package_has_its_place():
    """A package that is new is added to PACKAGES or BENCH, behind all that it imports."""
    assert members("lab") == {*PACKAGES, "errors"}
    assert members("lab/bench") == {package for floor in BENCH for package in floor}


def test_imports_point_downwards_only():
    """A package imports from those before it: there is no circle."""
    for (package, other), path in arrows().items():
        assert other == "errors" or PACKAGES.index(other) < PACKAGES.index(package), (
            f"{path}: {package} imports from {other}"
        )


def test_imports_of_bench_point_to_lower_floors_only():
    """Packages of one floor do not know each other."""
    floor_of = {package: number for number, floor in enumerate(BENCH) for package in floor}
    for (package, other), path in arrows("lab.bench").items():
        assert floor_of[other] < floor_of[package], f"{path}: {package} imports from {other}"


def test_the_picture_of_the_packages_is_that_of_today():
    """`python -m tools.pages` draws it."""
    assert FIGURE.read_text() == render()


def test_an_import_upwards_would_be_seen(tmp_path, monkeypatch):
    """Of two packages that import each other one import fails the test above."""
    for name, other in (("report", "cli"), ("cli", "report")):
        (tmp_path / "lab" / name).mkdir(parents=True)
        (tmp_path / "lab" / name / "x.py").write_text(f"from lab.{other} import x\n")
    both_ways = arrows(root=tmp_path)
    monkeypatch.setattr("tests.test_imports.arrows", lambda: both_ways)
    with pytest.raises(AssertionError, match="report imports from cli"):
        test_imports_point_downwards_only()


def test_the_analysis_does_no_io():
    """What it says of a run follows from the run, on any machine and at any hour."""
    for path in files("lab/analysis"):
        modules = {name.split(".")[0] for name in imports(path)} & DOES_IO
        assert not modules, f"{path} imports {modules}"
        for node in nodes(path):
            opens = isinstance(node, ast.Name) and node.id in {"open", "print"}
            assert not opens, f"{path}, line {node.lineno}"
            if isinstance(node, ast.Attribute):
                assert node.attr not in {"open", "read_text", "read_bytes", "write_text"}, path


def test_the_engine_needs_no_locust():
    """The engine and the analysis run, and are tested, without Locust or gevent."""
    for package in ("lab/bench/load", "lab/analysis", "lab/report"):
        for path in files(package):
            modules = {name.split(".")[0] for name in imports(path)} & {"locust", "gevent"}
            assert not modules, f"{path} imports {modules}"


def test_no_file_imports_by_a_star():
    """So an import says which file a name is from."""
    for path in files("lab"):
        assert not [name for name in imports(path) if name.endswith(".*")], path


def test_files_say_what_they_hold():
    """Names that could stand on any file stand on none."""
    vague = {"own.py", "asked.py", "utils.py", "helpers.py", "misc.py"}
    assert not [path for path in files("lab") if path.name in vague]


def test_a_class_has_a_name_of_its_own():
    """One meaning a word: no two classes of `lab` share their name."""
    names = Counter(node.name for _, node in definitions(ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []


def vague_names() -> Counter[str]:
    """Return how often each of VAGUE is a name in `lab`: of a variable, or of an attribute."""
    names: Counter[str] = Counter()
    for path in files("lab"):
        for node in nodes(path):
            match node:
                case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                    names[name] += name in VAGUE
                case ast.FunctionDef(name=name) | ast.keyword(arg=name):
                    names[name] += name in VAGUE
    return +names


def test_vague_names_only_become_fewer():
    """A name says what it holds: `profile` in the place of `each`, `comparison` of `found`."""
    more = {name: count for name, count in vague_names().items() if count > VAGUE[name]}
    assert not more, f"these have become more: name what they hold: {more}"


def test_modules_and_functions_are_small():
    """A module has 600 lines at the most, and a function 60."""
    long = [path for path in files("lab") if len(path.read_text().splitlines()) > 600]
    assert not long
    functions = [
        f"{path}: {node.name}" for path, node in definitions(ast.FunctionDef) if lines_of(node) > 60
    ]
    assert not functions


def test_the_linter_starts_nothing_and_needs_little():
    """The room of `lab lint` imports what reads files and says what they mean, and nothing else."""
    for path in files("lab/lint"):
        for name in imports(path):
            top, *rest = name.split(".")
            known = top == "lab" and rest[0] in {"lint", "config", "model", "errors"}
            known |= (top, path.stem) == ("packaging", "versions")  # few configurations need it
            assert known or top in sys.stdlib_module_names - {"subprocess", "socket"}, (path, name)


def test_what_reads_and_judges_needs_no_unix():
    """A browser has none of these modules; whether a user exists is not known there."""
    code = """
import pkgutil, sys
sys.modules |= dict.fromkeys(("fcntl", "grp", "pwd", "resource", "subprocess"))
import lab.config, lab.lint, lab.model
for package in (lab.model, lab.config, lab.lint):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        __import__(module.name)
from lab.lint.examples import example
from lab.lint.judge import judged
config = example("UW119", "http-socket = 127.0.0.1:80\\nuid = nosuch\\ngid = nosuch\\nmodule = a:b")
print(*(flaw.code for flaw in judged(config)))
"""
    run = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=False)
    assert "UW314" in run.stdout, run.stderr
    assert "UW119" not in run.stdout


def test_lint_imports_nothing_of_trials_and_translations():
    """Half of its time is imports: what it does not need, it does not wait for."""
    code = "import sys, lab.cli.lint.command; print(*sys.modules)"
    run = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    ours = [name for name in run.stdout.split() if name.startswith("lab.")]
    parts = {"edit", "launch", "private", "profile", "senses", "translation", "translator"}
    assert ours
    assert not [name for name in ours if name.rpartition(".")[2] in parts]


def test_one_module_knows_where_our_own_files_lie():
    """The others ask `lab.bench.machine.project`, and open only what lies beside them."""
    climbs = {
        path.relative_to(ROOT)
        for path, node in definitions(ast.Attribute)
        if node.attr in {"parent", "parents"}
        and any(isinstance(child, ast.Name) and child.id == "__file__" for child in ast.walk(node))
    }
    assert climbs == {Path("lab/bench/machine/project.py")}
    below = [
        (path, node.lineno)
        for path, node in definitions(ast.BinOp)
        if ast.unparse(node).startswith("project.root() /")
    ]
    assert not below


def test_servers_are_asked_and_not_told_apart():
    """Which server a profile is for is tested where its options are read, and where it starts."""
    tests = [
        path
        for path, node in definitions(ast.Compare)
        if any(
            isinstance(operand, ast.Constant) and operand.value in {"uwsgi", "gunicorn", "command"}
            for operand in [node.left, *node.comparators]
        )
        and "server" in ast.unparse(node)
    ]
    assert len(tests) <= 2, tests


def test_wires_are_asked_and_not_told_apart():
    """What follows from a wire is its `manner`; only where wires are made is one tested by name."""
    makers = {ROOT / "lab/model/workload.py", ROOT / "lab/bench/load/wires.py"}
    names, words = {f"Wire.{wire.name}" for wire in Wire}, {repr(str(wire)) for wire in Wire}
    tests = []
    for path, node in definitions(ast.Compare | ast.Dict | ast.MatchValue):
        parts = {
            ast.unparse(child)
            for child in ast.walk(node)
            if isinstance(child, ast.Attribute | ast.Constant | ast.Name)
        }
        by_word = parts & words and any("wire" in part for part in parts)
        if path not in makers and (parts & names or by_word):
            tests.append(f"{path}, line {node.lineno}")
    assert not tests


def test_the_report_decides_nothing():
    """It takes values from the analysis: classes, constants, and readings of single figures."""
    readings = {
        "derive",
        "facts",
        "half_width",
        "merged_latency",
        "order_of",
        "quantiles",
        "reading",
        "reference_lines",
    }
    for path in files("lab/report"):
        for name in imports(path):
            if name.startswith("lab.analysis."):
                taken = name.rpartition(".")[2]
                assert taken[0].isupper() or taken in readings, f"{path} imports {name}"


def test_no_sentence_is_taken_apart():
    """Whoever needs more of a failure or a finding than its words asks a field that has it."""
    searching = (
        "startswith",
        "endswith",
        "removeprefix",
        "removesuffix",
        "partition",
        "rpartition",
    )
    sentences = {"failure", "reason", "advice", "sentence", "said"}
    for path in (*files("lab"), *files("studies/articles")):
        for node in nodes(path):
            match node:
                case ast.Call(func=ast.Attribute(searched, name)) if name in searching:
                    parts = [searched]
                case ast.Compare(ops=[ast.In() | ast.NotIn()]):
                    parts = node.comparators
                case _:
                    continue
            read = {
                child.attr for part in parts for child in ast.walk(part) if hasattr(child, "attr")
            }
            assert not read & sentences, (path, ast.unparse(node))


def test_a_sentence_stands_in_the_class_of_its_fact():
    """What a run comes to is names, kinds and numbers; a class of notices has its one sentence."""
    concluding = ("conclude", "conclusion", "descent", "ending", "limits", "opening")
    noticing = ("footnotes", "gates_fired", "health", "load_limit", "same_work", "warning")
    others = ("judging", "machine", "notices", "points", "sweep", "sweep_values", "undecided")
    for name in (*concluding, *noticing, *others):
        tree = ast.parse((ROOT / "lab" / "analysis" / f"{name}.py").read_text())
        notices = {text for node in ast.walk(tree) if is_notice(node) for text in texts_of(node)}
        for text in texts_of(tree):
            assert len(text.split()) < 5 or text in notices, (name, text)


def test_a_notice_names_no_option():
    """Its remedy is a kind and a number; `lab.report.remedies` has the words."""
    sentences = [
        text for _, node in definitions(ast.ClassDef) if is_notice(node) for text in texts_of(node)
    ]
    assert any("Did not start" in text for text in sentences)
    assert not [text for text in sentences if "--" in text]
