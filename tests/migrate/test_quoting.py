"""What `lab migrate` writes says what was meant, and runs nothing of what it was made of."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.cli.migrate.migration import migrated
from lab.config.vocabulary.quoting import SHELLS_OWN
from lab.errors import ProfileError
from tests.kit.lab_process import ROOT

from . import hostile

SHELLS = (("bash",), ("bash", "--posix"), ("dash",), ("busybox", "sh"))
UWSGI = ROOT / ".venv" / "bin" / "uwsgi"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
SOME = [pytest.param(range(120)), pytest.param(range(120, 4000), marks=pytest.mark.slow)]
seeds = pytest.mark.parametrize("seeds", SOME, ids=["some", "many"])


def needs(program: str) -> None:
    """Skip a test of a program that is not here."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: make test installs it where it may")


@pytest.mark.costly
@seeds
@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_a_script_gives_the_words_that_were_meant(shell, seeds, tmp_path):
    """And its variables; of what is computed with a text it gives one line, and ends."""
    needs(shell[0])
    cases = hostile.cases(seeds, "granian")
    assert len(cases) > len(seeds) / 2
    assert not list(hostile.faults_of_scripts(cases, tmp_path, shell))


@seeds
def test_a_file_of_pythons_has_the_values_that_were_meant(seeds):
    """Read from its bytes, which may name another encoding."""
    cases = hostile.cases(seeds, "gunicorn")
    assert len(cases) > len(seeds) / 2
    assert not list(hostile.faults_of_python(cases))


@pytest.mark.skipif(not UWSGI.exists(), reason="needs uWSGI: make setup")
@pytest.mark.parametrize(
    "seeds",
    [range(60), pytest.param(range(60, 1000), marks=pytest.mark.slow)],
    ids=["some", "many"],
)
def test_an_ini_has_the_values_that_were_meant(seeds, tmp_path):
    """As uWSGI itself prints them."""
    cases = hostile.cases(seeds, "uwsgi")
    assert len(cases) > len(seeds) / 2
    assert not list(hostile.faults_of_inis(cases, tmp_path / "inis", UWSGI))


