"""What a peer sets that is not its server's default: each has a reason, and none is forgotten."""

from __future__ import annotations

import ast
import re
import tomllib

import pytest

from lab.analysis.causes import CAUSES
from lab.bench import profiles
from lab.bench.machine import project
from lab.errors import ProfileError
from lab.model.digest import digest_of, without_comments
from studies import articles
from studies.pages import systems
from tests.kit.cases import cases

NAMES = sorted(path.stem for path in project.peers().glob("*.toml"))

OURS = frozenset({"if-env", "if-not-env", "if-opt", "endif"})
"""Lines of an ini that shape it, and are no options."""


def of_command(words):
    """Return the options of a command, and the variables that `env` sets for it."""
    options = (word.partition("=")[0] for word in words[1:])
    return {option for option in options if re.fullmatch("-.*|[A-Z]+", option)}


def of_python(text):
    """Return the names that a gunicorn configuration sets."""
    return {
        target.id
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign)
        for target in node.targets
    }


def of_nginx(text):
    """Return the directives of an nginx configuration, without the blocks that they stand in."""
    text = re.sub(r"#.*", "", text)
    text = re.sub(r"\{\w+\}", "filled", text)  # {host}, and no block
    return {name for name, end in re.findall(r"([a-z_]+)[^;{}]*([;{])", text) if end == ";"}


def of_ini(text):
    """Return the options of uWSGI's that are not those of `tuned`, which has its own header."""
    pairs = (line.partition("=")[0].strip() for line in text.splitlines() if line[:1] not in ";[")
    return {option for option in pairs if option} - OURS - set(dict(profiles.read("tuned").options))


READERS = {".conf.py": of_python, ".conf": of_nginx, ".ini": of_ini}


def options_of(name):
    """Return every option that a peer's commands and files set."""
    peer = profiles.described(name)
    options = set().union(*map(of_command, peer.commands))
    for file, text in peer.options:
        stem, dot, suffix = file.partition(".")
        if reader := READERS.get(dot + suffix):
            # Whose settings are another peer's, says so once.
            options |= reader(text) if stem == name else {file}
    return options


def unexplained(options, deviations):
    """Return the options without a reason, and the reasons for options that are not there."""
    return sorted(options ^ {name for name, why in deviations.items() if why})


@cases("name", NAMES)
def test_each_deviation_from_a_server_s_defaults_has_its_reason(name):
    """A peer runs as its server's documentation says, else by its defaults, else the list says."""
    table = tomllib.loads((project.peers() / f"{name}.toml").read_text())
    assert unexplained(options_of(name), table["deviations"]) == []


def test_an_option_without_a_reason_is_found():
    """In a command and in each kind of file; and so is a reason without its option."""
    options = of_command(["granian", "--blocking-threads", "1", "--workers=2", "{app}"])
    assert unexplained(options, {"--workers": "because"}) == ["--blocking-threads"]
    assert unexplained(options, dict.fromkeys([*options, "--ws"], "because")) == ["--ws"]
    assert unexplained(options, dict.fromkeys(options, "")) == sorted(options)
    assert of_python('"""Why."""\nimport os\nworkers = 2\nbacklog = 1\n') == {"workers", "backlog"}
    text = "user root; # me;\nhttp {\n sendfile on;\n server { listen {host}:{port}; }\n}\n"
    assert of_nginx(text) == {"user", "sendfile", "listen"}
    assert of_ini("; Why.\n[uwsgi]\nmaster = true\ncheaper = 1\nif-env = X\nendif =\n") == {
        "cheaper"
    }


@cases("name", NAMES)
def test_a_peer_says_which_system_it_is(name):
    """Its name, the articles that have it, and packages that are pinned or the distribution's."""
    table = profiles.read_header(project.peers() / f"{name}.toml").table
    assert table["system"]
    claimed = {
        claim.source for claim in articles.load() if name in (claim.reference, claim.changed)
    }
    assert claimed <= set(table.get("articles", ())) | {"microsecond"}
    assert set(table.get("articles", ())) <= {claim.source for claim in articles.load()}
    files = [table["venv"]] if "venv" in table else systems.PINS
    known = {"nginx", "nodejs", "golang"}.union(*map(systems.pins, files))
    assert set(table.get("packages", ())) <= known


