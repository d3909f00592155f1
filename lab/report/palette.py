"""
The colours of reports and figures, by role: a light and a dark scheme.

Matplotlib draws in `LIGHT`. No two roles share a light colour, so that `lab.report.svg` can replace
a colour with the CSS variable of its role. Better is blue and worse orange: one man in twelve
cannot distinguish green from red. A word or a shape always repeats what a colour says.

Source of the hues of the series: Okabe and Ito, Color Universal Design (2008).
"""

from __future__ import annotations

from collections.abc import Mapping

_COLOURS = {
    "paper": ("#fefefe", "#0f1419"),
    "panel": ("#f4f6f8", "#181f27"),
    "ink": ("#1c2128", "#e6ebf0"),
    "muted": ("#57606a", "#9aa5b1"),
    "line": ("#d3d9df", "#323b45"),
    "band": ("#e6eaee", "#232c36"),
    "better": ("#0a5fb0", "#62aef7"),
    "worse": ("#b8440a", "#ff9a5c"),
    "same": ("#3d4550", "#c5cdd6"),
    "inconclusive": ("#6b7580", "#8a96a2"),
    "warning": ("#8a5a00", "#e3b341"),
    "user": ("#0b5394", "#3d8fdd"),
    "system": ("#6aa5d8", "#1f5f99"),
    "generator": ("#2f7d5d", "#62bd96"),
    "others": ("#e0913a", "#e7a45a"),
    "steal": ("#a8447e", "#d67fb2"),
    "idle": ("#dfe4e9", "#2c353f"),
    "series1": ("#1c2129", "#e6ebf1"),
    "series2": ("#0072b2", "#56b4e9"),
    "series3": ("#c65300", "#f28e4b"),
    "series4": ("#00805c", "#35c89b"),
    "series5": ("#b45a92", "#e39ac6"),
    "series6": ("#8c6d00", "#dcc04a"),
}
LIGHT: Mapping[str, str] = {role: light for role, (light, _) in _COLOURS.items()}
DARK: Mapping[str, str] = {role: dark for role, (_, dark) in _COLOURS.items()}

MAX_LINES = 6
"""Lines in one chart: as many as there are series colours."""

ON_DARK_PART = frozenset({"user", "generator", "steal"})
"""Parts of a bar that need text in the colour "paper" instead of "ink", in both schemes."""


def adaptive_css() -> str:
    """Return the CSS of a standalone SVG, which is light or dark as its reader prefers."""
    return (
        f":root{{{declarations(LIGHT)}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{declarations(DARK)}}}}}"
    )


def declarations(scheme: Mapping[str, str]) -> str:
    """Return the CSS variables of a scheme: `--ink:#1c2128;...`."""
    return "".join(f"--{role}:{colour};" for role, colour in scheme.items())
