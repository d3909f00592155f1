"""
What are threads worth without the GIL? Two builds of one CPython, measured in one run.

    tools/free_threaded.sh                                     builds both, and runs this
    .venv/bin/python studies/free_threading.py PYTHON FREE_THREADED [--blocks 10]

Installs the servers for the free-threaded interpreter and asks each one for 400 replies by four
clients; compiles `fib` for it; then compares one and two threads, and two processes, of gunicorn
under both interpreters, with an application that computes in Python. Writes
studies/results/free_threading.json: what runs, and the comparisons if the lab does not
refuse them. `--blocks 0` compares nothing.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from lab.analysis.summary import Summary  # noqa: E402
from lab.bench.servers.ports import free_port  # noqa: E402
from lab.bench.store.environment import read_environment  # noqa: E402
from studies.one_run import summary_of  # noqa: E402

RESULTS = ROOT / "studies" / "results" / "free_threading.json"
PINS = ROOT / "requirements"

APPLICATION = '''
"""Compute in Python for about a millisecond, as templates and serialisers do."""

import sys


def compute():
    total = 0
    for number in range(20_000):
        total += number * number % 7
    return total


def app(environ, start_response):
    path = environ["PATH_INFO"]
    body = (str(sys._is_gil_enabled()) if path == "/gil" else str(compute())).encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]


async def asgi(scope, receive, send):
    body = (str(sys._is_gil_enabled()) if scope["path"] == "/gil" else str(compute())).encode()
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
'''

REPLY = str(sum(number * number % 7 for number in range(20_000)))

SERVERS = {
    "gunicorn": ("gunicorn", "--worker-class", "gthread", "--threads", "2", "--bind", "{address}"),
    "uwsgi": (
        *("uwsgi", "--http-socket", "{address}", "--enable-threads", "--threads", "2"),
        *("--master", "--die-on-term", "--need-app", "--module"),
    ),
    "granian": (
        *("granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", "{port}"),
        *("--blocking-threads", "2"),
    ),
    "uvicorn": ("uvicorn", "--host", "127.0.0.1", "--port", "{port}"),
}
"""Start commands by package, with two threads where the server has threads."""

PROFILE = """\
summary = "{workers} processes with {threads} threads of Python {version}"
run = [["{programs}/gunicorn", "--worker-class", "gthread", "--workers", "{workers}",
    "--threads", "{threads}", "--bind", "{{host}}:{{port}}", "--chdir", "{{chdir}}", "{{app}}"]]
keepalive = true
"""

SHAPES = {"one-thread": (1, 1), "two-threads": (1, 2), "two-processes": (2, 1)}
"""Processes and threads by the second part of a profile's name."""


def pinned(name: str) -> str:
    """Return a package with the version that the project pins."""
    for file in ("service.txt", "peers.txt", "build.txt", "articles.txt"):
        for line in (PINS / file).read_text(encoding="utf-8").splitlines():
            if line.lower().startswith(f"{name}=="):
                return line.removesuffix("\\").strip()
    return name


