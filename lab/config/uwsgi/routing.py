"""
Which rules of uWSGI's internal routing act beyond the server.

A rule is a condition and an action: `route = ^/old redirect:/new`. A private copy keeps a rule only
if its action is known to act within the server. Unknown actions, such as those of other plug-ins,
are left out.

Source: uWSGI 2.0.31, core/routing.c (uwsgi_opt_add_route); the calls of uwsgi_register_router and
uwsgi_register_route_condition in core/ and plugins/; core/cache.c (uwsgi_cache_magic_get) and
plugins/rpc: an @ in the name of a cache or function names another server.
"""

from __future__ import annotations

import re

from lab.config.uwsgi.table import uwsgi_options

INTERNAL = re.compile(
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

INTERNAL_WITHOUT_AT = re.compile(
    "cache(-continue|-?store|var|set|inc|dec|mul|div)?|incache|call|rpc(ret|blob|next|raw|var)?"
)
"""Actions, and one condition, that call the server itself unless an @ names another server."""

EFFECTS = {
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
"""Pattern of actions -> their effect beyond the trial."""

RUNS = re.compile("(exec|call|callint|http)://")
"""Beginnings of file names that uWSGI runs or fetches."""


def external_effect(option: str, value: str) -> str:
    """
    Return the effect of a routing rule beyond the trial; empty if it has none.

    Also empty for any other option.

    >>> external_effect("route", "^/ http:10.0.0.1:80")
    'would send the load to another server'
    >>> external_effect("route-run", "log:${PATH_INFO}")
    ''
    """
    entry = uwsgi_options().entries.get(option)
    if entry is None or entry.setter != "uwsgi_opt_add_route" or not entry.data:
        return ""  # another option, or route-label, which has no data
    condition, _, rest = value.partition(" ")
    action = value if entry.data == "run" else rest
    parts = [action, condition] if entry.data in ("if", "if-not") else [action]
    effects = (_effect_of(part, is_action=part is action) for part in parts)
    return next(filter(None, effects), "")


def _effect_of(part: str, *, is_action: bool) -> str:
    """Return the external effect of an action or a condition; empty if it has none."""
    name, _, argument = part.partition(":")
    if INTERNAL_WITHOUT_AT.fullmatch(name):
        is_internal = "@" not in argument
    elif name == "setfile":
        is_internal = not RUNS.match(argument)
    else:
        is_internal = not is_action or INTERNAL.fullmatch(name) is not None
    if is_internal:
        return ""
    effects = (effect for pattern, effect in EFFECTS.items() if re.fullmatch(pattern, name))
    return next(effects, "may reach beyond the server")
