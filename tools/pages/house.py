"""The packages of `lab`, in the order in which one reads them, drawn as boxes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from html import escape
from pathlib import Path

from lab.report.palette import adaptive_css
from tools.pages.files import DOCS, ROOT, written

PACKAGES = ("model", "config", "lint", "analysis", "bench", "report", "cli", "locust")
"""The packages of `lab`; each imports from those before it only, and from `lab.errors`."""

BENCH = (
    ("machine",),
    ("workloads", "profiles", "probes", "load", "servers"),
    ("store",),
    ("trials",),
)
"""The packages of `lab.bench` by floor; each imports from the floors before its own only."""

FIGURE = DOCS / "figures" / "house.svg"

WIDTH, HEIGHT, GAP = 760, 40, 10
"""Pixels: of the picture, of a box, and between two boxes."""


def imports(path: Path) -> Iterator[str]:
    """Yield the full names that a file imports, of modules and of what they hold."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import: write the module's full name"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def files(package: str, root: Path = ROOT) -> list[Path]:
    """Return the Python files of a package of this project."""
    return sorted((root / package).rglob("*.py"))


def arrows(package: str = "lab", root: Path = ROOT) -> dict[tuple[str, str], Path]:
    """
    Return the imports between the members of a package.

    Returns:
        (importing member, imported member) -> a file with such an import.
    """
    examples = {}
    within = tuple(package.split("."))
    folder = root.joinpath(*within)
    for path in files(str(folder.relative_to(root)), root):
        member = path.relative_to(folder).with_suffix("").parts[0]
        for name in imports(path):
            parts = tuple(name.split("."))
            if parts[: len(within)] == within and len(parts) > len(within):
                other = parts[len(within)]
                if other != member:
                    examples[member, other] = path
    return examples


def purpose(package: str) -> str:
    """Return what a package is for: the first line of its docstring."""
    path = ROOT.joinpath(*package.split("."), "__init__.py")
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    return (docstring or "").splitlines()[0].replace("`", "")


def render() -> str:
    """Return the picture as SVG: a box for each package, and within `bench` one for each of its."""
    boxes, top = [], GAP
    for package in PACKAGES:
        height = HEIGHT
        words = _text(24, top + 25, package, "name") + _text(
            120, top + 25, purpose(f"lab.{package}"), "purpose"
        )
        if package == "bench":
            for floor in BENCH:
                words += _floor(floor, top + height)
                height += HEIGHT
        boxes.append(_box(GAP, top, WIDTH - 2 * GAP, height) + words)
        top += height + GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" '
        'role="img" aria-labelledby="house-title">'
        '<title id="house-title">The eight packages of lab, in reading order; '
        "a package imports from those above it only</title>"
        f"<style>{adaptive_css()}"
        "text{font:13px system-ui,sans-serif;fill:var(--ink)}.name{font-weight:600}"
        "rect{fill:var(--panel);stroke:var(--line)}</style>"
        f"{''.join(boxes)}</svg>\n"
    )


def refresh() -> list[Path]:
    """Draw it again where the packages have changed, and return its path then."""
    return written(FIGURE, render())


def _floor(floor: tuple[str, ...], top: int) -> str:
    """Return the boxes of one floor of `bench`."""
    width = (WIDTH - 120 - 3 * GAP) / len(BENCH[1])
    parts = []
    for place, name in enumerate(floor):
        left = 120 + place * width
        parts.append(_box(left, top, width - GAP, HEIGHT - GAP))
        parts.append(_text(left + 12, top + 20, name, "name"))
    return "".join(parts)


def _box(left: float, top: int, width: float, height: int) -> str:
    return f'<rect x="{left:g}" y="{top}" width="{width:g}" height="{height}" rx="4"/>'


def _text(left: float, top: int, text: str, kind: str) -> str:
    return f'<text x="{left:g}" y="{top}" class="{kind}">{escape(text)}</text>'
