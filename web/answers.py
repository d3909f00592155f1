"""
What the page asks of `lab`: a text in, JSON out. Nothing is started, read from the disk, or sent.

The page runs this module in a Worker, by Pyodide; the tests run it in CPython. All that it says is
what `lab lint`, `lab tune --dry-run` and `lab migrate` print with --format json, without what they
say of other files: the page has none.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from lab.cli.lint.formats import LocatedFlaw, as_json, ordered, tally
from lab.cli.migrate.migration import migrated
from lab.cli.migrate.text import as_json as migration_as_json
from lab.cli.tune.missing import missing
from lab.cli.tune.text import UNMEASURED, place_of_block
from lab.cli.tune.text import answer as missing_in_a_sentence
from lab.cli.tune.text import as_json as missing_as_json
from lab.config import servers
from lab.config.configuration import Config, Known
from lab.config.edits import applied
from lab.config.reading import read, start_names
from lab.config.servers import EDITABLE, TRANSLATABLE
from lab.errors import LabError, ProfileError
from lab.lint.examples import whole
from lab.lint.lint import LintResult, lint
from lab.lint.page import examples, sentences
from lab.lint.rules.rule import RULES
from lab.model.wording import in_a_line

MOST_CHARACTERS, MOST_LINES = 1 << 16, 2000
"""Size of the longest text that the page reads; the commands read longer ones."""

CPUS = 4
"""CPUs of a server, which `%k` stands for: a browser counts one."""

COMMAND = "command"
"""The kind of a text that is a command."""

PROCFILE, DOCKERFILE = "Procfile", "Dockerfile"

MANIFESTS = {
    "render.yaml": r"[ \t-]+(?:start|docker)Command[ \t]*:",
    "kubernetes.yaml": r"apiVersion[ \t]*:",
    "compose.yaml": r"services[ \t]*:",
}
"""Name of a file in YAML that starts servers -> pattern of the beginning of one of its lines."""

KINDS = (
    *("uwsgi.ini", "uwsgi.yaml", "uwsgi.xml", "uwsgi.json"),
    *(
        "gunicorn.conf.py",
        "hypercorn.toml",
        DOCKERFILE,
        PROCFILE,
        "start.sh",
        *MANIFESTS,
        "app.service",
        COMMAND,
    ),
)
"""Names under which a text is read."""

SEVERAL = "starts several servers: paste the command of one of them"
ADVICE = {"name the command in quotes": "paste the command that starts the server"}
"""What a command advises -> what to do in the page."""

BEGINNINGS = {
    r"FROM\s": DOCKERFILE,
    r"\[\s*\"": COMMAND,
    r"\[(?:Unit|Service|Install)\]": "app.service",
    r"\[": "uwsgi.ini",
    "<": "uwsgi.xml",
    r"\{": "uwsgi.json",
    r"(?:uwsgi\s*:|---)\s*$": "uwsgi.yaml",
}
"""Pattern of a text's first line without its comments -> kind."""

PYTHON = re.compile(r"^(?:import|from|def|class|if|for|try)\b", re.MULTILINE)
OPTION = re.compile(r"^[ \t]*([\w-]+)[ \t]*=", re.MULTILINE)


class Question(NamedTuple):
    """A text, and how it is to be read."""

    text: str
    kind: str
    """One of `KINDS`."""

    container: bool
    """Whether the server runs in a container."""

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Question:
        """Return the question of a request, with its kind guessed where the request has none."""
        text = request["text"].replace("\r\n", "\n")
        kind = request.get("kind") or kind_of(text)
        return cls(text, kind, bool(request.get("container")))

    @property
    def name(self) -> str:
        """The name by which the commands take it."""
        return self.text.strip("\n ") if self.kind == COMMAND else self.kind

    @property
    def known(self) -> Known:
        """What is known besides: the text, and nothing outside of the current folder."""
        overlay = {} if self.kind == COMMAND else {Path(self.kind): self.text}
        return Known(overlay=overlay, cpus=CPUS, pasted=True).for_files(trusted=False)

    @property
    def names(self) -> Sequence[str]:
        """The names of the configurations in the text: of a Procfile one for each server."""
        starts = start_names(Path(self.name), self.known) if self.kind != COMMAND else ()
        return starts or (self.name,)

    def linted(self, **how: Any) -> list[LintResult]:
        """Return what is wrong with each configuration in the text."""
        return [lint(name, self.known, container=self.container, **how) for name in self.names]

    def read(self, commands: Collection[str], *, strict: bool = True) -> Config:
        """
        Return the only configuration in the text.

        Raises:
            LabError: There are several, or it cannot be read.
        """
        if len(self.names) > 1:
            raise ProfileError(self.name, SEVERAL)
        known, container = self.known, self.container
        return read(self.name, known, commands=commands, container=container, strict=strict)


def kind_of(text: str) -> str:
    r"""
    Return what a text most likely is, one of `KINDS`.

    >>> [kind_of(text) for text in ("[uwsgi]", "workers = 4", "master = true", "uwsgi:\n  a: b")]
    ['uwsgi.ini', 'gunicorn.conf.py', 'uwsgi.ini', 'uwsgi.yaml']
    >>> kind_of("gunicorn -w 4 \\\n  shop:app"), kind_of("web: gunicorn shop:app")
    ('command', 'Procfile')
    """
    if text.startswith("#!"):
        return "start.sh"
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith(("#", ";"))), "")
    for kind, pattern in MANIFESTS.items():
        if re.search(f"^{pattern}", text, re.MULTILINE):
            return kind
    for pattern, kind in BEGINNINGS.items():
        if re.match(pattern, first):
            return kind
    if start_names(Path(PROCFILE), Known(overlay={Path(PROCFILE): text})):
        return PROCFILE
    if servers.of_command(first.rstrip("\\").split()):
        return COMMAND
    if PYTHON.search(text):
        return "gunicorn.conf.py"
    names = set(OPTION.findall(text))
    kinds = {"gunicorn": "gunicorn.conf.py", "uwsgi": "uwsgi.ini", "hypercorn": "hypercorn.toml"}
    known = {program: len(names & TRANSLATABLE[program].options().keys()) for program in kinds}
    return kinds[max(known, key=lambda program: known[program])]


