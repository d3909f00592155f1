"""The lab leaves nothing in the home of who calls it."""

import subprocess

import pytest

from tests.hygiene.test_edge import STORED
from tests.kit.lab_process import BIN, environment


@pytest.mark.costly
def test_a_report_with_figures_writes_nothing_into_the_home(tmp_path):
    """matplotlib would make its folders there, and the page is the same as with those."""
    home = tmp_path / "home"
    home.mkdir()
    usual = environment()
    bare = {k: v for k, v in usual.items() if k != "MPLCONFIGDIR" and not k.startswith("XDG_")}
    for name, environ in (("a.html", bare | {"HOME": str(home)}), ("b.html", usual)):
        words = (BIN / "lab", "report", STORED, "--html", name)
        done = subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, check=False)
        assert done.returncode == 0
    assert list(home.iterdir()) == []
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
