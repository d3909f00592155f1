"""The steps that set a meaning in a uvicorn command, and what `lab tune` tries with uvicorn."""

from __future__ import annotations

from collections.abc import Mapping

from lab.config.configuration import Config
from lab.config.steps import Put
from lab.config.vocabulary.steps_for_meaning import Pairs, StepsOfMeaning

GROUPS = {"loop": "the event loop, and the parser of HTTP"}
"""Groups of `candidates` -> what each group is."""

TUNABLE = ("loop", "http")
"""Options of uvicorn alone that `lab tune` may set."""

SPECIAL: Mapping[str, StepsOfMeaning] = {
    "access-log": lambda _config, value: iter((Put("access-log", value),)),
}
"""Key of a meaning -> the steps that set it, where a flag has two names."""

PLAIN = {"loop": "asyncio", "http": "h11"}
"""Option -> the value in pure Python; "auto" is the faster package, if it is installed."""


def candidates(config: Config) -> Pairs:
    """
    Return the changes that `lab tune` tries with uvicorn alone.

    Never --limit-concurrency: uvicorn answers 503 to the requests that it saves.
    """
    now = {option: setting.value for option in PLAIN if (setting := config.last(option))}
    return tuple(
        ("loop", {option: "auto" if now.get(option) == plain else plain})
        for option, plain in PLAIN.items()
    )