def environment(python: Path, folder: Path) -> tuple[Path, dict[str, str]]:
    """Make an environment; return its programs, and what pip says of packages it cannot install."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run((python, "-m", "venv", folder), check=True)
    refusals = {}
    for name in ("cython", "setuptools", *SERVERS):
        words = ("install", "--quiet", "--disable-pip-version-check", pinned(name))
        done = subprocess.run(
            (folder / "bin" / "pip", *words), capture_output=True, text=True, check=False
        )
        if done.returncode:
            errors = re.findall(r"(?m)error: (?!subprocess-exited).*", done.stderr)
            refusals[name] = re.sub(r" \(/.*?\)", "", (errors or ["pip names no reason"])[0])
    return folder / "bin", refusals


def tell(python: Path, expression: str, cwd: Path) -> str:
    """Return what an interpreter prints of an expression."""
    command = (python, "-c", f"import sys; print({expression})")
    return subprocess.check_output(command, cwd=cwd, text=True).strip()


def extension(programs: Path, folder: Path) -> dict[str, Any]:
    """Compile `fib` for an interpreter; return its build, and whether the GIL is enabled then."""
    words = ("install", "--quiet", "--no-deps", "--no-build-isolation", str(ROOT))
    subprocess.run((programs / "pip", *words), check=True)
    python = programs / "python"
    expression = "__import__('fib').BUILD, sys._is_gil_enabled()"
    build, gil = tell(python, expression, folder).split()
    return {"build": build, "gil": gil == "True"}


def ask(port: int, path: str) -> str:
    """Return the body of a reply."""
    url = f"http://127.0.0.1:{port}{path}"
    with urllib.request.urlopen(url, timeout=20) as reply:
        body: str = reply.read().decode()
        return body


def serves(name: str, programs: Path, folder: Path) -> dict[str, Any]:
    """Start a server; return the number of right replies of 400, and whether the GIL is enabled."""
    port = free_port()
    filled = [word.format(address=f"127.0.0.1:{port}", port=port) for word in SERVERS[name]]
    application = "computing:asgi" if name == "uvicorn" else "computing:app"
    command = (str(programs / filled[0]), *filled[1:], application)
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, stdout=quiet, stderr=quiet) as server:
        try:
            gil = until_ready(port, server)
            if gil is None:
                return {"ended": server.wait()}
            with ThreadPoolExecutor(4) as clients:
                replies = list(clients.map(partial(ask, port), ["/"] * 400))
            return {"right": replies.count(REPLY), "gil": ask(port, "/gil") == "True"}
        finally:
            server.terminate()


def until_ready(port: int, server: subprocess.Popen[bytes]) -> str | None:
    """Ask until a server replies, at most 30 s; None if it ends."""
    for _ in range(300):
        try:
            return ask(port, "/gil")
        except OSError:
            try:
                server.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
            return None
    return None


def measure(builds: dict[str, Path], folder: Path, blocks: int) -> Summary:
    """Compare the shapes under both interpreters in one run."""
    profiles = []
    for build, programs in builds.items():
        for shape, (workers, threads) in SHAPES.items():
            path = folder / f"{build}-{shape}.toml"
            text = PROFILE.format(
                workers=workers, threads=threads, version=build, programs=programs
            )
            path.write_text(text, encoding="utf-8")
            profiles.append(path)
    options = (
        *("--app", "computing:app", "--chdir", str(folder), "--check", f"^{REPLY}$"),
        *("--connections", "8", "--server-cores", "0,1", "--generator-cores", "1"),
        *("--smallest", "20%", "--blocks", str(blocks)),
    )
    return summary_of(profiles, options, folder)


PAIRS = (
    ("gil-two-threads", "gil-one-thread"),
    ("gil-two-processes", "gil-one-thread"),
    ("free-one-thread", "gil-one-thread"),
    ("free-two-threads", "free-one-thread"),
    ("free-two-threads", "gil-two-processes"),
    ("free-two-processes", "free-two-threads"),
)
"""Comparisons that are stored, each of a profile and its reference."""


def main() -> None:
    """Install, check, measure and store."""
    parser = argparse.ArgumentParser(description="Threads with and without the GIL.")
    parser.add_argument("python", type=Path, help="interpreter with the GIL")
    parser.add_argument("free", type=Path, help="free-threaded interpreter of the same version")
    parser.add_argument("--blocks", type=int, default=10)
    options = parser.parse_args()
    home = ROOT / ".free-threaded"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "computing.py").write_text(APPLICATION, encoding="utf-8")
        programs, _ = environment(options.python.absolute(), home / "env")
        free, refusals = environment(options.free.absolute(), home / "env-free")
        servers = {
            name: {"package": pinned(name)}
            | ({"refusal": refusals[name]} if name in refusals else serves(name, free, folder))
            for name in SERVERS
        }
        fib = extension(free, folder)
        content = {
            "environment": read_environment(),
            "version": tell(free / "python", "sys.version.split()[0]", folder),
            "fib": fib,
            "servers": servers,
        }
        store(content)
        if options.blocks:
            summary = measure({"gil": programs, "free": free}, folder, options.blocks)
            store(content | compared(summary, options.blocks))


def compared(summary: Summary, blocks: int) -> dict[str, Any]:
    """Return what a run says of the profiles."""
    return {
        "blocks": blocks,
        "floors": summary.floors,
        "profiles": {row.profile.name: row.values for row in summary.rows},
        "comparisons": {
            f"{one} over {other}": {
                metric: comparison(summary, metric, one, other)
                for metric in ("throughput", "cpu", "memory")
            }
            for one, other in PAIRS
        },
    }


def store(content: dict[str, Any]) -> None:
    """Write the result."""
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def comparison(summary: Summary, metric: str, one: str, other: str) -> dict[str, Any]:
    """Return ratio, interval and verdict of two profiles."""
    result = summary.compare(metric, one, other)
    return {
        "ratio": None if result.ratio is None else asdict(result.ratio),
        "between": None if result.between is None else asdict(result.between),
        "verdict": result.verdict,
    }


if __name__ == "__main__":
    main()
