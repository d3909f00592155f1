"""The published claims, out of `claims.toml` beside this file, and the runs that decide them."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from articles.claim import Article, Claim, Inaction
from articles.conditions import numbers
from lab.errors import FileError
from lab.model.metric import METRICS
from lab.system import project

FILE = Path(__file__).with_name("claims.toml")

DIRECTIONS = ("above", "below", "same")

ROUNDING = 0.006
"""By how much a ratio of two decimals may differ from that of the figures beside it."""


class ClaimsError(FileError):
    """A file of claims cannot be understood."""


def load(path: Path = FILE) -> tuple[Claim, ...]:
    """
    Return the claims, in the file's order.

    Raises:
        ClaimsError: The file cannot be read, or a claim is incomplete or contradicts itself; with
            its id.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ClaimsError(path, f"cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ClaimsError(path, f"is not TOML: {error}") from None
    tables, sources = document.get("claim"), document.get("article")
    if (
        set(document) != {"claim", "article"}
        or not isinstance(tables, list)
        or not isinstance(sources, dict)
    ):
        wanted = "[[claim]], one for each claim, and [article.NAME], one for each source"
        raise ClaimsError(path, f"must hold tables {wanted}, and no more")
    articles = {name: _article(path, name, table) for name, table in sources.items()}
    claims = tuple(_claim(path, number, table, articles) for number, table in enumerate(tables, 1))
    names = [claim.id for claim in claims]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ClaimsError(path, f"two claims are named {twice}")
    return claims


def stored_runs() -> tuple[Path, ...]:
    """Return the folders of the stored runs, in alphabetical order."""
    return tuple(path.parent for path in sorted(project.runs().glob("*/run.json")))


def _article(path: Path, name: str, table: Mapping[str, Any]) -> Article:
    try:
        article = msgspec.convert(table, Article)
    except msgspec.ValidationError as error:
        raise ClaimsError(path, f"article {name}: {error}") from None
    if wrong := _unknown(Article, table):
        raise ClaimsError(path, f"article {name}: {'; '.join(wrong)}")
    return article


def _claim(
    path: Path, number: int, table: Mapping[str, Any], articles: Mapping[str, Article]
) -> Claim:
    name = table.get("id", f"number {number}")
    try:
        claim = msgspec.convert(table, Claim)
    except msgspec.ValidationError as error:
        raise ClaimsError(path, f"claim {name}: {error}") from None
    wrong = _unknown(Claim, table)
    wrong += _no_fact(claim, table) if claim.kind == "fact" else _contradictions(claim)
    wrong += _impossible(claim)
    if claim.inaction is not None:
        wrong += [*_unknown(Inaction, table["inaction"]), *_unusable(claim.inaction)]
    if claim.source not in articles:
        wrong.append(f"there is no article {claim.source}; there are {', '.join(articles)}")
    if wrong:
        raise ClaimsError(path, f"claim {name}: {'; '.join(wrong)}")
    return dataclasses.replace(claim, article=articles[claim.source])


def _unknown(kind: type[Article | Claim | Inaction], table: Mapping[str, Any]) -> list[str]:
    # Which article it is, a claim says by its source.
    known = {field.name for field in dataclasses.fields(kind)} - {"article"}
    return [f"has no field {key}" for key in sorted(table.keys() - known)]


def _no_fact(claim: Claim, table: Mapping[str, Any]) -> Iterator[str]:
    own = {"id", "source", "kind", "text", "note", "test", "holds", "needs"}
    if foreign := sorted(table.keys() - own):
        yield f"is a fact, which a test decides: leave out {', '.join(foreign)}"
    if (claim.test is None, claim.holds is None) != (bool(claim.needs), bool(claim.needs)):
        yield "has test and holds, or needs: what a test of it takes"


def _contradictions(claim: Claim) -> Iterator[str]:
    named = {"workload": claim.workload, "reference": claim.reference, "changed": claim.changed}
    if absent := [field for field, name in named.items() if not name]:
        yield f"has no {', '.join(absent)}"
    yield from _untested(claim)
    if claim.metric not in METRICS or METRICS[claim.metric].exact:
        known = ", ".join(name for name, metric in METRICS.items() if not metric.exact)
        yield f"there is no metric {claim.metric} to compare; there are {known}"
    if claim.rate is not None and claim.metric == "throughput":
        yield "at an equal rate throughput is the same: name another metric, such as cpu"
    if claim.ratio is None and claim.direction not in DIRECTIONS:
        yield f"needs a ratio, or a direction: {', '.join(DIRECTIONS)}"
    if claim.ratio is not None and (claim.ratio <= 0 or claim.direction is not None):
        yield "has a ratio above 0, or a direction, not both"
    if claim.ratio is not None and claim.published is not None:
        before, after = claim.published
        if min(before, after) <= 0:
            yield f"{before:g} and {after:g}: published figures are above 0"
        elif abs(after / before - claim.ratio) > ROUNDING:
            yield f"{after:g} / {before:g} is {after / before:.3g}, not {claim.ratio:g}"


def _untested(claim: Claim) -> Iterator[str]:
    if claim.needs:
        yield 'needs is for kind = "fact"'
    if (claim.test is None) != (claim.holds is None):
        yield "has test and holds, or neither"
    if claim.test is not None and claim.ratio is not None:
        yield "has a ratio, of which a test says nothing: only a direction may have a test"


def _impossible(claim: Claim) -> Iterator[str]:
    for name, least in (("cores", claim.cores), ("connections", claim.connections)):
        if least is not None and least < 1:
            yield f"{name} = {least}: at least 1"
    if claim.test is not None and ".py::test_" not in claim.test:
        yield f'test = "{claim.test}": its name in pytest, as in "tests/articles/test_x.py::test_y"'
    if claim.version is not None and not numbers(claim.version.partition(" ")[2]):
        yield f'version = "{claim.version}": a name and the least version, as in "uwsgi 2.0.20"'


def _unusable(inaction: Inaction) -> Iterator[str]:
    counts = [name for name, metric in METRICS.items() if metric.exact]
    if inaction.metric not in counts:
        yield f"inaction counts no {inaction.metric}; there are {', '.join(counts)}"
    try:
        inaction.sentence.format(window=1.0, limit=1, count=1.0)
    except (AttributeError, LookupError, ValueError) as error:
        yield f"inaction has a sentence that cannot be filled in: {error!r}"
