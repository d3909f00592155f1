"""
Configurations of somebody who wants the linter to do something: a seed makes a folder with one.

Whatever could be run, written or connected to leaves a mark: a file in the folder `marks`, or a
connection to an address where the test listens.
"""

from __future__ import annotations

import json
import os
import random
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

SCHEMES = ("exec", "fd", "http", "data", "call", "callint", "sym", "section", "emperor", "zerg")

BOMBS = {
    "loop": "for-times = 99999999\nenv = A=%(_)\nendfor =",
    "loops": "for = " + "a " * 30000 + "\nenv = " + "%(_)" * 9000 + "\nendfor =",
    "laughs": "\n".join(f"set-ph = {b}={f'%({a})' * 9}" for a, b in pairwise("abcdefghi")),
    "itself": "set-ph = a=x%(a)%(a)\nenv = %(a)",
    "openings": "env = " + "%(" * 90000,
    "nested": "env = " + "%(a" * 5000 + ")" * 5000,
    "disk": "for-glob = /*/*/*/*/*/*\nini = %(_)\nendfor =",
    "digits": "processes = " + "9" * 9000 + "\nfor-times = " + "9" * 9000 + "\nstats = x\nendfor =",
    "lines": "\n".join(f"env = A{number}=1" for number in range(20000)),
    "unknown": "\n".join(f"optoin{number} = 1 # c" for number in range(2000)),
    "same": "processes = 4\n" * 5000,
    "suppressed": "; lab: ignore[UW003,UW014]\n" * 9000 + "processes = x",
    "comments": "; lab: ignore[UW003]\nprocesses = x\n" * 3000,
    "codes": "; lab: ignore[" + ",".join(["UW001"] * 300000) + "] x",
    "conditions": "if-env = A\nthreads = 2\nendif =\n" * 5000,
    "routes": "\n".join(f"route = ^/{number} break:" for number in range(5000)),
    "sockets": "\n".join(f"socket = :{number}" for number in range(5000)),
    "percent": "env = 50% of\n" * 5000,
    "zero": "env = A=@(/dev/zero)\nfor-readline = /dev/zero\nini = zero\nendfor =",
    "pipe": "env = A=@(pipe)\nini = pipe\nfor-readline = pipe\nyaml = pipe\nendfor =",
    "memory": "env = A=@(/proc/self/mem)\nini = /proc/kmsg\nini = /dev/stdin",
}
"""What is meant to take all memory or time -> lines of an ini."""


@dataclass(frozen=True)
class Hostile:
    """A folder, and what to lint in it."""

    name: str
    """A file, or a command."""

    kind: str
    """What it tries, for people."""


