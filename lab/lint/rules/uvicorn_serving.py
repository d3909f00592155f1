"""What uvicorn does behind a proxy, under a supervisor, and at its limits."""

from __future__ import annotations

from collections.abc import Iterator

from lab.config.steps import Drop, Put
from lab.lint.packages import installed_with
from lab.lint.rules.command_options import only_of_uvicorn
from lab.lint.rules.rule import WHY, Case, Flaw, Setting, Severity, rule

ON_FAILURE = frozenset({"on-failure", "onfailure", "on-abnormal", "on-abort"})
"""When a supervisor does not start a server again that has ended with status 0."""

ALWAYS = frozenset({"always", "unless-stopped"})
"""When it does."""


TRUSTED = "FORWARDED_ALLOW_IPS"
"""The variable that names the proxies whose headers count, where no option does."""

KEPT = 60
"""Seconds that nginx and load balancers keep an idle connection."""


def trusts(config: Case) -> bool:
    """Return whether an option or a variable may say whose proxy headers count."""
    text = config.texts.get(config.file, "")
    is_set = TRUSTED in config.known.environ or TRUSTED in text
    return is_set or bool(config.last("forwarded-allow-ips", "no-proxy-headers"))


def workers_of(config: Case) -> int | None:
    """Return the number of workers; None: unknown."""
    if not config.knows("workers"):
        return None
    variable = config.known.environ.get("WEB_CONCURRENCY", "1")
    return config.number("workers", int(variable) if variable.isdecimal() else 1)


@rule(
    "UV008",
    Severity.DANGEROUS,
    "a UNIX socket whose proxy is not trusted",
    why="over a UNIX socket uvicorn believes no proxy header, so that the scheme is http and the "
    "client is unknown; write --forwarded-allow-ips '*', as only the proxy reaches the socket",
    source="uvicorn/middleware/proxy_headers.py:35 `client_host in self.trusted_hosts`",
    bad="uvicorn --uds /run/shop/app.sock --timeout-keep-alive 75 app:app",
    good="uvicorn --uds /run/shop/app.sock --timeout-keep-alive 75 --forwarded-allow-ips '*' "
    "app:app",
    near_miss="FORWARDED_ALLOW_IPS='*' uvicorn --uds /run/shop/app.sock --timeout-keep-alive 75 "
    "app:app",
)
def untrusted_socket(config: Case) -> Iterator[Flaw]:
    """Silent where a variable trusts somebody, or the headers are switched off on purpose."""
    setting = config.last("uds")
    if setting and not trusts(config):
        yield config.flaw(setting)


@rule(
    "UV009",
    Severity.DANGEROUS,
    "a limit of requests that ends the only worker",
    why="with one worker uvicorn ends after so many requests with status 0, and requests are "
    "refused until something starts it again; leave it out, or write --workers 2",
    source="uvicorn/server.py:274 `self.limit_max_requests`",
    bad="uvicorn --limit-max-requests 1000 app:app",
    good="uvicorn --limit-max-requests 1000 --limit-max-requests-jitter 100 --workers 2 app:app",
    near_miss='uvicorn --limit-max-requests 1000 --workers "$WORKERS" app:app',
)
def ends(config: Case) -> Iterator[Flaw]:
    """A remark where the supervisor always starts it again."""
    setting, around = config.last("limit-max-requests"), config.known.surroundings
    if setting and workers_of(config) == 1:
        yield config.flaw(setting, harmless=around.restarts.lower() in ALWAYS)


@rule(
    "UV010",
    Severity.DANGEROUS,
    "--limit-max-requests without --limit-max-requests-jitter",
    why="workers that share the requests reach the limit and end at about the same time; write "
    "--limit-max-requests-jitter with a tenth of the limit",
    source="uvicorn/server.py:83 `self.config.limit_max_requests_jitter`",
    bad="uvicorn --limit-max-requests 1000 --workers 4 app:app",
    good="uvicorn --limit-max-requests 1000 --limit-max-requests-jitter 100 --workers 4 app:app",
    near_miss="uvicorn --workers 4 app:app",
)
def no_jitter(config: Case) -> Iterator[Flaw]:
    """Of one worker UV009 has it."""
    setting = config.last("limit-max-requests")
    has_jitter = config.last("limit-max-requests-jitter")
    if setting and workers_of(config) != 1 and not has_jitter:
        yield config.flaw(setting)


