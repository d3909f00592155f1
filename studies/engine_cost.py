"""
Measure what a request costs the load engine, and what it costs other generators.

    .venv/bin/python studies/engine_cost.py

A generator that needs more CPU than the server measures itself. Here each loads the same constant
server, from one core while the server has another, in turns over several rounds; what is compared
is the generator's own CPU a request, paired by round. The engine and Locust check the whole body
of every reply; ab checks lengths, wrk nothing. Needs two cores, nginx, wrk and ab:

    apt-get install nginx-light wrk apache2-utils
"""

from __future__ import annotations

import json
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import monotonic
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from lab.analysis.stats import paired  # noqa: E402
from lab.bench.load.ab import ab_command, parse_ab  # noqa: E402
from lab.bench.load.process import EngineGenerator  # noqa: E402
from lab.bench.load.tool import run_tool  # noqa: E402
from lab.bench.servers.ports import free_port  # noqa: E402
from lab.model.numbers import ratio  # noqa: E402
from lab.model.plan import Load  # noqa: E402
from lab.model.protocols import Endpoint  # noqa: E402
from lab.model.request import Expectation  # noqa: E402
from lab.model.workload import Workload  # noqa: E402
from studies.wrk import parse_wrk, wrk_command  # noqa: E402

ROUNDS = 7
CONNECTIONS = 32
RESULTS = ROOT / "studies" / "results" / "engine_cost.json"
BODY = json.dumps([0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584])

NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log stderr;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 1000000000;
  server {{ listen 127.0.0.1:{port} backlog=1024;
    location / {{ default_type application/json; return 200 "{body}"; }} }}
}}
"""

APP = """
BODY = {body!r}.encode()
HEADERS = [("Content-Type", "application/json"), ("Content-Length", str(len(BODY)))]
def application(environ, start_response):
    start_response("200 OK", HEADERS)
    return [BODY]
"""

LOCUSTFILE = """
import gevent, json
from locust import FastHttpUser, events, task
BODY = {body!r}.encode()
class Client(FastHttpUser):
    @task
    def load(self):
        with self.client.get("/", headers={headers!r}, catch_response=True) as reply:
            if reply.content != BODY:
                reply.failure("body")
def read_cpu():
    return int(open("/proc/self/schedstat").read().split()[0]) / 1e9
@events.test_start.add_listener
def start(environment, **_):
    def measure():
        gevent.sleep(1)
        total = environment.stats.total
        cpu, count, failed = read_cpu(), total.num_requests, total.num_failures
        gevent.sleep(1.5)
        print("COST", json.dumps([read_cpu() - cpu, total.num_requests - count,
                                  total.num_failures - failed]), flush=True)
        environment.runner.quit()
    gevent.spawn(measure)
