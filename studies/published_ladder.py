"""
The article's ladder, as often as it takes to see what its figures are made of.

    sudo .venv/bin/python -m studies.published_ladder [--rounds N]

"Getting Every Microsecond Out of uWSGI" (2016) measures each configuration once with
`ab -c 500 -n 5000` and reports 347, 1,069, 1,483, 1,607 and 1,745 requests/s. Here the same five
configurations get the same load on two CPUs, slowed until a request takes about as long as it took
there (`CPU_TIME`), each trial in a network namespace of its own with
`tcp_syn_linear_timeouts = 0` as on that kernel. Three conditions: the queue of 100 connections that
they have; `listen = 1024`; and the queue of 100 with the server's output on a terminal that is read
slowly. A round has each configuration once in each condition, in shuffled order. Writes
studies/results/published_ladder.json after each trial and goes on where it stands; needs root, ab
and two CPUs that do nothing else; two minutes a round.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lab.bench.machine import slowdown
from lab.bench.probes.tcp import read_counters
from lab.bench.store.environment import read_environment

ROOT = Path(__file__).resolve().parent.parent
RESULT = Path(__file__).parent / "results" / "published_ladder.json"
UWSGI = Path(sys.executable).parent / "uwsgi"

PUBLISHED = {
    "baseline": 347,
    "processes-threads": 1069,
    "disable-logging": 1483,
    "max-worker-lifetime": 1607,
    "cython": 1745,
}
"""Profile -> requests/s that the article reports."""

CONDITIONS = ("queue of 100", "listen = 1024", "slow terminal")

CPU_TIME = 1.24e-3
"""Seconds that a request takes a slowed CPU; two CPUs that serve 1,745 requests/s need 1.15 ms."""

LEAST, MOST = 0.1, 0.5
"""Shares of the machine's time at which a slowed server is like one of real CPUs."""

CLIENTS, REQUESTS, PATIENCE = 500, 5000, 90

TERMINAL = 150_000
"""Bytes a second that the slow terminal is read at: about 1,400 of the article's log lines."""

COUNTERS = (
    *("ListenOverflows", "ListenDrops", "TCPReqQFullDrop", "TCPSynRetrans", "RetransSegs"),
    *("TCPTimeouts", "TCPSlowStartRetrans", "TCPAbortOnTimeout"),
)
"""What the kernel counts of timers and full queues."""

MOST_ERRORS = 5
"""Times that ab may give up in a trial; it does when the server resets a connection."""

PORT = 8080


def trial(profile: str, condition: str, share: float) -> dict[str, Any]:
    """Measure one configuration once, in the network namespace that this process has to itself."""
    Path("/proc/sys/net/ipv4/tcp_syn_linear_timeouts").write_text("0\n", encoding="ascii")
    subprocess.run(("ip", "link", "set", "lo", "up"), check=True)
    words = [str(UWSGI), str(ROOT / "profiles" / f"{profile}.ini")]
    if condition == "listen = 1024":
        words += ["--listen", "1024"]
    terminal, output = os.openpty() if condition == "slow terminal" else (-1, -1)
    if terminal >= 0:
        tty.setraw(output)
    server = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=output if output >= 0 else subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PORT": str(PORT)},
        start_new_session=True,
    )
    ended = threading.Event()
    reader = threading.Thread(target=_read_slowly, args=(terminal, ended), daemon=True)
    reader.start()
    try:
        _wait(server)
        return _load(server, share) | {"condition": condition, "profile": profile, "share": share}
    finally:
        ended.set()
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        reader.join()


