"""Whatever a file holds, who reads it ends: within CPU and memory, and without a crash."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.kit.hostile import BOMBS
from tests.kit.lab_process import ROOT

SECONDS, MIB = 10, 256
"""
Of CPU after the imports, and of memory.

It is twice what SECURITY.md says: beside other load on the same core, a second of CPU does half.
What the limit is for took more than 20 s.
"""

INI = "[uwsgi]\n"
LARGE = 10_000_000

SMALL = {
    "continued.sh": "#!/bin/sh\n" + "granian a \\\n" * 900,
    "workers.granian": "granian" + " --workers 1" * 900 + " m:app\n",
    "list.conf.py": "bind = [" + '"a",' * 4000 + "]\n",
    "assigned.conf.py": "bind = 'a'\n" * 1900,
    "conditions.ini": INI + "if-env = X\nprocesses = 2\nendif =\n" * 600,
    "continued.ini": INI + "socket = a\\\n" * 1900,
    "continued.Dockerfile": "FROM x\nCMD granian \\\n" + "  --workers 1 \\\n" * 900 + "  a:b\n",
    "continued.conf": "[program:a]\ncommand=granian\n" + " --workers 1\n" * 900 + " a:b\n",
    "programs.conf": "".join(f"[program:{n}]\ncommand=celery\n" for n in range(900))
    + "[program:web]\ncommand=granian a:b\n",
    "variables.conf": "[program:a]\nenvironment=" + "A" * 16000 + "\ncommand=granian a:b\n",
    "list.Dockerfile": 'FROM x\nCMD ["granian"' + ', "--workers", "1"' * 800 + ', "a:b"]\n',
    "merged.yaml": "x0: &x0 {a: b}\n"
    + "".join(f"x{n + 1}: &x{n + 1} {{<<: *x{n}, k{n}: v}}\n" for n in range(1900))
    + "services:\n  web:\n    <<: *x1900\n    command: granian a:b\n",
    "names.ini": INI + "env = " + "%(a" * 4000 + ")" * 4000 + "\n",
    "value.ini": INI + "env = A=" + "x" * 16000 + "\n",
    "blanks.ini": INI + ("env = A" + " " * 16000 + "x\n") * 15,
    "openings.ini": INI + ("env = " + "{{" * 8000 + "\n") * 15,
}
"""What is read, and was slow."""

DEEP = {
    "shell.granian": "granian --workers " + "${A:-" * 2000 + "1" + "}" * 2000 + " m:app\n",
    "list.json": '{"uwsgi":' + "[" * 6000 + "]" * 6000 + "}",
    "object.json": '{"a":' * 3000,
    "flow.yaml": "uwsgi: " + "[" * 6000,
    "services.yaml": "services:\n" + "".join(f"{' ' * n}a:\n" for n in range(1, 600)),
    "fly.toml": "a = " + "[" * 6000,
    "package.json": "[" * 6000,
    "block.yaml": "uwsgi:\n" + "".join(f"{' ' * n}a:\n" for n in range(1, 600)),
    "element.xml": "<uwsgi>" + "<a>" * 5000,
    "brackets.conf.py": "bind = " + "(" * 6000 + "1" + ")" * 6000 + "\n",
    "unary.conf.py": "bind = " + "-" * 6000 + "1\n",
    "not.conf.py": "bind = " + "not " * 3000 + "1\n",
    "sum.conf.py": "bind = 1" + "+1" * 6000 + "\n",
    "continued.conf.py": "bind = 1" + "+\\\n1" * 1500 + "\n",
    "attribute.conf.py": "bind = a" + ".b" * 6000 + "\n",
    "calls.conf.py": "bind = a" + "()" * 6000 + "\n",
    "lambda.conf.py": "bind = " + "lambda:" * 2000 + "1\n",
    "conditional.conf.py": "bind = 1" + " if 1 else 1" * 1000 + "\n",
    "elif.conf.py": "if 1:\n a = 1\n" + "elif 1:\n a = 1\n" * 900,
    "formatted.conf.py": "bind = f'{" + "(" * 300 + "1" + ")" * 300 + "}'\n",
}
"""What nests: it is refused before a parser reads it."""

BIG = {
    "programs.conf": "".join(f"[program:{n}]\ncommand=celery\n" for n in range(LARGE // 30)),
    "equal.conf": "[program:a]\n" + "environment=A\ncommand=granian a:b\n" * (LARGE // 40),
    "variables.conf": "[program:a]\nenvironment=" + "A" * LARGE + "\ncommand=granian a:b\n",
    "continued.sh": "#!/bin/sh\n" + "granian a \\\n" * (LARGE // 12),
    "workers.granian": "granian" + " --workers 1" * (LARGE // 12) + " m:app\n",
    "list.conf.py": "bind = [" + '"a",' * 60000 + "]\n",
    "conditions.ini": INI + "if-env = X\nprocesses = 2\nendif =\n" * 60000,
    "continued.ini": INI + "socket = a\\\n" * 150000,
    "lines.ini": INI + "env = A=1\n" * (LARGE // 10),
    "value.ini": INI + "env = A=" + "x" * 7_000_000 + "\n",
    "shell.granian": "granian --workers " + "${A:-" * 50000 + "1" + "}" * 50000 + " m:app\n",
    "lines.yaml": "uwsgi:\n" + "  env: A=1\n" * (LARGE // 11),
    "pairs.json": '{"uwsgi":{' + '"env":"A=1",' * (LARGE // 12) + '"a":1}}',
    "elements.xml": "<uwsgi>" + "<env>A=1</env>" * (LARGE // 14) + "</uwsgi>",
    "lines.conf.py": "a = 1\n" * (LARGE // 6),
    "lines.toml": "a = 1\n" * (LARGE // 6),
    "Dockerfile": "FROM x\n" + "CMD granian a:b\n" * (LARGE // 16),
    "compose.yaml": "services:\n" + "  a: {command: granian a:b}\n" * (LARGE // 30),
    "start.sh": "granian a:b\n" * (LARGE // 12),
}

COMMANDS = {
    "lint": ("lint", "{}"),
    "migrate": ("migrate", "{}", "--to"),
    "tune": ("tune", "{}", "--dry-run"),
    "show": ("show", "{}"),
}

SERVER = f"""
import json, os, resource, sys
from lab.cli import main
from lab.cli.commands import cli
for name in {[*COMMANDS]}:
    cli.commands[name]
