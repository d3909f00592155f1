"""
Directives: a comment `<!-- name arguments -->` in a page says what stands after it.

The text reaches to `<!-- end -->` where a line ends after the comment, and to `<!-- -->` within a
line. Where an image stands on the next line, the text is the image's words, its file is drawn, and
what the report of its run warns of stands below it. A page whose quotations hide anything is
refused: see `tools.pages.hidden`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from lab.config.interface import ASGI, WSGI
from lab.errors import FileError, UsageError
from lab.report import markdown
from studies.pages import (
    claims,
    cluster,
    instructions,
    judges,
    processes_and_threads,
    public_lint,
    published_ladder,
    results,
    slowed,
    systems,
    watch,
)
from tools.pages import (
    addresses,
    figures,
    gates,
    hidden,
    migration,
    profiles,
    proofs,
    runs,
    terminal,
    tuning,
    vocabulary,
)
from tools.pages.files import DOCS, ROOT, written

FORMS: Mapping[str, Callable[..., str]] = {
    "address of TITLE": addresses.link,
    "article SOURCE": claims.article,
    "bands": claims.bands,
    "busiest RUN: PROFILE": runs.busiest,
    "change PROFILE": profiles.change,
    "claims in short: SOURCE": claims.in_short,
    "claims in short": claims.all_in_short,
    "cluster acts": cluster.acts,
    "cluster versions": cluster.versions,
    "command RUN": runs.command,
    "decision RUN: CLAIM": runs.decision,
    "differences of KEYS": vocabulary.differences,
    "figure FIGURE": figures.words,
    "gates": gates.table,
    "gates say": gates.sayings,
    "gates RUN": runs.gates,
    "headline RUN": runs.headline,
    "instructions cells": instructions.cells,
    "instructions phases": instructions.phases,
    "instructions saved: APPLICATION BUILD / APPLICATION BUILD at NUMBER": instructions.saved,
    "judges count": judges.counted,
    "judges by planted": judges.by_planted,
    "judges recorded": judges.recorded,
    "judges say: JUDGE on PLANTED in MOOD": judges.said,
    "lacks PAGE": tuning.shown,
    "limit RUN: PROFILE": runs.limit,
    "linted PAGE": terminal.linted,
    "machine RUN": runs.machine,
    "migrated PAGE to SERVER": migration.shown,
    "outcomes": claims.outcomes,
    "plan RUN": runs.plan,
    "printed RUN: TITLE": runs.printed,
    "ratio RUN: METRIC of CHANGED / REFERENCE": runs.ratio,
    "published ladder by chance: CONDITION": published_ladder.by_chance,
    "published ladder rising: CONDITION": published_ladder.rising,
    "published ladder ratio CONDITION: CHANGED / REFERENCE": published_ladder.ratio,
    "published ladder rounds": published_ladder.rounds,
    "published ladder waits": published_ladder.waits,
    "published ladder": published_ladder.spans,
    "public lint of SERVER in short: RULE": public_lint.share,
    "public lint of SERVER in short": public_lint.clean,
    "public lint of SERVER": public_lint.table,
    "result FILE: how many are WORD of KEYS": results.counted,
    "result FILE: KEYS above OTHER": results.above,
    "result FILE: KEYS over OTHER, paired": results.over,
    "result FILE: KEYS in UNIT": results.value,
    "result FILE: KEYS": results.value,
    "run RUN: TITLE (ROWS)": runs.table,
    "run RUN: TITLE": runs.table,
    "selftest": proofs.selftest,
    "selftest in short": proofs.selftest_in_short,
    "senses": vocabulary.options,
    "senses without counterpart": vocabulary.without_counterpart,
    "senses without option": partial(vocabulary.behaviour, WSGI),
    "senses without option of asgi": partial(vocabulary.behaviour, ASGI),
    "processes and threads by requests": processes_and_threads.requests,
    "processes and threads by p99": processes_and_threads.p99,
    "processes and threads memory: KIND": processes_and_threads.memory,
    "processes and threads load": processes_and_threads.load,
    "slowed dearer": slowed.dearer,
    "slowed": slowed.table,
    "statements SOURCE": claims.statements,
    "stress": proofs.stress,
    "stress FILE": proofs.stress,
    "systems": systems.table,
    "value RUN: METRIC of PROFILE": runs.value,
    "watch conditions": watch.conditions,
    "watch errors": watch.table,
    "watch cost": watch.cost,
    "watch most cost": watch.most_cost,
    "watch errors in short": watch.in_short,
}
"""
What a directive may be, its arguments in capitals, and what makes its text of them.