def _read_slowly(terminal: int, ended: threading.Event) -> None:
    """Read a terminal at `TERMINAL` bytes a second, if there is one."""
    while terminal >= 0 and not ended.is_set():
        if select.select([terminal], [], [], 0.01)[0]:
            with suppress(OSError):
                time.sleep(len(os.read(terminal, TERMINAL // 100)) / TERMINAL)


def _wait(server: subprocess.Popen[bytes]) -> None:
    """Wait until the server gives the first reply; end with what is wrong if it does not."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and server.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", PORT), 5) as client:
            client.sendall(b"GET /9000 HTTP/1.0\r\n\r\n")
            if client.recv(16).startswith((b"HTTP/1.0 200", b"HTTP/1.1 200")):
                return
        time.sleep(0.05)
    sys.exit("the server gave no reply")


def _load(server: subprocess.Popen[bytes], share: float) -> dict[str, Any]:
    """Return what ab reports, and what the kernel counted, with the server slowed down."""
    before, cpu = read_counters("self"), _cpu(server.pid)
    command = ("ab", "-q", "-c", CLIENTS, "-n", REQUESTS, "-s", PATIENCE)
    ab = subprocess.Popen(
        (*map(str, command), f"http://127.0.0.1:{PORT}/9000"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    cpus = sorted(os.sched_getaffinity(0))
    # The terminal's reader is a thread of this process, and as far from the server as its clients.
    with slowdown.slowed(share, (ab.pid, os.getpid()), cpus, 600):
        text, _ = ab.communicate(timeout=600)
    after = read_counters("self")
    rate = re.search(r"Requests per second:\s+([\d.]+)", text)
    if rate is None:
        return {"error": re.sub(r"\s+", " ", text[-200:])}
    slowest = re.search(r"^\s*100%\s+(\d+)", text, re.MULTILINE)
    median = re.search(r"^\s*50%\s+(\d+)", text, re.MULTILINE)
    failed = re.search(r"Failed requests:\s+(\d+)", text)
    return {
        "rate": float(rate[1]),
        "slowest": int(slowest[1]) / 1000 if slowest else None,
        "median": int(median[1]) / 1000 if median else None,
        "failed": int(failed[1]) if failed else None,
        "cpu": (_cpu(server.pid) - cpu) / REQUESTS,
        "counters": {
            name: after[name] - before[name]
            for name in COUNTERS
            if name in before and name in after
        },
    }


def _cpu(session: int) -> float:
    """Return the seconds of CPU of all living processes of a session."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError):
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[3]) == session:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure what is missing of the rounds, and store each trial at once."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40, help="how many there are to be")
    words = ("PROFILE", "CONDITION", "SHARE")
    parser.add_argument("--trial", nargs=len(words), metavar=words, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.trial:
        profile, condition, share = given.trial
        sys.stdout.write(json.dumps(trial(profile, condition, float(share))) + "\n")
        return
    if os.geteuid() or not shutil.which("ab") or (slowdown.obstacle() is not None):
        sys.exit("published_ladder: needs root with the right to set a real-time policy, and ab")
    stored: dict[str, Any] = json.loads(RESULT.read_text()) if RESULT.exists() else {"trials": []}
    trials: list[dict[str, Any]] = stored["trials"]
    environment = read_environment()
    machine = environment["cpu"]["model"]
    known = {(entry["round"], entry["profile"], entry["condition"]) for entry in trials}
    missing = [entry for entry in _order(given.rounds) if entry not in known]
    if not missing:
        return
    share = _share()
    for number, profile, condition in missing:
        outcome = _measured(profile, condition, share)
        trials.append({"round": number, "machine": machine, **outcome})
        _store(trials, environment)
        sys.stdout.write(f"round {number + 1}: {condition}, {profile}: {outcome['rate']:.0f}/s\n")
        sys.stdout.flush()


def _order(rounds: int) -> Iterator[tuple[int, str, str]]:
    """Yield each round's number, profiles and conditions, in its shuffled order."""
    for number in range(rounds):
        order = [(number, profile, name) for profile in PUBLISHED for name in CONDITIONS]
        random.Random(number).shuffle(order)
        yield from order


def _share() -> float:
    """Return the share of this machine's time at which a request takes `CPU_TIME`."""
    costs: list[float] = [_measured("cython", "listen = 1024", MOST)["cpu"] for _ in range(3)]
    share = round(min(max(statistics.median(costs) / CPU_TIME, LEAST), MOST), 2)
    sys.stdout.write(f"the server has {share:.0%} of the time\n")
    return share


def _measured(profile: str, condition: str, share: float) -> dict[str, Any]:
    """Return a trial's outcome; one in which ab gives up is made again, and its error is kept."""
    module = (sys.executable, "-m", "studies.published_ladder")
    words = (*module, "--trial", profile, condition, str(share))
    errors = list[str]()
    while len(errors) < MOST_ERRORS:
        done = subprocess.run(
            ("unshare", "--net", *words), stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT
        )
        if done.returncode:
            sys.exit(done.returncode)
        outcome: dict[str, Any] = json.loads(done.stdout)
        if "error" not in outcome:
            return outcome | ({"errors": errors} if errors else {})
        errors.append(outcome["error"])
    sys.exit(f"ab gave up {MOST_ERRORS} times: {errors[-1]}")


def _store(trials: list[dict[str, Any]], environment: Mapping[str, Any]) -> None:
    kept = {name: environment[name] for name in ("cpu", "kernel", "uwsgi") if name in environment}
    result = {"terminal": TERMINAL, "environment": kept, "trials": trials}
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