class Author:
    """Writes one such folder."""

    def __init__(self, root: Path, seed: int, address: str) -> None:
        self.random = random.Random(seed)
        self.folder = root / f"{seed}{self._named()}"
        self.marks = root / "marks"
        self.address = address
        self.seed = seed

    def _named(self) -> str:
        names = (
            "",
            " a b",
            "'q\"",
            "юзер",
            "日本",
            "😀",
            "\nx",
            "-n",
            "%d",
            "$(HOME)",
            "\x1b[2J",
            "\udcff",
        )
        return self.random.choice(names)

    def write(self) -> Hostile:
        """Write the folder, and return what to lint."""
        self.folder.mkdir()
        os.mkfifo(self.folder / "pipe")
        (self.folder / "zero").symlink_to("/dev/zero")
        (self.folder / "x_plugin.so").write_bytes(b"\x7fELF no library")
        beside = {
            "l.yaml": f"uwsgi:\n  env: X={self.at()}\n  include: b.ini\n",
            "b.ini": f"[uwsgi]\n{self.line()}\nini = {self.main}\n",
            "c.xml": f"<uwsgi><spooler>{self.mark()}</spooler></uwsgi>",
            "c.json": json.dumps({"uwsgi": {"env": f"X={self.at()}"}}),
        }
        for name, text in beside.items():
            (self.folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
        if self.random.random() < 0.1:
            self.project()
        write = self.random.choices(
            (
                self.seen,
                self.ini,
                self.bomb,
                self.yaml,
                self.xml,
                self.json,
                self.python,
                self.granian,
                self.starts,
            ),
            (3, 8, 2, 4, 4, 3, 3, 1, 6),
        )[0]
        return write()

    @property
    def main(self) -> str:
        """Name of the ini."""
        return str(self.folder / "uwsgi.ini")

    def mark(self) -> str:
        """Return the path of a file that nobody may make."""
        return str(self.marks / f"{self.seed}-{self.random.randrange(1000)}")

    def at(self) -> str:
        """Return what uWSGI puts a program's output in the place of."""
        scheme = self.random.choice(SCHEMES)
        what = {"exec": f"touch {self.mark()}", "http": f"{self.address}/", "fd": "0"}
        url = f"{scheme}://{what.get(scheme, self.mark())}"
        return self.random.choice(
            (
                "@({})",
                "@%z({})",
                "%@({})",
                "@($(EVIL){})",
                "$(AT)({})",
                "@(%(x){})",
                "@({}",
                "@@(({}))",
            )
        ).replace("{}", url)

    def line(self) -> str:
        """Return a line or a few of an ini that act."""
        mark, at, name = (
            self.mark(),
            self.at(),
            self.random.choice(("b.ini", "l.yaml", "c.xml", "c.json")),
        )
        return self.random.choice(
            [
                f"env = X={at}",
                f"set-ph = x={at}\nenv = %(x)",
                f"ini = exec://touch {mark}",
                f"include = {name}",
                f"inherit = {name}",
                f"yaml = {name}",
                f"json = {name}",
                f"xml = {name}",
                f"config = {name}",
                f"ini = {name}:more",
                "ini = :more",
                f"spooler = {mark}",
                f"spo%zoler = {mark}",
                f"spo%\noler = {mark}",
                f"stop = {mark}",
                "autoload = true\nplugins-dir = .\nx = 1",
                "plugin = ./x",
                "need-plugin = x",
                "plugins = x,./x_plugin.so",
                "dlopen = ./x_plugin.so",
                f"pidfile = {mark}\nvacuum = 1",
                f"logto = {mark}",
                f"daemonize = {mark}",
                f"hook-asap = exec:touch {mark}",
                f"exec-asap = touch {mark}",
                f"hook-as-root = exec:touch {mark}",
                f"exec-as-user-atexit = touch {mark}\nstrict = 1\nnosuch = 1",
                f"fallback-config = {mark}\nstrict = 1\nnosuch = 1",
                f"attach-daemon = touch {mark}",
                f"cron = * * * * * touch {mark}",
                f"inject-before = exec://touch {mark}\nini = b.ini",
                f"connect-and-read = {self.address}",
                f"http-zerg = {self.address}",
                f"resolve = x={self.address}",
                f"route = ^/ http:{self.address}",
                f"subscribe-to = {self.address}:x",
                f"carbon = {self.address}",
                f"log-socket = {self.address}",
                f"socket = {mark}",
                f"stats = {mark}",
                f"flock = {mark}",
                f"master-fifo = {mark}",
                f"env = {mark}=$(EVIL)",
                f"declare-option = halt=stop=$1\nhalt = {mark}",
                f"sqlite3 = {mark}",
                f"ldap = ldap://{self.address}/",
                f"early-envdir = {self.folder}",
                "build-plugin = .",
                "extract = exec://id",
                "print-sym = x",
                "exit = 1",
                "help = 1",
                "if-exists = pipe\nenv = A=1\nendif =",
                "for-readline = pipe\nenv = A=%(_)\nendfor =",
                "uid = nobody\ngid = nogroup",
                "pidfile = /%t%T%i%j%J%b%B%U%G%v",
                "if-hostname-match = (a+)+$\nenv = A=1\nendif =",
                "; %",
                "# \\",
                "[uwsgi",
                "]",
                "=",
                "\0env = A",
                "env = \x1b]0;x\x07",
                "env = \u202e",
                "chdir = юзер",
            ]
        )

    def lines(self) -> str:
        """Return several of them, some in loops and conditions."""
        lines = []
        for _ in range(self.random.randrange(1, 6)):
            line = self.line()
            if self.random.random() < 0.2:
                around = (
                    "for = a b",
                    "for-times = 2",
                    "if-env = PATH",
                    "if-not-env = NO",
                    "for-glob = *",
                )
                line = f"{self.random.choice(around)}\n{line}\nendif ="
            lines.append(line)
        return "\n".join(lines)

    def file(self, name: str, text: str | bytes, kind: str) -> Hostile:
        """Write the file that is linted, in some encoding."""
        if isinstance(text, str):
            names = (
                "utf-8",
                "utf-8-sig",
                "utf-16",
                "utf-16-le",
                "latin-1",
                "utf-7",
                "cp037",
                "utf-32",
            )
            encoding = self.random.choices(names, (24, *[1] * 7))[0]
            text = text.encode(encoding, "surrogateescape" if encoding == "utf-8" else "replace")
        path = self.folder / name
        path.write_bytes(text)
        return Hostile(str(path), kind)

    def seen(self) -> Hostile:
        """Write what a linter was once seen to do, as it was found or a little otherwise."""
        mark = self.mark()
        run = f"@(exec://touch {mark})"
        utf_7 = '<?xml version="1.0" encoding="UTF-7"?><uwsgi><env>X=+AEA-(exec:+AC8-+AC8-'
        utf_7 += f"touch {mark})</env></uwsgi>"
        ebcdic = f'<?xml version="1.0" encoding="IBM037"?><uwsgi><env>X={run}</env></uwsgi>'
        texts: dict[str, tuple[str, str | bytes]] = {
            "percent": ("x.yaml", f"uwsgi:\n  env: X=@%{self.random.choice('zqyZQ')}{run[1:]}\n"),
            "name": ("x.yaml", f"uwsgi:\n  spo%{self.random.choice('zqyZQ')}oler: {mark}\n"),
            "namespace": ("x.xml", f'<u:uwsgi xmlns:u="x"><u:spooler>{mark}</u:spooler></u:uwsgi>'),
            "UTF-7": ("x.xml", utf_7),
            "EBCDIC": ("x.xml", ebcdic.encode("cp037")),
            "variable": ("x.yaml", "uwsgi:\n  env: X=$(RUN)\n"),
            "include": ("uwsgi.ini", f"[uwsgi]\ninclude = {self.folder}/l.yaml\n"),
            "autoload": (
                "uwsgi.ini",
                f"[uwsgi]\nautoload = 1\nplugins-dir = {self.folder}\nx = 1\n",
            ),
        }
        kind = self.random.choice(sorted(texts))
        name, text = texts[kind]
        content = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        return self.file(name, content, f"seen: {kind}")

    def ini(self) -> Hostile:
        """Write an ini."""
        name = self.random.choice(("uwsgi.ini", "uwsgi.ini", "site.conf", "app.ini:x", "-x.ini"))
        more = f"[more]\n{self.line()}\n"
        end = self.random.choice(("\n", "\r\n", "\n", ""))
        text = f"[uwsgi]\n{self.lines()}\n{more}".replace("\n", end or "\n")
        return self.file(name, text, "ini")

    def bomb(self) -> Hostile:
        """Write an ini that takes memory or time."""
        name = self.random.choice(sorted(BOMBS))
        return self.file("uwsgi.ini", f"[uwsgi]\n{BOMBS[name]}\n", f"ini: {name}")

    def yaml(self) -> Hostile:
        """Write a YAML."""
        lines = [
            line.replace(" = ", ": ", 1) for line in self.lines().splitlines() if " = " in line
        ]
        body = "".join(f"  {line}\n" for line in lines)
        texts = {
            "lines": f"uwsgi:\n{body}",
            "flow": f"uwsgi: {{spooler: {self.mark()}}}\n",
            "tag": f"uwsgi: !!python/object/apply:os.system ['touch {self.mark()}']\n",
            "tagged": f'uwsgi:\n  env: !!python/object/new:os.system ["touch {self.mark()}"]\n',
            "aliases": "a: &a [x,x]\n" + "".join(
                f"{b}: &{b} [*{a},*{a},*{a},*{a}]\n" for a, b in pairwise("abcdefghij")
            ) + "uwsgi:\n  env: *j\n",
            "deep": "uwsgi: " + "[" * 90000,
            "deeper": "uwsgi:\n" + "".join(f"{' ' * n}a:\n" for n in range(1, 900)),
            "keys": "? " * 20000,
            "lists": "uwsgi:\n  env:\n" + "    - A=1\n" * 20000,
            "folded": f"uwsgi:\n  env: >\n    X={self.at()}\n",
            "escaped": f'uwsgi:\n  "\\x73pooler": "{self.mark()}"\n',
            "documents": f"---\na: b\n---\nuwsgi:\n{body}",
        }  # fmt: skip
        kind = self.random.choice(sorted(texts))
        ending = self.random.choice(("yaml", "yml"))
        return self.file(f"x.{ending}", texts[kind], f"yaml: {kind}")

    def xml(self) -> Hostile:
        """Write an XML."""
        pairs = [line.split(" = ", 1) for line in self.lines().splitlines() if " = " in line]
        body = "".join(
            f"<{k}>{escape(v)}</{k}>" for k, v in pairs if k.isascii() and k[:1].isalpha()
        )
        head = self.random.choice(
            ("", '<?xml version="1.0"?>', '<?xml version="1.0" encoding="UTF-7"?>',
             '<?xml version="1.0" encoding="IBM037"?>', '<?xml version="1.0" encoding="nosuch"?>')
        )  # fmt: skip
        laughs = "".join(f'<!ENTITY {b} "{f"&{a};" * 9}">' for a, b in pairwise("abcdefghij"))
        texts = {
            "lines": f"{head}<uwsgi>{body}</uwsgi>",
            "space": f'{head}<u:uwsgi xmlns:u="x"><u:spooler>{self.mark()}</u:spooler></u:uwsgi>',
            "7": f"{head}<uwsgi><env>X=+AEA-(exec:+AC8-+AC8-touch {self.mark()})</env></uwsgi>",
            "laughs": f'<!DOCTYPE u [<!ENTITY a "x">{laughs}]><uwsgi><env>&j;</env></uwsgi>',
            "external": f'<!DOCTYPE u SYSTEM "http://{self.address}/x"><uwsgi/>',
            "entity": f'<!DOCTYPE u [<!ENTITY x SYSTEM "{self.folder}/pipe">]>'
            "<uwsgi><env>&x;</env></uwsgi>",
            "include": '<uwsgi xmlns:i="http://www.w3.org/2001/XInclude">'
            '<i:include href="pipe"/></uwsgi>',
            "deep": "<uwsgi>" + "<a>" * 90000,
            "attributes": "<uwsgi " + " ".join(f'a{n}="1"' for n in range(20000)) + "/>",
            "block": f"<uwsgi><![CDATA[import os; os.system('touch {self.mark()}')]]></uwsgi>",
            "named": f"<x><uwsgi id='a'>{body}</uwsgi><uwsgi>{body}</uwsgi></x>",
            "many": "<uwsgi>" + "<env>A=1</env>" * 20000 + "</uwsgi>",
        }
        kind = self.random.choice(sorted(texts))
        return self.file("x.xml", texts[kind], f"xml: {kind}")

    def json(self) -> Hostile:
        """Write a JSON."""
        pairs = dict(line.split(" = ", 1) for line in self.lines().splitlines() if " = " in line)
        whole = json.dumps({"uwsgi": pairs})
        texts = {
            "lines": whole,
            "twice": whole[:-2] + f', "spooler": "{self.mark()}", "spooler": ["{self.mark()}"]}}}}',
            "escaped": f'{{"uwsgi": {{"\\u0073pooler": "{self.mark()}"}}}}',
            "deep": '{"uwsgi":' + "[" * 90000,
            "number": '{"uwsgi": {"processes": ' + "9" * 90000 + "}}",
            "list": json.dumps({"uwsgi": {"env": ["A=1"] * 20000}}),
            "keys": json.dumps({"uwsgi": {f"\u00e9{n}": "1" for n in range(900)}}),
            "none": "[]",
        }
        kind = self.random.choice(sorted(texts))
        return self.file(self.random.choice(("x.json", "x.js")), texts[kind], f"json: {kind}")

    def python(self) -> Hostile:
        """Write a gunicorn.conf.py."""
        run = f"__import__('os').system('touch {self.mark()}')"
        coding = self.random.choice(("cp037", "utf-7", "nosuch", "rot13"))
        texts = {
            "run": f"{run}\nworkers = {run}\n",
            "hook": "on_starting = 'evil.run'\nworkers = 2\n",
            "format": f'bind = f"{{{run}}}"\n',
            "decorated": f"@({run})\ndef on_exit(server): pass\n",
            "default": f"def on_exit(server, x={run}): pass\n",
            "power": "workers = 9 ** 9 ** 9 ** 9\nthreads = 'a' * 10 ** 12\n",
            "deep": "workers = " + "(" * 5000 + ")" * 5000,
            "unary": "workers = " + "-" * 90000 + "1",
            "sum": "workers = " + "1+" * 60000 + "1",
            "attributes": "workers = a" + ".b" * 60000,
            "blocks": "".join(f"{' ' * n}if 1:\n" for n in range(99)) + " " * 99 + "x = 1\n",
            "names": "".join(f"a{n} = {n}\n" for n in range(20000)),
            "again": "".join(f"workers = {n}\n" for n in range(9000)),
            "functions": "".join(f"def f{n}(): pass\n" for n in range(9000)),
            "large": "x = '" + "a" * 400000 + "'\n",
            "coding": f"# -*- coding: {coding} -*-\nx = 1\n",
            "settings": "bind = 'unix:@(exec://id)'\nuser = 'nobody'\nraw_env = ['A=$(id)']\n",
        }
        kind = self.random.choice(sorted(texts))
        (self.folder / "evil.py").write_text(f"{run}\ndef run(server): pass\n")
        (self.folder / "gunicorn.py").write_text(f"{run}\n")
        return self.file("gunicorn.conf.py", texts[kind], f"python: {kind}")

    def granian(self) -> Hostile:
        """Return a command."""
        mark = self.mark()
        commands = (
            f"granian $(touch {mark}) a:b",
            f"granian `touch {mark}` a:b",
            f"granian a:b; touch {mark}",
            f"granian --log-config pipe a:b | touch {mark}",
            "granian " + '"' * 30001,
            "granian " + "--workers 4 " * 9000,
            f"GRANIAN_X={mark} granian a:b > {mark}",
        )
        return Hostile(self.random.choice(commands), "command")

    def starts(self) -> Hostile:
        """Write a file with start commands."""
        mark = self.mark()
        command = self.random.choice(
            (
                f"gunicorn -c $(touch {mark}) a:b",
                f"granian `touch {mark}` a:b",
                f"uwsgi --ini {self.random.choice(('pipe', 'zero', 'b.ini', '/proc/self/mem'))}",
                f"gunicorn -c {self.random.choice(('pipe', 'zero', '../../../etc/passwd'))} a:b",
                f"gunicorn a:b; touch {mark}",
                "gunicorn " + "-w 4 " * 3000 + "a:b",
                "gunicorn 'a:b",
                "sh -c " * 90 + "gunicorn",
                "exec env A=b tini -- gosu uwsgi uwsgi --http :80 --spooler " + mark,
                "GRANIAN_WORKERS=" + "9" * 9000 + " granian a:b",
                "gunicorn a:b ${" * 900,
                "gunicorn \x00\x1b]0;x\x07 a:b",
            )
        )
        quoted = json.dumps(command)
        words = json.dumps(command.split(" "))
        env = "".join(f"ENV A{n}=$A{n - 1}$A{n - 1}\n" for n in range(1, 900))
        texts = {
            "Dockerfile": f"FROM x\n{env}COPY . /\nCOPY pipe zero /etc/\nCMD {command}\n",
            "b.Dockerfile": f"FROM x AS a\nCMD {words}\n" + "FROM a AS a\n" * 900,
            "c.Dockerfile": "FROM x\nRUN <<A <<B\n" * 600 + "CMD " + "[" * 9000,
            "d.Dockerfile": "# escape=`\nFROM x\nCMD gunicorn " + "`\n# x\n" * 900 + "a:b",
            "Procfile": f"web: {command}\n" * 90,
            "compose.yaml": f"services:\n  web: &a\n    <<: *a\n    command: {quoted}\n",
            "b.yaml": "services:\n" + f"  ? web\n  : command: {words}\n" * 500,
            "c.yml": "kind: Pod\nspec: &s\n  containers: [{args: " + words + "}, *s]\n",
            "d.yaml": "services:\n  web: !!python/object/apply:os.system ['touch " + mark + "']\n",
            "e.yaml": "services:\n" + "".join(f"{' ' * n}a:\n" for n in range(2, 600)),
            "f.yaml": "a: &a [x,x]\n" + "".join(
                f"{b}: &{b} [*{a},*{a},*{a},*{a}]\n" for a, b in pairwise("abcdefghij")
            ) + "services:\n  web:\n    command: *j\n",
            "render.yaml": f"services:\n- startCommand: {quoted}\n  envVars: *no\n",
            "fly.toml": f"[processes]\nweb = {quoted}\n" + "a = [" * 600,
            "package.json": f'{{"scripts": {{"start": {quoted}, "a": {"[" * 600}',
            "x.service": f"[Service]\nExecStart={command} \\\n" + "x \\\n" * 900,
            "supervisord.conf": f"[program:w]\nenvironment={'A' * 9000}\ncommand={command}\n"
            + " x\n" * 900 + f"[program:%(a)s]\ncommand={words}\n" * 90,
            "x.sh": f"#!/bin/sh\n{command}\ncat <<A\n" + "'\"" * 4000 + f"\nA\n{command}\n" * 50,
            "entrypoint": "#!/bin/sh\n" + "f() { " * 900 + command,
        }  # fmt: skip
        name = self.random.choice(sorted(texts))
        return self.file(name, texts[name], f"start command: {name}")

    def project(self) -> None:
        """Write a pyproject.toml above, which the linter reads as well."""
        path = self.folder / "pyproject.toml"
        texts = ("a = " + "[" * 50000, "a" + ".a" * 50000 + " = 1", "[tool.lab.lint]\nignore = 1\n",
                 "x = '" + "a" * 400000 + "'", "\xff")  # fmt: skip
        if self.random.random() < 0.3:
            os.mkfifo(path)
        else:
            path.write_text(self.random.choice(texts), encoding="latin-1")


def write(root: Path, seeds: range, address: str) -> list[Hostile]:
    """Write a folder for each seed below *root*, and return what to lint."""
    (root / "marks").mkdir()
    return [Author(root, seed, address).write() for seed in seeds]
