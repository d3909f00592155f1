"""Phrases that rules share: what else was seen, and so speaks against other causes."""

from __future__ import annotations

from lab.analysis.causes.signs import Signs


def server(s: Signs) -> str:
    """Say how much of its CPU the server used."""
    return "" if s.share is None else f"the server used {s.share:.0%} of its available CPU"


def others(s: Signs) -> str:
    """Return who else ran on the server's cores, as far as it is known."""
    known = {"the backend": s.backend, "the load generator": s.shares_cores}
    names = " and ".join(name for name, ran in known.items() if ran)
    return f"other programs, such as {names}," if names else "other programs"


def generator(s: Signs) -> str:
    """Say how busy the client was."""
    return f"the generator was busy for {s.generator:.0%} of the time"


def drops(s: Signs) -> str:
    """Say how many clients were turned away."""
    count = s.get("listener.drops")
    return "" if count is None else f"{count:,.0f} handshakes dropped"


def switches(s: Signs) -> str:
    """Say how often the server's threads waited for something."""
    return "" if s.switches is None else f"{s.switches:.2g} voluntary switches per reply"


def idle(s: Signs) -> tuple[str, ...]:
    """Say where requests wait while nobody is busy."""
    return waiting(s), server(s), generator(s), drops(s)


def waiting(s: Signs) -> str:
    """Say where the requests were, on average."""
    places = ("in_flight", "read", "unread", "queued")
    means = [s.get(f"requests.{place}") for place in places]
    if None in means:
        return ""
    in_flight, *rest = means
    read, unread, queued = (f"{mean:,.1f}" for mean in rest)
    return (
        f"of {in_flight:,.1f} requests in flight {read} were read by a worker, {unread} accepted "
        f"and not read, {queued} in the accept queue"
    )
