"""How long a request's head may be, tried on the servers: by default, and with the option."""

import pytest

from .said import says
from .servers import exchanged, request, server

TOO_MUCH = {"uwsgi": (b"",), "gunicorn": (b"414", b"431"), "granian": (b"414", b"431")}
"""Program -> the statuses of a request that is too long; uWSGI closes without one."""


def header(size):
    """Return a request with one header of so many bytes."""
    return request("GET", "/", f"X-Long: {'a' * (size - 8)}")


def headers(size):
    """Return a request with two headers of so many bytes."""
    return request("GET", "/", *(f"X-{name}: {'a' * (size - 5)}" for name in "AB"))


def url(size):
    """Return a request whose path and query have so many bytes."""
    return request("GET", f"/?{'0' * (size - 2)}")


def count(number):
    """Return a request with so many headers, two of them the usual ones."""
    return request("GET", "/", *(f"X-{n}: a" for n in range(number - 2)))


HEADERS = [
    ("uwsgi", "", header, (3_000,), (6_000, 9_000, 300_000), "4,096 by default"),
    ("uwsgi", "--buffer-size 16384", header, (6_000, 9_000), (300_000,), "all headers together"),
    ("uwsgi", "--buffer-size 9000", headers, (4_000,), (6_000,), "all headers together"),
    ("uwsgi", "--buffer-size 131072", header, (60_000,), (66_000,), "65,535 at most"),
    ("gunicorn", "", header, (6_000,), (9_000, 300_000), "8,190 by default"),
    ("gunicorn", "", headers, (6_000,), (9_000,), "for each header"),
    (
        "gunicorn",
        "--limit-request-field_size 16000",
        header,
        (9_000,),
        (300_000,),
        "for each header",
    ),
    ("granian", "", header, (6_000, 9_000, 300_000, 410_000), (1_000_000,), "about 417,792"),
    ("granian", "--http1-buffer-size 8192", header, (6_000,), (9_000, 300_000), "make it smaller"),
]
LINES = [
    ("uwsgi", "", url, (3_000,), (6_000,), "limits the request line and all headers together"),
    (
        "uwsgi",
        "--buffer-size 16384",
        url,
        (6_000,),
        (300_000,),
        "buffer-size limits the request line",
    ),
    ("gunicorn", "", url, (4_000,), (5_000,), "4,094 by default"),
    ("gunicorn", "--limit-request-line 16000", url, (8_000,), (9_000,), "8,190 at most"),
    ("granian", "", url, (65_534,), (65_535, 300_000), "65,534 bytes"),
]
ROOMY = "--buffer-size 32768"
COUNTS = [
    ("uwsgi", "", count, (110,), (150,), "64 by default"),
    ("uwsgi", f"--max-vars 200 {ROOMY}", count, (380,), (400,), "twice as many"),
    ("gunicorn", "", count, (100,), (101,), "100 by default"),
    ("gunicorn", "--limit-request-fields 200", count, (200,), (201,), "it counts headers"),
    ("granian", "", count, (100,), (101,), "accepts 100"),
]
CASES = [
    *(("header-bytes", *case) for case in HEADERS),
    *(("header-line", *case) for case in LINES),
    *(("header-count", *case) for case in COUNTS),
]


@pytest.mark.peers
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case[:3]))
def test_how_much_a_server_takes(case, tmp_path):
    """Up to a size it answers, beyond it refuses; then it serves on."""
    key, program, option, made, taken, refused, claim = case
    with server(program, tmp_path, *option.split()) as instance:
        statuses = {
            size: exchanged(instance.port, made(size))[9:12] for size in (*taken, *refused, *taken)
        }
    assert all(statuses[size] == b"200" for size in taken), statuses
    assert all(statuses[size] in TOO_MUCH[program] for size in refused), statuses
    assert claim in says(key, program)
