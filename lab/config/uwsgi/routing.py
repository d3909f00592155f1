"""
Where a rule of uWSGI's internal routing sends a request, or a word about it.

A rule is a condition and an action, `route = ^/old redirect:/new`. What is known to stay within the
server stays in a private copy; all other actions, those of unknown plug-ins among them, do not.

Source: uWSGI 2.0.31, core/routing.c (uwsgi_opt_add_route); what core/ and plugins/ give to
uwsgi_register_router and uwsgi_register_route_condition; core/cache.c (uwsgi_cache_magic_get) and
plugins/rpc: the name of another server's cache or function has an @.
"""

from __future__ import annotations

import re

from lab.config.uwsgi.table import uwsgi_options

STAYS = re.compile(
    "continue|last|break|return|break-with-status|goto|harakiri"
    "|rewrite(-last)?|redirect(-302|-permanent|-301)?"
    "|log|donotlog|logvar|metric(inc|dec|mul|div|set)|hash|expires"
    "|(add|del|rem)header|(clear|reset|disable)headers|addvar"
    "|set(app|user|home|file|scriptname|method|uri|remoteaddr|pathinfo|docroot|scheme|procname)"
    "|setmodifier[12]|fixpathinfo|chdir|[-+*/]"
    "|send(-crnl)?|flush|(fix|force)cl|chunked|gzip|toupper|template|(donot)?offload"
    "|(static|file|sendfile|fastfile|basicauth)(-next)?|ssi|(to)?xslt|xmldir"
)
"""Actions that change the request or its reply, count it, or read files of this machine."""

LOCAL = re.compile(
    "cache(-continue|-?store|var|set|inc|dec|mul|div)?|incache|call|rpc(ret|blob|next|raw|var)?"
)
"""Actions, and a condition, that ask the server itself unless they name another one."""

LEAVES = {
    "(proxy)?(http(dumb|connect)?|uwsgi)|cache.*|incache|rpc.*|call": (
        "would send the load to another server"
    ),
    "(redis|memcached)(-continue|-?store)?|gridfs": "would contact a real database",
    "(ldapauth|radius|spnego)(-next)?": "would ask a real server for permission",
    "access": "would read this machine's hosts.allow, which may run commands",
    "alarm": "would raise alarms",
    "signal": "would signal a server",
    "spooler": "would add real jobs",
    "to-?file": "would write it",
    "cgi(helper)?|symcall(-next)?|setfile": "would run it",
}
"""Actions that reach beyond a trial -> how."""

RUNS = re.compile("(exec|call|callint|http)://")
"""What uWSGI runs, or fetches, where it looks for a file."""


def leaves(option: str, value: str) -> str:
    """
    Return how a rule reaches beyond a trial; empty for one that stays, and for any other option.

    >>> leaves("route", "^/ http:10.0.0.1:80"), leaves("route-run", "log:${PATH_INFO}")
    ('would send the load to another server', '')
    """
    entry = uwsgi_options().entries.get(option)
    if entry is None or entry.setter != "uwsgi_opt_add_route" or not entry.data:  # a label's is ""
        return ""
    condition, _, rest = value.partition(" ")
    action = value if entry.data == "run" else rest
    parts = [action, condition] if entry.data in ("if", "if-not") else [action]
    return next(filter(None, (_beyond(part, part is action) for part in parts)), "")


def _beyond(part: str, acts: bool) -> str:
    """Return how an action, or a condition, reaches beyond the server; empty where it does not."""
    name, _, argument = part.partition(":")
    if LOCAL.fullmatch(name):
        stays = "@" not in argument
    elif name == "setfile":
        stays = not RUNS.match(argument)
    else:
        stays = not acts or STAYS.fullmatch(name) is not None
    if stays:
        return ""
    known = (how for pattern, how in LEAVES.items() if re.fullmatch(pattern, name))
    return next(known, "may reach beyond the server")
