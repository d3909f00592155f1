"""
A user's configuration as a trial may run it: at private addresses, and reaching nothing beyond.

The ini may be the one that is in production on this machine. A trial must not take that server's
sockets, write its log, do its jobs, or announce itself where real requests come from. So addresses
and files become a trial's own, and what acts on the world is left out; each with its reason.

Source: uWSGI 2.0.31, the options of core/uwsgi.c and of the plugins; core/daemons.c,
core/subscription.c; plugins/http/http.c: a router asks the first of the sockets, so those keep
their kind and order; core/utils.c, uwsgi_as_root and the processors that `cpu-affinity` takes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lab.config.private import FREE_PORT, OVER_UWSGI, PRIVATE_SOCKET
from lab.config.uwsgi import BINDS, is_on, of_router
from lab.config.uwsgi.routing import RUNS, external_effect
from lab.config.uwsgi.table import uwsgi_options
from lab.model.runtime import Alteration, Runtime
from lab.model.workload import Transport, Wire

Options = Sequence[tuple[str, str]]

HTTP = frozenset({"http", "http11", "httprouter", "http-socket", "http11-socket"})
"""Options whose address speaks HTTP, and what `protocol` says of one that does."""
WITHOUT_TLS = {"https": "http", "https2": "http", "https-socket": "http-socket"}
"""Option whose address speaks HTTP over TLS -> the one without."""
FOREIGN = re.compile(r"(((fastcgi|scgi)(-nph)?|raw|ssl)-|(su|pu)wsgi-|zeromq-)socket|zmq|zeromq")
"""Options whose address speaks what the lab cannot."""
NAMES = {"fastcgi": "FastCGI", "scgi": "SCGI", "suwsgi": "uwsgi over TLS", "": "another protocol"}
"""What is in the name of one -> what it speaks; the first that fits."""

STATS = re.compile(r"(\w+-)?(stats|stats-server|ss)")
FILES = re.compile(
    r"(safe-)?pidfile2?|(emperor|master)-(pidfile|fifo)|touch-.*"
    r"|py-tracebacker|(cache|queue)-store|log-backupname"
)
FOLDERS = re.compile(r"upload-progress|metrics?-dir")
LOGS = {"logto": "logto", "logto2": "logto2", "daemonize": "logto", "daemonize2": "logto2"}
"""Option that names the log -> the one that writes it and stays in the foreground."""
LOGGERS = re.compile(r"logger|req-logger|logger-req|log-(syslog|socket|zeromq)")
HERE = re.compile(r"(\w+ )?(stdio|fd)(:.*)?")
"""Values of a logger that writes where the server's output goes anyway."""

SERVER_LOG = "{folder}/server.log"
"""The server's output, which says why a start failed; uWSGI appends to it."""

REFUSED = {
    r"(early-)?emperor(-.*)?|vassals?-(?!sos).*": (
        "this is an Emperor's ini; give the ini of a vassal: lab run VASSALS/shop.ini"
    ),
    r"declare-option2?": "an option with a value of its own cannot be written in the private copy; "
    "give a copy without it",
    r"chroot|pivot[-_]root|unshare2?|setns.*|cgroup.*|jail.*|jid-?file|namespace.*|ns|ns-net": (
        "this confines the server; run lab in there, or leave it out: --drop {}"
    ),
    r"exit|help|usage|version|cflags|dot-h|config-py|build-plugin|print-sym(bol)?|extract"
    r"|connect-and-read|binary-append-data|(python|perl)-version|ldap-schema(-ldif)?|get|no-server"
    r"|ping|pty-u?connect|py|python|pyrun|(py|pl|rb)shell(-oneshot)?|lua-?shell": (
        "uWSGI does this and exits, so it serves nothing; leave it out: --drop {}"
    ),
    "ldap|sqlite3?": "its options are in a database; give a copy that contains them",
}
"""Options of which no copy is made -> why."""