"""

Cost = Callable[[int, bool, list[int]], float]


def main() -> None:
    """Run every scenario and write the table and the JSON."""
    available = sorted(os.sched_getaffinity(0))
    if len(available) < 2:
        sys.exit("engine_cost: two cores are needed, one for the server and one for the generator")
    for tool in ("nginx", "wrk", "ab"):
        if shutil.which(tool) is None:
            sys.exit(
                f"engine_cost: {tool} is missing: apt-get install nginx-light wrk apache2-utils"
            )
    server_core, core = available[:2]
    scenarios = {}
    for name, start, keepalive in (
        ("keep-alive, nginx", nginx, True),
        ("connection each, nginx", nginx, False),
        ("connection each, uWSGI http-socket", uwsgi, False),
        ("keep-alive asked, uWSGI http-socket closes", uwsgi, True),
    ):
        with start(server_core) as port:
            scenarios[name] = measure(port, keepalive, [core])
        print_scenario(name, scenarios[name])
    RESULTS.parent.mkdir(exist_ok=True)
    document = {
        "machine": machine(),
        "rounds": ROUNDS,
        "connections": CONNECTIONS,
        "unit": "seconds of generator CPU a request, one value a round",
        "scenarios": scenarios,
    }
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")
    print(f"\nwritten: {RESULTS.relative_to(ROOT)}")


def measure(port: int, keepalive: bool, cores: list[int]) -> dict[str, list[float]]:
    """Return the CPU seconds a request of each generator, one value a round."""
    generators: dict[str, Cost] = {
        "engine": engine_cost,
        "wrk": wrk_cost,
        "ab": ab_cost,
        "FastHttpUser": locust_cost,
    }
    costs: dict[str, list[float]] = {name: [] for name in generators}
    names = list(generators)
    for number in range(ROUNDS):
        # Rotated, so that none always follows the same one.
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            costs[name].append(generators[name](port, keepalive, cores))
    return costs


def engine_cost(port: int, keepalive: bool, cores: list[int]) -> float:
    """Load for a second with the engine."""
    workload = Workload("constant", "/", Expectation(body=BODY.encode()))
    load = Load(CONNECTIONS, keepalive)
    with EngineGenerator().session(Endpoint("127.0.0.1", port), workload, load, cores) as session:
        session.warm_up(0.2, 100)
        (window,) = session.measure(1.0)
    assert not window.errors, window.errors
    return window.cpu / window.ok


def wrk_cost(port: int, keepalive: bool, cores: list[int]) -> float:
    """Load for a second with wrk."""
    command = wrk_command(f"http://127.0.0.1:{port}/", CONNECTIONS, 1, keepalive=keepalive)
    run = run_tool(command, "wrk", cores)
    return run.cpu / parse_wrk(run.output).requests


def ab_cost(port: int, keepalive: bool, cores: list[int]) -> float:
    """Send 20,000 requests with ab."""
    command = ab_command(f"http://127.0.0.1:{port}/", CONNECTIONS, 20_000, keepalive=keepalive)
    run = run_tool(command, "apache2-utils", cores)
    return run.cpu / parse_ab(run.output).requests


def locust_cost(port: int, keepalive: bool, cores: list[int]) -> float:
    """Load for 1.5 seconds with Locust's FastHttpUser, its start not counted."""
    headers = {} if keepalive else {"Connection": "close"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "locustfile.py"
        path.write_text(LOCUSTFILE.format(body=BODY, headers=headers))
        command = [sys.executable, "-m", "locust", "-f", str(path), "--headless", "--only-summary"]
        users = str(CONNECTIONS)
        target = ["-u", users, "-r", users, "-H", f"http://127.0.0.1:{port}"]
        run = run_tool([*command, *target], "locust", cores)
    line = next(line for line in run.output.splitlines() if line.startswith("COST "))
    cpu, count, failed = json.loads(line.removeprefix("COST "))
    assert not failed, f"{failed} of {count} failed"
    return float(cpu) / int(count)


@contextmanager
def nginx(core: int) -> Iterator[int]:
    """Run one nginx worker on *core* that answers with a constant."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        conf = Path(folder) / "nginx.conf"
        conf.write_text(NGINX.format(folder=folder, port=port, body=BODY))
        with server(["nginx", "-c", str(conf), "-e", "stderr"], port, core):
            yield port


@contextmanager
def uwsgi(core: int) -> Iterator[int]:
    """Run one uWSGI worker on *core*; its http-socket closes after each reply, unannounced."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        app = Path(folder) / "constant.py"
        app.write_text(APP.format(body=BODY))
        binary = str(Path(sys.executable).parent / "uwsgi")
        options = ["--master", "--die-on-term", "--disable-logging", "--listen", "1024"]
        listen = ["--http-socket", f"127.0.0.1:{port}", "--wsgi-file", str(app)]
        with server([binary, *options, *listen], port, core):
            yield port


@contextmanager
def server(command: list[str], port: int, core: int) -> Iterator[None]:
    """Run *command* until the block ends, from its first correct reply on."""
    pinned = ["taskset", "-c", str(core), *command]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(pinned, stdout=log, stderr=log)
        try:
            deadline = monotonic() + 10
            while True:
                try:
                    with urlopen(f"http://127.0.0.1:{port}/", timeout=1) as reply:
                        assert reply.read() == BODY.encode()
                    break
                except OSError:
                    if process.poll() is not None or monotonic() > deadline:
                        log.seek(0)
                        sys.exit(f"{command[0]} did not start:\n{log.read().decode()[-2000:]}")
            yield
        finally:
            process.terminate()
            process.wait()


def print_scenario(name: str, costs: dict[str, list[float]]) -> None:
    """Print medians, and ratios to wrk paired by round, with their intervals."""
    print(f"\n{name}: generator CPU a request, {ROUNDS} rounds, {CONNECTIONS} connections")
    print(f"  {'generator':<14}{'median, µs':>12}{'range, µs':>18}{'/ wrk, 95% interval':>24}")
    for generator, values in costs.items():
        spread = f"{min(values) * 1e6:.3g} - {max(values) * 1e6:.3g}"
        wrk_ratio = "" if generator == "wrk" else over_wrk(values, costs["wrk"])
        print(f"  {generator:<14}{median(values) * 1e6:>12.3g}{spread:>18}{wrk_ratio:>24}".rstrip())


def over_wrk(values: list[float], wrk: list[float]) -> str:
    """Return the ratio of a generator's cost to wrk's in the same rounds, with its interval."""
    logs = [math.log(value / beside) for value, beside in zip(values, wrk, strict=True)]
    return ratio(paired(logs))


def machine() -> dict[str, str]:
    """Return what a reader needs to know of this machine."""
    cpuinfo = Path("/proc/cpuinfo").read_text()
    model = next((s for s in cpuinfo.splitlines() if s.startswith("model name")), ": unknown")
    wrk = subprocess.run(["wrk", "-v"], capture_output=True, text=True, check=False).stdout
    ab = subprocess.run(["ab", "-V"], capture_output=True, text=True, check=False).stdout
    nginx_version = subprocess.run(["nginx", "-v"], capture_output=True, text=True, check=False)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": f"{os.cpu_count()} x {model.partition(': ')[2]}",
        "kernel": platform.release(),
        "python": platform.python_version(),
        "locust": version("locust"),
        "uwsgi": version("uwsgi"),
        "nginx": nginx_version.stderr.strip(),
        "wrk": textwrap.shorten(wrk.splitlines()[0] if wrk else "unknown", 60),
        "ab": textwrap.shorten(ab.splitlines()[0] if ab else "unknown", 60),
    }


if __name__ == "__main__":
    main()
