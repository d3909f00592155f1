"""
Which numbers are answered: decimal integers in ASCII, of a limited number of digits.

The limit is part of the service's defence. With d digits the answer grows as 2.39 d^2 bytes and
the processor time as d^3: 100 digits cost 25 kB and 0.1 ms, 4300 cost 44 MB and 1.6 s, for a
request of 4 kB. So digits are counted in the text, before anything is computed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

DEFAULT_MAX_DIGITS = 100
VARIABLE = "FIB_MAX_DIGITS"


class SettingError(ValueError):
    """An environment variable has a value that cannot be used."""


class NumberError(ValueError):
    """The text is not a number that is answered; the message is for the client."""

    def __init__(self, message: str, max_digits: int | None = None) -> None:
        self.max_digits = max_digits
        super().__init__(message)


def read_max_digits(environ: Mapping[str, str]) -> int:
    """
    Read the digit limit from *environ*, normally `os.environ`.

    Returns:
        `FIB_MAX_DIGITS`, or 100 where it is unset or empty.

    Raises:
        SettingError: It is not a whole number, or is out of range. The range ends one below
            Python's own limit for turning integers into text, 4300 digits unless set otherwise,
            because the last element of an answer may have one digit more than the number.
    """
    text = environ.get(VARIABLE, "").strip()
    if not text:
        return DEFAULT_MAX_DIGITS
    python_limit = sys.get_int_max_str_digits()
    highest = python_limit - 1 if python_limit else sys.maxsize
    # Ten figures are more than any limit; longer texts are not worth an int().
    if re.fullmatch(r"[0-9]{1,10}", text) and 1 <= int(text) <= highest:
        return int(text)
    raise SettingError(
        f"{VARIABLE}={text!r} cannot be used: set it to a whole number from 1 to {highest}, "
        f"or unset it for {DEFAULT_MAX_DIGITS}"
    )


def parse_number(text: str, max_digits: int) -> int:
    """
    Parse the number in a request's path.

    Args:
        text: The path without its slash. Digits count as written, leading zeros included.
        max_digits: At least 1.

    Raises:
        NumberError: *text* is not a decimal integer, or is longer than allowed; only then has the
            error `max_digits`.
    """
    digits = text.removeprefix("-")
    # Not int() alone: it takes "+5", "1_000", " 9" and the digits of every script as well. Of bytes
    # only ASCII's count as digits.
    if not digits.encode(errors="replace").isdigit():
        raise NumberError(
            "The path must be a decimal integer, as in /9000; / lists the other paths."
        )
    if len(digits) > max_digits:
        raise NumberError(f"At most {max_digits} digits are answered.", max_digits)
    return int(text)