LEFT_OUT = {
    r"spooler(-external)?": "would take over real jobs",
    r"subscribe(2|-to)?|st|multicast|(\w+-)?subscription-server": (
        "would exchange requests with real servers"
    ),
    r"legion.*": "would join real servers",
    r"(?!cron-harakiri).*cron.*": "would run it",
    r"(legion-)?(smart-)?attach-(control-)?daemon2?": "would start it",
    r"mules?|farm": "would work beside the trial",
    r"(signal-)?(rb)?timer": "would work beside the trial",
    r"mongrel2|zmq-socket": "would take real requests",
    r"(exec|call|u?mount)-(asap|(pre|post|in)-jail|(pre|post)-app|as-.*)": "would run it",
    r"touch-exec|hook-touch|fallback-config|(un)?privileged-binary-patch(-arg)?": "would run it",
    r"after-request-call|worker-exec2?|symcall-post-fork|cgi-loadlib": "would run it",
    r"pty-(socket|exec)|forkpty-?u?router.*": "would open a terminal",
    r"tuntap-.*": "would change the network",
    r"file-write|zabbix-template": "would write it",
    r"signal|stop|reload|pause|suspend|resume": "would signal a server",
    r"snmp|udp|cache-udp-server": "would answer in place of a real server",
    r"cache-(udp-node|sync)": "would exchange data with real servers",
    r"vassal-sos.*|(subscription-)?notify-socket": "would send an alarm",
    r"(.*-)?zerg(-?pool|-server|-fallback)?": "would share sockets with real servers",
    r"carbon|stats-push|rrdtool|nagios": "would report the metrics of the trial",
    r"exception-handler": "would report the errors of the trial",
    r"(.*-)?alarm(-.*)?|metric-threshold": "would raise alarms",
    r"(gridfs|glusterfs|rados)-mount": "would send the load to another server",
    r"wait-for-socket": "would contact a real server",
    r"pam": "would open a user's session",
    r"(http|(fast|raw|ssl)router)-(to|fallback|resubscribe.*|use-(?!socket).*)": (
        "would send the load to another server"
    ),
    r"http-to-https": "would only answer with redirects",
    r"flock(-wait)?2?": "would wait for a real server",
    r"ftok|persistent-ipcsem": "would share the locks of a real server",
    r"abstract-socket": "the private sockets are files",
}
"""Options that reach beyond a trial -> how."""

READ = re.compile(
    r"mime-?file|load-file-in-cache(-gzip)?|(pypy-)?wsgi-file|file|psgi|lua(-load)?|gemset|rvm"
    r"|php-(config|ini)(-append)?|pypy-(setup|exec.*)"
)
"""Options of which uWSGI reads the file when it serves, or what it fetches or runs in its place."""

HARMLESS = ("cd", "chdir", "exit", "log", "print", "putenv", "unix_signal")
"""What a hook may do within the server itself."""

FOR_ROOT = re.compile(
    r"(immediate-)?[ug]id|add-gid|cap|chown(-socket)?|(http|fastrouter)-[ug]id|logfile-chown"
)

OTHERS = frozenset({"node", "nodes", "sync", "udp"})
"""Keys of `cache2` that name other servers; so do all that begin `udp_`."""


def private(
    options: Options, runtime: Runtime, *, root: bool
) -> tuple[tuple[tuple[str, str], ...], tuple[Alteration, ...]]:
    """
    Return the options of a private copy, and what it has otherwise than *options*.

    Address and files are written {host}, {port}, {socket} and {folder}: the trial's own.

    Args:
        options: As uWSGI resolved them, with {port} for what obeys the lab already.
        runtime: What the user keeps, and whether servers are given CPUs.
        root: Whether the lab is root.

    Raises:
        ValueError: No copy can be made of them; with the option, and what to do.

    >>> private([("socket", "/run/a.sock"), ("cron", "x")], Runtime(), root=False)[0]
    (('socket', '{socket}'), ('master', 'true'))
    """
    copy = _Copy(_front_of(options), runtime, root)
    for number, (option, value) in enumerate(options):
        copy.take(number, option, value)
    if copy.front is None:
        copy.add("http-socket", "{host}:{port}", "there is no address")
    left_out = [alteration.option for alteration in copy.altered if alteration.became is None]
    if not is_on(dict(options), "master") and any(map(uwsgi_options().implies_master, left_out)):
        copy.add("master", "true", "the option that switched it on is left out")
    return tuple(copy.options), tuple(copy.altered)


