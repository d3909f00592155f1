"""The articles' claims, and what came of them, as a person and a script read them."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import replace

import pytest

from lab.analysis.warning import Noise, NotEnded
from lab.bench.store.folder import read_run
from lab.model.comparison import Comparison, Estimate, Verdict
from lab.report import markdown, terminal
from lab.report.warnings import STATUS_3, text_of, with_status
from studies import articles
from studies.articles import show
from studies.articles.claim import OUTCOMES, Article, Claim, ClaimVerdict, Decision

CLAIM = Claim("ladder-x", "article", "b is faster", "fib", "a", "b", ratio=3.08)
RATIO = Comparison(
    "throughput", "a", "b", Verdict.NO_DIFFERENCE, Estimate(0.871, 0.7923, 0.9611, 10)
)
VERDICTS = (
    ClaimVerdict(
        CLAIM,
        Decision.NOT_SEEN,
        "So it is.",
        "one",
        "64 connections, 3 s",
        RATIO,
        "router in both",
    ),
    ClaimVerdict(CLAIM, Decision.INCONCLUSIVE, "Dropped.", "two", "5,000 requests, 500 at once"),
    ClaimVerdict(replace(CLAIM, id="far"), Decision.UNTESTABLE, "Needs workload z."),
)
FACT = ClaimVerdict(
    Claim("there", "article", "b is there", kind="fact", test="t.py::test_b", holds=False),
    Decision.NOT_SEEN,
    "a fact, decided by t.py::test_b.",
)


def test_claims_are_a_row_for_each_load_and_a_sentence_for_each_claim():
    """A claim is named once, and so is the article's figure."""
    text = terminal.render_document(show.document(VERDICTS))
    assert "2 claims: 1 not seen; 1 cannot be tested here." in text
    rows = text.split("\narticle\n")[1].split("\n\n")[0].splitlines()[2:]
    assert rows[0].split()[:2] == ["ladder-x", "64"]
    assert "3.08x    0.871x [0.792, 0.961]" in rows[0]
    assert rows[1].strip().startswith("5,000 requests")
    assert len(rows) == 2, "100 columns hold a verdict in one line: its cause is in the sentence"
    assert "[one] not seen: So it is. [two] inconclusive: Dropped." in " ".join(text.split())
    assert "far" not in text
    assert "What the open claims take: lab claims" in text


def swept(outcomes):
    """Return the verdicts of a sweep on one claim: of connections -> decision and ratio."""
    return [
        ClaimVerdict(
            CLAIM,
            decision,
            "So.",
            "sweep",
            f"{connections} connections, 1 s",
            replace(RATIO, ratio=Estimate(value, value - 0.1, value + 0.1, 5)),
        )
        for connections, (decision, value) in outcomes.items()
    ]


def test_the_values_of_a_sweep_that_come_to_the_same_are_one_row():
    """With the smallest and the largest figure, and all numbers or how many."""
    verdicts = swept(
        {
            1: (Decision.NOT_SEEN, 1.0),
            20: (Decision.REPRODUCED, 4.0),
            40: (Decision.REPRODUCED, 3.5),
            60: (Decision.REPRODUCED, 3.8),
        }
    )
    rows = show.verdict_table(verdicts).rows
    assert [[cell.text for cell in row] for row in rows] == [
        ["ladder-x", "1 connections, 1 s", "3.08x", "~1.00x [0.900, 1.10]", "not seen"],
        ["", "20, 40 or 60 connections, 1 s", "", "3.50x [3.40, 3.60] to 4.00x [3.90, 4.10]",
         "reproduced"],
    ]  # fmt: skip
    many = dict.fromkeys(range(1, 8), (Decision.NOT_SEEN, 1.0))
    (row,) = show.verdict_table(swept(many)).rows
    assert row[1].text == "1 to 7 connections, 1 s, 7 values"


def test_each_value_of_a_sweep_has_its_own_sentence():
    """Told apart by its load."""
    verdicts = swept({1: (Decision.NOT_SEEN, 1.0), 20: (Decision.REPRODUCED, 4.0)})
    (note,) = show.document(verdicts).notes
    assert (
        "[sweep, 1 connections, 1 s] not seen: So. [sweep, 20 connections, 1 s] reproduced" in note
    )


