"""A run of the lab, made for a study."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lab.analysis.summary import Summary, summarise
from lab.bench.store.folder import read_run

ROOT = Path(__file__).resolve().parent.parent


def summary_of(profiles: Sequence[Path], options: Sequence[str], folder: Path) -> Summary:
    """
    Run profiles, and return what came of it; end this program if the lab refuses the run.

    Args:
        profiles: Their files; the first is the reference.
        options: Further words of `lab run`.
        folder: Where `results` are written.
    """
    lab = Path(sys.executable).parent / "lab"
    words = ("--no-confirm", *options, "--results", str(folder / "results"))
    done = subprocess.run((lab, "run", *profiles, *words), cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"no comparison is stored: lab run ended with {done.returncode}")
    return summarise(read_run(next((folder / "results").glob("*/run.json")).parent))
