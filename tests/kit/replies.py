"""A request with a short answer, and that answer as the bytes of a reply."""

from lab.model import Expectation, Workload

BODY = b"[0, 1, 1, 2, 3, 5, 8]"
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n" + BODY
WORKLOAD = Workload("nine", "/9", Expectation(body=BODY))