def test_a_fact_is_a_row_and_a_sentence_with_its_test():
    """It has no load and no figure, and counts as put to the test."""
    text = terminal.render_document(show.document((*VERDICTS, FACT)))
    assert "3 claims: 2 not seen; 1 cannot be tested here." in text
    assert "there a test a fact - not seen" in " ".join(text.split())
    assert "[test] not seen: a fact, decided by t.py::test_b." in " ".join(text.split())


NOISE = Noise("a", {"cpu": Estimate(1.06, 1.05, 1.07, 9)}, 0.05, 0.07, None, True, apart=True)
THREE = text_of(NotEnded(3))


@pytest.mark.parametrize("said", [show.document, show.overview])
def test_what_a_quoted_run_warns_of_is_said_of_its_claims(said):
    """Once, with the run's name; a run that warns of nothing adds no line."""
    noisy = replace(VERDICTS[0], warnings=(NotEnded(3),))
    assert said((noisy, noisy, *VERDICTS[1:])).banners == (f"one: {THREE}",)
    assert said(VERDICTS).banners == ()
    verdicts = json.loads(show.render_json((noisy, *VERDICTS[1:])))["verdicts"]
    assert [verdict.get("banners") for verdict in verdicts] == [[THREE], None, None]


def test_what_a_sweep_warns_of_at_many_values_is_said_once():
    """With the words of one value, and without the status that stands for all of them."""
    first, second = (
        replace(
            VERDICTS[0],
            load=f"{connections} connections",
            warnings=(replace(NOISE, reference=f"a{connections}"),),
        )
        for connections in (1, 20)
    )
    (banner,) = show.document((first, second)).banners
    first_words = text_of(first.warnings[0])
    assert banner == f"one: at 2 values (figures of 1 connections): {first_words}"
    assert first_words.endswith("Stop other work and run again.")
    assert with_status(first.warnings[0]) == first_words + STATUS_3
    (alone,) = show.document((first, first)).banners
    assert alone == f"one: {first_words}"


def test_all_that_one_run_warns_of_is_said():
    """Two warnings of one kind are both there: they are of one place."""
    unfair = replace(VERDICTS[0], warnings=(NotEnded(3), NotEnded(4)))
    banners = show.document((unfair, unfair)).banners
    assert banners == (f"one: {THREE}", f"one: {text_of(NotEnded(4))}")


def told(decisions):
    """Return the sum of a claim with these verdicts, of runs, and of another one never run."""
    verdicts = [ClaimVerdict(CLAIM, decision, "So.", f"run {decision}") for decision in decisions]
    return show.document((*verdicts, VERDICTS[2])).context[0]


@pytest.mark.parametrize(
    ("decisions", "came_to"),
    [
        (["not seen", "not seen", "inconclusive"], "1 not seen; 1 cannot be tested here"),
        (["no run yet", "inconclusive"], "1 inconclusive; 1 cannot be tested here"),
        (["no run yet", "no run yet"], "1 cannot be tested here; 1 no run yet"),
        (["inconclusive", "reproduced"], "1 reproduced; 1 cannot be tested here"),
        (["not seen", "reproduced"], "1 cannot be tested here; 1 differs by load"),
    ],
)
def test_a_claim_is_counted_once_whatever_the_number_of_runs(decisions, came_to):
    """So that the parts add up: what settles it, or the nearest that leaves it open."""
    summary = told([Decision(decision) for decision in decisions])
    assert summary == f"2 claims: {came_to}."


@functools.cache
def of_stored_runs():
    """Return what the stored runs say of all claims."""
    return articles.verdicts([read_run(folder) for folder in articles.stored_runs()])


def test_the_stored_sum_adds_up():
    """Each claim is in one part."""
    verdicts = of_stored_runs()
    summary = show.document(verdicts).context[0]
    total, *parts = map(int, re.findall(r"\d+", summary))
    assert total == sum(parts) == len(articles.load())


