"""The published claims, out of `claims.toml` beside this file, and the runs that decide them."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lab.bench.machine import project
from lab.errors import FileError
from lab.model.metric import METRICS
from studies.articles.claim import Article, Band, Claim, Inaction
from studies.articles.conditions import numbers

FILE = Path(__file__).with_name("claims.toml")

_Named = TypeVar("_Named", Article, Band)

EQUAL = 0.05
"""A ratio within so much of 1 is no effect: which word it stands for decides."""

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
    if not _is_whole(document):
        wanted = "[[claim]], one for each claim, [article.NAME] and [band.WORD]"
        raise ClaimsError(path, f"must hold tables {wanted}, and no more")
    tables = document["claim"]
    articles = {name: _named(path, Article, name, it) for name, it in document["article"].items()}
    known = _bands(path, document)
    claims = tuple(
        _claim(path, number, table, articles, known) for number, table in enumerate(tables, 1)
    )
    names = [claim.id for claim in claims]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ClaimsError(path, f"two claims are named {twice}")
    if unused := known.keys() - {claim.band for claim in claims}:
        raise ClaimsError(path, f"no claim says {', '.join(sorted(unused))}")
    return claims


def bands(path: Path = FILE) -> dict[str, Band]:
    """Return what the articles' words stand for, in the file's order; raises what `load` does."""
    return {str(claim.band): claim.meaning for claim in load(path) if claim.meaning is not None}


def stored_runs() -> tuple[Path, ...]:
    """Return the folders of the stored runs, in alphabetical order."""
    return tuple(path.parent for path in sorted(project.runs().glob("*/run.json")))


def _is_whole(document: Mapping[str, Any]) -> bool:
    """Return whether the file has its tables, and no others."""
    kinds = {"claim": list, "article": dict, "band": dict}
    return document.keys() <= kinds.keys() and all(
        isinstance(document.get(name, {} if name == "band" else None), kind)
        for name, kind in kinds.items()
    )


def _bands(path: Path, document: Mapping[str, Any]) -> dict[str, Band]:
    """Return what the articles' words stand for."""
    by_word = {name: _named(path, Band, name, it) for name, it in document.get("band", {}).items()}
    for name, band in by_word.items():
        least, most = band.limits
        if not 0 <= least < most or (band.low, band.high) == (None, None):
            raise ClaimsError(path, f"band {name}: needs low, or high above it, or both")
    return by_word


def _named(path: Path, kind: type[_Named], name: str, table: Mapping[str, Any]) -> _Named:
    """Return a table [article.NAME] or [band.WORD]."""
    what = f"{kind.__name__.lower()} {name}"
    try:
        definition = msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise ClaimsError(path, f"{what}: {error}") from None
    if wrong := _unknown(kind, table):
        raise ClaimsError(path, f"{what}: {'; '.join(wrong)}")
    return definition


def _claim(
    path: Path,
    number: int,
    table: Mapping[str, Any],
    articles: Mapping[str, Article],
    known: Mapping[str, Band],
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
    if claim.band is not None and claim.band not in known:
        wrong.append(f"there is no band {claim.band}; there are {', '.join(known)}")
    if wrong:
        raise ClaimsError(path, f"claim {name}: {'; '.join(wrong)}")
    meaning = None if claim.band is None else known[claim.band]
    return dataclasses.replace(claim, article=articles[claim.source], meaning=meaning)


def _unknown(kind: type[Article | Band | Claim | Inaction], table: Mapping[str, Any]) -> list[str]:
    # Which article it is, a claim says by its source, and which band by its word.
    known = {field.name for field in dataclasses.fields(kind)} - {"article", "meaning"}
    return [f"has no field {key}" for key in sorted(table.keys() - known)]


def _no_fact(claim: Claim, table: Mapping[str, Any]) -> Iterator[str]:
    fact_keys = {"id", "source", "kind", "text", "note", "caveat", "test", "holds", "outdated"}
    fact_keys.add("untestable")
    if foreign := sorted(table.keys() - fact_keys):
        yield f"is a fact, which a test decides: leave out {', '.join(foreign)}"
    alone = claim.untestable is not None
    if (claim.test is None, claim.holds is None) != (alone, alone):
        yield "has test and holds, or untestable: why there is no test of it"
    if claim.outdated is not None and claim.holds is not False:
        yield "is outdated: holds = false, by a test that asks today's versions"


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
    yield from _sizeless(claim)
    if claim.ratio is not None and claim.published is not None:
        before, after = claim.published
        if min(before, after) <= 0:
            yield f"{before:g} and {after:g}: published figures are above 0"
        elif abs(after / before - claim.ratio) > ROUNDING:
            yield f"{after:g} / {before:g} is {after / before:.3g}, not {claim.ratio:g}"


def _sizeless(claim: Claim) -> Iterator[str]:
    """Yield what is wrong with what the article says of the size."""
    if claim.ratio is None and claim.band is None and claim.direction is None:
        yield "needs a ratio, a band, or a direction, above or below"
    if claim.direction is not None and (claim.ratio is not None or claim.band is not None):
        yield "has a direction, or a ratio or a band, not both"
    if claim.ratio is not None and claim.ratio <= 0:
        yield f"ratio = {claim.ratio:g}: above 0"
    elif claim.ratio is not None and claim.band is None and abs(claim.ratio - 1) <= EQUAL:
        yield f"a ratio of {claim.ratio:g} says that nothing changes: which band is that?"


def _untested(claim: Claim) -> Iterator[str]:
    if claim.untestable is not None or claim.outdated is not None:
        yield 'untestable and outdated are for kind = "fact"'
    if (claim.test is None) != (claim.holds is None):
        yield "has test and holds, or neither"
    if claim.test is not None and claim.ratio is not None:
        yield "has a ratio, of which a test says nothing: a direction or a band may have a test"


def _impossible(claim: Claim) -> Iterator[str]:
    for name, least in (("cores", claim.cores), ("connections", claim.connections)):
        if least is not None and least < 1:
            yield f"{name} = {least}: at least 1"
    if claim.test is not None and ".py::test_" not in claim.test:
        yield f'test = "{claim.test}": its name in pytest, as in "tests/test_x.py::test_y"'
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
