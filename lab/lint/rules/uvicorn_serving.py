"""What uvicorn does behind a proxy, under a supervisor, and at its limits."""

from __future__ import annotations

from collections.abc import Iterator

from lab.lint.rules.rule import Case, Flaw, Setting, Severity, rule

ON_FAILURE = frozenset({"on-failure", "onfailure", "on-abnormal", "on-abort"})
"""When a supervisor does not start a server again that has ended with status 0."""

ALWAYS = frozenset({"always", "unless-stopped"})
"""When it does."""


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
    bad="uvicorn --uds /run/shop/app.sock app:app",
    good="uvicorn --uds /run/shop/app.sock --forwarded-allow-ips '*' app:app",
    near_miss="FORWARDED_ALLOW_IPS='*' uvicorn --uds /run/shop/app.sock app:app",
)
def untrusted_socket(config: Case) -> Iterator[Flaw]:
    """Silent where a variable trusts somebody, or the headers are switched off on purpose."""
    setting, variable = config.last("uds"), "FORWARDED_ALLOW_IPS"
    trusts = config.last("forwarded-allow-ips", "no-proxy-headers")
    text = config.texts.get(config.file, "")
    if setting and not trusts and variable not in config.known.environ and variable not in text:
        yield config.flaw(setting)


@rule(
    "UV009",
    Severity.DANGEROUS,
    "a limit of requests that ends the only worker",
    why="with one worker uvicorn ends after so many requests with status 0, and requests are "
    "refused until something starts it again; leave it out, or write --workers 2",
    source="uvicorn/server.py:275 `limit_max_requests`",
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
    "that a supervisor that restarts on failure does not restart it; write Restart=always",
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
