"""The command: record blocks, or judge what was recorded."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.judges.moods import Mood
from benchmarks.judges.record import record
from lab.errors import LabError

ROOT = Path(__file__).resolve().parent.parent.parent
RECORDING = ROOT / "results" / "judges"

SEED = 20261126


def main() -> None:
    """Do what was asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judges", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    recorder = commands.add_parser("record", help="append blocks of one mood to the recording")
    recorder.add_argument("--mood", type=Mood, choices=[*Mood], required=True)
    recorder.add_argument("--minutes", type=float, default=5.0)
    recorder.add_argument("--seed", type=int, default=SEED, help="of a recording that is begun")
    for command in commands.choices.values():
        command.add_argument("--recording", type=Path, default=RECORDING, metavar="FOLDER")
    asked = parser.parse_args()
    try:
        made = record(asked.recording, asked.mood, asked.minutes, asked.seed, print)
    except LabError as error:
        sys.exit(str(error))
    print(f"{made} blocks of the mood {asked.mood}")


if __name__ == "__main__":
    main()
