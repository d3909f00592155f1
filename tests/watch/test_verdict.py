"""What a watch comes to, in words."""

from __future__ import annotations

import re
from dataclasses import replace

from lab.analysis import watch_verdict
from lab.analysis.in_flight import in_flight_of
from lab.analysis.watch_verdict import WatchNotice, verdict
from tests.kit.cases import cases
from tests.kit.lab_process import ROOT
from tests.watch.test_in_flight import look

QUIET = [look(at, busy=2, workers=[(1, 1, 0, 5), (2, 1, 0, 5)]) for at in range(20)]
UNEVEN = [look(at, busy=4, unread=2, workers=[(1, 4, 2, 5), (2, 0, 0, 0)]) for at in range(20)]
FULL = [look(at, busy=8, unread=2, workers=[(1, 4, 1, 5), (2, 4, 1, 5)]) for at in range(20)]
QUEUED = [look(at, busy=8, queued=2, workers=[(1, 4, 0, 5), (2, 4, 0, 5)]) for at in range(20)]
IDLE = [look(at, busy=0, idle=9, workers=[(1, 0, 0, 0)]) for at in range(20)]

USUAL = {"threads": 4, "loops": False, "cpu": [0.2, 0.2], "cores": 4, "dropped": 0}

CASES = [
    (QUIET, {}, ["RoomLeft"]),
    (QUIET, {"dropped": 31}, ["HandshakesDropped"]),
    (QUIET, {"dropped": None}, ["RoomLeft"]),
    (QUIET, {"threads": None}, []),
    (UNEVEN, {}, ["UnevenWorkers"]),
    (UNEVEN, {"dropped": 1}, ["HandshakesDropped", "UnevenWorkers"]),
    (FULL, {}, ["WorkersFull"]),
    (FULL, {"cpu": [0.9, 0.8]}, ["CpuFull"]),
    (FULL, {"cpu": [0.45, 0.45], "cores": 1}, ["CpuFull"]),
    (FULL, {"idle": 3.6}, ["WorkersFull"]),
    (FULL, {"idle": 0.05}, ["CpuFull"]),
    (QUEUED, {}, ["WorkersFull"]),
    (IDLE, {}, ["TooLittleTraffic"]),
]
"""The looks, what differs from USUAL, and the facts that matter."""


@cases("looks, differs, kinds", CASES)
def test_the_gravest_fact_comes_first(looks, differs, kinds):
    """And what follows from it does not come at all."""
    figures = in_flight_of(looks, {**USUAL, **differs}["threads"])
    notices = verdict(figures, looks, **{**USUAL, **differs})
    assert [notice.kind for notice in notices] == kinds


def test_an_event_loop_that_stands_still_is_told():
    """By the bytes that it did not read."""
    looks = [look(at, busy=1, unread=1, oldest=0.46) for at in range(20)]
    usual = {**USUAL, "threads": None, "loops": True}
    (notice,) = verdict(in_flight_of(looks, None), looks, **usual)
    assert "up to 0.5 s for an event loop" in notice.sentence()


def test_the_busiest_worker_is_named():
    """With its share of the time."""
    (notice,) = verdict(in_flight_of(UNEVEN, 4), UNEVEN, **USUAL)
    assert "In 100% of the looks" in notice.sentence()
    assert "worker 1 takes 100% of the time" in notice.sentence()


@cases(
    "differs, says",
    [
        ({}, "workers have room for at least 2 times the requests of this watch (2.0 of 8 on"),
        ({}, "and the CPU for at least 2 times of them. Requests begin"),
        (
            {"threads": 1},
            "room for 1.0 times .* the CPU for at least 2 .*, so the workers would be",
        ),
        (
            {"cpu": [0.9, 0.7]},
            "at least 2 times .* the CPU for 1.2 times of them, so the CPU would",
        ),
        ({"cpu": [0.4, 0.4], "cores": 1}, "the CPU for 1.2 times of them"),
        ({"idle": 0.1}, "the CPU for 1.2 times of them"),
    ],
)
def test_more_requests_are_told_by_littles_law_and_never_beyond_twice(differs, says):
    """The workers and the CPU have a multiple of the requests seen."""
    usual = {**USUAL, **differs}
    (notice,) = verdict(in_flight_of(QUIET, usual["threads"]), QUIET, **usual)
    assert re.search(says.replace("(2", r"\(2"), notice.sentence()), notice.sentence()


def test_cpu_that_other_programs_use_is_named():
    """Each worker may still be far from a core."""
    for cpu, end in (([0.9, 0.9], "which is most of theirs"), ([0.2, 0.2], "and other programs")):
        usual = {**USUAL, "cpu": cpu, "idle": 0.05}
        (notice,) = verdict(in_flight_of(FULL, 4), FULL, **usual)
        assert f"cores, {end}" in notice.sentence()


def test_full_workers_are_told_with_the_server_that_they_wait_for():
    """If it is known."""
    for awaited in ("", "127.0.0.1:5432"):
        (notice,) = verdict(in_flight_of(FULL, 4), FULL, **USUAL, awaited=awaited)
        assert notice.sentence().endswith(f"wait for {awaited}." if awaited else "is the limit.")


def test_too_few_requests_and_guesses_are_no_ground_for_a_multiple():
    """Nothing waits, and that is all."""
    few = [look(at, busy=at % 3 == 0, workers=[(1, 0, 0, 0), (2, 0, 0, 0)]) for at in range(20)]
    guessed = [replace(quiet_look, guessed=1) for quiet_look in QUIET]
    for looks in (few, guessed):
        (notice,) = verdict(in_flight_of(looks, 4), looks, **USUAL)
        assert "times" not in notice.sentence()


def test_each_fact_has_a_page_and_a_heading_that_exist():
    """A reader can go there."""
    kinds = [
        kind
        for kind in vars(watch_verdict).values()
        if isinstance(kind, type) and issubclass(kind, WatchNotice) and kind is not WatchNotice
    ]
    assert len(kinds) == 7
    for kind in kinds:
        path, _, heading = kind.page.partition("#")
        text = (ROOT / "docs" / path).read_text()
        titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        slugs = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
        assert not heading or heading in slugs, kind
