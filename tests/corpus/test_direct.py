"""Without nginx: uWSGI does with malformed requests what reference/malformed.md says, no worse."""

import csv

import pytest

from tests.corpus.conftest import CORPUS
from tests.corpus.corpus import WRONG_BODY
from tests.corpus.doors import SOCKET
from tests.corpus.page import PAGE, TABLE, TABLED, read, render, table, verdict


@pytest.fixture(scope="module")
def played(direct, corpus):
    """Play the corpus to uWSGI's http-socket."""
    return direct.play(corpus)


def test_none_is_a_failure_of_the_server(played):
    """No reply has a status that says that the server failed, in a broken status line neither."""
    assert {name: outcome for name, outcome in played.items() if outcome.failed()} == {}


def test_no_worker_dies_of_it(played, direct):
    """The workers are the ones that were started, and the next client is answered."""
    assert direct.answers()
    assert direct.deaths() == 0


def test_the_application_raises_nothing(played, direct):
    """Not even where uWSGI hands over what is no request, and so has no method."""
    assert direct.complaints() == []


def test_the_published_table_lists_each_deviation(played, corpus):
    """What is not right is in the stored table with the same outcome, and nothing else is there."""
    stored = read()["outcomes"]
    seen = {
        request.name: played[request.name].word
        for request in corpus
        if request.judge(played[request.name], front=False) is not None
    }
    published = {
        request.name: stored[request.name][SOCKET.name]["outcome"]
        for request in corpus
        if verdict(request, stored[request.name][SOCKET.name], SOCKET) != "right"
    }
    assert seen == published


def test_a_wrong_body_is_not_silence():
    """A stored reply with another body has a verdict of its own."""
    assert verdict(CORPUS["nine"], {"outcome": WRONG_BODY}, SOCKET) == "wrong"


def test_the_page_is_that_of_the_stored_outcomes():
    """It and the table of all requests are what `studies/malformed.py --page` makes of them."""
    assert PAGE.read_text() == render(read())
    assert TABLE.read_text() == table(read())


def test_the_page_has_what_some_door_answers_wrongly(corpus):
    """And nothing else; the table has every request."""
    page, rows = PAGE.read_text(), list(csv.DictReader(TABLE.read_text().splitlines()))
    assert [row["request"] for row in rows] == [request.name for request in corpus]
    for row in rows:
        wrong = any(row[f"{door.name}: verdict"] != "right" for door in TABLED)
        assert (f"\n| {row['request']} | " in page) == wrong