def protocol_of(options: Options) -> tuple[Wire, Transport]:
    """Return how a private copy is asked."""
    front = _front_of(options)
    if front is None or not front.wire.manner.proxied:
        return Wire.HTTP, Transport.TCP
    tcp = "{port}" in options[front.number][1]
    return front.wire, Transport.TCP if tcp else Transport.UNIX


def proxied(options: Options, transport: Transport) -> tuple[tuple[str, str], ...]:
    """
    Return *options* with a socket for a proxy instead of all that speaks HTTP.

    >>> proxied([("http", "{host}:{port}"), ("http-keepalive", "1"), ("threads", "2")], "unix")
    (('socket', '{socket}'), ('threads', '2'))
    """
    address = "{socket}" if transport == Transport.UNIX else "{host}:{port}"
    others = [pair for pair in options if not (pair[0] in HTTP or of_router(pair[0]))]
    return (("socket", address), *others)


@dataclass(frozen=True, slots=True)
class _Front:
    """The address that the lab asks."""

    number: int
    """Of its option."""
    wire: Wire


def _front_of(options: Options) -> _Front | None:
    """
    Return which address is asked: of those that speak HTTP, else of uWSGI's own, the first.

    One that obeys the lab already comes before the others.

    Raises:
        ValueError: There are addresses, and none speaks one of the two.
    """
    protocol = {"protocol": "uwsgi", **dict(options)}
    protocol["socket"] = protocol.get("socket-protocol", protocol["protocol"])
    shared = [n for n, (option, _) in enumerate(options) if option.endswith("shared-socket")]
    candidates: list[tuple[bool, bool, int, Wire]] = []
    foreign = []
    for number, (option, value) in enumerate(options):
        spoken = protocol["socket"] if option == "socket" else option
        through = re.match(r"=(\d+)", value)  # the shared socket of that number
        at = number if through is None else dict(enumerate(shared)).get(int(through[1]), number)
        obeys = any(place in options[at][1] for place in ("{port}", "{socket}"))
        if spoken in HTTP or spoken in WITHOUT_TLS:
            candidates.append((False, not obeys, at, Wire.HTTP))
        elif spoken in ("uwsgi", "uwsgi-socket"):
            candidates.append((True, not obeys, at, Wire.UWSGI))
        elif option == "socket" or FOREIGN.fullmatch(option):
            foreign.append(f"{option} = {value}")
    if candidates:
        return _Front(*min(candidates)[2:])
    if foreign:
        spoken = next(protocol_name for name, protocol_name in NAMES.items() if name in foreign[0])
        problem = f"it speaks {spoken}, which lab cannot; add `http-socket` in a copy"
        raise ValueError(f"{foreign[0]}: {problem}")
    return None


