"""What the documentation looks like where it is rendered."""

from __future__ import annotations

import re

from tests.kit.cases import cases
from tools.pages import directives

PAGES = {page.resolve(): page for page in directives.pages()}


def sections(page):
    """Return the names by which GitHub links to a page's headings."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in headings}


@cases("page", PAGES)
def test_every_link_to_a_section_leads_to_one(page):
    """GitHub shows the page's top instead, and says nothing."""
    for path, section in re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)]+)\)", page.read_text()):
        target = (page.parent / path).resolve() if path else page
        if target in PAGES:
            assert section in sections(target), f"{page.name} links to {path}#{section}"


def test_no_sentence_is_torn_by_a_directive():
    """A line that begins with a comment is HTML to its end: a new block, without Markdown in it."""
    torn = [
        f"{page}: {line}"
        for page in PAGES
        for line in re.findall(r"^ *<!-- .*--> *\S.*$", page.read_text(), re.MULTILINE)
    ]
    assert not torn, "\n".join(torn)


def test_the_readme_is_read_in_one_go():
    """Of what does not fit the pages say more; code counts, and no address or comment does."""
    page = PAGES[directives.ROOT / "README.md"].read_text()
    assert len(page.splitlines()) <= 110
    seen = re.sub(r"<!--.*?-->|!\[.*?\]\(.*?\)|(?<=\])\(.*?\)", "", page, flags=re.DOTALL)
    assert len(re.findall(r"\S*\w\S*", seen)) <= 550


def test_every_decision_stands_in_the_list():
    """ARCHITECTURE.md links to each, and each names its cost and when to look again."""
    page = directives.DOCS / "explanation" / "decisions.md"
    listed = (directives.ROOT / "ARCHITECTURE.md").read_text()
    links = re.findall(r"\(docs/explanation/decisions\.md#([^)]+)\)", listed)
    _, *decisions = re.split(r"^## .*$", page.read_text(), flags=re.MULTILINE)
    assert len({*links} & sections(page)) == len(decisions)
    assert all(re.findall(r"\*\*([^*]+)\*\*", text) == ["Cost", "Look again"] for text in decisions)
