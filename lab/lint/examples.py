"""The configurations that a rule's examples are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lab.config import servers, sources
from lab.config.configuration import Config, Known
from lab.config.reading import read_start
from lab.config.start import Surroundings

MUCH = Known(
    container=True,
    here=True,
    root=True,
    db_connections=100,
    somaxconn=4096,
    plugins=frozenset({"python"}),
    python=(3, 12),
    overlay={
        Path("venv/pyvenv.cfg").absolute(): "home = /usr/bin\nversion = 3.11.7\n",
        Path("shop_asgi.py"): "from fastapi import FastAPI\n\napp = FastAPI()\n",
        Path("shop_wsgi.py"): "from flask import Flask\n\napp = Flask(__name__)\n",
        Path("venv-3.12/pyvenv.cfg").absolute(): "home = /usr/bin\nversion = 3.12.3\n",
    },
)
"""What is known of the rules' examples: so much that each rule has something to say."""


def _locked(*packages: str) -> Known:
    """Return that a lock beside the configuration has these packages."""
    text = "\n".join(f'[[package]]\nname = "{package}"\n' for package in packages)
    return Known(overlay={Path("uv.lock").absolute(): text})


ELSEWHERE = {
    "UW107": Known(options=frozenset({"static-map", "if-env", "endif"})),
    "UW116": Known(root=False),
    "UW310": Known(),
    "UW408": Known(),
    "UW118": Known(python=(3, 13)),
    "GU019": Known(),
    "UW020": Known(here=True),
    "UV011": Known(surroundings=Surroundings(restarts="on-failure")),
    "UV015": _locked("h11", "uvicorn"),
    "HC011": Known(surroundings=Surroundings(restarts="on-failure")),
    "HC013": _locked("hypercorn", "uvloop"),
    "UV016": Known(surroundings=Surroundings(supervisor="compose", proxy="the service web")),
    "UW119": Known(here=True),
}
"""Code -> what is known of its rule's examples, where that is something else."""

STARTS = {
    "FROM ": Path("Dockerfile"),
    "import uvicorn": Path("main.py"),
    "[Service]": Path("shop.service"),
}
"""How an example begins that starts a server -> the file that it is."""


def whole(code: str, text: str) -> str:
    """Return the file that a rule's example is: see `example`."""
    sections = any(line.lstrip("\ufeff \t").startswith("[") for line in text.splitlines())
    return f"{text}\n" if code[:2] != "UW" or sections else f"[uwsgi]\n{text}\n"


def example(code: str, text: str, known: Known | None = None) -> Config:
    """
    Return the configuration that a rule's example is.

    Args:
        code: The rule's.
        text: The whole file, as one of `STARTS`; of uWSGI without any section, what stands below
            `[uwsgi]`.
        known: What is known besides; without it, what makes the rule speak.
    """
    begins = (path for begin, path in STARTS.items() if text.startswith(begin))
    if path := next(begins, None):
        known = known or MUCH
        known = replace(known, overlay={**known.overlay, path: text})
        (start,) = (start for start in sources.starts_of(path, text) if start.is_default)
        return read_start(start, start.known(known))
    server = servers.of_code(code)
    command = text.startswith(f"{server.program} ")
    files = [name for name in server.endings if server.reads_command and name != server.program]
    files = [name for name in files if name.endswith(".py") == text.startswith("def ")]
    path = Path(server.program if command else next(iter(files), server.file))
    known = known or ELSEWHERE.get(code, MUCH)
    return server.read(path, replace(known, overlay={**known.overlay, path: whole(code, text)}))