@rule(
    "UV011",
    Severity.DANGEROUS,
    "a failed start that looks like a success",
    why="with several workers uvicorn ends with status 0 when the application cannot start, so "
    "that a supervisor that restarts on failure does not restart it; write Restart=always, of "
    "Supervisor autorestart=true",
    source="uvicorn/main.py:639 `config.workers == 1`",
    bad="uvicorn --workers 4 app:app",
    good="uvicorn app:app",
    near_miss='uvicorn --workers "$WORKERS" app:app',
)
def looks_like_success(config: Case) -> Iterator[Flaw]:
    """Only under a supervisor that looks at the status."""
    setting: Setting | None = config.last("workers")
    restarts = config.known.surroundings.restarts.lower().partition(":")[0]
    if setting and (workers_of(config) or 0) > 1 and restarts in ON_FAILURE:
        yield config.flaw(setting)


@rule(
    "UV012",
    Severity.REMARK,
    "idle connections closed before the proxy closes them",
    why="a proxy may send a request at the moment when uvicorn closes the idle connection, and "
    "then answers 502",
    source="uvicorn/main.py:291 `--timeout-keep-alive`",
    bad="uvicorn --root-path /shop app:app",
    good="uvicorn --root-path /shop --timeout-keep-alive 75 app:app",
    near_miss="uvicorn --root-path /shop --timeout-keep-alive 60 app:app",
)
def shorter_than_the_proxy(config: Case) -> Iterator[Flaw]:
    """Without the option silent unless something says that there is a proxy."""
    setting, option = config.last("timeout-keep-alive"), "timeout-keep-alive"
    proxied = config.last("forwarded-allow-ips", "proxy-headers", "root-path", "uds")
    seconds = config.number(option, 5)
    is_behind = proxied or config.known.surroundings.proxy or TRUSTED in config.known.environ
    if seconds >= KEPT or not (setting or is_behind):
        return
    text = (
        f"an idle connection is closed after {seconds} s, and a proxy that keeps it longer (nginx "
        "and load balancers: 60 s) answers 502 if both happen at once; behind such a proxy write "
        f"--{option} 75{only_of_uvicorn(config)}"
    )
    steps = (Put(option, "75"),)
    where = setting or config.top
    yield config.flaw(where, text if setting else f"no --{option}: {text}", steps=steps)


@rule(
    "UV013",
    Severity.NO_EFFECT,
    "--proxy-headers alone",
    why="proxy headers are on by default, and are read only from trusted addresses (127.0.0.1 and "
    "::1 without --forwarded-allow-ips); name the proxy's address or network there, or leave this "
    "out",
    source="uvicorn/config.py:363 `127.0.0.1,::1`; uvicorn/config.py:225 `proxy_headers: bool = "
    "True`",
    bad="uvicorn --proxy-headers --timeout-keep-alive 75 app:app",
    good="uvicorn --forwarded-allow-ips 10.0.0.1 --timeout-keep-alive 75 app:app",
    near_miss="uvicorn --proxy-headers --forwarded-allow-ips 10.0.0.1 --timeout-keep-alive 75 "
    "app:app",
)
def already_on(config: Case) -> Iterator[Flaw]:
    """Over a UNIX socket UV008 has it."""
    setting = config.last("proxy-headers")
    if setting and config.on("proxy-headers") and not trusts(config) and not config.last("uds"):
        yield config.flaw(setting, steps=(Drop("proxy-headers"),))


