"""The ages at which workers are replaced are spread over some seconds."""

from __future__ import annotations

from lab.settings.rules.rule import Rule

RULE = Rule(
    "uWSGI",
    "max-worker-lifetime-delta",
    lambda read: "max-worker-lifetime" not in read.options,
    "it spreads max-worker-lifetime, which is not set; set that, or leave it out",
)
