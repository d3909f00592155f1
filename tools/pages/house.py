"""The house: the rooms of `lab` by floor, and who imports from whom, drawn from the imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from lab.report.palette import following
from tools.pages.files import DOCS, ROOT, written

FLOORS = (
    ("errors", "model"),
    ("dialects", "probes", "system"),
    ("lint", "migrate", "workloads"),
    ("analysis", "generators", "profiles", "runs", "servers"),
    ("experiment",),
    ("report",),
    ("options", "stress", "tune"),
    ("cli", "locust"),
)
"""
The rooms of `lab`, modules and packages at its root, from the ground up.

A room imports from the floors below its own. Rooms of one floor do not know each other.
"""

FIGURE = DOCS / "figures" / "house.svg"

WIDTH, HEIGHT, STOREY = 760, 26, 64
"""Pixels: of the picture, of a room, and from floor to floor."""


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


def room_of(path: Path, root: Path = ROOT) -> str:
    """Return the room of `lab` that a file lies in."""
    return path.relative_to(root / "lab").with_suffix("").parts[0]


def arrows(root: Path = ROOT) -> dict[tuple[str, str], Path]:
    """Return each pair of rooms of which the first imports from the second, with such a file."""
    found = {}
    for path in files("lab", root):
        for name in imports(path):
            parts = name.split(".")
            if parts[0] == "lab" and len(parts) > 1 and parts[1] != room_of(path, root):
                found[room_of(path, root), parts[1]] = path
    return found


def render() -> str:
    """Return the picture as SVG: floors from the ground up, an arrow for each pair of rooms."""
    places = {
        room: (_middle(floor, place), len(FLOORS) - 1 - level)
        for level, floor in enumerate(FLOORS)
        for place, room in enumerate(floor)
    }
    lines = [
        _line(places[room], places[other])
        for room, other in sorted(arrows())
        if other not in FLOORS[0]
    ]
    boxes = [_box(room, *place) for room, place in places.items() if room not in FLOORS[0]]
    ground = _box(
        f"{' and '.join(FLOORS[0])}: every room uses them", WIDTH / 2, len(FLOORS) - 1, WIDTH - 40
    )
    words = f"{len(boxes)} rooms above the ground, {len(lines)} arrows between them, all downwards"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {len(FLOORS) * STOREY}" '
        'role="img" aria-labelledby="house-title">'
        f'<title id="house-title">The rooms of lab: {words}</title>'
        f"<style>{following()}"
        "text{font:13px system-ui,sans-serif;fill:var(--ink);text-anchor:middle}"
        "rect{fill:var(--panel);stroke:var(--line)}"
        "path{fill:none;stroke:var(--undecided);opacity:.45}</style>"
        f"{''.join([*lines, *boxes, ground])}</svg>\n"
    )


def refresh() -> list[Path]:
    """Draw it again where the imports have changed, and return its path then."""
    return written(FIGURE, render())


def _middle(floor: tuple[str, ...], place: int) -> float:
    return WIDTH * (place + 0.5) / len(floor)


def _box(text: str, middle: float, row: int, width: float = 104) -> str:
    top = row * STOREY + (STOREY - HEIGHT) // 2
    return (
        f'<rect x="{middle - width / 2:g}" y="{top}" width="{width:g}" height="{HEIGHT}" rx="4"/>'
        f'<text x="{middle:g}" y="{top + 17}">{text}</text>'
    )


def _line(upper: tuple[float, int], lower: tuple[float, int]) -> str:
    """Return a curve from the bottom of one room to the top of another."""
    (x1, above), (x2, below) = upper, lower
    gap = (STOREY - HEIGHT) // 2
    y1, y2 = (above + 1) * STOREY - gap, below * STOREY + gap
    half = (y1 + y2) / 2
    return f'<path d="M{x1:g} {y1} C{x1:g} {half:g} {x2:g} {half:g} {x2:g} {y2}"/>'