for line in sys.stdin:
    folder, words = json.loads(line)
    if (pid := os.fork()) == 0:
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        printed = os.open("printed", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS + 1}))
        sys.argv[:] = ["lab", *words]
        sys.exit(main())
    _, status, used = os.wait4(pid, 0)
    print(status, used.ru_maxrss, flush=True)
"""
"""Imports the commands, and runs each line in a copy of itself under the limits; prints its wait
status and KiB of memory. A process counts the memory of the one that forked it: the imports'."""


@pytest.fixture(scope="module")
def limited():
    """Return what runs `lab` in a folder under the limits, and gives its wait status and KiB."""
    env = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip

        def run(folder, words):
            server.stdin.write(json.dumps([str(folder), words]) + "\n")
            server.stdin.flush()
            return map(int, server.stdout.readline().split())

        yield run


@pytest.fixture
def read(limited, tmp_path):
    """Return what runs a command on a file; it returns its status, what it printed, and KiB."""

    def read(command, name, text, to=""):
        if text:
            (tmp_path / name).write_text(text)
        words = [word.format(name) for word in COMMANDS[command]]
        to = to or ("granian" if name.endswith(".py") else "gunicorn")
        status, kib = limited(tmp_path, words + [to] * (command == "migrate"))
        printed = (tmp_path / "printed").read_text(errors="replace")
        return os.waitstatus_to_exitcode(status), printed, kib

    return read


@pytest.fixture
def check(read):
    """Return what holds a command to the limits, and returns what it printed."""

    def check(*words):
        status, printed, kib = read(*words)
        assert status != -signal.SIGXCPU, f"more than {SECONDS} s of CPU"
        assert status in {0, 1, 2, 4}, printed[-800:]
        assert "Traceback" not in printed
        assert kib < MIB << 10
        return printed

    return check


@pytest.mark.costly
@pytest.mark.parametrize("name", SMALL)
def test_what_is_within_the_limits_is_read_in_time(name, check):
    """By the command that takes longest: it judges a file once for each change."""
    assert "not read" not in check("tune", name, SMALL[name])


