"""What hypercorn does with several workers, behind a proxy, and for whom it serves."""

from __future__ import annotations

from collections.abc import Iterator

from lab.config.hypercorn.command import is_file
from lab.config.steps import Drop, Put
from lab.lint.packages import installed_with
from lab.lint.rules.hypercorn import number
from lab.lint.rules.rule import WHY, Case, Flaw, Severity, rule
from lab.lint.rules.uvicorn_serving import ALWAYS, KEPT, ON_FAILURE


@rule(
    "HC010",
    Severity.DANGEROUS,
    "workers that end together",
    why="when one worker dies, for example by the OOM killer, hypercorn ends the others with their "
    "requests and exits, with any status; let its supervisor always start it again, or run one "
    "worker in each of several containers",
    source="hypercorn/run.py:106 `_join_exited(processes) if exitcode != 0 else exitcode`",
    bad="workers = 4",
    good="workers = 1",
    near_miss="# workers = 4\nworkers = 1",
)
def end_together(config: Case) -> Iterator[Flaw]:
    """A remark where the supervisor always starts it again."""
    setting, restarts = config.last("workers"), config.known.surroundings.restarts.lower()
    if setting and (number(config, "workers", 1) or 0) > 1:
        yield config.flaw(setting, harmless=restarts in ALWAYS)


@rule(
    "HC011",
    Severity.DANGEROUS,
    "a failed start that looks like a success",
    why="hypercorn may end with status 0 when the application cannot start, and a supervisor that "
    "restarts on failure then leaves it; write Restart=always, of Supervisor autorestart=true",
    source="hypercorn/run.py:106 `_join_exited(processes) if exitcode != 0 else exitcode`",
    bad="hypercorn --bind 127.0.0.1:8000 shop:app",
    good="hypercorn --bind 127.0.0.1:8000 --workers 0 shop:app",
    near_miss='hypercorn --bind 127.0.0.1:8000 --workers "$WORKERS" shop:app',
)
def looks_like_success(config: Case) -> Iterator[Flaw]:
    """Without a worker process it is the first process that fails."""
    restarts = config.known.surroundings.restarts.lower().partition(":")[0]
    if restarts in ON_FAILURE and number(config, "workers", 1):
        yield config.flaw(config.top, f"a failed start: {WHY}")


@rule(
    "HC012",
    Severity.REMARK,
    "idle connections closed before the proxy closes them",
    why="a proxy may send a request at the moment when hypercorn closes the idle connection, and "
    "then answers 502",
    source="hypercorn/config.py:88 `keep_alive_timeout`",
    bad="keep_alive_timeout = 5",
    good="keep_alive_timeout = 75",
    near_miss="keep_alive_timeout = 60",
)
def shorter_than_the_proxy(config: Case) -> Iterator[Flaw]:
    """Without the setting silent unless a proxy is beside the service."""
    setting = config.last("keep_alive_timeout")
    seconds = number(config, "keep_alive_timeout", 5)
    if seconds is None or seconds >= KEPT or not (setting or config.known.surroundings.proxy):
        return
    text = (
        f"an idle connection is closed after {seconds} s, and a proxy that keeps it longer (nginx "
        "and load balancers: 60 s) answers 502 if both happen at once; behind such a proxy write "
        "keep_alive_timeout = 75"
    )
    steps = (Put("keep_alive_timeout", "75"),)
    where = setting or config.top
    yield config.flaw(where, text if setting else f"no keep_alive_timeout: {text}", steps=steps)


@rule(
    "HC013",
    Severity.REMARK,
    "uvloop that is installed and not used",
    why='hypercorn takes asyncio unless it is told otherwise; write worker_class = "uvloop", or '
    'worker_class = "asyncio" to keep it so',
    source="hypercorn/config.py:113 `worker_class`",
    bad="hypercorn shop:app",
    good="hypercorn --worker-class uvloop shop:app",
    near_miss="hypercorn --worker-class asyncio shop:app",
)
def uvloop_unused(config: Case) -> Iterator[Flaw]:
    """Only where a file beside it names uvloop among all packages."""
    listed = None if config.last("worker_class") else installed_with(config, "hypercorn")
    if listed is not None and "uvloop" in listed.packages:
        yield config.flaw(config.top, f"{listed.file} has uvloop: {WHY}")


@rule(
    "HC014",
    Severity.NO_EFFECT,
    "--max-requests-jitter in a command",
    why="hypercorn 0.18.0 reads the number of --max-requests in its place; write "
    "max_requests_jitter in a file, and name that by --config",
    source="hypercorn/__main__.py:279 `config.max_requests_jitter = args.max_requests`",
    bad="hypercorn --max-requests 1000 --max-requests-jitter 100 shop:app",
    good="hypercorn --max-requests 1000 shop:app",
    near_miss="hypercorn --max-requests 1000 --backlog 512 shop:app",
    versions="==0.18.0",
)
def jitter_of_command(config: Case) -> Iterator[Flaw]:
    """A file has it as it is."""
    setting = config.last("max_requests_jitter")
    if setting and not is_file(setting.spot.file):
        yield config.flaw(setting, steps=(Drop("max_requests_jitter"),))


@rule(
    "HC015",
    Severity.DANGEROUS,
    "reload",
    why="a changed file stops the workers and starts them again; leave it out in production",
    source="hypercorn/run.py:85 `if config.use_reloader:`",
    bad='bind = "127.0.0.1:8000"\nuse_reloader = true',
    good='bind = "127.0.0.1:8000"',
    near_miss="use_reloader = false",
)
def reloads(config: Case) -> Iterator[Flaw]:
    """It is for who writes the application."""
    setting = config.last("use_reloader")
    if setting and (not is_file(setting.spot.file) or setting.value == "true"):
        yield config.flaw(setting, steps=(Drop("use_reloader"),))


@rule(
    "HC016",
    Severity.DANGEROUS,
    "a user or a group that hypercorn does not become",
    why="the number is the owner of a UNIX socket, and needs the other one of user and group; the "
    "processes run as who starts them; start hypercorn as that user",
    source="hypercorn/config.py:268 `if self.user is not None and self.group is not None:`",
    bad='bind = "0.0.0.0:80"\nuser = 1000',
    good='bind = "0.0.0.0:80"',
    near_miss='bind = "unix:/run/shop/app.sock"\nuser = 1000\ngroup = 1000',
)
def stays_root(config: Case) -> Iterator[Flaw]:
    """For a socket it is meant so."""
    user, group = config.last("user"), config.last("group")
    binds = config.all("bind")
    is_socket = any(setting.value.startswith("unix:") for setting in binds)
    setting = user or group
    if setting and not (is_socket and user and group):
        yield config.flaw(setting)


@rule(
    "HC017",
    Severity.REMARK,
    "a server that answers to some names only",
    why="a request for any other host gets 404, also the health check of a platform that asks by "
    "an address; add those hosts, with their ports as the Host header has them",
    source="hypercorn/utils.py:200 `host in config.server_names`",
    bad='server_names = ["shop.example"]',
    good='bind = "127.0.0.1:8000"',
    near_miss="server_names = []",
)
def some_names(config: Case) -> Iterator[Flaw]:
    """An empty list is the default."""
    if setting := config.last("server_names"):
        yield config.flaw(setting)
