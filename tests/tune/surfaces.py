"""
Surfaces: how fast a server would be with each setting, for searches to be tried on.

A closed loop of 64 clients, on one to four cores, and an application that computes, waits or does
both. What a request costs is a sum: the handler, who speaks HTTP, the request's log, the lock,
threads and too many processes. Throughput is what CPU and workers allow, whichever is less, with a
soft corner; and each setting has half a percent of its own. The costs are drawn from the ranges
that the lab has measured. In half of the surfaces memory is bounded; in a quarter of them the
user's settings are the best already.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass
from pathlib import Path

from lab.cli.tune.moves import Facts, Ground
from lab.config.configuration import Known
from lab.config.uwsgi.reader import read
from lab.config.uwsgi.server import UWSGI
from lab.config.uwsgi.service import service_of
from lab.config.uwsgi.steps import DIRECT, FRONT, KEPT

CLIENTS = 64
FRONTS = ("http", KEPT, DIRECT)
PROCESSES = (1, 2, 3, 4, 6, 8, 12, 16)
THREADS = (1, 2, 4, 8, 16, 32, 64)
SHARP = 8
"""How sharp the corner between CPU and workers is."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One point of a surface."""

    front: str
    processes: int
    threads: int
    queue: bool
    """Whether it is long."""
    logs: bool
    lock: bool


def every():
    """Return the settings that are looked through for the best."""
    switches = (False, True)
    return itertools.starmap(
        Setting, itertools.product(FRONTS, PROCESSES, THREADS, switches, switches, switches)
    )


class Surface:
    """One application on one machine."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.seed = seed
        self.cores = draw.choice((1, 1, 2, 4))
        kind = draw.choice(("computes", "computes", "waits", "waits", "both"))
        self.handler = min(max(draw.lognormvariate(math.log(400), 0.8), 80), 4000) * 1e-6
        waits = {"computes": 0.0, "waits": draw.uniform(0.005, 0.1)}
        self.wait = waits.get(kind, self.handler * draw.uniform(0.5, 3))
        scale = draw.uniform(0.7, 1.3)
        costs = (110e-6, 60e-6, 25e-6)
        self.front = {name: scale * cost for name, cost in zip(FRONTS, costs, strict=True)}
        self.log = draw.uniform(5e-6, 20e-6)
        self.threads = draw.uniform(0, 15e-6), draw.uniform(0, 0.03)
        self.herd, self.held = draw.uniform(0, 6e-6), draw.uniform(0, 10e-6)
        self.crowd = draw.uniform(0, 0.05)
        self.each = draw.uniform(15, 80)
        self.start = Setting(
            draw.choice(("http", "http", "http", KEPT, DIRECT, DIRECT)),
            draw.choice((1, 2, 4, 8)),
            draw.choice((1, 2, 4)),
            queue=False,
            logs=draw.random() < 0.8,
            lock=draw.random() < 0.3,
        )
        room = self.memory(self.start) * draw.uniform(1.5, 4)
        self.limit = room if draw.random() < 0.5 else math.inf
        settings = filter(self.fits, every())
        self.best = max(settings, key=self.log_rate)
        self.is_best = draw.random() < 0.25
        if self.is_best:
            self.start = self.best

    def cost(self, at):
        """Return the seconds of CPU of a request."""
        workers = at.processes * at.threads
        cost = self.handler + self.front[at.front] + self.log * at.logs
        if at.threads > 1:
            fixed, share = self.threads
            cost += fixed + self.handler * share * math.log2(at.threads)
        cost += (self.held if at.lock else self.herd) * math.log2(workers)
        more = math.log2(max(1, at.processes / self.cores))
        return cost * (1 + self.crowd * more)

    def limits(self, at):
        """Return the requests/s that the CPU allows, and those that the workers do."""
        cost = self.cost(at)
        workers = min(at.processes * at.threads, CLIENTS)
        return min(at.processes, self.cores) / cost, workers / (self.wait + cost)

    def log_rate(self, at):
        """Return the logarithm of its requests/s."""
        cpu, workers = self.limits(at)
        deviation = random.Random(f"{self.seed}/{at}").gauss(0, 0.005)
        return -math.log(cpu**-SHARP + workers**-SHARP) / SHARP + deviation

    def memory(self, at):
        """Return its MiB."""
        return 30 + at.processes * self.each + at.processes * at.threads * 0.3

    def fits(self, at):
        """Return whether it has the memory."""
        return self.memory(at) <= self.limit

    def ground(self):
        """Return the user's configuration, an ini."""
        at = self.start
        front = {"http": "http = :80", KEPT: "http = :80\nhttp-keepalive = 1",
                 DIRECT: "http-socket = :80"}[at.front]  # fmt: skip
        lines = f"[uwsgi]\n{front}\nprocesses = {at.processes}\nthreads = {at.threads}\n"
        lines += "master = true\nmodule = shop\n" + "disable-logging = true\n" * (not at.logs)
        lines += "thunder-lock = true\n" * at.lock + "listen = 1024\n" * at.queue
        path = Path("uwsgi.ini")
        config = read(path, Known(overlay={path: lines}))
        return Ground("uwsgi.ini", UWSGI, config, service_of(config), cpus=self.cores)

    def facts(self):
        """Return what is known of it before anything is measured."""
        return Facts(self.cores, CLIENTS, threads=True, on_one_core=True)

    def setting(self, values):
        """Return the point that the user's settings are with *values* over them."""
        at = self.start
        return Setting(
            values.get(FRONT, at.front),
            int(values.get("workers", at.processes)),
            int(values.get("threads", at.threads)),
            queue="backlog" in values or at.queue,
            logs=at.logs and "access-log" not in values,
            lock=values["turns"] == "true" if "turns" in values else at.lock,
        )


class Bench:
    """Makes trials of a surface: noisy, drifting, some of them disturbed; and counts them."""

    def __init__(self, surface, noise, seed):
        self.surface, self.noise = surface, noise
        self.draw = random.Random(seed)
        self.drift, self.used = 0.0, 0

    def block(self, settings):
        """Return the logarithms of requests/s of one block, made in shuffled order."""
        order = [*range(len(settings))]
        self.draw.shuffle(order)
        log_rates = [0.0] * len(settings)
        for number in order:
            self.drift += self.draw.gauss(0, 0.003)
            self.used += 1
            bad = math.log(self.draw.uniform(0.6, 1)) if self.draw.random() < 0.05 else 0.0
            noise = self.draw.gauss(0, self.noise)
            log_rates[number] = self.surface.log_rate(settings[number]) + self.drift + noise + bad
        return log_rates
