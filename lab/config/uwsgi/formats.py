"""
What stands in the forms of uWSGI's configurations that are no inis: YAML, JSON and XML.

Each is read by a parser of that form, which builds no objects, follows no entity and opens no other
file. What is found is an option and its text, as from a line of an ini, and goes the same way.

Sources: uWSGI 2.0.31, core/yaml.c (the build with libyaml), core/json.c, core/xmlconf.c.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import PurePath
from typing import Any, NamedTuple
from xml.parsers import expat

from lab.config.files import DEEPEST, UnreadableError, check_nesting

UTF_8 = frozenset({"utf-8", "us-ascii", "ascii"})
"""Encodings that an XML file may name: the ones that need no other reader."""


class FormError(ValueError):
    """A file is not of its form, or says what is not read; with its line, from 1."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        self.line = line
        super().__init__(problem)


class NoSectionError(FormError):
    """A file has no section of uWSGI's."""


class Pair(NamedTuple):
    """One option as such a file has it."""

    name: str
    value: str
    line: int
    """From 1."""


def yaml_options(text: str, section: str) -> Iterator[Pair]:
    r"""
    Yield the options below a key of a YAML file; of a list one for each entry.

    Below that key uWSGI takes each pair for an option, however deep it stands. A mapping in braces
    it does not read.

    Raises:
        FormError: It is no YAML, or has an alias.

    >>> [(each.name, each.value) for each in yaml_options("uwsgi:\n  env: [A=1, B=2]", "uwsgi")]
    [('env', 'A=1'), ('env', 'B=2')]
    """
    lists: list[bool] = []  # whether each collection that is open is a list
    key: str | None = None
    inside = 0  # how many of them were open where the section began; 0 outside
    for kind, value, line in _yaml_events(text):
        in_list = bool(lists) and lists[-1]
        if len(lists) > DEEPEST:
            raise FormError("is nested too deeply", line)
        if kind in ("mapping", "mapping in braces"):
            lists.append(False)
            if key == section and len(lists) == 2 and kind == "mapping":
                inside = len(lists)
            key = None
        elif kind == "list":
            lists.append(True)
        elif kind == "end":
            inside = 0 if len(lists) == inside else inside
            lists.pop()
            key = None
        elif key is None and not in_list:
            key = value
        else:
            if inside and key is not None:
                yield Pair(key, value, line)
            key = key if in_list else None


def yaml_lines(text: str, section: str) -> Iterator[Pair]:
    r"""
    Yield the options of a file as a uWSGI without libyaml reads it, also of one that is no YAML.

    It knows lines `option: value` below a line `uwsgi:`, and ends at the first that is none.

    >>> [each.value for each in yaml_lines("uwsgi:\n  log-format: %(addr): %(uri) # x\n", "uwsgi")]
    ['%(addr): %(uri)']
    """
    inside = False
    for number, whole in enumerate(text.split("\n"), start=1):
        line = whole.partition("#")[0].rstrip(" \t\r")
        key = line.lstrip(" \t\r")
        if not key:
            continue
        if inside and (key == line or key[0] in "-[{"):
            return
        if not inside:
            inside = key == line and key.startswith(f"{section}:")
            continue
        name, *value = re.split(r":[ \t]", key, maxsplit=1)
        if not value:
            return
        yield Pair(name.rstrip(" \t"), value[0].strip(" \t\r"), number)


def _yaml_events(text: str) -> Iterator[tuple[str, str, int]]:
    """
    Yield what a parser of YAML sees, one thing after the other.

    Yields:
        Kind ("mapping", "mapping in braces", "list", "end", "scalar"), text of a scalar, line.
    """
    import yaml  # noqa: PLC0415 - slow, and for YAML alone

    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            line = 0 if event.start_mark is None else event.start_mark.line + 1
            if isinstance(event, yaml.AliasEvent):
                raise FormError("has an alias (*), which uWSGI does not read", line)
            if isinstance(event, yaml.MappingStartEvent):
                yield "mapping in braces" if event.flow_style else "mapping", "", line
            elif isinstance(event, yaml.SequenceStartEvent):
                yield "list", "", line
            elif isinstance(event, yaml.CollectionEndEvent):
                yield "end", "", line
            elif isinstance(event, yaml.ScalarEvent):
                yield "scalar", event.value, line
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise FormError(f"is not YAML: {problem}", mark and mark.line + 1) from None


