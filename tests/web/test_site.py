"""The documentation of the site, before Sphinx reads it."""

from pathlib import Path

from lab.bench.machine import project
from tests.kit.cases import cases
from tools.pages.addresses import urls
from tools.site import docs

HERE = Path("docs/how-to/lint.md")
PAGES = {HERE, Path("docs/README.md"), Path("docs/reference/lint.md")}
SOURCE = "https://code.example/lab"


@cases(
    "link, expected",
    [
        ("../reference/lint.md#uw306", "../reference/lint.md#uw306"),
        ("../README.md", "../index.md"),
        ("#here", "#here"),
        ("https://a.example/b.md", "https://a.example/b.md"),
        ("../../lab/lint/lint.py", f"{SOURCE}/blob/main/lab/lint/lint.py"),
        ("../runs", f"{SOURCE}/tree/main/docs/runs"),
    ],
)
def test_a_link_out_of_the_pages_leads_to_the_repository(link, expected):
    """Any other leads to the page."""
    assert docs.linked(f"[a]({link})", HERE, PAGES, SOURCE) == f"[a]({expected})"


def test_code_has_no_links():
    """A block stays as it is."""
    code = "```text\n[a](../README.md)\n```\n"
    assert docs.linked(code, HERE, PAGES, SOURCE) == code


def test_the_address_is_that_of_pyproject():
    """What is installed has it; one that nobody has filled in is named nowhere."""
    homepage = urls()["Homepage"]
    assert homepage.endswith("/")
    assert project.site() == ("" if project.PLACEHOLDER in homepage else homepage)
    assert project.rule_page("UW306") == (f"{project.site()}rules/UW306/" if project.site() else "")
