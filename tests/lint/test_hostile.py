"""Whatever a file says: the linter starts nothing, writes nothing, connects nowhere, and ends."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

import pytest

from tests.kit import hostile, lint_each
from tests.kit.lab_process import ROOT

CALLS = (
    "execve,execveat,fork,vfork,clone,clone3,open,openat,openat2,creat,socket,connect,bind,sendto,"
    "sendmsg,mkdir,mkdirat,unlink,unlinkat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,"
    "mknod,mknodat,chmod,fchmodat,truncate,ftruncate,kill,tgkill"
)

SECONDS, KIB = 5.0, 256 << 10
"""What one file may take."""

SEED = int(os.environ.get("HOSTILE_SEED", time.time()))
"""The first seed of the slow test."""


def traced(folder, names):
    """Lint *names* under strace; return what is said of each, and the calls that it made."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed: apt-get install strace")
    todo, trace = folder / "names.json", folder / "trace"
    todo.write_text(json.dumps(names))
    run = f"@(exec://touch {folder}/marks/variable)"
    evil = {"EVIL": "@(exec://", "AT": "@", "X": "exec://touch", "RUN": run}
    with subprocess.Popen(
        ["strace", "-f", "--seccomp-bpf", "-qq", "-s", "300", "-o", trace, "-e", f"trace={CALLS}",
         sys.executable, "-B", lint_each.__file__, todo],
        cwd=folder, env={**os.environ, **evil, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        printed, stderr = process.communicate()
    if "ptrace" in stderr and not printed:
        pytest.skip(f"strace may not trace here: {stderr.splitlines()[0]}")
    done = [json.loads(line) for line in printed.splitlines()]
    last = done[-1]["name"] if done else "none"
    assert len(done) == len(names), f"ended after {last!r}, with {stderr[-800:]}"
    calls = trace.read_text(errors="replace").split(lint_each.BEGINS, 1)[1].splitlines()[1:]
    return done, calls


def forbidden(call):
    """Return whether a call does more than to read."""
    name = re.match(r"\d+ +(\w+)\(", call)
    if name is None or "+++" in call:
        return False
    if name[1] in {"open", "openat", "openat2"}:
        return re.search("O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND", call) or '/pipe"' in call
    return True


def check(folder, seeds):
    """Lint what some seeds make, and hold the linter to what it promises."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        made = hostile.write(folder, seeds, address)
        done, calls = traced(folder, [configuration.name for configuration in made])
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert not [call for call in calls if forbidden(call)][:5]
    assert not list((folder / "marks").iterdir())
    for outcome, of in zip(done, made, strict=True):
        description = f"{of.kind}, {outcome}"
        assert outcome["status"] in {0, 1, 2}, description
        assert "Traceback" not in outcome["printed"], description
        assert outcome["seconds"] < SECONDS, description
        assert outcome["kib"] < KIB, description


def test_sixty_files_get_nothing_done(tmp_path):
    """The same ones each time; HOSTILE_SEED=N and `-m slow` make others."""
    check(tmp_path, range(60))


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("part", range(50))
def test_twenty_thousand_files_get_nothing_done(tmp_path, part):
    """New ones each time; the seed is printed, and HOSTILE_SEED=N makes them again."""
    sys.stdout.write(f"HOSTILE_SEED={SEED}\n")
    check(tmp_path, range(SEED + part * 400, SEED + (part + 1) * 400))
