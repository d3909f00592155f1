"""
Colours by role, once in light and once in dark.

Figures are drawn in the light ones, each of which stands for its role alone, so that an SVG can
name the role instead and follow the page. Blue and orange, never green and red: one man in twelve
cannot tell those; and wherever a colour means something, a word or a shape says it too.

Source of the series' hues: Okabe and Ito, Color Universal Design (2008).
"""

from __future__ import annotations

from collections.abc import Mapping

LIGHT: Mapping[str, str] = {
    "paper": "#fefefe",
    "panel": "#f4f6f8",
    "ink": "#1c2128",
    "muted": "#57606a",
    "line": "#d3d9df",
    "band": "#e6eaee",
    "better": "#0a5fb0",
    "worse": "#b8440a",
    "same": "#3d4550",
    "undecided": "#6b7580",
    "warning": "#8a5a00",
    "user": "#0b5394",
    "system": "#6aa5d8",
    "generator": "#2f7d5d",
    "others": "#e0913a",
    "steal": "#a8447e",
    "idle": "#dfe4e9",
    "series1": "#1c2129",
    "series2": "#0072b2",
    "series3": "#c65300",
    "series4": "#00805c",
    "series5": "#b45a92",
    "series6": "#8c6d00",
}

DARK: Mapping[str, str] = {
    "paper": "#0f1419",
    "panel": "#181f27",
    "ink": "#e6ebf0",
    "muted": "#9aa5b1",
    "line": "#323b45",
    "band": "#232c36",
    "better": "#62aef7",
    "worse": "#ff9a5c",
    "same": "#c5cdd6",
    "undecided": "#8a96a2",
    "warning": "#e3b341",
    "user": "#3d8fdd",
    "system": "#1f5f99",
    "generator": "#62bd96",
    "others": "#e7a45a",
    "steal": "#d67fb2",
    "idle": "#2c353f",
    "series1": "#e6ebf1",
    "series2": "#56b4e9",
    "series3": "#f28e4b",
    "series4": "#35c89b",
    "series5": "#e39ac6",
    "series6": "#dcc04a",
}

ON_DARK_PART = frozenset({"user", "generator", "steal"})
"""Parts of a bar on which the paper's colour is read, not the ink's, in light and in dark."""


def declarations(scheme: Mapping[str, str]) -> str:
    """Return *scheme* as CSS variables: `--ink:#1c2128;...`."""
    return "".join(f"--{role}:{colour};" for role, colour in scheme.items())