def answered(request: str) -> str:
    """
    Return the answer to a request, as one JSON object; an error of one part stands in that part.

    Args:
        request: A JSON object with `text`, and perhaps `kind`, `container`, and `parts` (names of
            `PARTS`; all without it).
    """
    wanted = json.loads(request)
    question = Question.of(wanted)
    answer: dict[str, Any] = {"kind": question.kind}
    gc.disable()  # nothing is made here that only it could remove, and it takes half the time
    try:
        for name in wanted.get("parts") or PARTS:
            answer[name] = _part(PARTS[name], question)
    finally:
        gc.enable()
    return json.dumps(answer)


def _part(of: Callable[[Question], Any], question: Question) -> Any:
    try:
        return of(question)
    except LabError as error:
        problem = str(error)
        if question.kind == COMMAND:  # which is the name of what the error is about
            problem = problem.replace(in_a_line(question.name), "This command")
        for command, page in ADVICE.items():
            problem = problem.replace(command, page)
        return {"error": problem, "line": getattr(error, "line", None) or 0}


def _findings(question: Question) -> Mapping[str, Any]:
    """Return what `lab lint --all --format json` prints, and how many findings there are."""
    located = ordered(
        LocatedFlaw(flaw, result.line(flaw))
        for result in question.linted()
        for flaw in result.flaws
    )
    return {"list": json.loads(as_json(located)), "tally": tally(located)}


def _missing(question: Question) -> Mapping[str, Any]:
    """Return what `lab tune --dry-run --format json` prints, without what it would try."""
    config = question.read(EDITABLE)
    lacking = missing(config)
    return {
        **json.loads(missing_as_json(lacking)),
        "answer": f"{missing_in_a_sentence(lacking)} {UNMEASURED}",
        "place": place_of_block(config),
    }


def _translations(question: Question) -> Mapping[str, Any]:
    """Return what `lab migrate --format json` prints for each server that the text is not for."""
    config = question.read(tuple(TRANSLATABLE), strict=False)
    before = servers.of_config(config).program
    others = (program for program in TRANSLATABLE if program != before)
    return {to: _part(partial(_translation, to=to), question) for to in others}


def _translation(question: Question, to: str) -> Any:
    (name,) = question.names
    return json.loads(migration_as_json(migrated(name, to, {}, known=question.known)))


PARTS: Mapping[str, Callable[[Question], Any]] = {
    "findings": _findings,
    "missing": _missing,
    "translations": _translations,
}
"""Name of a part of an answer -> what makes it."""


def fixed(request: str) -> str:
    """
    Return a text with fixes, as a JSON object with `text`.

    Args:
        request: As in `answered`, with `finding`, the finding whose fix is applied, as `answered`
            has it; without it all safe fixes are applied.

    Raises:
        LabError: The text cannot be read.
    """
    wanted = json.loads(request)
    question = Question.of(wanted)
    finding = wanted.get("finding")
    results = question.linted(fixes="" if finding else "safe")
    texts = (_text(result, finding) for result in results)
    return json.dumps({"text": next(filter(None, texts), question.text)})


def _text(result: LintResult, finding: Mapping[str, Any] | None) -> str:
    """Return the text of a configuration with its fixes; empty without any."""
    config = result.config
    if finding is None:
        return config.texts[config.file] if result.before else ""
    place = finding["code"], finding["line"], finding["column"]
    fixes = [
        flaw.fix.edits
        for flaw in result.flaws
        if flaw.fix and (flaw.code, max(1, flaw.spot.line), max(1, flaw.spot.column)) == place
    ]
    return applied(config.texts, fixes[:1])[config.file] if fixes else ""


def warm() -> None:
    """Read the tables of all servers, so that the first answer takes no longer than the next."""
    for text in ("[uwsgi]\nhttp = :80\n", "workers = 1\n", "granian shop:app"):
        answered(json.dumps({"text": text}))
    gc.collect()
    gc.freeze()  # what is imported stays, and need not be looked at again


def rules() -> Mapping[str, Any]:
    """
    Return what `lab lint --explain` prints of each rule, by its code, and what the page can try.

    `tries` lists with which values of `container` the rule finds its `text`: empty if it needs to
    know more, as the kernel's limits.
    """
    return {
        code: {
            "title": rule.title,
            "severity": rule.severity,
            "sentences": [*sentences(rule)],
            "examples": [*examples(rule), ("Not a finding", rule.near_miss)],
            "text": whole(code, rule.bad),
            "tries": [inside for inside in (False, True) if _finds(code, rule.bad, inside=inside)],
        }
        for code, rule in sorted(RULES.items())
    }


def _finds(code: str, text: str, *, inside: bool) -> bool:
    """Return whether the page finds what a rule is about in its example."""
    request = {"text": whole(code, text), "container": inside, "parts": ["findings"]}
    findings = json.loads(answered(json.dumps(request)))["findings"].get("list", ())
    return any(finding["code"] == code for finding in findings)
