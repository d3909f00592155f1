"""What the service leaves out of Flask is there as soon as somebody uses it."""

import flask
import pytest
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, MapAdapter, Rule, UnicodeConverter

from app import create_app
from app.routing import Adapter, segment_of


@pytest.fixture
def service():
    """Return a service of its own."""
    made = create_app()
    made.testing = True
    return made


@pytest.fixture
def called():
    """Return what was called, in order."""
    return []


REGISTERED = [
    "before_request",
    "after_request",
    "teardown_request",
    "teardown_appcontext",
    "url_value_preprocessor",
]


@pytest.mark.parametrize("kind", REGISTERED)
def test_a_function_that_is_registered_is_called(service, called, kind):
    """Once a request, with the request at hand; until then nothing looks for one."""

    def note(*args):
        called.append(kind)
        return args[0] if kind == "after_request" else None

    assert service.test_client().get("/8").status_code == 200
    service._got_first_request = False
    getattr(service, kind)(note)
    for _ in range(2):
        assert service.test_client().get("/8").data == b"[0, 1, 1, 2, 3, 5, 8]"
    assert called == [kind, kind]


def test_a_function_before_the_request_may_answer_it(service):
    """Instead of the view."""
    service.before_request(lambda: ("no", 403))
    assert service.test_client().get("/8").status_code == 403


def test_what_a_view_lets_out_reaches_the_teardown(service, called):
    """As the exception itself."""
    service.get("/raise/it")(lambda: 1 / 0)
    service.teardown_request(called.append)
    service.testing = False
    assert service.test_client().get("/raise/it").status_code == 500
    assert isinstance(called[0], ZeroDivisionError)


def test_a_function_for_this_request_alone_is_called(service, called):
    """As `flask.after_this_request` promises."""

    def view():
        flask.after_this_request(lambda response: called.append(1) or response)
        return "yes"

    service.get("/after/it")(view)
    assert service.test_client().get("/after/it").data == b"yes"
    assert called == [1]


SIGNALS = [
    "appcontext_popped",
    "appcontext_pushed",
    "appcontext_tearing_down",
    "request_finished",
    "request_started",
    "request_tearing_down",
]


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_reaches_who_listens(service, called, name):
    """And nobody who has stopped."""

    def note(sender, **_):
        called.append(sender)

    signal = getattr(flask, name)
    with signal.connected_to(note, service):
        service.test_client().get("/8")
    service.test_client().get("/8")
    assert called == [service]


def test_a_blueprint_is_served_with_its_functions(service, called):
    """Its views, and what it registers for them alone."""
    part = flask.Blueprint("part", "part", url_prefix="/part")
    part.before_request(lambda: called.append("before"))
    part.teardown_request(lambda _: called.append("after"))
    part.get("/it")(lambda: "yes")
    service.register_blueprint(part)
    assert service.test_client().get("/8").status_code == 200
    assert service.test_client().get("/part/it").data == b"yes"
    assert called == ["before", "after"]


def test_an_async_view_is_not_called_as_a_plain_one(service):
    """It needs Flask's extra, which says so, whatever else stands in its place."""

    async def view():
        return "never"

    service.async_to_sync = lambda func: lambda: f"run: {func.__name__}"
    service.get("/async/it")(view)
    assert service.test_client().get("/async/it").data == b"run: view"


def test_a_route_that_is_added_later_counts(service):
    """Also behind one that took its path until then."""
    assert service.test_client().get("/about").status_code == 400
    service._got_first_request = False
    service.get("/about")(lambda: "here")
    assert service.test_client().get("/about").data == b"here"


WITH_SEGMENT = {
    "ours": None,
    "one": [Rule("/<text>", endpoint="a", methods=["GET"])],
    "longer": [
        Rule("/<text>", endpoint="a", methods=["GET"]),
        Rule("/b/c", endpoint="b"),
        Rule("/d/<x>", endpoint="d"),
        Rule("/e/", endpoint="e"),
        Rule("/f", endpoint="f", methods=["POST"]),
    ],
}
OTHERS = {
    "two variables": [Rule("/<text>", endpoint="a"), Rule("/<int:n>", endpoint="b")],
    "a converter": [Rule("/<int:n>", endpoint="a", methods=["GET"])],
    "all methods": [Rule("/<text>", endpoint="a")],
    "a beginning": [Rule("/a<text>", endpoint="a", methods=["GET"])],
    "a slash": [Rule("/<text>/", endpoint="a", methods=["GET"])],
    "defaults": [
        Rule("/<text>", endpoint="a", methods=["GET"]),
        Rule("/", endpoint="a", defaults={"text": "8"}, methods=["GET"]),
    ],
    "elsewhere": [Rule("/<text>", endpoint="a", methods=["GET"], redirect_to="/b")],
    "a subdomain": [Rule("/<text>", endpoint="a", methods=["GET"], subdomain="s")],
    "none": [Rule("/a", endpoint="a")],
}
PATHS = [
    "/", "/8", "//8", "/8/", "/8//", "/b", "/b/c", "/b//c", "/d", "/d/", "/d/1", "/e", "/e/", "/f",
    "/healthz", "/healthz/", "/%", "/a b", "/\n", "/8\n", "/é", "8", "/<text>", "/a", "/metrics",
]  # fmt: skip
METHODS = ["GET", "HEAD", "POST", "OPTIONS", "get", ""]


def routes(rules):
    """Return a map of rules, or the service's own."""
    return create_app().url_map if rules is None else Map([rule.empty() for rule in rules])


def matched(kind, url_map, path, method):
    """Return what an adapter of a class says of a request."""
    adapter = kind(url_map, "", "/", "", "http", path, method)
    adapter.segment = segment_of(url_map)
    try:
        rule, arguments = adapter.match(return_rule=True)
    except HTTPException as error:
        return type(error), getattr(error, "valid_methods", getattr(error, "new_url", None))
    return rule, dict(arguments)


@pytest.mark.parametrize("name", [*WITH_SEGMENT, *OTHERS])
def test_each_path_has_the_rule_that_werkzeug_finds(name):
    """With its arguments, or with the same error, whatever the routes are."""
    url_map = routes((WITH_SEGMENT | OTHERS)[name])
    requests = [(path, method) for path in PATHS for method in METHODS]
    wrong = [
        (path, method)
        for path, method in requests
        if matched(Adapter, url_map, path, method) != matched(MapAdapter, url_map, path, method)
    ]
    assert wrong == []
    assert (segment_of(url_map) is not None) == (name in WITH_SEGMENT)


def test_another_converter_is_asked():
    """What an application calls a text may be any converter of its own."""

    class Short(UnicodeConverter):
        regex = "[^/]{1,2}"

    url_map = Map([Rule("/<text>", endpoint="a", methods=["GET"])], converters={"default": Short})
    assert segment_of(url_map) is None
