"""The direction of dependencies: a file that imports upwards is in the wrong room."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FLOORS = (
    (
        "lab.earlier",
        "lab.errors",
        "lab.model",
        "lab.sweeper",
        "lab.temporary",
        "lab.thresholds",
        "lab.uwsgi_options",
    ),
    (
        "lab.analysis",
        "lab.check",
        "lab.claims",
        "lab.comparable",
        "lab.environment",
        "lab.generators",
        "lab.instruction_tables",
        "lab.journal",
        "lab.plan",
        "lab.probes",
        "lab.profile_header",
        "lab.profiles",
        "lab.results",
        "lab.servers",
        "lab.uwsgi_config",
        "lab.workloads",
    ),
    ("lab.report", "lab.runner"),
    (
        "lab.counters",
        "lab.experiment",
        "lab.interrupts",
        "lab.options",
        "lab.profile_pages",
        "lab.progress",
        "lab.rates",
        "lab.run_tables",
        "lab.schema",
        "lab.selftest",
        "lab.stress",
        "lab.toggles",
    ),
    ("lab.cli", "lab.locust"),
)
"""From the ground up; a module imports from its own floor or from below."""

ALONE = ("lab.analysis", "lab.generators", "lab.probes", "lab.servers")
"""Rooms of which none knows another."""


def imports(path):
    """Yield the modules of this project that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            assert not isinstance(node, ast.ImportFrom) or node.level == 0, f"relative: {path}"
            continue
        yield from (name for name in names if name.split(".")[0] in {"app", "fib", "lab"})


def room(module):
    """Return the entry of FLOORS that *module* belongs to, with its floor."""
    for floor, rooms in enumerate(FLOORS):
        for name in rooms:
            if module == name or module.startswith(name + "."):
                return floor, name
    raise AssertionError(f"{module} has no floor: add it to FLOORS where it belongs")


def modules(package):
    """Yield (module name, path) of a package's files."""
    for path in sorted((ROOT / package).rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        yield name, path


def test_the_sequence_imports_nothing_of_ours():
    """fib stands alone."""
    for name, path in modules("fib"):
        foreign = [i for i in imports(path) if not i.startswith("fib")]
        assert not foreign, f"{name} imports {foreign}"


def test_the_application_knows_nothing_of_the_lab():
    """app imports fib at most."""
    for name, path in modules("app"):
        foreign = [i for i in imports(path) if i.startswith("lab")]
        assert not foreign, f"{name} imports {foreign}"


def test_the_lab_shares_no_code_with_what_it_measures():
    """lab knows fib and app by HTTP alone, so a number cannot flatter itself."""
    for name, path in modules("lab"):
        foreign = [i for i in imports(path) if i.split(".")[0] in {"app", "fib"}]
        assert not foreign, f"{name} imports {foreign}"


def test_nothing_in_the_lab_imports_upwards():
    """Five floors, no circle."""
    for name, path in modules("lab"):
        if name == "lab":
            continue
        floor, own = room(name)
        for imported in imports(path):
            if imported == "lab":  # the package itself, which holds nothing
                continue
            above, other = room(imported)
            assert above <= floor, f"{name} imports {imported}, which is above it"
            alone = own in ALONE and above == floor and other != own
            assert not alone, f"{name} imports its neighbour {imported}"


def test_the_engine_needs_no_locust():
    """The engine and the analysis run, and are tested, without Locust or gevent."""
    for package in ("lab/generators", "lab/analysis", "lab/report"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                assert not [n for n in names if n.split(".")[0] == "locust"], path
