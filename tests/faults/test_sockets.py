"""Who may talk to the service, and in which protocol."""

import json
import re
import stat

import psutil
import pytest

from lab import profiles, uwsgi_config
from lab.model import Expectation, Workload
from lab.servers.readiness import fetch

from .stacks import connections, production

SEEN = Workload(
    "journal",
    "/",
    Expectation(pattern="umask"),
    "journal:application",
    profiles.ROOT / "tests/sites",
)
"""An application that says what it sees."""

PRIVATE = {"socket", "uwsgi-socket", "stats", "stats-server", "suwsgi-socket", "master-fifo"}
"""Options of uWSGI with an address that gives whoever reaches it more than the service."""

NEVER = {"puwsgi-socket", "raw-socket", "upload-socket", "emperor", "subscription-server"}
"""Options that no profile here has a use for."""

PORT = re.compile(r":(\d+|\{port\})$|^\d+$")

INIS = sorted((*profiles.FOLDER.rglob("*.ini"), *(profiles.ROOT / "uwsgi").glob("*.ini")))


@pytest.mark.parametrize("path", INIS, ids=lambda path: path.name)
def test_private_sockets_have_no_port(path):
    """What speaks uWSGI's protocol, or shows requests under way, is a UNIX socket."""
    options = uwsgi_config.read_options(path, profiles.ROOT)
    assert [each for each in options if each[0] in NEVER] == []
    assert [each for each in options if each[0] in PRIVATE and PORT.search(each[1])] == []


def test_who_may_talk_to_the_production_stack(tmp_path):
    """Its UNIX sockets and files are their owner's alone; only nginx has a port, for clients."""
    with production(tmp_path, SEEN) as stack:
        sockets = {
            path.name: stat.S_IMODE(path.stat().st_mode)
            for path in tmp_path.iterdir()
            if path.is_socket() and path.name != "metrics.sock"  # TCP where it is deployed
        }
        listening = {
            (psutil.Process(each.pid).name(), each.laddr.port)
            for each in connections(stack.tree(), status=psutil.CONN_LISTEN)
        }
        umask = json.loads(fetch(stack.server.endpoint, "/", 5.0)[2])["umask"]
    names = ("a.sock", "a.sock.stats", "b.sock", "b.sock.stats")
    assert sockets == dict.fromkeys(names, 0o600)
    assert umask == "0077"
    assert listening == {("nginx", stack.address[1])}
