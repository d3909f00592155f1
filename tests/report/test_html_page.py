"""The report as a page: complete, offline, the same bytes every time."""

import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lab.analysis.conclude import conclude
from lab.analysis.summary import summarise
from lab.analysis.sweep import conclude_run
from lab.bench.store.folder import read_run
from lab.report import html_page, markdown
from tests.kit import builders as make

RUNS = Path(__file__).parents[2] / "docs" / "runs"

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Outline(HTMLParser):
    """Attributes, ids and text; fails where an end does not belong to the last start."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.attributes, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        """Remember what it opens."""
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Note its attributes."""
        self.attributes += [(tag, *pair) for pair in attrs]
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        """Close what was opened last."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Keep the text."""
        self.text.append(data)


def parse(page):
    """Return the parsed page, which must close what it opens."""
    outline = Outline()
    outline.feed(page)
    outline.close()
    assert outline.open == []
    return outline


@pytest.fixture(scope="module")
def ladder():
    """Return the page of the stored ladder, the largest run that the project publishes."""
    return html_page.render(conclude(summarise(read_run(RUNS / "ladder"))))


@pytest.fixture(scope="module")
def page(summary):
    """Return the page of a run with everything in it."""
    return html_page.render(conclude(summary))


@pytest.mark.costly
def test_the_largest_stored_run_is_a_small_page(ladder):
    """Under 500 KB with every trial's raw data in it."""
    assert len(ladder.encode()) < 500_000


def test_it_is_well_formed_with_ids_that_are_its_own(ladder):
    """Several figures share the page, and none of their ids is another's."""
    outline = parse(ladder)
    assert len(outline.ids) == len(set(outline.ids))
    targets = [v[1:] for _, name, v in outline.attributes if name == "href" and v.startswith("#")]
    assert set(targets) <= set(outline.ids)


def test_nothing_is_loaded_from_anywhere(ladder):
    """No address but XML's names, no source, no import; and a policy that forbids them."""
    addresses = set(re.findall(r"https?://[^\"' <)]+", ladder))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    loads = {name for _, name, _ in parse(ladder).attributes} & {"src", "srcset", "data", "action"}
    assert not loads
    assert "@import" not in ladder
    assert "default-src 'none'" in ladder


def test_every_profile_is_named_in_figures_and_tables(ladder):
    """In the ladder, in the measurements and in the configurations."""
    for profile in read_run(RUNS / "ladder").plan.profiles:
        assert ladder.count(f">{profile.name}<") >= 3, profile.name


def test_light_dark_phone_and_paper(ladder):
    """It follows the reader's scheme, fits a narrow screen and prints in light."""
    for wanted in (
        "@media (prefers-color-scheme:dark)",
        'name="viewport"',
        "@media print",
        'content="light dark"',
    ):
        assert wanted in ladder
    figures = "".join(re.findall(r"<svg.*?</svg>", ladder, re.DOTALL))
    assert "var(--ink)" in figures
    assert not re.findall(r"#[0-9a-f]{6}\b", figures), "a colour that dark mode cannot change"


def test_every_figure_says_what_it_shows(ladder):
    """A title and a description with the numbers, read aloud instead of the drawing."""
    figures = re.findall(r"<svg.*?</svg>", ladder, re.DOTALL)
    assert len(figures) == 3 + 4
    for figure in figures:
        assert re.search(r'role="img" aria-labelledby="(\w+)-title \1-desc"', figure)
        assert re.search(r"<title id=.*?</title><desc id=.*?\d.*?</desc>", figure)


def test_it_opens_with_a_sentence_what_weakens_it_and_one_picture(ladder):
    """In the first screen the noise check has no jargon; then the sections of the terminal."""
    text = re.sub(r"<(style|desc|title|defs)\b.*?</\1>", "", ladder, flags=re.DOTALL)
    first, rest = text.split("</figure>", 1)
    sentence = "By settings, safety serves 1.77x"
    places = [
        first.index(words) for words in (sentence, "one core", "saturated with tuned", "<svg")
    ]
    assert places == sorted(places)
    assert "A/A" not in first
    order = ("What changed", "No difference in", "No effect", "What limits it", "Full report")
    assert [rest.index(f"<h2>{title}") for title in order] == sorted(
        rest.index(f"<h2>{title}") for title in order
    )


