"""uWSGI's cache and its static files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.lint.rules.alike import present, without
from lab.lint.rules.rule import Case, Flaw, Setting, Severity, rule

OFFLOADED = (
    *("cache-", "check-cache", "check-static", "docroot", "document-root", "file-serve", "http-to"),
    *("error-route", "final-route", "response-route", "route", "static-"),
)
"""Beginnings of options of which one may have something to hand to offload threads."""


present(
    "UW210",
    "offload-threads",
    "the offload threads have nothing to do unless the application returns files by "
    "wsgi.file_wrapper, because there are no static files and no routes; leave it out",
    title="offload-threads with nothing to offload",
    source="core/writer.c:624 `can_offload`",
    bad="offload-threads = 4",
    good="offload-threads = 4\nstatic-map = /static=/srv/app/static",
    near_miss="offload-threads = 4\nroute = ^/big file:/srv/big",
    when=lambda config: not config.starting(*OFFLOADED),
    fix=without,
)


@rule(
    "UW220",
    Severity.NO_EFFECT,
    "expires for a cache with purge_lru",
    why="uWSGI stores expires without adding the current time, so every item expires in 1970, and "
    "it removes no expired item from a cache with purge_lru",
    source="core/cache.c:816 `expires`; core/cache.c:1115 `purge_lru`",
    bad="cache2 = name=c,items=100,purge_lru=1\nroute = ^/x cachestore:key=x,name=c,expires=60",
    good="cache2 = name=c,items=100\nroute = ^/x cachestore:key=x,name=c,expires=60",
    near_miss=(
        "cache2 = name=c,items=100,purge_lru=1\n"
        "cache2 = name=d,items=100\n"
        "route = ^/x cachestore:key=x,name=d,expires=60"
    ),
)
def expires_with_lru(config: Case) -> Iterator[Flaw]:
    """A route without a name is about the first cache."""
    caches = [_keys(setting) for setting in config.all("cache2")]
    purged = {keys.get("name", "") for keys in caches if keys.get("purge_lru", "0") != "0"}
    first = caches[0].get("name", "") if caches else ""
    for setting in config.starting("route", "final-route", "error-route", "response-route"):
        stores = re.search(r"\bcache(store|set):(.*)", setting.value)
        keys = _keys(setting) if stores else {}
        if "expires" in keys and keys.get("name", first) in purged:
            text = (
                "the cache has purge_lru, so replies from it say that they expired in 1970, and no "
                "expired item is ever removed; take either out"
            )
            without = re.sub(r",expires=\w+", "", setting.raw)
            fix = config.change(setting, without, from_raw=True)
            yield config.flaw(setting, text, fix)


PAIRS = frozenset({"uwsgi_opt_static_map", "uwsgi_opt_add_dyn_dict"})
"""Functions of options whose values are two texts with = between them."""

PATTERNS = "uwsgi_opt_add_regexp_dyn_dict"
"""Function of options whose values are a pattern and seconds with a blank between them."""

FORMS = {
    "mount": "/PATH=MODULE:CALLABLE",
    "static-map": "/PATH=FOLDER",
    "static-map2": "/PATH=FOLDER",
}
"""Option -> what its two texts are; of the others a type and seconds."""


@rule(
    "UW117",
    Severity.ERROR,
    "a mapping without =, or with spaces around it",
    why="uWSGI does not start without the =, and spaces around it are part of the value, so "
    "nothing matches",
    source="core/uwsgi.c:4521 `invalid document root`; core/uwsgi.c:3875 `invalid mountpoint`",
    bad="static-map = /srv/app/static",
    good="static-map = /static=/srv/app/static",
    near_miss="static-map = %(assets)\nset-placeholder = assets=/static=/srv/app/static",
)
def no_pair(config: Case) -> Iterator[Flaw]:
    """As static-map and mount have it."""
    for setting in config.settings:
        entry = config.table.entries.get(setting.option)
        known = not re.search(r"[$%@]\(", setting.value)
        if entry and entry.setter == PATTERNS and known and " " not in setting.value:
            meant = f"{setting.option} = PATTERN SECONDS"
            yield config.flaw(
                setting, f"uWSGI does not start without a space between the two; write {meant}"
            )
        if entry is None or not (entry.setter in PAIRS or setting.option == "mount"):
            continue
        form = FORMS.get(setting.option, "TYPE=SECONDS")
        left, equals, right = setting.raw.partition("=")
        if "=" not in setting.value and known:
            text = f"uWSGI does not start without the =; write {setting.option} = {form}"
            yield config.flaw(setting, text)
        elif (
            equals
            and setting.option in FORMS
            and (left != left.rstrip() or right != right.lstrip())
        ):
            meant = f"{left.rstrip()}={right.lstrip()}"
            text = f"the spaces around = are part of the value, so nothing matches; write {meant}"
            yield config.flaw(setting, text, config.change(setting, meant, from_raw=True))


def _keys(setting: Setting) -> dict[str, str]:
    return dict(re.findall(r"(\w+)=([^,\s]*)", setting.value))
