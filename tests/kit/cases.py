"""A table of cases that is one test."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable
from typing import Any


def cases(
    names: str, values: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """
    Run a test for every case, and fail with all cases that fail.

    `pytest.mark.parametrize` makes a test of each case, which costs ten times what a case of a
    millisecond does. A fixture of the test is the same for all cases.

    Args:
        names: The parameters of the test that a case has values for, separated by commas.
        values: A value for each case, or a tuple of values where there are several names.
    """
    parameters = [name.strip() for name in names.split(",")]
    rows = [case if len(parameters) > 1 else (case,) for case in values]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def every_case(**fixtures: Any) -> None:
            failures = []
            for row in rows:
                try:
                    test(**dict(zip(parameters, row, strict=True)), **fixtures)
                except Exception as error:  # noqa: BLE001 - it is one of the failures
                    shown = "".join(traceback.format_exception(error))
                    failures.append(f"{', '.join(map(repr, row))}\n{shown}")
            if failures:
                raise AssertionError(f"{len(failures)} of {len(rows)}:\n" + "\n".join(failures))

        signature = inspect.signature(test)
        fixtures = [one for name, one in signature.parameters.items() if name not in parameters]
        every_case.__signature__ = signature.replace(parameters=fixtures)
        return every_case

    return decorate
