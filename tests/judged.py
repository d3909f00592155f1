"""
Compare what `lab lint` says by default with what an expert said of each finding.

    .venv/bin/python -m tests.judged FOLDER [--all]

--all compares remarks, too.
FOLDER has files of configurations, at any depth, and a judged.csv with the columns file (from
FOLDER on), code, message and judgement: `true-useful`, `true-noise`, `true-wrong-advice` or
`FALSE`. A finding of which nothing was said is listed, to be judged. Ends with 1 unless nothing is
FALSE or wrong advice, USEFUL of what was judged is useful, and half of the files have MEDIAN
findings at most.
"""

from __future__ import annotations

import contextlib
import csv
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from lab.cli.lint.formats import LocatedFlaw, once
from lab.config.configuration import Known
from lab.config.reading import start_names
from lab.errors import FileError
from lab.lint.lint import lint

JUDGED = "judged.csv"
USEFUL = 0.75
MEDIAN = 3
BAD = ("FALSE", "true-wrong-advice")
NOT_JUDGED = "not judged"


def found_in(folder: Path, *, remarks: bool) -> Iterator[tuple[str, list[LocatedFlaw] | str]]:
    """Yield each file with what is shown of it, or why it is not read."""
    known = Known(confined=(folder,))
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != JUDGED)
    for path in sorted(paths):
        name = str(path.relative_to(folder))
        try:
            results = [lint(start, known) for start in start_names(path) or [str(path)]]
        except FileError as error:
            yield name, str(error)
        else:
            every = {
                (flaw.spot, flaw.code): LocatedFlaw(flaw, result.line(flaw))
                for result in results
                for flaw in result.flaws
                if flaw.shown or remarks
            }
            yield name, once(sorted(every.values(), key=lambda located: located.order))


def verdict_of(located: LocatedFlaw, rows: list[dict[str, str]]) -> str:
    """
    Return what was said of a finding; of several of its rule in the file, what was said of most.

    What was wrong with a message that reads otherwise now was not said of this one.
    """
    same = [row for row in rows if row["message"] == located.flaw.message]
    judgements = Counter(row["judgement"] for row in same or rows)
    if not same and set(judgements) & set(BAD):
        return NOT_JUDGED
    return judgements.most_common(1)[0][0] if judgements else NOT_JUDGED


def main(folder: Path, *, remarks: bool = False) -> int:
    """Print the comparison, of remarks too on request; return 0 where it is as wanted."""
    judged: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    with (folder / JUDGED).open(newline="") as rows:
        for row in csv.DictReader(rows):
            judged[row["file"], row["code"]].append(row)
    by_code: dict[str, Counter[str]] = defaultdict(Counter)
    counts = []
    with contextlib.chdir(folder):  # what is a container's is said by a Dockerfile there
        for name, flaws_or_reason in found_in(folder, remarks=remarks):
            if isinstance(flaws_or_reason, str):
                print(f"not read: {flaws_or_reason}")
                continue
            counts.append(len(flaws_or_reason))
            for located in flaws_or_reason:
                verdict = verdict_of(located, judged[name, located.flaw.code])
                by_code[located.flaw.code][verdict] += 1
                if verdict in (NOT_JUDGED, *BAD):
                    print(f"{verdict}: {located.place} {located.flaw.code} {located.message}")
    total = sum(by_code.values(), Counter())
    for code, verdicts in sorted(by_code.items(), key=lambda it: -it[1].total()):
        print(f"{code:<6} {verdicts.total():>4}  {dict(verdicts)}")
    known = total.total() - total[NOT_JUDGED]
    share = total["true-useful"] / known if known else 1.0
    median = statistics.median(counts)
    print(f"{total.total()} findings in {len(counts)} files: {dict(total)}")
    print(
        f"useful {share:.0%}; a file: median {median:g}, most {max(counts)}, none {counts.count(0)}"
    )
    return int(any(total[judgement] for judgement in BAD) or share < USEFUL or median > MEDIAN)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), remarks="--all" in sys.argv))