def json_options(text: str, section: str) -> Iterator[Pair]:
    """
    Yield the options in an object of a JSON file; of a list one for each entry.

    Raises:
        FormError: It is no JSON, or has no such object.

    >>> list(json_options('{"uwsgi": {"master": true}}', "uwsgi"))
    [Pair(name='master', value='1', line=1)]
    """
    try:
        check_nesting(text)
    except UnreadableError as error:
        raise FormError(str(error), error.line) from None
    read = json.JSONDecoder(
        object_pairs_hook=_Pairs, parse_int=str, parse_float=str, parse_constant=str
    )
    try:
        whole = read.decode(text)
    except json.JSONDecodeError as error:
        raise FormError(f"is not JSON: {error.msg}", error.lineno) from None
    named = [value for key, value in whole if key == section] if isinstance(whole, _Pairs) else []
    if not named or not isinstance(named[-1], _Pairs):
        raise NoSectionError(f'has no object "{section}", so uWSGI does not start')
    at, line = 0, 1
    for key, value in named[-1]:
        # A key that is written by escapes is not looked for, nor is what follows it.
        position = text.find(json.dumps(key, ensure_ascii=False), at) if at >= 0 else -1
        line += text.count("\n", at, position) if position >= 0 else 0
        at = position + 1 if position >= 0 else -1
        for json_value in (
            value if isinstance(value, list) and not isinstance(value, _Pairs) else [value]
        ):
            if isinstance(json_value, str | bool | None):
                option_value = (
                    json_value if isinstance(json_value, str) else str(int(bool(json_value)))
                )
                yield Pair(key, option_value, line)


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON, with the keys that it has twice."""


def xml_options(text: str, section: str) -> Iterator[Pair]:
    """
    Yield the options in the element `uwsgi` of an XML file, without regard to namespaces.

    Args:
        text: The file.
        section: The `id` that is asked for; "uwsgi" for any.

    Raises:
        FormError: It is no XML, is not UTF-8, or has a document type, which could define entities.

    >>> [each.name for each in xml_options("<uwsgi><master/></uwsgi>", "uwsgi")]
    ['master']
    """
    reader = _Xml("" if section == "uwsgi" else section)
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.XmlDeclHandler = reader.declared
    parser.StartDoctypeDeclHandler = reader.refused
    parser.StartElementHandler = lambda name, attributes: reader.opened(
        name.rpartition(":")[2], attributes, parser.CurrentLineNumber
    )
    parser.EndElementHandler = lambda _: reader.closed()
    parser.CharacterDataHandler = reader.text
    parser.StartCdataSectionHandler = lambda: reader.block(parser.CurrentLineNumber)
    parser.EndCdataSectionHandler = reader.block_end
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise FormError(f"is not XML: {expat.ErrorString(error.code)}", error.lineno) from None
    if not reader.there:
        raise NoSectionError("has no element <uwsgi>, so uWSGI does not start")
    yield from reader.pairs


class _Xml:
    """The elements of an XML file while they pass."""

    def __init__(self, wanted: str) -> None:
        self.pairs: list[Pair] = []
        self.there = False
        self._wanted = wanted
        self._depth = 0
        self._options = 0  # depth of the elements that are options; 0 before the section
        self._open: tuple[str, int] | None = None
        self._app: str | None = None  # what stands before the application of <app>
        self._value: list[str] = []
        self._whole = True  # whether what passes is still the first text of the option

    def declared(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in UTF_8:
            raise FormError(f"declares the encoding {encoding}: save it as UTF-8", 1)

    def refused(self, *_doctype: object) -> None:
        raise FormError("has a document type (<!DOCTYPE), which lab does not read: leave it out")

    def opened(self, name: str, attributes: dict[str, str], line: int) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise FormError("is nested too deeply", line)
        mine = attributes.get("id") in (None, self._wanted) if self._wanted else True
        if not self.there and name == "uwsgi" and self._depth <= 2 and mine:
            self.there, self._options = True, self._depth + 1
        elif self._depth == self._options and mine:
            self._open, self._value, self._whole = (name, line), [], True
            mounted = attributes.get("mountpoint"), attributes.get("domain")
            self._app = None if name != "app" else _before(*mounted)
        elif self._open is not None:
            # What uWSGI takes of an <app> may stand in an element of it; of others the first text.
            blank = not "".join(self._value).strip()
            self._whole = self._app is not None and blank
            self._value = [] if self._whole else self._value

    def closed(self) -> None:
        if self._open is not None and self._depth == self._options:
            name, line = self._open
            value = "".join(self._value)
            if self._app is not None and value:
                self.pairs.append(Pair("mount", self._app + value, line))
            self.pairs.append(Pair(name, "" if name == "app" else value or "1", line))
            self._open = None
        elif self._open is not None:
            self._whole = False
        if self._depth == self._options - 1:
            self._options = 0
        self._depth -= 1

    def text(self, text: str) -> None:
        if self._open is not None and self._whole:
            self._value.append(text)

    def block(self, line: int) -> None:
        """Begin a CDATA section, which is code where it stands among the options."""
        if self._open is None and self._options and self._depth == self._options - 1:
            self._open, self._app, self._value, self._whole = ("eval", line), None, [], True

    def block_end(self) -> None:
        if self._open is not None and self._depth == self._options - 1:
            self.pairs.append(Pair("eval", "".join(self._value), self._open[1]))
            self._open = None


def _before(mountpoint: str | None, domain: str | None) -> str:
    if mountpoint is not None:
        return f"{mountpoint}="
    return "" if domain is None else f"{domain}|="


FOREIGN = re.compile(
    r"^[ \t]*\[(?:program|group|eventlistener|supervisor\w*):?.*\]"
    r"|^(?:apiVersion|kind|suite|tests):",
    re.MULTILINE,
)
"""Sections of Supervisor's, and keys of Kubernetes' and of Helm's tests."""

