"""What is required of replies that vary."""

import re
import time

import pytest

from lab.bench.workloads.varying import expectation
from lab.errors import UsageError
from lab.model.request import Expectation

LOGIN = (
    '<!doctype html><title>Log in</title>\n<form action="/login/" method="post">\n'
    '<input type="hidden" name="csrfmiddlewaretoken" value="{token}">\n'
    '<input name="username"><input name="password" type="password"></form>\n'
)
TOKENS = ("aB3" * 21 + "x", "c9D" * 21 + "y", "Efg" * 21 + "z", "h1J" * 21 + "w")


def learnt(*bodies):
    """Return what is required after replies with these bodies."""
    return expectation("/login/", Expectation(), [body.encode() for body in bodies])


def fits(expect, body):
    """Return whether a body has what is required."""
    return re.search(expect.pattern.encode(), body.encode()) is not None


def test_equal_replies_are_required_to_the_byte():
    """Nothing is said then."""
    assert learnt("a", "a", "a", "a") == Expectation(body=b"a")


def test_what_stays_of_a_page_with_a_token_is_required():
    """And it is said how much varies, by the name that the page gives it."""
    the_expectation = learnt(*(LOGIN.format(token=token) for token in TOKENS))
    size = len(LOGIN.format(token=TOKENS[0]))
    assert the_expectation.varies == (
        f"64 of {size} bytes differ from reply to reply (csrfmiddlewaretoken); required are the 2 "
        f"parts that stay, status 200 and a length of {size} +- 64."
    )
    assert fits(the_expectation, LOGIN.format(token="0" * 64))
    assert not fits(the_expectation, LOGIN.format(token="0" * 64).replace("username", "user"))
    assert not fits(the_expectation, LOGIN.format(token="0" * 200))
    assert not fits(the_expectation, "<h1>Server Error (500)</h1>")


def test_what_varies_is_named_by_the_page():
    """Each piece that has a name."""
    page = (
        'window.CSRF_TOKEN = "{0}"; /* for scripts */\n<input name="token" value="{0}">{1}, at last'
    )
    the_expectation = learnt(*(page.format(token, number) for number, token in enumerate(TOKENS)))
    assert (
        "bytes differ from reply to reply (CSRF_TOKEN, token); required" in the_expectation.varies
    )


def test_the_hours_of_a_clock_are_not_required():
    """Four replies within a second have them in common, and those of the next hour do not."""
    page = "<p>The time of this server is: {}</p><footer>of somebody</footer>"
    the_expectation = learnt(
        *(page.format(f"2026-11-22 20:14:{second}") for second in (17, 17, 18, 18))
    )
    assert fits(the_expectation, page.format("2026-11-22 23:59:59"))
    assert not fits(the_expectation, page.format("").replace("server", "client"))


@pytest.mark.parametrize(
    ("bodies", "suggested"),
    [
        (
            ['{{\n  "uuid": "{}"\n}}\n'.format(f"{n:08x}-{n:04x}-4a{n:02x}") for n in (1, 2, 3, 4)],
            "nothing of it stays but 19 bytes",
        ),
        (["1 ns", "22 ns", "3 ns", "4 ns"], "--check '[0-9]+ '"),
        (["a", "b", "c", "d"], "--check '[0-9a-f-]{1}'"),
    ],
)
def test_where_nothing_stays_a_pattern_is_suggested(bodies, suggested):
    """It fits the replies that were seen."""
    with pytest.raises(UsageError, match="say what a correct reply contains") as caught:
        learnt(*bodies)
    assert suggested in str(caught.value)
    pattern = re.search("--check '(.*)'$", str(caught.value))[1]
    assert all(re.search(pattern, body) for body in bodies)


def test_a_page_of_many_rows_is_judged_in_no_time():
    """A wrong reply of the same rows does not let the search go through all their combinations."""
    rows = "".join(f'<tr><td class="name">row</td><td>{{0}}{n}x</td></tr>\n' for n in range(400))
    the_expectation = learnt(*(rows.format(salt) for salt in "abcd"))
    began = time.perf_counter()
    assert fits(the_expectation, rows.format("e"))
    assert not fits(the_expectation, rows.format("e").replace("row</td>", "</td>row", 1))
    assert time.perf_counter() - began < 1.0


def test_bytes_that_are_no_text_may_vary_as_well():
    """The pattern is stored as text."""
    bodies = [b"\xff\x00" * 20 + token + b"\xfe" * 20 for token in (b"a1", b"b2", b"c3", b"d4")]
    the_expectation = expectation("/", Expectation(), bodies)
    assert the_expectation.pattern.isascii()
    assert all(re.search(the_expectation.pattern.encode(), body) for body in bodies)
