"""
Say by Apache Otava whether a series changes for the worse where its second part begins.

Run in its environment as `python -I detect.py`: it reads a line of JSON with two lists of costs at
a time, and writes true or false for each.
"""

from __future__ import annotations

import json
import sys

from otava.analysis import compute_change_points

WHERE = 2
"""Trials by which a change point may lie off the head's first and still be taken for the head."""


def main() -> None:
    """Answer each line."""
    for line in sys.stdin:
        base, head = json.loads(line)
        points, _ = compute_change_points([*base, *head])
        worse = any(
            abs(point.index - len(base)) <= WHERE and point.stats.forward_rel_change() > 0
            for point in points
        )
        print(json.dumps(worse), flush=True)


if __name__ == "__main__":
    main()