@seeds
@pytest.mark.skipif(NGINX is None, reason="needs nginx: make test installs it where it may")
def test_nginx_reads_the_lines_and_nothing_else(seeds, tmp_path):
    """The directives that are meant, each once a location."""
    text, blocks = hostile.nginx_of(hostile.cases(seeds, "granian"))
    config = tmp_path / "nginx.conf"
    # Debian's folders for bodies are those of root.
    parts = ("client_body", "proxy", "uwsgi", "fastcgi", "scgi")
    folders = "".join(f" {part}_temp_path {tmp_path}/{part};" for part in parts)
    written = text.replace("http {", f"http {{{folders}", 1)
    config.write_text(f"pid {tmp_path}/pid; error_log stderr;\n{written}")
    done = subprocess.run((NGINX, "-t", "-c", config), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert blocks
    # Quoted texts have none of these signs.
    directives = re.findall(r"^(\w+) [^;{}]*;$", text, re.MULTILINE)
    assert len(directives) == 6 * blocks
    assert set(directives) == {"proxy_pass", "proxy_http_version", "proxy_set_header"}


def of_ini(tmp_path: Path, lines: str, to: str = "granian"):
    """Return what an ini becomes."""
    (tmp_path / "uwsgi.ini").write_text(f"[uwsgi]\nmodule = m:app\n{lines}")
    return migrated(str(tmp_path / "uwsgi.ini"), to, {})


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
@pytest.mark.parametrize("value", ["b[`touch MARK`]", "010", "", "1 + 1", "9" * 10, "N"])
def test_a_script_computes_with_digits_alone(shell, value, tmp_path):
    """A shell evaluates a text that it computes with."""
    needs(shell[0])
    (tmp_path / "granian.sh").write_text(of_ini(tmp_path, "socket-timeout = $(W)\n").text)
    env = {"W": value, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        (*shell, "granian.sh"), cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "W must be a whole number of at most 9 digits: set it\n"
    assert not (tmp_path / "MARK").exists()


def test_a_default_that_is_computed_with_is_digits(tmp_path):
    """It would stand within the shell's arithmetic."""
    conf = 'raw_env = ["Q=1"]\nworkers = int(os.environ.get("W", "Q")) * 2\n'
    (tmp_path / "gunicorn.conf.py").write_text(conf)
    migration = migrated(str(tmp_path / "gunicorn.conf.py"), "granian", {})
    assert "--workers" not in migration.text.partition("exec")[2]
    assert any("default of $W" in note.becomes for note in migration.translation.lost)


@pytest.mark.parametrize("to", ["granian", "gunicorn"])
def test_a_nul_is_refused(to, tmp_path):
    """No program takes one, and no file of text has one."""
    with pytest.raises(ProfileError, match="it has NUL bytes"):
        of_ini(tmp_path, "socket = 127.0.0.1:80\0a\n", to)


@pytest.mark.parametrize("value", ["/run/a; return 301 //evil.example", "/run/a b", "$(A):80"])
def test_nginx_gets_no_line_with_more_than_an_address(value, tmp_path):
    """It is named as lost."""
    migration = of_ini(tmp_path, f"socket = {value}\n")
    assert migration.nginx == ()
    assert any("nginx" in note.becomes for note in migration.translation.lost)


def test_a_comment_names_no_encoding(tmp_path):
    """The first line of a file of Python's could, and would make other text of the rest."""
    lines = "socket = /run/coding=utf-7\nprocname = +ACI-+AAo-import os+AAo-+ACM-\n"
    text = of_ini(tmp_path, lines, "gunicorn").text
    assert text.encode().decode("utf-7") != text
    compile(text.encode(), "gunicorn.conf.py", "exec")
    assert text.startswith("# socket = /run/coding =utf-7\n")


def test_what_stands_in_two_texts_is_one_value(tmp_path):
    """uWSGI would run what neither of both says."""
    (tmp_path / "gunicorn.conf.py").write_text('pidfile = "@" + "(exec://touch MARK)"\n')
    migration = migrated(str(tmp_path / "gunicorn.conf.py"), "uwsgi", {})
    assert "\npidfile" not in migration.text
    assert any("pidfile" in note.was for note in migration.translation.lost)


def test_a_comment_takes_no_line_of_an_ini_with_it(tmp_path):
    """uWSGI replaces a percent sign with what follows it, also the end of a comment."""
    (tmp_path / "gunicorn.conf.py").write_text('chdir = "/srv/50%"\n')
    text = migrated(str(tmp_path / "gunicorn.conf.py"), "uwsgi", {}).text
    assert '\n# chdir = "/srv/50%%"\nchdir = /srv/50%%\n' in text


def test_a_shells_variables_are_not_set_by_a_file():
    """Those that bash computes, refuses to change or finds programs by."""
    needs("bash")
    done = subprocess.run(("bash", "-c", "declare -p"), capture_output=True, text=True, check=True)
    special = re.findall(r"^declare -\w*[ir]\w* (\w+)", done.stdout, re.MULTILINE)
    assert "SECONDS" in special or "RANDOM" in special
    special += "PATH", "LD_PRELOAD", "ENV", "COMP_WORDBREAKS", "SHLVL"
    assert [name for name in special if not SHELLS_OWN.fullmatch(name)] == []


def test_a_variable_of_the_shells_is_named_as_lost(tmp_path):
    """bash would evaluate its value."""
    migration = of_ini(tmp_path, "env = RANDOM=b[1]\nenv = A=1\nenv = PATH=/evil\n")
    assert migration.environment == "A=1\n"
    lost = [note.becomes for note in migration.translation.lost]
    assert len([reason for reason in lost if "uses" in reason]) == 2


def test_a_file_that_is_named_like_an_option_is_none(tmp_path):
    """And one with a blank is one word."""
    (tmp_path / "uwsgi.ini").write_text("[uwsgi]\nmodule = m:app\n")
    ini = str(tmp_path / "uwsgi.ini")
    assert migrated(ini, "granian", {}, "-x y.sh").start == "sh './-x y.sh'"
    assert migrated(ini, "gunicorn", {}, "a;b.py").start == "gunicorn -c 'a;b.py'"


@pytest.mark.parametrize("sum_", ["int(os.environ['N']) + 1", "1 + int(os.environ['N'])"])
def test_a_sum_with_a_variable_is_no_text_of_both(sum_, tmp_path):
    """It would be 41 where it was 5; it is computed, and named as lost."""
    (tmp_path / "gunicorn.conf.py").write_text(f"workers = {sum_}\n")
    migration = migrated(str(tmp_path / "gunicorn.conf.py"), "granian", {})
    assert "--workers " not in migration.text
    assert any("computed" in note.becomes for note in migration.translation.lost)


def test_texts_are_joined_in_their_order(tmp_path):
    """Also digits before a variable."""
    (tmp_path / "gunicorn.conf.py").write_text("chdir = '4' + os.environ['A']\n")
    assert '"4${A}"' in migrated(str(tmp_path / "gunicorn.conf.py"), "granian", {}).text


def test_an_address_of_two_defaults_is_lost_in_an_ini(tmp_path):
    """It would lose one of both."""
    bind = "os.environ.get('H', '::') + ':' + os.environ.get('P', '80')"
    (tmp_path / "gunicorn.conf.py").write_text(f"bind = {bind}\n")
    migration = migrated(str(tmp_path / "gunicorn.conf.py"), "uwsgi", {})
    assert "http-socket" not in migration.text
    assert any("one variable in a value" in note.becomes for note in migration.translation.lost)


@pytest.mark.parametrize("lines", ["static-map =\n", "static-map = $(A)\n", "env =\n", "env = A\n"])
def test_a_value_without_its_sign_of_equality_is_lost(lines, tmp_path):
    """Neither a folder nor a variable follows from it."""
    migration = of_ini(tmp_path, lines)
    assert not migration.environment
    assert "--static" not in migration.text
    (reason,) = [note for note in migration.translation.lost if "=" in note.becomes]
    assert reason.becomes.endswith(("/PATH=FOLDER", "NAME=value"))


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_a_default_does_not_end_where_another_text_says(shell, tmp_path):
    """bash in its usual mode takes quotes in it for quotes, and others do not."""
    needs(shell[0])
    conf = """chdir = os.environ.get("W", "'") + "'; touch MARK; '}" + "'"\n"""
    (tmp_path / "gunicorn.conf.py").write_text(conf)
    migration = migrated(str(tmp_path / "gunicorn.conf.py"), "granian", {})
    (tmp_path / "granian.sh").write_text(migration.text)
    subprocess.run((*shell, "-n", "granian.sh"), cwd=tmp_path, check=True)
    assert any("default of $W" in note.becomes for note in migration.translation.lost)