KEYS = re.compile(
    r"""(?:^[ \t-]*|[{,][ \t]*)["']?([A-Za-z][\w-]*)["']?[ \t]*:(?=\s)"""
    r"""|"([A-Za-z][\w-]*)"\s*:|<([A-Za-z][\w-]*)""",
    re.MULTILINE,
)
"""Names in a YAML, JSON or XML file."""


def is_foreign(text: str, path: PurePath, options: Collection[str]) -> bool:
    r"""
    Return whether a file without a section of uWSGI's is plainly another program's.

    So it is if fewer than half of the names in it are uWSGI's *options*; of an ini the sections
    tell.

    >>> is_foreign("services:\n  web:\n    image: shop\n", PurePath("compose.yaml"), {"master"})
    True
    >>> is_foreign("shop:\n  master: true\n", PurePath("shop.yaml"), {"master"})
    False
    """
    if FOREIGN.search(text):
        return True
    if path.suffix not in FORMS:
        return False
    names = {next(filter(None, match.groups())) for match in KEYS.finditer(text)}
    return "uwsgi" not in names and len(names & {*options}) * 2 < len(names)


FORMS: dict[str, Callable[[str, str], Iterator[Pair]]] = {
    ".yaml": yaml_options,
    ".yml": yaml_options,
    ".json": json_options,
    ".js": json_options,
    ".xml": xml_options,
}
"""How the name of a file ends -> what reads it."""

LOADS = {
    "uwsgi_opt_load_yml": yaml_options,
    "uwsgi_opt_load_json": json_options,
    "uwsgi_opt_load_xml": xml_options,
}
"""Function of an option that loads such a file, whatever its name is -> what reads it."""


def _whole(pair: Pair) -> Pair:
    """Return an option; raise FormError if an escape of JSON's made half of a character in it."""
    if re.search("[\ud800-\udfff]", pair.name + pair.value):
        raise FormError("has half of a surrogate pair: write the whole character", pair.line)
    return pair


def options(
    text: str, section: str, reader: Callable[[str, str], Iterator[Pair]]
) -> tuple[tuple[Pair, ...], str]:
    """
    Return the options of a file, and why a uWSGI may read it otherwise; empty where it does not.

    Args:
        text: What stands in it, what is no UTF-8 as surrogates.
        section: The one that is asked for.
        reader: One of `FORMS`.

    Raises:
        FormError: It is no UTF-8, or not of its form.
    """
    if match := re.search("[\ud800-\udfff]", text):
        line = text.count("\n", 0, match.start()) + 1
        raise FormError("is not UTF-8: save it as UTF-8", line)
    try:
        return tuple(map(_whole, reader(text, section))), ""
    except FormError as error:
        lines = tuple(yaml_lines(text, section)) if reader is yaml_options else ()
        if not lines:
            raise
        where = f"line {error.line} " if error.line else "it "
        return lines, f"{where}{error}, and only a uWSGI without libyaml reads on"