@dataclass
class _Copy:
    """A private copy in the making."""

    front: _Front | None
    runtime: Runtime
    root: bool
    options: list[tuple[str, str]] = field(default_factory=list)
    altered: list[Alteration] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)
    """Files of the trial's folder, each with how many options wanted it."""

    def add(self, option: str, value: str, why: str) -> None:
        """Add an option that the user's file does not have."""
        self.options.append((option, value))
        self.altered.append(Alteration(option, "", value, why))

    def take(self, number: int, option: str, value: str) -> None:
        """Take over an option, or what becomes of it."""
        if why := _reason(REFUSED, option):
            raise ValueError(f"{option} = {value}: {why.format(option)}")
        why = self._reaches(option, value)
        if why and option not in self.runtime.keep:
            self.altered.append(Alteration(option, value, None, why))
            return
        kept = why or (option in self.runtime.keep and _may_stay(option))
        new, became = ((option, value), "") if kept else self._moved(number, option, value)
        self.options.append(new)
        if new != (option, value):
            self.altered.append(Alteration(option, value, became))

    def _reaches(self, option: str, value: str) -> str:
        """Return how an option reaches beyond the trial; empty where it does not."""
        if option == "cpu-affinity" and self.runtime.pinned:
            return "lab assigns the CPUs"
        if FOR_ROOT.fullmatch(option) and not self.root:
            return "you are not root, so the server runs as you"
        hook = option.startswith("hook-") or option == "after-request-hook"
        if hook and value.partition(":")[0] not in HARMLESS:
            return "would run it"
        if READ.fullmatch(option) and any(map(RUNS.match, value.split(maxsplit=1))):
            return "would run it, or fetch it"
        if option == "sharedarea" and re.search(r"(^|,)\s*(file|fd)=", value):
            return "would share memory with a real server"
        return _reason(LEFT_OUT, option) or external_effect(option, value)

    def _moved(self, number: int, option: str, value: str) -> tuple[tuple[str, str], str]:
        """Return an option with its address or file in the trial's own places, and where."""
        new = value
        if STATS.fullmatch(option):
            new = self._file(f"{option}.sock")
        elif FILES.fullmatch(option):
            rest = value.partition(" ")[2] if option == "touch-signal" else ""
            new = f"{self._file(option)} {rest}".strip()
        elif FOLDERS.fullmatch(option):
            new = "{folder}"
        elif LOGGERS.fullmatch(option) and not HERE.fullmatch(value):
            new = self._logger(option, value)
            option = "logger" if option.startswith("log-") else option
        elif option in LOGS:
            option, new = LOGS[option], SERVER_LOG
        elif option == "cache2":
            return (option, self._cache(value)), "a private cache for the trial"
        elif BINDS.fullmatch(option) or FOREIGN.fullmatch(option):
            return self._address(number, option, value)
        return (option, new), "the trial's folder"

    def _address(self, number: int, option: str, value: str) -> tuple[tuple[str, str], str]:
        plain = WITHOUT_TLS.get(option, option)
        address = value.partition(",")[0]
        rest = value[len(address) :] if plain == option else ""
        address = address.removeprefix("addr=")
        tcp = ":" in address
        if address.startswith("=") or "{port}" in address or address == "{socket}":
            new, became = address, "the same"
        elif self.front is None or number != self.front.number:
            kept = tcp and option.endswith("socket") and plain not in HTTP
            new = "127.0.0.1:0" if kept else self._file("other.sock")
            became = f"a private {'TCP' if kept else 'UNIX'} socket"
        elif self.front.wire.manner.proxied:
            new = "{host}:{port}" if tcp else "{socket}"
            became = f"{FREE_PORT if tcp else PRIVATE_SOCKET}, {OVER_UWSGI}"
        else:
            new, became = "{host}:{port}", FREE_PORT
        return (plain, new + rest), became + (" without TLS" if plain != option else "")

    def _logger(self, option: str, value: str) -> str:
        """Return a logger that writes a file: the server's output, or one of its own."""
        named = re.match(r"\w+ (?=\w)", value)
        requests = option in ("req-logger", "logger-req")
        file = self._file(f"{option}.log") if requests else SERVER_LOG
        return f"{named[0] if named else ''}file:{file}"

    def _cache(self, value: str) -> str:
        """Return a cache that no other server shares, neither its contents nor its file."""
        pairs = [pair.partition("=") for pair in value.split(",")]
        return ",".join(
            f"store={self._file('cache.store')}" if key == "store" else key + equals + content
            for key, equals, content in pairs
            if key not in OTHERS and not key.startswith("udp_")
        )

    def _file(self, name: str) -> str:
        """Return a path in the trial's folder that no other option has."""
        self.names[name] += 1
        times = self.names[name]
        return f"{{folder}}/{name if times == 1 else f'{times}-{name}'}"


def _may_stay(option: str) -> bool:
    """Return whether an option that a trial has a place of its own for may keep the user's."""
    return option == "cache2" or any(
        pattern.fullmatch(option) for pattern in (STATS, FILES, FOLDERS, LOGGERS)
    )


def _reason(table: Mapping[str, str], option: str) -> str:
    """Return what a table of patterns says of an option; empty where none fits."""
    return next((reason for pattern, reason in table.items() if re.fullmatch(pattern, option)), "")
