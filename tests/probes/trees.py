"""Process trees to look at: a root that adopts orphans, as a server's guard does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager

from lab.model.protocols import Subject

PREAMBLE = """
import ctypes, os, signal, socket, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
TICK = 1 / os.sysconf("SC_CLK_TCK")

def say(*words):
    print(*words, flush=True)

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def child(function, *arguments):
    pid = os.fork()
    if pid == 0:
        function(*arguments)
        os._exit(0)
    return pid

def sleep_forever():
    while True:
        signal.pause()
"""


class Tree:
    """A Python program that writes a line when it has got somewhere, and reads one to go on."""

    def __init__(self, process):
        self.process = process
        self.pid = process.pid

    def heard(self):
        """Return its next line."""
        line = self.process.stdout.readline()
        assert line, f"the tree ended: {self.process.stderr.read()}"
        return line.strip()

    def go(self):
        """Let it go on."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()


def measured(probe, program):
    """Return what *probe* reads while a tree gets from its first to its second line, and that."""
    with tree(program) as root:
        root.heard()
        stop = probe.start(Subject(root.pid, 0))
        root.go()
        line = root.heard()
        return stop(), line


@contextmanager
def tree(program):
    """Run *program* as a root, after PREAMBLE; its whole group is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-S", "-E", "-c", PREAMBLE + textwrap.dedent(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield Tree(process)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