def test_the_other_metrics_are_a_choice_without_a_script(ladder):
    """The figure of the metric that judges the run is chosen; the style shows one of them."""
    _, choice = ladder.split('class="choice"', 1)
    choice, _ = choice.split("</section>", 1)
    titles = re.findall(r'<label><input type="radio" name="by"( checked)?> ([^<]+)</label>', choice)
    assert titles == [
        (" checked", "requests/s"),
        ("", "CPU per request"),
        ("", "p99"),
        ("", "memory (PSS)"),
    ]
    assert choice.count("<figure>") == len(titles)
    assert ".choice>figure{display:none" in ladder


def test_what_is_not_first_is_folded(ladder):
    """Every other table is there, closed."""
    _, details = ladder.split('<section id="details">')
    assert "<details open" not in ladder
    for title in ("Each step, against the profile above it", "Measured", "Every trial"):
        assert f"<summary>{title}" in details


def test_it_says_what_the_other_reports_say(page, summary):
    """Every note, banner and table cell of the Markdown report is on the page."""
    text = "".join(parse(page).text).replace("\u00a0", " ")
    report = markdown.render(conclude_run([summary])).replace("\\", "")
    # What limited each is a list there, not a table.
    report = re.sub(r"## Limited by\n.*?(?=\n## )", "", report, flags=re.DOTALL)
    for line in report.splitlines():
        for part in filter(None, (part.strip("> -*|:") for part in line.split(" | "))):
            phrase = re.sub(r"^(#+ |Warning:\*\* )", "", part)
            # A header's unit stands in an element of its own.
            assert all(words.strip() in text for words in phrase.split(", ", 1)), phrase


def test_the_same_run_gives_the_same_bytes(page, sustained):
    """Neither the clock nor a random id is on the page."""
    assert page == html_page.render(conclude(summarise(replace(sustained))))


def test_the_page_holds_its_run(page, sustained, tmp_path):
    """The recipe that it prints unpacks a folder that `lab report` reads: the same run."""
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    recipe = unescape(re.search(r"<pre>(python3 .*?)</pre>", file.read_text(), re.DOTALL)[1])
    code = recipe.split("<<'END'\n")[1].removesuffix("\nEND")
    subprocess.run([sys.executable, "-", file], input=code, cwd=tmp_path, text=True, check=True)
    run = read_run(tmp_path)
    assert (run.plan, run.trials) == (sustained.plan, sustained.trials)
    assert (tmp_path / "summary.json").read_text().startswith('{\n  "aa"')


def test_causes_carry_their_standing(diagnosed):
    """A proved one, a likely one, a refuted one struck out, an idle option, and neither."""
    page = html_page.render(conclude(diagnosed))
    parse(page)
    assert "router: verified by a counter-run</span>" in page
    assert "router: likely</span>" in page
    assert '<span class="chip withdrawn">logging: refuted by a counter-run</span>' in page
    assert "nothing recycles workers without a master." in page
    assert page.count('<span class="chip none">unexplained</span>') == 1
    assert page.count('<span class="chip none">no valid trial</span>') == 1


def test_profiles_with_the_same_cause_share_a_row(diagnosed):
    """It is said once, and beside each profile stands in how many of its trials it shows."""
    page = html_page.render(conclude(diagnosed))
    (row,) = re.findall(r"<div><dt>(?:(?!</dt>).)*</dt><dd>\s*<span[^>]*>router: likely.*?</dd>",
                        page, re.DOTALL)  # fmt: skip
    assert re.sub("<[^>]*>", " ", row).split()[:4] == [
        "processes-threads", "10/10", "max-worker-lifetime-delta", "8/10",
    ]  # fmt: skip
    assert row.count("processes-threads: the http router used 0.31") == 1


def test_what_a_run_says_is_never_markup(sustained):
    """A log's last line cannot become an element of the page."""
    hostile = "<script>alert(1)</script>"
    run = replace(sustained, skipped={"peer": hostile}, command=hostile, name=hostile)
    assert hostile not in html_page.render(conclude(summarise(run)))


def test_a_counted_load_and_an_open_loop_have_pages(walkthrough, open_loop):
    """Whatever the load, the page is whole."""
    for run in (walkthrough, open_loop):
        parse(html_page.render(conclude(summarise(run))))


def test_a_run_in_which_nothing_worked_has_a_page():
    """Without one window there is no figure, and the reason is there."""
    run = make.ladder_run({"baseline": (2000, 480e-6), "tuned": (2400, 380e-6)}, blocks=2)
    failed = [replace(t, windows=(), readings={}, failure="no app") for t in run.trials]
    page = html_page.render(conclude(summarise(replace(run, trials=tuple(failed)))))
    assert "<svg" not in page
    assert "not trustworthy" in page
    assert "no app" in page
