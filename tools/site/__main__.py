"""
The command: build the site into a folder that has nothing else in it.

    python -m tools.site [FOLDER]      build/site without one
"""

from __future__ import annotations

import contextlib
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from lab.errors import LabError, UsageError
from tools.pages.addresses import urls
from tools.pages.files import ROOT
from tools.site.docs import write_reports, write_sources
from web import answers

WEB = ROOT / "web"
HERE = Path(__file__).parent
NPM = ROOT / "build" / "npm"
"""Where packages of npm are installed."""

SPHINX = ROOT / ".site" / "bin" / "sphinx-build"
"""What makes the documentation: `tools/setup.sh site` installs it."""

ACCESSIBLE = {
    'class="caption" role="heading"': 'class="caption" role="heading" aria-level="2"',
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
}
"""What Sphinx writes -> what a screen reader and a keyboard need in its place."""

PAGE = ("index.html", "page.css", "page.js", "worker.js", "offline.js")
"""The files of the page that are served as they are."""

ENGINE_HERE = 'content="engine/"'
"""Where index.html names the folder of the engine."""


def build(site: Path, *, reports: bool = True) -> None:
    """
    Build the site; with the report of each stored run, which takes most of the time.

    Raises:
        UsageError: A program is missing, or npm or node fails.
    """
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir(parents=True)
    page = {name: (WEB / name).read_text(encoding="utf-8") for name in PAGE}
    assert ENGINE_HERE in page["index.html"]
    engine = make_engine(site)
    page["index.html"] = page["index.html"].replace(ENGINE_HERE, f'content="{engine}/"')
    page["examples.json"] = json.dumps([*examples()], separators=(",", ":"))
    with elsewhere():
        page["rules.json"] = json.dumps(answers.rules(), separators=(",", ":"))
    page[".nojekyll"] = ""  # GitHub leaves out folders that begin with _ otherwise
    rules = json.loads(page["rules.json"])
    document(site, {code: rule["tries"] for code, rule in rules.items()})
    if reports:
        write_reports(site)
    for name, text in page.items():
        (site / name).write_text(text, encoding="utf-8")


def document(site: Path, tries: dict[str, Any]) -> None:
    """Write the documentation; `tries` says of which rules the page can show the example."""
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "sources"
        write_sources(sources, urls()["Source"].rstrip("/"), tries)
        words = (
            "-b",
            "dirhtml",
            "-W",
            "--keep-going",
            "-q",
            "-c",
            str(HERE),
            "-d",
            f"{folder}/doctrees",
        )
        run(str(SPHINX), *words, str(sources), str(site))
    for name in ("objects.inv", ".buildinfo"):
        (site / name).unlink(missing_ok=True)
    shutil.rmtree(site / "_sources", ignore_errors=True)
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for before, after in ACCESSIBLE.items():
            text = text.replace(before, after)
        path.write_text(text, encoding="utf-8")


def missing() -> str:
    """Return what is missing for a build, and how to get it; empty if nothing is."""
    programs = [program for program in ("node", "npm") if shutil.which(program) is None]
    if programs:
        return f"needs {' and '.join(programs)}: apt-get install nodejs npm"
    if not SPHINX.exists():
        return "needs Sphinx: tools/setup.sh site"
    try:
        install()
    except UsageError as error:
        return str(error)
    return ""


def install() -> Path:
    """Return the folder with the packages of npm, each of the pinned version and content."""
    wanted = (HERE / "package-lock.json").read_bytes()
    stamp = NPM / "installed.json"
    if not stamp.exists() or stamp.read_bytes() != wanted:
        NPM.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, NPM)
        run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", folder=NPM)
        stamp.write_bytes(wanted)
    return NPM / "node_modules"


def run(program: str, *words: str, folder: Path = ROOT) -> None:
    """Run a program; raise UsageError with the end of what it printed if it fails."""
    done = subprocess.run(
        [program, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        printed = (done.stdout + done.stderr)[-2000:]
        raise UsageError(f"{program} failed with status {done.returncode}:\n{printed}")


def make_engine(site: Path) -> str:
    """Write the engine, and return its folder, which has a name of its content."""
    pyodide = install() / "pyodide"
    packages = Path(yaml.__file__).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        run("node", str(HERE / "engine.mjs"), *map(str, (pyodide, ROOT, packages, made)))
        files = {f"{name}.zip.gz": packed(made / f"{name}.zip") for name in ("stdlib", "lab")}
    files["pyodide.asm.wasm.gz"] = packed(pyodide / "pyodide.asm.wasm")
    for name in ("pyodide.mjs", "pyodide.asm.mjs"):
        files[name] = (pyodide / name).read_bytes()
    lock = json.loads((pyodide / "pyodide-lock.json").read_bytes())
    files["lock.json"] = json.dumps({"info": lock["info"], "packages": {}}).encode()
    digest = sha256()
    for name, content in sorted(files.items()):
        digest.update(name.encode() + content)
    engine = f"engine-{digest.hexdigest()[:8]}"
    (site / engine).mkdir()
    for name, content in files.items():
        (site / engine / name).write_bytes(content)
    return engine


def packed(path: Path) -> bytes:
    """Return the content of a file, compressed: the same bytes each time."""
    return gzip.compress(path.read_bytes(), mtime=0)


def examples() -> Iterator[dict[str, Any]]:
    """Yield the examples of the page, each with its answer."""
    table = tomllib.loads((WEB / "examples.toml").read_text(encoding="utf-8"))
    with elsewhere():
        for key, example in table.items():
            answer = json.loads(answers.answered(json.dumps({"text": example["text"]})))
            yield {"key": key, **example, "answer": answer}


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """Answer in an empty folder, as the page does: what lies here would be read otherwise."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield


def size(site: Path) -> int:
    """Return the bytes of all files."""
    return sum(path.stat().st_size for path in site.rglob("*") if path.is_file())


def main() -> None:
    """Build, and say how long it took and how large the site is."""
    site = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "build" / "site"
    began = time.monotonic()
    if problem := missing():
        sys.exit(f"site: {problem}")
    try:
        build(site.resolve())
    except LabError as error:
        sys.exit(f"site: {error}")
    print(f"site: {site}, {size(site):,} bytes, in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