def test_the_overview_has_for_each_article_what_was_decided_and_what_is_open():
    """A row for each claim: of an open one the parts that the lab lacks, or what else it takes."""
    claim = replace(CLAIM, article=Article("An article", 2016))
    parts = ("workload z", "profile y", "profile x")
    far = ClaimVerdict(
        replace(claim, id="far"),
        Decision.UNTESTABLE,
        "Needs z.",
        takes=(*parts, "at least 2 server cores"),
        lacks=parts,
    )
    verdicts = (
        replace(VERDICTS[0], claim=claim),
        far,
        ClaimVerdict(
            replace(claim, id="near"), Decision.INCONCLUSIVE, "So.", "one", takes=("more blocks",)
        ),
        FACT,
    )
    text = terminal.render_document(show.overview(verdicts), 80)
    decided, left, other = text.split("\n\n")[1:4]
    assert decided.startswith('"An article" (2016): 1 of 3 decided\n')
    assert decided.splitlines()[-1].startswith("ladder-x  64 connections, 3 s  3.08x    0.871x")
    assert left.startswith('"An article" (2016): 2 of 3 open\n')
    rows = [" ".join(row.split()) for row in left.splitlines()[3:]]
    assert rows == ["far workload z; profile y; profile x", "near more blocks"]
    assert other.startswith("article: 1 of 1 decided\n")


@pytest.mark.parametrize("width", [80, 120])
def test_the_stored_overview_is_as_wide_as_asked(width):
    """With all of our claims; each article's parts add up to its number."""
    verdicts = of_stored_runs()
    text = terminal.render_document(show.overview(verdicts), width)
    assert max(map(len, text.splitlines())) <= width
    parts: dict[str, list[tuple[int, int]]] = {}
    for name, part, total in re.findall(
        r"^(.*): (\d+) of (\d+)\s(?:decided|open)$", text, re.MULTILINE
    ):
        parts.setdefault(name, []).append((int(part), int(total)))
    assert sum(total[0][1] for total in parts.values()) == len(articles.load())
    for counts in parts.values():
        assert sum(part for part, _ in counts) == counts[0][1]


def test_what_is_newly_decided_is_said_in_a_line():
    """A claim that was open and is not; neither one that was decided before, nor one left open."""
    settled, stays = VERDICTS[0], VERDICTS[2]
    before = (replace(settled, decision=Decision.INCONCLUSIVE), stays, FACT)
    (verdict,) = show.newly(before, (settled, stays, FACT))
    assert show.in_a_line(verdict) == (
        "ladder-x: not seen, 0.871x [0.792, 0.961] where the article says 3.08x (one)"
    )
    assert show.newly((settled, stays, FACT), (settled, stays, FACT)) == ()


def test_claims_as_markdown_and_json():
    """The same words; the interval as numbers, and nothing where there is none."""
    page = markdown.render_document(show.document(VERDICTS))
    assert "| ladder-x | 64 connections, 3 s | 3.08x | 0.871x [0.792, 0.961] | not seen |" in page
    first, second, third = json.loads(show.render_json(VERDICTS))["verdicts"]
    assert first["here"] == {"ratio": 0.871, "low": 0.7923, "high": 0.9611, "n": 10, "level": 0.95}
    assert "here" not in second
    assert "run" not in third


def test_what_an_author_says_against_his_claim_stands_beside_it():
    """In the sentence on it, and in JSON."""
    claim = replace(CLAIM, caveat="not on my machine")
    (note,) = show.document([replace(VERDICTS[0], claim=claim)]).notes
    assert note.startswith("ladder-x (article): b is faster (the author: not on my machine). [one]")
    (verdict,) = json.loads(show.render_json([replace(VERDICTS[0], claim=claim)]))["verdicts"]
    assert verdict["caveat"] == "not on my machine"


def test_figures_that_do_not_count_are_shown_as_such():
    """Where the article's tool would have printed one."""
    dropped = replace(VERDICTS[1], uncounted="not counted: 1.02x by the time for all requests")
    (row,) = show.verdict_table([dropped]).rows
    assert row[3].text == "not counted: 1.02x by the time for all requests"


def test_each_outcome_that_is_there_is_explained():
    """Once, and no other."""
    (first, second, *rest) = show.document((*VERDICTS, FACT)).legend
    assert first.startswith("not seen: An effect of that size is excluded")
    assert second.startswith("inconclusive: ")
    assert not [line for line in rest if line.startswith(tuple(map(str, Decision)))]


def test_every_outcome_has_its_sentence():
    """Which pages and the terminal print."""
    assert set(OUTCOMES) == set(Decision)
    assert all(
        sentence.count(". ") == 0 and sentence.endswith(".") for sentence in OUTCOMES.values()
    )


def test_claims_without_any_run_are_a_list():
    """No table without a row."""
    assert show.document(VERDICTS[2:]).tables == ()
