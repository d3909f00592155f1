"""
The same comparison inside Locust: its load shape, its users, its tab.

`loadtests/compare.py` subclasses the two classes below, and that is all it takes: Locust finds a
user class and a load shape, and the listeners that are registered here do the rest. Locust
contributes its command line, its web UI and its distribution over processes and machines; the plan,
the servers, the engine, the gates and the report are the ones of `lab run`.
"""

from lab.locust import interrupts as _interrupts  # noqa: F401 - first: the others take a second
from lab.locust.shape import ComparisonShape
from lab.locust.users import Connection

__all__ = ["ComparisonShape", "Connection"]
