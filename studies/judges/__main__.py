"""The command: record blocks, or judge what was recorded."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lab.bench.store.folder import write_json
from lab.errors import LabError, ResultsError
from studies.judges.counts import count
from studies.judges.moods import Mood
from studies.judges.record import Wanted, record
from studies.judges.recording import Recording, read_recording

ROOT = Path(__file__).resolve().parent.parent.parent
RECORDING = ROOT / "results" / "judges"
RESULTS = ROOT / "studies" / "results" / "judges.json"

SEED = 20261126


def main() -> None:
    """Do what was asked."""
    parser = argparse.ArgumentParser(prog="python -m studies.judges", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    recorder = commands.add_parser("record", help="append blocks of one mood to the recording")
    recorder.add_argument("--mood", type=Mood, choices=[*Mood], required=True)
    recorder.add_argument("--minutes", type=float, default=5.0)
    recorder.add_argument("--seed", type=int, default=SEED, help="of a recording that is begun")
    recorder.add_argument(
        "--at-once", action="store_true", help="do not wait for an idle machine before a block"
    )
    recorder.add_argument(
        "--alike", action="store_true", help="the old version alone: comparisons with itself"
    )
    commands.add_parser("count", help="count the instructions of each version (valgrind)")
    judge = commands.add_parser("judge", help="let all judges judge it; writes the results")
    judge.add_argument("--output", type=Path, default=RESULTS, metavar="FILE")
    for command in commands.choices.values():
        command.add_argument("--recording", type=Path, default=RECORDING, metavar="FOLDER")
    arguments = parser.parse_args()
    try:
        if arguments.command == "record":
            wanted = Wanted(
                arguments.mood,
                arguments.minutes,
                arguments.seed,
                arguments.at_once,
                alike=arguments.alike,
            )
            made = record(arguments.recording, wanted, print)
            print(f"{made} blocks of the mood {arguments.mood}")
        elif arguments.command == "count":
            for name, counts in count(
                arguments.recording, _recording(arguments.recording).turns
            ).requests.items():
                print(f"{name}: {', '.join(map(str, counts))}")
        else:
            _judge(arguments.recording, arguments.output)
    except LabError as error:
        sys.exit(str(error))


def _recording(folder: Path) -> Recording:
    recording = read_recording(folder)
    if recording is None:
        raise ResultsError(folder, "holds no recording; make one with: judges record")
    return recording


def _judge(folder: Path, output: Path) -> None:
    from studies.judges.result import judged  # noqa: PLC0415 - scipy is a tests' dependency

    result = judged(folder, _recording(folder), "python -m studies.judges judge")
    write_json(output, result)
    for mood, by_judge in result.moods.items():
        for name, counts in by_judge.items():
            shares = ", ".join(f"{it} {n.red}/{n.comparisons}" for it, n in counts.items())
            print(f"{mood}: {name}: {shares}")


if __name__ == "__main__":
    main()
