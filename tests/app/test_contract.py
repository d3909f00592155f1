"""The contract of the service, line by line, with and without a server."""

import json
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.kit.replies import NINE_THOUSAND

from .conftest import ask_client

FOREVER = "public, max-age=31536000, immutable"
PROBLEM = "application/problem+json"


def test_an_answer_may_be_kept_for_ever(ask):
    """GET /9000 is 200 with the article's body, its length, a year's caching and an entity tag."""
    reply = ask("GET", "/9000")
    assert (reply.status, reply.body) == (200, NINE_THOUSAND)
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["content-length"] == "97"
    assert reply.headers["cache-control"] == FOREVER
    assert reply.headers["etag"] == '"f21"'


@pytest.mark.parametrize(
    ("path", "tag"), [("/0", '"f1"'), ("/-5", '"f1"'), ("/8", '"f6"'), ("/" + "9" * 100, '"f481"')]
)
def test_the_tag_names_the_last_element(ask, path, tag):
    """Numbers with the same answer have the same tag: the index of its last element."""
    reply = ask("GET", path)
    assert reply.headers["etag"] == tag
    assert len(json.loads(reply.body)) == int(tag[2:-1]) + 1


@pytest.mark.parametrize("tags", ['"f21"', 'W/"f21"', '"other", "f21"', "*"])
def test_a_client_that_has_the_answer_is_told_so(ask, tags):
    """If-None-Match with its tag is 304: the tag and the caching, no body, no type."""
    reply = ask("GET", "/9000", {"If-None-Match": tags})
    assert (reply.status, reply.body) == (304, b"")
    assert reply.headers["etag"] == '"f21"'
    assert reply.headers["cache-control"] == FOREVER
    assert "content-type" not in reply.headers


@pytest.mark.parametrize(
    "tags", ['"f20"', '"F21"', "", "f21", "W/f21", 'w/"f21"', '"f21', '"f20, "f21""', "f20, *"]
)
def test_another_tag_gets_the_answer(ask, tags):
    """If-None-Match with other tags, or none that is one, is 200."""
    assert ask("GET", "/9000", {"If-None-Match": tags}).body == NINE_THOUSAND


@pytest.mark.parametrize("path", ["/9000", "/", "/healthz", "/readyz", "/openapi.json"])
def test_head_is_get_without_a_body(ask, path):
    """HEAD has the status and the headers of GET, its length included."""
    get, head = ask("GET", path), ask("HEAD", path)
    assert head.body == b""
    assert (head.status, head.headers) == (get.status, get.headers)


def test_a_head_request_is_conditional_too(ask):
    """HEAD with the tag is 304."""
    assert ask("HEAD", "/9000", {"If-None-Match": '"f21"'}).status == 304


