"""uWSGI's cache and its static files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lab.settings.rules.alike import present, without
from lab.settings.rules.rule import Config, Flaw, Setting, Severity, rule

OFFLOADED = (
    *("cache-", "check-cache", "check-static", "docroot", "document-root", "file-serve", "http-to"),
    *("error-route", "final-route", "response-route", "route", "static-"),
)
"""Beginnings of options of which one may have something to hand to offload threads."""


present(
    "UW210",
    "offload-threads",
    "unless the application returns files by wsgi.file_wrapper there is nothing for them to do, "
    "because there are no static files and no routes; leave it out",
    seen="core/writer.c:624 `can_offload`",
    bad="offload-threads = 4",
    good="offload-threads = 4\nstatic-map = /static=/srv/app/static",
    when=lambda config: not config.starting(*OFFLOADED),
    mends=without,
)


@rule(
    "UW220",
    Severity.NO_EFFECT,
    "expires in a cache with purge_lru",
    why="the time is not added to the clock, so each item has expired in 1970, and none is removed",
    seen="core/cache.c:816 `expires`; core/cache.c:1115 `purge_lru`",
    bad="cache2 = name=c,items=100,purge_lru=1\nroute = ^/x cachestore:key=x,name=c,expires=60",
    good="cache2 = name=c,items=100\nroute = ^/x cachestore:key=x,name=c,expires=60",
)
def expires_with_lru(config: Config) -> Iterator[Flaw]:
    """A route without a name is about the first cache."""
    caches = [_keys(each) for each in config.all("cache2")]
    purged = {keys.get("name", "") for keys in caches if keys.get("purge_lru", "0") != "0"}
    first = caches[0].get("name", "") if caches else ""
    for setting in config.starting("route", "final-route", "error-route", "response-route"):
        stores = re.search(r"\bcache(store|set):(.*)", setting.value)
        keys = _keys(setting) if stores else {}
        if "expires" in keys and keys.get("name", first) in purged:
            text = (
                "the cache has purge_lru, with which a reply says that it expired in 1970 and "
                "nothing is ever removed; take either out"
            )
            without = re.sub(r",expires=\w+", "", setting.raw)
            yield config.flaw(setting, text, config.change(setting, without))


def _keys(setting: Setting) -> dict[str, str]:
    return dict(re.findall(r"(\w+)=([^,\s]*)", setting.value))
