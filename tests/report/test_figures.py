"""The figures as files."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from lab.analysis.conclude import conclude
from lab.analysis.summary import summarise
from lab.errors import ResultsError
from lab.report import svg
from lab.report.figures import FIGURES, pictures
from lab.report.palette import DARK, LIGHT
from lab.report.plots import cores, percentiles, trials
from tests.kit import builders as make
from tests.kit.lab_process import ROOT
from tools.pages import directives


def drawn(summary):
    """Return the figures of a run as files, by name."""
    files = {}
    for name, picture in pictures(conclude(summary)).items():
        files[f"{name}.svg"] = svg.standalone(name, picture).encode()
        files[f"{name}.png"] = svg.png(picture)
    return files


@pytest.fixture(scope="module")
def files(summary):
    """Return the figures of a run as files, by name."""
    return drawn(summary)


def test_each_is_a_whole_svg_and_a_png(files):
    """The SVG brings light and dark along; its text is text."""
    assert set(files) == {f"{name}.{form}" for name in FIGURES for form in ("svg", "png")}
    for name in FIGURES:
        root = ET.fromstring(files[f"{name}.svg"])
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(root.iter("{http://www.w3.org/2000/svg}text"))) > 5
        assert b"prefers-color-scheme:dark" in files[f"{name}.svg"]
        assert files[f"{name}.png"].startswith(b"\x89PNG")


def test_the_same_run_gives_the_same_bytes(files, sustained):
    """So that a repository changes only where a figure does."""
    assert files == drawn(summarise(replace(sustained)))


OTHERS = "house.svg", "lint.svg"
"""Pictures of no run."""
STORED = [path for path in (ROOT / "docs/figures").glob("*.svg") if path.name not in OTHERS]


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_a_figure_of_a_run_is_read_on_a_phone(path):
    """Where a page is 400 pixels wide its letters are 8 pixels high or more, and it has a title."""
    drawn = path.read_text(encoding="utf-8")
    width = float(re.search(r'viewBox="0 0 ([\d.]+) ', drawn)[1])
    sizes = [float(size) for size in re.findall(r"font(?:-size)?:[^;}]*?([\d.]+)px", drawn)]
    assert min(sizes) * 400 / width >= 8
    assert re.search(r"font(-size)?:[^;}]*?\b11px", drawn)


def test_every_colour_has_its_role_in_light_and_in_dark():
    """A colour stands for one role, or a figure could not be recoloured."""
    assert LIGHT.keys() == DARK.keys()
    assert len(set(LIGHT.values())) == len(LIGHT)


def test_time_adds_up_to_the_cores():
    """Server, generator, others, theft and the rest are the machine's two cores."""
    run = make.ladder_run(
        {"baseline": (2000, 480e-6)}, environments={"here": {"cpu": {"cores": 2}}}
    )
    (only,) = cores.spent(summarise(run))
    assert sum(only.parts.values()) == pytest.approx(2.0)
    assert only.parts["generator"] == pytest.approx(0.3)
    assert only.parts["user"] == pytest.approx(3 * only.parts["system"])


def test_time_without_the_number_of_cores_has_no_idle():
    """What is not known is left out, not guessed."""
    run = make.ladder_run({"baseline": (2000, 480e-6)})
    (only,) = cores.spent(summarise(run))
    assert "idle" not in only.parts
    assert "steal" not in only.parts


def test_a_quantile_needs_ten_replies_beyond_it():
    """Of 1,000 replies the 99th percentile is told, the 99.9th is not."""
    curve = percentiles.Curve("a", counts=True, latency={1000: 980, 50_000: 20})
    assert curve.quantiles([0.5, 0.99, 0.999]) == [0.001, 0.05, None]


def test_a_long_ladder_draws_the_ends_and_the_largest_changes():
    """At most six lines, the first and the last profile among them."""
    speeds = {
        f"p{n}": (2000 * (1.3 if n > 4 else 1), 480e-6 / (1.3 if n > 4 else 1)) for n in range(9)
    }
    summary = summarise(make.ladder_run(speeds))
    names = [c.profile for c in percentiles.chosen(summary, percentiles.curves(summary))]
    assert names == ["p0", "p5", "p8"]


def test_a_trial_that_was_made_again_is_marked():
    """Both attempts are shown; only the last one is judged."""
    run = make.ladder_run({"baseline": (2000, 480e-6)}, blocks=2)
    again = replace(run.trials[0], attempt=1)
    run = replace(run, trials=(run.trials[0], again, *run.trials[1:]))
    kinds = [trial.kind for trial in trials.shown(summarise(run))]
    assert kinds == ["repeated", "counts", "a/a", "counts", "a/a"]


def test_the_ladder_names_the_profile_that_a_step_is_from():
    """Where it is not the one above; as the table does."""
    run = make.ladder_run(dict.fromkeys(("tuned", "gunicorn-sync", "granian"), (2000, 0.00048)))
    first, *others = run.plan.profiles
    profiles = (first, *(replace(profile, against="tuned") for profile in others))
    summary = summarise(replace(run, plan=make.altered(run.plan, profiles=profiles)))
    figure = drawn(summary)["forest.svg"].decode()
    for label in (
        ">gunicorn-sync<",
        ">against tuned<",
        ">this step, with its interval<",
    ):
        assert label in figure


def test_a_page_gets_the_words_of_its_figure():
    """The text beside an image is the figure's, and the image's address is the author's."""
    page = "<!-- figure ladder: trials -->\n![old](docs/figures/ladder-trials.svg)\n"
    filled = directives.fill(page)
    assert re.search(r"\n!\[Every trial, in run order\. \d+ trials: .*\]\(docs/fig", filled)
    with pytest.raises(ResultsError, match="has no figure 'bars', only forest"):
        directives.fill(page.replace("trials -->", "bars -->"))


def test_refreshing_writes_what_a_page_shows(tmp_path, monkeypatch):
    """Each image in the form of its name; a second time nothing has changed."""
    page = tmp_path / "README.md"
    page.write_text(
        "<!-- figure walkthrough: time -->\n![](docs/figures/walkthrough-time.svg)\n\n"
        "<!-- figure walkthrough: time -->\n![](docs/figures/walkthrough-time.png)\n"
        "\nOn one core.\n"
    )
    monkeypatch.setattr(directives, "ROOT", tmp_path)
    monkeypatch.setattr(directives, "DOCS", tmp_path / "docs")
    assert [path.name for path in directives.refresh()] == [
        "README.md", "walkthrough-time.svg", "walkthrough-time.png",
    ]  # fmt: skip
    assert directives.refresh() == []
    assert (tmp_path / "docs/figures/walkthrough-time.svg").read_text().startswith("<svg")
    assert (tmp_path / "docs/figures/walkthrough-time.png").read_bytes().startswith(b"\x89PNG")
