"""What looks wrong, and is not: reduced from files of others in which the linter was wrong."""

from pathlib import Path

import pytest

from lab.config.configuration import Known
from lab.errors import ProfileError
from lab.lint.flaw import Severity
from lab.lint.lint import lint

APP = "http-socket = 127.0.0.1:8080\nmodule = app:app\n"

RIGHT = {
    "a name that another option has in its value": (
        "UW014", f"[uwsgi]\n{APP}home = $(HOME)\nvirtualenv = %(home)/venvs/shop\n"
    ),
    "an option that a file names which is not read": (
        "UW001", f"[uwsgi]\n{APP}py_version = 3.6\nini = %d{{{{name}}}}.ini\n"
    ),
    "a sum with the number of CPUs": ("UW012", f"[uwsgi]\n{APP}processes = %(%k * 2)\n"),
    "a pattern and seconds with a blank between": (
        "UW117", f"[uwsgi]\n{APP}static-expires = /data/static/* 2592000\n"
    ),
    "workers at a yes, which is none": (
        "UW508", f"[uwsgi]\n{APP}master = true\nprocesses = 8\ncheaper = true\n"
    ),
    "as many workers as a variable says": (
        "UW309", "[uwsgi]\nhttp11-socket = 127.0.0.1:8080\nprocesses = $(W)\n"
    ),
    "as many workers as a template says": (
        "UW102", f"[uwsgi]\n{APP}processes = {{{{ workers }}}}\ncheaper = 2\n"
    ),
    "a queue as long as a variable says": ("UW313", f"[uwsgi]\n{APP}listen = $(QUEUE)\n"),
    "a template in a comment": ("UW901", f"[uwsgi]\n# of {{{{ project }}}}\n{APP}"),
}  # fmt: skip


def found(folder, text, name="uwsgi.ini"):
    """Return the codes of what is found in a file, each with its severity."""
    (folder / name).write_text(text)
    return {flaw.code: flaw.severity for flaw in lint(str(folder / name), Known()).flaws}


@pytest.mark.parametrize("what", RIGHT)
def test_it_is_not_found(what, tmp_path):
    """By the rule that found it."""
    code, text = RIGHT[what]
    assert code not in found(tmp_path, text)


def test_a_language_plugin_hides_no_mistyped_option(tmp_path):
    """Debian's python3 is the plugin whose options are known; of another's they are not."""
    wrong = f"[uwsgi]\n{APP}plugins = python3\nprotocool-zap = 3\n"
    assert "UW001" in found(tmp_path, wrong)
    assert "UW001" not in found(tmp_path, wrong.replace("python3", "python3,sse_offload"))


@pytest.mark.parametrize(
    ("code", "text", "name"),
    [
        ("UW012", "[uwsgi]\nstatic-map = /media=%(root)/media\n", "static.ini"),
        ("UW018", "[group:web]\nprograms = uwsgi, nginx\n", "uwsgi.ini"),
        ("UW018", "suite: environment\ntests:\n  - it: runs\n", "uwsgi_test.yaml"),
        ("UW018", "apiVersion: v1\nkind: ConfigMap\n", "uwsgi.yaml"),
        ("UW018", "jobs:\n  web:\n    build: .\n    command: gunicorn a:b\n", "ci.yaml"),
        ("UW018", '{"name": "shop", "scripts": {"start": "gunicorn a:b"}}', "composer.json"),
        ("UW018", "<project><name>shop</name></project>", "pom.xml"),
        ("UW303", f"[uwsgi]\n{APP}master = 1\nprocesses = 4\nmax-requests = 5000\n", "a.ini"),
    ],
)
def test_what_may_well_be_meant_is_a_remark(code, text, name, tmp_path):
    """A fragment, a file of another program's, workers that do not count in step."""
    assert found(tmp_path, text, name)[code] is Severity.REMARK


def test_what_uwsgi_is_built_by_is_no_configuration(tmp_path):
    """It has a section [uwsgi] as well."""
    with pytest.raises(
        ProfileError, match="is a build profile of uWSGI, because it has main_plugin"
    ):
        found(tmp_path, "[uwsgi]\nmain_plugin = python\ninherit = base\n")


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("chmod-sock = 664", "chmod-socket"), ("exec-pre = ./migrate.sh", "exec-pre-app"),
     ("log-buffering = 1", None)],
)  # fmt: skip
def test_advice_is_what_was_meant(wrong, meant, tmp_path):
    """And not what is spelt alike."""
    (tmp_path / "uwsgi.ini").write_text(f"[uwsgi]\n{APP}{wrong}\n")
    flaws = lint(str(tmp_path / "uwsgi.ini"), Known()).flaws
    (flaw,) = (candidate for candidate in flaws if candidate.code == "UW001")
    assert flaw.message.endswith(f"write {meant}" if meant else "leave it out")
    assert flaw.spot.file == Path(tmp_path / "uwsgi.ini")
