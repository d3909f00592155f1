"""Which application a profile serves, however its server's options say it."""

import json
from dataclasses import replace

import pytest

from lab.bench import profiles
from lab.config import servers
from tests.kit import builders as make


def served(*options, server="uwsgi"):
    """Return what a profile with these options serves."""
    profile = replace(make.profile("one", server=server), options=options)
    return servers.settings(profile).application


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([("module", "app.wsgi:app")], "app.wsgi:app"),
        ([("wsgi", "app.wsgi:app")], "app.wsgi:app"),
        ([("module", "app.wsgi")], "app.wsgi:application"),
        ([("module", "app.wsgi"), ("callable", "app")], "app.wsgi:app"),
        ([("wsgi-file", "app/wsgi.py"), ("callable", "app")], "app.wsgi:app"),
        ([("file", "app/wsgi.py"), ("callable", "app")], "app.wsgi:app"),
        ([("chdir", "{root}"), ("wsgi-file", "{root}/app/wsgi.py")], "app.wsgi:application"),
        ([("wsgi-file", "/srv/site.py")], "/srv/site.py:application"),
        ([("module", "app.wsgi:app"), ("module", "app.fast:app")], "app.fast:app"),
        ([("listen", "100")], None),
    ],
)
def test_uwsgis_spellings_of_one_application_are_one(options, expected):
    """A module, a file and a callable say the same; of a repeated option the last one counts."""
    assert served(*options) == expected


@pytest.mark.parametrize("program", ["gunicorn", "granian"])
def test_a_peer_names_its_application(program):
    """Whether the lab knows more of that server or not."""
    run = json.dumps([program, "{app}"])
    assert served(("app", "app.wsgi:app"), ("run", run), server="command") == "app.wsgi:app"


def test_the_ladder_serves_one_application_until_tuned():
    """The steps to `safety` change settings; `tuned`, and each peer with it, serves another one."""
    ladder = {name: servers.settings(profiles.read(name)).application for name in profiles.ladder()}
    assert ladder.pop("tuned") == "app.wsgi:app"
    assert set(ladder.values()) == {"loadtests.workloads.fib._article:app"}
    peer = profiles.read("gunicorn-sync")
    assert servers.settings(peer).application == "app.wsgi:app"
