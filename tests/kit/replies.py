"""Right answers: what they are, and the bytes of a reply that has them."""

from lab.model.request import Expectation
from lab.model.workload import Workload

BODY = b"[0, 1, 1, 2, 3, 5, 8]"
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n" + BODY
WORKLOAD = Workload("nine", "/9", Expectation(body=BODY))

NINE_THOUSAND = (
    b"[0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181, "
    b"6765, 10946]"
)
"""To /9000, as the article and every page show it."""

PONG = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nPong!"
"""The reply of `loadtests.workloads.hello`, by whomever it is sent."""
