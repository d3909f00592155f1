"""What the profiles of a run serve, and how they call it."""

from __future__ import annotations

from lab.config import servers
from lab.config.interface import WSGI
from lab.model.plan import Plan


def applications(plan: Plan) -> dict[str, str]:
    """Return what each profile serves: what all are asked to serve, else what its options say."""
    found = {
        arm.profile.name: arm.workload.app or servers.settings(arm.profile).application
        for arm in plan.arms
        if arm.profile.reply is None
    }
    return {name: application for name, application in found.items() if application is not None}


def is_wsgi(plan: Plan) -> bool:
    """Return whether each profile calls its application by WSGI."""
    return all(servers.of(profile).interface(profile) == WSGI for profile in plan.profiles)
