"""A further server is a folder in `lab/config`, and an import and a name in `servers.py`."""

import pytest

from tests.config.extended import copied, runner

SERVER = '''
"""A server that exists for this test alone."""

from lab.config.configuration import Config
from lab.config.server import Server
from lab.config.spot import Setting
from lab.config.words import arguments, command_of


class Moonserve(Server):
    """Its command has options with a value, and nothing else."""

    def read(self, path, known):
        text = known.required(path)
        command = command_of(text, path, self.program)
        words = arguments(command.behind, lambda word: False)
        settings = (Setting(word.name[2:], word.value, word.word.spot, word.raw) for word in words)
        top = command.program.spot
        return Config(self.name, path, tuple(settings), {path: text}, known, top=top)


MOONSERVE = Moonserve(
    program="moonserve", name="Moonserve", file="moonserve", output="moonserve.sh"
)
'''

TRANSLATOR = """
from lab.config.vocabulary import values
from lab.config.vocabulary.service import Service, collected, sorted_out, with_defaults
from lab.config.vocabulary.translation import Files, Translator


def service(config):
    said, rest = collected("moonserve", config.settings, str, values.of_shell, bool)
    gone, unknown = sorted_out("moonserve", rest)
    said = with_defaults("moonserve", said, "Moonserve")
    return Service("moonserve", None, (), said, gone, unknown, ())


def write(translation, name):
    words = [f"--{line.option} {line.value}" for line in translation.lines]
    return Files(" ".join(["moonserve", *words, ""]), f"sh {name}")


TRANSLATOR = Translator("moonserve", service, write)
"""

VOCABULARY = """
[senses]
workers = { names = ["moons"] }
time-limit = { lost = "the moon has no clock" }

[hidden]
head = "is sent by moonlight"
"""

LINES = (
    (
        "from lab.config.server import Server\n",
        "from lab.config.moonserve.server import MOONSERVE\nfrom lab.config.server import Server\n",
    ),
    ("_KNOWN: tuple[Server, ...] = (", "_KNOWN: tuple[Server, ...] = (MOONSERVE, "),
)
"""What changes in the registry."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Return a function that runs `lab` with one more server, in an empty folder."""
    tree, folder = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("folder")
    config = copied(tree)
    added = config / "moonserve"
    added.mkdir()
    (added / "__init__.py").touch()
    (added / "server.py").write_text(SERVER)
    (added / "translator.py").write_text(TRANSLATOR)
    (added / "vocabulary.toml").write_text(VOCABULARY)
    registry = config / "servers.py"
    text = registry.read_text()
    for before, after in LINES:
        assert before in text
        text = text.replace(before, after)
    registry.write_text(text)
    (folder / "uwsgi.ini").write_text("[uwsgi]\nprocesses = 3\nharakiri = 9\nmodule = a:b\n")
    return runner(tree, folder)


def test_a_configuration_is_translated_to_it(lab):
    """Options, losses and differences come from its folder."""
    out = lab("migrate", "uwsgi.ini", "--to", "moonserve")
    assert "moonserve --moons 3" in out
    assert "the moon has no clock" in out
    assert "uWSGI: is sent, if the application gives one; moonserve: is sent by moonlight" in out


def test_its_command_is_translated_and_linted(lab):
    """It is read as any other command in quotes."""
    assert "\nprocesses = 5\n" in lab("migrate", "moonserve --moons 5", "--to", "uwsgi")
    assert lab("lint", "moonserve --moons 5") == "No findings.\n"


def test_tune_offers_it(lab):
    """As another server for the same meanings."""
    out = lab("tune", "uwsgi.ini", "--dry-run", "--server", "moonserve", "--app", "a:b")
    assert "\n  server: moonserve\n" in out
