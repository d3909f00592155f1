"""What `make framework` makes: of which sources, for whom, and that it is what is run."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from importlib.metadata import PathDistribution, version

import pytest

from lab.bench.trials.available import look
from tests.kit.lab_process import ROOT
from tools import framework
from tools.framework import MODULES, OVERLAY, FrameworkError, check


@pytest.fixture
def overlay():
    """Return the folder that is there; skip the test where none is that fits."""
    try:
        check()
    except FrameworkError as error:
        pytest.skip(str(error))
    return OVERLAY


@pytest.fixture
def record(tmp_path):
    """Return a function that writes what a folder says of itself, some of it changed."""

    def write(**changes):
        facts = {
            "abi": framework.sysconfig.get_config_var("SOABI"),
            "flask": version("flask"), "werkzeug": version("werkzeug"), "cython": "3.3",
            "modules": dict.fromkeys(MODULES, ""),
        }  # fmt: skip
        (tmp_path / "record.json").write_text(json.dumps(facts | changes))
        return tmp_path

    return write


def installed(folder, content, hashed):
    """Return a distribution of one file, whose wheel had the content *hashed*."""
    info = folder / "flask-1.0.dist-info"
    info.mkdir()
    (folder / "flask").mkdir()
    (folder / "flask" / "app.py").write_bytes(content)
    digest = base64.urlsafe_b64encode(hashlib.sha256(hashed).digest()).decode().rstrip("=")
    lines = [f"flask/app.py,sha256={digest},{len(hashed)}", "flask/app.pyc,,", "bin/flask,,"]
    (info / "RECORD").write_text("\n".join(lines) + "\n")
    return PathDistribution(info)


def test_a_source_that_was_changed_is_refused(tmp_path):
    """Compiled is what the wheel brought, and nothing else."""
    changed = installed(tmp_path, b"import os\n", b"import sys\n")
    with pytest.raises(FrameworkError, match=r"flask/app.py was changed since it was installed"):
        framework._sources(changed)


def test_the_sources_are_those_of_the_wheel(tmp_path):
    """Without what Python has compiled of them, and without programs."""
    same = installed(tmp_path, b"import os\n", b"import os\n")
    assert framework._sources(same) == {"flask/app.py": b"import os\n"}


def test_what_fits_is_named(record):
    """In one line, which a run stores."""
    versions = f"flask {version('flask')}, werkzeug {version('werkzeug')}, {len(MODULES)} modules"
    assert check(record()) == f"{versions} compiled by Cython 3.3"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"abi": "cpython-38-x"}, "is for cpython-38-x, and .* is cpython-3.*make framework"),
        ({"flask": "0.1"}, "has flask 0.1, and .* has 3.*pip install flask==0.1 werkzeug==3"),
        ({"modules": {}}, "is of an earlier version of this project: make framework"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_line(record, changes, message):
    """With what is there, what is wanted, and the command that mends it."""
    with pytest.raises(FrameworkError) as caught:
        check(record(**changes))
    assert re.search(message, str(caught.value))
    assert "\n" not in str(caught.value)


def test_another_version_than_the_pinned_one_is_not_compiled(tmp_path, monkeypatch):
    """The modules were chosen for that one."""
    monkeypatch.setattr(framework, "PINS", tmp_path / "service.txt")
    (tmp_path / "service.txt").write_text("flask==0.1 \\\n")
    with pytest.raises(FrameworkError, match=r"service.txt pins 0.1: make setup"):
        framework._pinned("flask")


def test_without_it_the_profile_is_skipped_with_the_command(tmp_path, monkeypatch):
    """And the others of a run are compared."""
    profile = (ROOT / "profiles" / "compiled-framework.ini").read_text()
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "framework.py").write_bytes((ROOT / "tools/framework.py").read_bytes())
    path = tmp_path / "profiles" / "x.ini"
    path.parent.mkdir()
    path.write_text(profile.replace("%dtuned.ini", f"{ROOT}/profiles/tuned.ini"))
    reason = f"cannot run: framework: there is no {tmp_path}/.framework: make framework"
    assert look(str(path)).missing == reason


def python(*words, overlay=None):
    """Run Python with the folder first on its path; return what it prints on both streams."""
    done = subprocess.run(
        [sys.executable, *words],
        env=os.environ | {"PYTHONPATH": str(overlay or "")},
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.stdout


REFUSED = "from werkzeug.datastructures import Headers; Headers().add('a', 'two\\nlines')"
RAISES = """
import traceback
from app import create_app
service = create_app()
service.testing = True
@service.get("/raise/it")
def raises():
    raise ValueError("on purpose")
try:
    service.test_client().get("/raise/it")
except ValueError:
    traceback.print_exc()
"""


def test_a_traceback_has_file_and_line(overlay):
    """Of compiled code the same as of plain; the line's text is left out."""
    form = r'flask/app\.py", line (\d+), in .*?(\w+)\n'
    plain = re.findall(form, python("-c", RAISES))
    assert len(plain) > 3
    assert re.findall(form, python("-c", RAISES, overlay=overlay)) == plain
    form = r'headers\.py", line (\d+), in .*?(\w+)\n'
    text = "raise ValueError("
    without = python("-c", REFUSED, overlay=overlay)
    plain = python("-c", REFUSED)
    assert re.findall(form, without) == re.findall(form, plain) != []
    assert text in plain
    assert text not in without


def test_what_is_compiled_has_no_source_beside_it(overlay):
    """An interpreter that cannot load it ends, and does not run plain Python in its place."""
    assert [module for module in MODULES if (overlay / f"{module}.py").exists()] == []
    code = "import sys, app.wsgi; print(*(m.__file__ for m in map(sys.modules.get, sys.argv[1:])))"
    names = [module.replace("/", ".") for module in MODULES]
    files = python("-c", code, *names, overlay=overlay).split()
    assert len(files) == len(MODULES)
    assert all(file.startswith(str(overlay)) and file.endswith(".so") for file in files)


@pytest.mark.slow
def test_two_builds_are_the_same(tmp_path):
    """To the byte, in whatever folder."""
    contents = []
    for name in ("one", "two"):
        framework.build(tmp_path / name / "made")
        made = tmp_path / name / "made"
        files = sorted(path for path in made.rglob("*") if path.is_file())
        contents.append({str(path.relative_to(made)): path.read_bytes() for path in files})
    assert contents[0] == contents[1]
    assert sum(name.endswith(".so") for name in contents[0]) == len(MODULES)
