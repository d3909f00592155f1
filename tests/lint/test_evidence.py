"""What rules say where they have it from can be looked up, and still says so."""

import importlib.util
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from lab.analysis.sweep import conclude_run
from lab.lint import rules
from lab.report import markdown
from tests.kit.cases import cases
from tests.kit.lab_process import ROOT
from tests.kit.linting import found_by
from tests.lint.test_findings import PLACES
from tools import uwsgi_options
from tools.pages import files

PLACE = re.compile(r"([\w/.-]+\.(?:c|h|py)):(\d+) `(.+)`")
ELSEWHERE = re.compile(r"https://\S+|[\w/-]+#\d+")

EVIDENCE = [(code, source) for code in PLACES for source in rules.RULES[code].source.split("; ")]

FIGURES = {
    "UW303": ("1.01 s", "docs/explanation/what-faults-cost.md"),
    "UW309": ("56 of 64", "docs/runs/keep-alive"),
    "UW310": ("4.98 s", "docs/explanation/what-faults-cost.md"),
    "UW312": ("31%", "docs/runs/keep-alive"),
    "UW313": ("820 of 1,401", "docs/explanation/what-faults-cost.md"),
    "UW501": ("2.19x", "docs/runs/ladder"),
    "UW504": ("0.848x", "docs/runs/keep-alive"),
}
"""Code -> what its message calls measured, and where that stands."""


def test_evidence_is_a_place():
    """A line with a quotation; a page, run or profile of this project; an issue; an address."""
    wrong = [
        f"{code}: {place}"
        for code, place in EVIDENCE
        if not (
            (ROOT / place).exists()
            if place.startswith(("docs/", "profiles/"))
            else PLACE.fullmatch(place) or ELSEWHERE.fullmatch(place)
        )
    ]
    assert not wrong, "\n".join(wrong)


INSTALLED = ("gunicorn/", "granian/", "uvicorn/", "hypercorn/")


@cases("each", sorted({quotation for _, quotation in EVIDENCE if quotation.startswith(INSTALLED)}))
def test_the_line_of_an_installed_server_says_so(each):
    """In the versions that this project installs."""
    file, line, quotation = PLACE.fullmatch(each).groups()
    server = Path(importlib.util.find_spec(file.partition("/")[0]).origin).parent.parent
    assert quotation in (server / file).read_text().splitlines()[int(line) - 1]


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """Return the folder of uWSGI's source: UWSGI_SOURCE, or what pip downloads."""
    if given := os.environ.get("UWSGI_SOURCE"):
        return Path(given)
    folder = tmp_path_factory.mktemp("uwsgi")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command = [*pip, "--no-binary", ":all:", "--no-build-isolation", "uwsgi==2.0.31"]
    if subprocess.run(command, cwd=folder, check=False).returncode:
        pytest.skip("uWSGI's source cannot be downloaded here")
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return folder / "uwsgi-2.0.31"


@pytest.mark.slow
def test_the_lines_of_uwsgis_source_say_so(source):
    """Each quotation is in its line of 2.0.31."""
    for code, quotation in EVIDENCE:
        match = PLACE.fullmatch(quotation)
        if match and match[1].endswith((".c", ".h")):
            lines = (source / match[1]).read_text(errors="replace").splitlines()
            assert match[3] in lines[int(match[2]) - 1], f"{code}: {quotation}"


@pytest.mark.slow
def test_the_table_of_options_is_that_of_uwsgis_source(source):
    """And so is the list that the service's own launcher reads."""
    assert uwsgi_options.table(source) == uwsgi_options.JSON.read_text()
    assert uwsgi_options.numeric(source) == uwsgi_options.NUMERIC.read_text()


@cases("code", PLACES)
def test_a_figure_of_a_message_is_that_of_the_stored_run(code):
    """What a message calls measured stands where FIGURES says, in other words if need be."""
    for flaw in found_by(code, rules.RULES[code].bad):
        assert ("measured)" in flaw.message) == (code in FIGURES)
        if code in FIGURES:
            figure, page = FIGURES[code]
            assert figure in flaw.message
            text = _report(page) if "/runs/" in page else (ROOT / page).read_text()
            assert figure in text or all(part in text for part in figure.split(" of "))


def _report(folder):
    """Return the report of a stored run."""
    return markdown.render(conclude_run(files.swept(Path(folder).name)))