def test_what_a_peer_names_for_a_cause_is_one_step_away():
    """A profile beside it in the ladder that asks the same services, and a cause that there is."""
    steps = 0
    for name in NAMES:
        peer = profiles.described(name)
        for cause, other in peer.peer.counters:
            counter = profiles.described(other)
            assert cause in CAUSES
            assert peer.name == counter.against or counter.name == peer.against
            assert peer.peer.backing == counter.peer.backing
            steps += 1
    assert steps


def test_what_a_peer_names_for_a_cause_is_a_name(tmp_path):
    """Anything else is refused with its file and line."""
    path = tmp_path / "a.toml"
    path.write_text('summary = "A"\ncounter = "b"\nrun = [["a"]]\n')
    with pytest.raises(ProfileError, match=r"a\.toml:2: \[counter\] must have lines"):
        profiles.read(str(path))


def test_what_lies_beside_a_peer_can_be_read_in_a_sitting():
    """A configuration or source has 90 lines at the most, and all of them have 1,200."""
    paths = [
        path for path in project.peers().iterdir() if path.is_file() and path.suffix != ".toml"
    ]
    lines = {path.name: len(path.read_text().splitlines()) for path in paths}
    assert max(lines.values()) <= 90, lines
    assert sum(lines.values()) <= 1200


def test_a_peer_starts_as_many_threads_as_its_server_likes():
    """granian's README advises against a number of one's own for the application's threads."""
    assert "--blocking-threads" not in options_of("granian")


def test_a_comment_is_no_other_configuration(tmp_path):
    """The digest of a peer is that of what its server is told."""
    for path in project.peers().iterdir():
        if path.is_file():  # not the folder of bytecode
            (tmp_path / path.name).write_text(path.read_text())
    before = {name: profiles.read(str(tmp_path / f"{name}.toml")).digest for name in NAMES}
    assert before == {name: profiles.read(name).digest for name in NAMES}
    marks = {".toml": "#", ".conf": "#", ".ini": ";", ".go": "//", ".js": "//"}
    for suffix, mark in marks.items():
        for path in tmp_path.glob(f"*{suffix}"):
            path.write_text(f"{mark} Another comment.\n\n{path.read_text()}")
    python = tmp_path / "gunicorn-gthread.conf.py"
    python.write_text(python.read_text().replace('"""\n', '"""\nAnother sentence.\n', 1))
    assert {name: profiles.read(str(tmp_path / f"{name}.toml")).digest for name in NAMES} == before
    python.write_text(python.read_text().replace("+ 1", "+ 2"))
    conf = tmp_path / "nginx-uwsgi.conf"
    conf.write_text(conf.read_text().replace("worker_processes auto", "worker_processes 7"))
    after = {name: profiles.read(str(tmp_path / f"{name}.toml")).digest for name in NAMES}
    assert [name for name in NAMES if after[name] != before[name]] == [
        "flask-psycopg-gthread",
        "gunicorn-gthread",
        "nginx-gunicorn-gthread",
        "nginx-uwsgi",
        "nginx-uwsgi-async",
        "nginx-uwsgi-threads",
    ]


def test_what_takes_the_place_of_a_text_is_part_of_the_digest(tmp_path):
    """A file that listens elsewhere after [replace] is another configuration."""
    text = 'summary = "A"\nrun = [["a", "{folder}"]]\nfill = ["a.conf"]\n[replace]\n"x" = "y"\n'
    (tmp_path / "a.conf").write_text("listen x;\n")
    digests = []
    for variant in (text, text.replace('"y"', '"z"')):
        (tmp_path / "a.toml").write_text(variant)
        digests.append(profiles.read(str(tmp_path / "a.toml")).digest)
    assert digests[0] != digests[1]


def test_what_a_file_tells_keeps_what_is_no_comment():
    """A line that only ends with a comment, or a text that is no docstring, is told."""
    assert without_comments("a.conf", "# a\n\n  x on; # b\n") == "  x on; # b"
    assert without_comments("a.py", 'x = """\n"""\n') == 'x = """\n"""'
    assert without_comments("a.py", "this is no Python\n") == "this is no Python"
    assert digest_of((("a", "b"),)) != digest_of((("a", "c"),))
