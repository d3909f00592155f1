"""A YAML file as mappings, lists, and texts with their places. Tags have no meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Union

from lab.config.files import DEEPEST
from lab.config.line import SourceFile
from lab.config.templates import CONTROL
from lab.errors import ProfileError


class Scalar(NamedTuple):
    """A text that stands between two offsets of its file."""

    value: str
    begins: int
    ends: int


Node = Union[Scalar, "list[Node]", "dict[str, Node]"]

EMPTY = Scalar("", 0, 0)


def documents(file: SourceFile) -> list[Node]:
    """
    Return the documents of a file; an alias is the same node as its anchor.

    Raises:
        ProfileError: It is no YAML, or nests too deeply.
    """
    import yaml  # noqa: PLC0415 - slow, and for YAML alone

    tree = _Tree(file)
    try:
        for event in yaml.parse(file.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            tree.take(event)
    except UnicodeError:
        raise ProfileError(file.path, "is not UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = f"is not YAML: {getattr(error, 'problem', None) or error}"
        if sign := CONTROL.search(file.text):
            problem = f"is a template, because it has {sign[1]!r}: give what is rendered from it"
        raise ProfileError(file.path, problem, mark and mark.line + 1) from None
    return tree.documents


class _Tree:
    """The nodes of a file while its events pass."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.documents: list[Node] = []
        self._anchors: dict[str, Node] = {}
        self._open: list[tuple[Node, str | None]] = []
        """The collections that are open, each with the key that waits for its value."""

    def take(self, event: Any) -> None:
        """
        Take an event of the parser.

        Raises:
            ProfileError: The file nests too deeply.
        """
        kind = type(event).__name__
        if kind == "DocumentStartEvent":
            self._anchors = {}
        elif kind == "AliasEvent":
            self._put(self._anchors.get(event.anchor, EMPTY))
        elif kind == "ScalarEvent":
            marks = (event.start_mark, event.end_mark)
            begins, ends = (self.file.offset(mark.line + 1, mark.column + 1) for mark in marks)
            self._begin(Scalar(event.value, begins, ends), event)
        elif kind in {"MappingStartEvent", "SequenceStartEvent"}:
            node: Node = {} if kind == "MappingStartEvent" else []
            self._begin(node, event)
            self._open.append((node, None))
            if len(self._open) > DEEPEST:
                problem = f"nests more than {DEEPEST} deep, so lab does not read it"
                raise ProfileError(self.file.path, problem, event.start_mark.line + 1)
        elif kind in {"MappingEndEvent", "SequenceEndEvent"}:
            self._open.pop()

    def _begin(self, node: Node, event: Any) -> None:
        if event.anchor:
            self._anchors[event.anchor] = node
        self._put(node)

    def _put(self, node: Node) -> None:
        """Put a node where it stands: it is a key, a value, an entry, or a document."""
        if not self._open:
            self.documents.append(node)
            return
        into, key = self._open[-1]
        if isinstance(into, list):
            into.append(node)
        elif isinstance(into, dict) and key is None:
            self._open[-1] = into, text(node)
        elif isinstance(into, dict) and key is not None:
            into[key] = node
            self._open[-1] = into, None


def mapping(node: Node | None) -> Mapping[str, Node]:
    """Return a mapping, with what it merges by `<<`; an empty one for any other node."""
    if not isinstance(node, dict):
        return {}
    merged: dict[str, Node] = {}
    others = node.get("<<")
    for other in others if isinstance(others, list) else [others]:
        if isinstance(other, dict):
            merged = {**other, **merged}
    return {**merged, **node}


def sequence(node: Node | None) -> list[Node]:
    """Return a list; an empty one for any other node."""
    return node if isinstance(node, list) else []


def text(node: Node | None) -> str:
    """Return a text; empty for any other node."""
    return node.value if isinstance(node, Scalar) else ""


def scalars(node: Node | None) -> list[Scalar]:
    """Return the texts of a list."""
    return [entry for entry in sequence(node) if isinstance(entry, Scalar)]