@pytest.mark.costly
def test_words_of_a_list_do_not_each_repeat_the_list(check):
    """1,980 folders of static files took 23 s and 1.2 GB."""
    text = INI + "module = a:b\n" + "".join(f"static-map = /{n}=/srv/{n}\n" for n in range(1900))
    assert "--static-path-mount /srv/1899" in check("migrate", "static.ini", text, "granian")


SERVED = INI + "http-socket = :8080\nmodule = m:app\nmaster = 1\n"
INCLUDING = {
    "deep": "".join(f"ini = {'d/' * 40}{number}.ini\n" for number in range(1950)),
    "again": "ini = y.ini\n" * 990,
    "absent": "".join(f"ini = x{number}.ini\n" for number in range(1900)),
    "yaml": "".join(f"yaml = x{number}.yml\n" for number in range(1950)),
}
"""Lines that each name a file."""


@pytest.mark.costly
@pytest.mark.parametrize("name", INCLUDING)
def test_many_includes_are_refused(name, check, tmp_path):
    """Those that are not there count, too: each took a look, for each change that is tried."""
    (tmp_path / "y.ini").write_text(INI + "threads = 2\n")
    printed = check("tune", "uwsgi.ini", SERVED + INCLUDING[name])
    assert printed == (
        "lab: uwsgi.ini: is more than the lab reads: it includes more than 100 files\n"
    )


NAMES = "".join(f"pr{'abcdefghij'[n % 10]}oces{n}ess = 1\n" for n in range(1900))


@pytest.mark.costly
@pytest.mark.parametrize(
    "lines",
    [
        NAMES,
        "ini = :s0\n" + "".join(f"[s{number}]\nini = :s{number + 1}\n" for number in range(990)),
    ],
    ids=["mistyped", "chained"],
)
def test_what_is_read_for_each_change_is_read_in_time(lines, check):
    """Names without a meaning, and sections that are includes of each other."""
    check("tune", "uwsgi.ini", SERVED + lines)


@pytest.mark.costly
def test_a_folder_of_mistyped_files_is_judged_in_time(check, tmp_path):
    """For each name of each file all options were looked at."""
    for number in range(15):
        (tmp_path / str(number)).mkdir()
        text = SERVED + NAMES.replace("oces", f"oce{number}")
        (tmp_path / str(number) / "uwsgi.ini").write_text(text)
    check("lint", ".", "")


@pytest.mark.costly
def test_folders_without_end_are_refused(check, tmp_path):
    """Python's own walk calls itself for each."""
    tmp_path.joinpath(*["d"] * 150).mkdir(parents=True)
    printed = check("lint", ".", "")
    assert (
        printed == "lab: .: has folders more than 100 deep in each other, so it is not searched\n"
    )


@pytest.mark.costly
@pytest.mark.parametrize("name", DEEP)
def test_what_nests_too_deep_is_refused(name, check):
    """Before a parser reads it, with the limit."""
    printed = check("lint", name, DEEP[name])
    assert "nest" in printed
    assert len(printed.splitlines()) == 1


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "text", "limit"),
    [
        ("size.ini", INI + "env = A=12345678901234567890\n" * 10000, "256 KiB"),
        ("lines.ini", INI + "\n" * 2000, "2,000 lines"),
        ("line.ini", f"{INI}env = {'x' * 16400}\n", "16,384 characters"),
        ("options.ini", f"{INI}for = {'a ' * 3000}\nenv = A\nendfor =\n", "2,000 options"),
        ("names.conf.py", "a = b = c = 1\n" * 700, "2,000 names"),
        ("words.granian", "granian " + "a " * 2100, "2,000 words"),
        ("servers.sh", "granian a:b\n" * 101, "100 servers"),
    ],
)
def test_a_refusal_says_the_limit(name, text, limit, read):
    """In one line, with the status of a file that cannot be read."""
    status, printed, _ = read("lint", name, text)
    assert status == 2
    assert limit in printed
    assert len(printed.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", {**BIG, **DEEP})
def test_ten_megabytes(name, command, check):
    """Of whatever."""
    check(command, name, {**BIG, **DEEP}[name])


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs(bomb, command, check):
    """By each command."""
    check(command, "uwsgi.ini", f"{INI}{BOMBS[bomb]}\n")