def test_options_names_the_methods(ask):
    """OPTIONS is 200 with Allow."""
    reply = ask("OPTIONS", "/9000")
    assert (reply.status, reply.body) == (200, b"")
    assert set(reply.headers["allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "BREW"])
def test_other_methods_are_refused(ask, method):
    """Any other method is 405, a problem document, with Allow."""
    reply = ask(method, "/9000")
    assert reply.status == 405
    assert reply.headers["content-type"] == PROBLEM
    assert set(reply.headers["allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


@pytest.mark.parametrize("path", ["/-5", "/-0", "/0", "/1", "/" + "0" * 100])
def test_small_and_negative_numbers(ask, path):
    """Up to 1, and below 0, the answer is [0, 1]; zeros may lead."""
    assert ask("GET", path).body == b"[0, 1]"


@pytest.mark.parametrize(
    "path", ["/+5", "/%2B5", "/1_000", "/%209", "/9%20", "/9%0A", "/1.5", "/abc", "/%D9%A3", "/-"]
)
def test_what_is_no_decimal_integer(ask, path):
    """Signs, separators, blanks, fractions and other digits are 400, which may not be kept."""
    reply = ask("GET", path)
    assert reply.status == 400
    assert reply.headers["content-type"] == PROBLEM
    assert "cache-control" not in reply.headers
    document = json.loads(reply.body)
    assert (document["type"], document["status"]) == ("about:blank", 400)
    assert (
        document["detail"]
        == "The path must be a decimal integer, as in /9000; / lists the other paths."
    )


@pytest.mark.parametrize("digits", [101, 4300, 15000])
def test_too_many_digits(ask, digits):
    """More than 100 digits are 400 and name the limit, up to the longest line that uWSGI reads."""
    reply = ask("GET", "/" + "1" * digits)
    assert reply.status == 400
    assert json.loads(reply.body)["max_digits"] == 100


@pytest.mark.parametrize("path", ["/a/b", "/9000/", "/x%2F9000", "/9000//"])
def test_an_unknown_path(ask, path):
    """It is 404, a problem document."""
    reply = ask("GET", path)
    assert (reply.status, reply.headers["content-type"]) == (404, PROBLEM)


@pytest.mark.parametrize("path", ["/9000/", "/-5/", "/9000//"])
def test_a_number_with_a_slash_behind_it(ask, path):
    """The 404 says which path was meant."""
    detail = json.loads(ask("GET", path).body)["detail"]
    assert detail == f"No slash after the number: try {path.rstrip('/')}."


@pytest.mark.parametrize("path", ["/a/b", "/9000/1", "/" + "1" * 101 + "/", "/%22/"])
def test_a_path_that_means_nothing(ask, path):
    """The 404 says what can be asked for, and repeats nothing of what came."""
    detail = json.loads(ask("GET", path).body)["detail"]
    assert detail == "There is nothing here: ask for a number, as in /9000."


def test_an_icon(ask):
    """/favicon.ico is a 404 that a browser keeps for a day."""
    reply = ask("GET", "/favicon.ico")
    assert (reply.status, reply.headers["content-type"]) == (404, PROBLEM)
    assert reply.headers["cache-control"] == "public, max-age=86400"


def test_the_root_leads_on(ask):
    """GET / is JSON that names the build, the limit, and examples and links that work."""
    reply = ask("GET", "/")
    assert reply.headers["content-type"] == "application/json"
    about = json.loads(reply.body)
    assert about["service"] == "fibonacci"
    assert about["fib"]["build"] in {"cython", "pure"}
    assert about["max_digits"] == 100
    paths = [*about["examples"], *about["links"].values()]
    assert [path for path in paths if ask("GET", path).status != 200] == []


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_are_about_now(ask, path):
    """/healthz and /readyz are 200 ok and not to be kept."""
    reply = ask("GET", path)
    assert (reply.status, reply.body) == (200, b"ok\n")
    assert reply.headers["cache-control"] == "no-store"


def test_metrics_count_for_all_workers(tuned):
    """Under uWSGI /metrics is Prometheus text; its sum over the workers grows by each request."""

    def requests():
        reply = tuned("GET", "/metrics")
        assert (reply.status, reply.headers["cache-control"]) == (200, "no-store")
        families = {f.name: f for f in text_string_to_metric_families(reply.body.decode())}
        assert families["uwsgi_listen_queue"].samples[0].value >= 0
        assert families["fib_build_info"].samples[0].labels["build"] in {"cython", "pure"}
        samples = families["uwsgi_requests"].samples
        assert len(samples) == len(families["uwsgi_worker_busy"].samples) > 1
        assert sum(sample.value for sample in families["uwsgi_worker_busy"].samples) >= 1
        return sum(sample.value for sample in samples)

    # uWSGI counts a request after its reply has been sent, so the last one may still be missing.
    before = requests()
    for _ in range(10):
        tuned("GET", "/9000")
    for polls in range(1, 100):
        if (grown := requests() - before) >= 10 + polls:
            break
    assert 10 + polls <= grown <= 10 + polls + 1


def test_metrics_are_uwsgi_s():
    """Elsewhere /metrics is 404 and says why."""
    reply = ask_client("GET", "/metrics")
    assert (reply.status, reply.headers["content-type"]) == (404, PROBLEM)
    assert "uWSGI" in json.loads(reply.body)["detail"]


def test_the_contract_is_published(ask):
    """/openapi.json is the stored document with the version and the limit of the day."""
    reply = ask("GET", "/openapi.json")
    assert reply.headers["content-type"] == "application/json"
    published = json.loads(reply.body)
    stored = json.loads((Path(__file__).parents[2] / "app" / "openapi.json").read_text())
    assert published["paths"].keys() == stored["paths"].keys()
    assert published["info"]["version"] not in ("", "0")
