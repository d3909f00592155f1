"""What the profiles of a run serve, and how they call it."""

from __future__ import annotations

from lab.config import servers
from lab.config.interface import UNKNOWN
from lab.model.plan import Plan


def applications(plan: Plan) -> dict[str, str]:
    """Return what each profile serves: what all are asked to serve, else what its options say."""
    by_profile = {
        arm.profile.name: arm.workload.app or servers.settings(arm.profile).application
        for arm in plan.arms
        if arm.profile.reply is None
    }
    return {
        name: application for name, application in by_profile.items() if application is not None
    }


def interface(plan: Plan) -> str:
    """Return how all profiles call their applications; `UNKNOWN` where they differ."""
    interfaces = {servers.of(profile).interface(profile) for profile in plan.profiles}
    return interfaces.pop() if len(interfaces) == 1 else UNKNOWN
