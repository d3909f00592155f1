"""A further kind of file with start commands is a module in `lab/config/sources`."""

import pytest

from tests.config.extended import copied, runner

SOURCE = '''
"""A file that exists for this test alone: the command stands behind an arrow."""

from lab.config.shell import start_of
from lab.config.spot import Spot
from lab.config.start import Surroundings

CALLED = "Moonfile"


def starts(path, text):
    lines = enumerate(text.split("\\n"), start=1)
    found = (
        start_of("moon", line[3:], Spot(path, number, 4), Surroundings(container=True))
        for number, line in lines
        if line.startswith("-> ")
    )
    return tuple(filter(None, found))
'''


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Return a function that runs `lab` with one more kind, in a folder with one such file."""
    tree, folder = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("folder")
    (copied(tree) / "sources" / "moonfile.py").write_text(SOURCE)
    (folder / "Moonfile").write_text("# moon\n-> granian --interface wsgi --workers 2 a:b\n")
    return runner(tree, folder)


@pytest.mark.parametrize("name", [".", "Moonfile", "Moonfile:moon"])
def test_it_is_found_and_linted(lab, name):
    """With the places of its file."""
    assert lab("lint", name).startswith("Moonfile:2:29  GR007 dangerous  --workers 2: ")


@pytest.mark.costly
def test_it_is_translated_tuned_and_shown(lab):
    """As any other configuration."""
    assert "\nprocesses = 2\n" in lab("migrate", "Moonfile", "--to", "uwsgi")
    assert " --respawn-failed-workers\n" in lab("tune", "Moonfile", "--dry-run", "--app", "a:b")
    assert "granian --host 127.0.0.1 --port {port} " in lab("show", "Moonfile")