@rule(
    "UV014",
    Severity.DANGEROUS,
    "a limit of concurrency below the number of kept connections",
    why="a worker counts its connections, idle ones too, and answers every request with 503 while "
    "it has that many; write more than clients and proxies keep",
    source="uvicorn/protocols/http/httptools_impl.py:269 `len(self.connections) >= "
    "self.limit_concurrency`",
    bad="uvicorn --limit-concurrency 10 app:app",
    good="uvicorn --limit-concurrency 1000 app:app",
    near_miss='uvicorn --limit-concurrency "$LIMIT" app:app',
)
def full_of_idle(config: Case) -> Iterator[Flaw]:
    """Also a health check gets 503, for which a platform restarts what is merely full."""
    setting, workers = config.last("limit-concurrency"), workers_of(config)
    limit = config.number("limit-concurrency")
    if setting and workers and 0 < limit * workers <= config.known.connections:
        text = (
            f"a worker with {limit} connections, idle ones included, answers every request with "
            "503, also a health check; write more than clients and proxies keep"
        )
        yield config.flaw(setting, text)


@rule(
    "UV015",
    Severity.REMARK,
    "uvicorn without uvloop and httptools",
    why="uvicorn then runs on asyncio and h11 without a warning; require uvicorn[standard], or "
    "write --loop asyncio --http h11 to keep it so",
    source="uvicorn/loops/auto.py:9 `import uvloop`; uvicorn/protocols/http/auto.py:7 `import "
    "httptools`",
    bad="uvicorn app:app",
    good="uvicorn --loop asyncio --http h11 app:app",
    near_miss="uvicorn --loop asyncio --http shop.http:Protocol app:app",
)
def plain_python(config: Case) -> Iterator[Flaw]:
    """Only where a file beside it names all packages that are installed."""
    options = {"loop": "uvloop", "http": "httptools"}
    automatic = [
        package
        for option, package in options.items()
        if (setting := config.last(option)) is None or setting.value == "auto"
    ]
    listed = installed_with(config, "uvicorn") if automatic else None
    if listed is not None:
        missing = [package for package in automatic if package not in listed.packages]
        if missing:
            names = " and ".join(missing)
            yield config.flaw(config.top, f"{listed.file} does not have {names}: {WHY}")


@rule(
    "UV016",
    Severity.REMARK,
    "a proxy in another container whose address is not trusted",
    why="uvicorn trusts the headers of 127.0.0.1 and ::1 only, and a proxy in another container "
    "has another address, so that the scheme is http and the client is the proxy; write "
    "--forwarded-allow-ips with the proxy's address or network",
    source="uvicorn/config.py:363 `127.0.0.1,::1`",
    bad="uvicorn --host 0.0.0.0 --timeout-keep-alive 75 app:app",
    good="uvicorn --host 0.0.0.0 --timeout-keep-alive 75 --forwarded-allow-ips 10.0.0.0/8 app:app",
    near_miss="uvicorn --host 0.0.0.0 --timeout-keep-alive 75 --no-proxy-headers app:app",
)
def untrusted_proxy(config: Case) -> Iterator[Flaw]:
    """A remark: whether the proxy sends to this server, its configuration says."""
    proxy = config.known.surroundings.proxy
    has_other = config.last("uds", "fd", "proxy-headers")
    if proxy and not has_other and not trusts(config):
        yield config.flaw(config.top, f"{proxy} is not trusted: {WHY}")


@rule(
    "UV017",
    Severity.NO_EFFECT,
    "--limit-max-requests-jitter without --limit-max-requests",
    why="there is no limit to add to, so no worker is replaced; write --limit-max-requests, or "
    "leave this out",
    source="uvicorn/server.py:81 `self.config.limit_max_requests is None`",
    bad="uvicorn --limit-max-requests-jitter 100 app:app",
    good="uvicorn app:app",
    near_miss="uvicorn --limit-max-requests 1000 --limit-max-requests-jitter 100 --workers 2 "
    "app:app",
)
def jitter_of_nothing(config: Case) -> Iterator[Flaw]:
    """0 is none."""
    setting = config.last("limit-max-requests-jitter")
    jitter = config.number("limit-max-requests-jitter")
    if setting and jitter and not config.last("limit-max-requests"):
        yield config.flaw(setting, steps=(Drop("limit-max-requests-jitter"),))
