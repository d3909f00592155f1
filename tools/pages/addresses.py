"""The addresses of this project, which are in pyproject.toml alone."""

from __future__ import annotations

import tomllib

from tools.pages.files import ROOT


def urls() -> dict[str, str]:
    """Return the title of each address of this project, and the address."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return dict(settings["project"]["urls"])


def link(title: str) -> str:
    """Return a link to the site of this project."""
    return f"[{title}]({urls()['Homepage']})"
