"""A watch as JSON: a line a second, and a last one with `"whole": true`."""

from __future__ import annotations

import json
from collections.abc import Mapping

from lab.analysis.in_flight import Level
from lab.cli.watch.result import Period, WatchResult
from lab.cli.watch.target import WatchTarget


def head(_target: WatchTarget) -> str:
    """Return nothing: each line says all."""
    return ""


def second(period: Period) -> str:
    """Return the line of a second."""
    return json.dumps({"whole": False, **_entry(period)})


def ending(watch_result: WatchResult) -> str:
    """Return the last line."""
    target = watch_result.target
    whole = {
        "whole": True,
        "listens": target.name,
        "server": target.settings.name,
        "process": target.root,
        **_entry(watch_result.whole),
        "looks": watch_result.whole.figures.looks,
        "seconds": round(watch_result.whole.seconds, 3),
        "busy": watch_result.busy,
        "verdict": [
            {"kind": notice.kind, "sentence": notice.sentence(), "page": f"docs/{notice.page}"}
            for notice in watch_result.verdict
        ],
        "not_known": list(watch_result.not_known),
    }
    return json.dumps(whole)


def _entry(period: Period) -> Mapping[str, object]:
    figures = period.figures
    return {
        "time": round(period.at, 3),
        "in_flight": _level(figures.in_flight),
        "in_workers": _level(figures.in_workers),
        "capacity": period.capacity,
        "waiting_inside": _level(figures.waiting_inside),
        "queued": _level(figures.queued),
        "accept_queue": {**_level(figures.queue), "limit": figures.limit},
        "dropped": period.dropped,
        "sending": round(figures.sending, 3),
        "oldest_unread": figures.oldest_unread,
        "waited": round(figures.waited, 4),
        "guessed": round(figures.guessed, 4),
        "workers": [
            {
                "pid": use.pid,
                "in_flight": _rounded(use.in_flight),
                "request_time": _rounded(use.time),
                "data_received": _rounded(use.segments),
                "cpu": _rounded(use.cpu),
                "threads": {place: round(number, 2) for place, number in use.threads},
            }
            for use in period.workers
        ],
        "started": period.started,
        "cost": round(period.cost, 5),
    }


def _level(level: Level) -> dict[str, float]:
    return {"mean": round(level.mean, 3), "p95": level.p95, "most": level.most}


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