The first that fits counts.
"""

DIRECTIVE = re.compile(
    rf"(?P<opening><!-- (?P<directive>(?:{'|'.join({form.split()[0] for form in FORMS})})\b.*?) -->"
    r"(?:(?P<image>\n!\[)|(?P<block>\n))?)"
    r"(?s:.*?)"
    r"(?P<closing>(?(image)\]\((?P<address>.*?)\)|(?(block)<!-- end -->|<!-- -->)))"
    rf"(?(image)(?:\n\n{re.escape(markdown.WARNING)}.*)*)"
)


def pages() -> tuple[Path, ...]:
    """Return the pages that may hold directives."""
    return (*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("*/*.md")))


def fill(text: str) -> str:
    """
    Return *text* with what each of its directives asks for, which may hold others.

    Raises:
        LabError: A directive has none of FORMS, or names something that is not there.
    """
    return DIRECTIVE.sub(
        lambda it: (
            f"{it['opening']}{fill(_text(it['directive']))}{it['closing']}"
            f"{figures.warnings(_figure(it)) if it['address'] else ''}"
        ),
        text,
    )


def refresh() -> list[Path]:
    """
    Rewrite the pages and figures that are not what is stored any more, and return them.

    Raises:
        LabError: As `fill`; or a page hides what it quotes, and is left as it was.
    """
    changed = []
    for page in pages():
        text = fill(page.read_text(encoding="utf-8"))
        drawn = {
            quotation["address"]: _figure(quotation)
            for quotation in quotations(text)
            if quotation["address"]
        }
        images = {
            address: figures.image(figure, ".svg").decode() for address, figure in drawn.items()
        }
        if problems := [*hides(text, images.__getitem__)]:
            raise FileError(page, "; ".join(problems))
        changed += written(page, text)
        for address, figure in drawn.items():
            path = page.parent / address
            changed += written(path, figures.image(figure, path.suffix))
    return changed


def quotations(text: str) -> Iterator[re.Match[str]]:
    """Yield the directives of a page, and those within what they have put into it."""
    for match in DIRECTIVE.finditer(text):
        yield match
        yield from quotations(match[0].removeprefix(match["opening"]))


def hides(text: str, image: Callable[[str], str]) -> Iterator[str]:
    """
    Yield what the quotations of a page hide, each with its directive.

    Args:
        text: The page, filled.
        image: Returns a picture as SVG by its address in the page.
    """
    directives = [quotation["directive"] for quotation in quotations(text)]
    for quotation in quotations(text):
        picture = image(quotation["address"]) if quotation["address"] else ""
        for hidden_text in hidden.hidden(quotation["directive"], quotation[0], picture):
            yield f"<!-- {quotation['directive']} --> hides: {hidden_text}"
    if runs := hidden.of_one_core(DIRECTIVE.sub("", text), directives):
        yield f'no words of the page say "one core", as the server had in {", ".join(runs)}'


def _figure(quotation: re.Match[str]) -> str:
    """Return which figure the directive of an image asks for."""
    return quotation["directive"].removeprefix("figure ")


def _text(directive: str) -> str:
    for form, function in FORMS.items():
        if match := re.fullmatch(re.sub("[A-Z]+", "(.+?)", re.escape(form)), directive):
            return function(*match.groups())
    raise UsageError(f"<!-- {directive} --> has none of the forms: {'; '.join(FORMS)}")
