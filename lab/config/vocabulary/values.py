"""Values of options, with what only the machine knows that will serve: variables, and its CPUs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from lab.config.configuration import Config
from lab.config.spot import Setting
from lab.config.words import LITERAL, with_literals

SHELL = re.compile(r"\$\{([A-Za-z_]\w*)(?::?[-=]([^}]*))?\}|\$([A-Za-z_]\w*)", re.ASCII)
NPROC = re.compile(r"\$\(nproc( --all)?\)")
INI = re.compile(r"\$\(([A-Za-z_]\w*)\)", re.ASCII)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
WORD = re.compile(r"[^\s*?\[\]$'\"\\{}`]+")
OF_CPUS = re.compile(r"%\((?:(\d+) +([*+]) +)?%k((?: +[*+] +\d+)*)\)")
"""A sum or a product of an ini: uWSGI computes from the left, and splits it at spaces alone."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable of the machine that serves."""

    name: str
    default: str | None = None
    times: int = 1
    empty: bool = False
    """Whether the default holds for an empty one, too."""


@dataclass(frozen=True, slots=True)
class Cpus:
    """The number of its CPUs, times a number, plus a number."""

    times: int = 1
    plus: int = 0


@dataclass(frozen=True, slots=True)
class Expression:
    """A value: pieces of text, variables, and numbers of CPUs."""

    parts: tuple[str | Variable | Cpus, ...]

    @classmethod
    def of(cls, text: str) -> Expression:
        """Return the value that is nothing but a text."""
        return cls((text,))

    @property
    def text(self) -> str | None:
        """The text, None where the machine decides."""
        whole = all(isinstance(part, str) for part in self.parts)
        return "".join(map(str, self.parts)) if whole else None

    @property
    def number(self) -> int | None:
        """The whole number that it is; None where it is none, or the machine decides."""
        match = re.fullmatch(r"\s*(\d{1,15})(?:\.0*)?\s*", self.text or "")
        return int(match[1]) if match else None

    def with_values(self, environ: Mapping[str, str]) -> Expression:
        """Return it with the values of the variables that are known."""
        parts = tuple(_with_value(part, environ) for part in self.parts)
        return Expression(parts) if parts != self.parts else self

    @property
    def multiplies(self) -> bool:
        """Whether a variable of it is multiplied."""
        return any(isinstance(part, Variable) and part.times != 1 for part in self.parts)

    @property
    def in_seconds(self) -> Expression:
        """The same number of milliseconds in whole seconds, one at the least."""
        return self if self.number is None else Expression.of(str(max(1, self.number // 1000)))

    def times(self, factor: int) -> Expression:
        """Return a number in a unit that is so many times smaller."""
        if self.number is not None:
            return Expression.of(str(self.number * factor))
        return Expression(tuple(_times(part, factor) for part in self.parts))

    def within(self, least: int, most: int) -> Expression:
        """Return a number, or the bound that it is beyond; a bound of 0 is none."""
        if self.number is None:
            return self
        bounded = max(least, self.number)
        return Expression.of(str(min(bounded, most) if most else bounded))

    def __str__(self) -> str:
        """Return it for a reader, as in $PORT."""
        return "".join(_for_reader(part) for part in self.parts)


def _for_reader(part: str | Variable | Cpus) -> str:
    if isinstance(part, Variable):
        return f"${part.name}" + (f" x {part.times:,}" if part.times != 1 else "")
    if isinstance(part, Cpus):
        times = f" x {part.times}" if part.times != 1 else ""
        return f"CPUs{times}" + (f" + {part.plus}" if part.plus else "")
    return part


def _with_value(part: str | Variable | Cpus, environ: Mapping[str, str]) -> str | Variable | Cpus:
    if not isinstance(part, Variable) or part.name not in environ:
        return part
    value = environ[part.name]
    if part.empty and not value and part.default is not None:
        value = part.default
    if part.times == 1:
        return value
    number = Expression.of(value).number
    return part if number is None else str(number * part.times)


def _times(part: str | Variable | Cpus, factor: int) -> str | Variable | Cpus:
    if isinstance(part, Variable):
        return replace(part, times=part.times * factor)
    return part


def _split(text: str, pattern: re.Pattern[str]) -> Iterator[str | Variable]:
    at = 0
    for match in pattern.finditer(text):
        if match.start() > at:
            yield text[at : match.start()]
        groups = match.groups()
        default = groups[1] if len(groups) > 1 else None
        empty = default is not None and match[0].startswith(f"${{{groups[0]}:")
        yield Variable(groups[0] or groups[-1], default, empty=empty)
        at = match.end()
    if at < len(text) or not text:
        yield text[at:]


def of_shell(setting: Setting) -> Expression:
    """Return what stands in a command: variables, `$(nproc)`; in single quotes it is a text."""
    text = setting.value if setting.raw == setting.value else with_literals(setting.raw)
    if NPROC.fullmatch(text):
        return Expression((Cpus(),))
    parts = _split(text, SHELL)
    return Expression(tuple(map(_with_dollars, parts)))


def is_of_variables(raw: str) -> bool:
    """Return whether a word has nothing for a shell to compute but what `of_shell` reads."""
    text = with_literals(raw)
    defaults = (match[2] or "" for match in SHELL.finditer(text))
    plain = "$" not in SHELL.sub("", text) and not any("$" in default for default in defaults)
    return plain or NPROC.fullmatch(text) is not None


def words_in(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables whose values a shell leaves as they are: it splits the others."""
    return {name: value for name, value in environ.items() if WORD.fullmatch(value)}


def _with_dollars(part: str | Variable) -> str | Variable:
    if isinstance(part, str):
        return part.replace(LITERAL, "$")
    default = part.default
    return part if default is None else replace(part, default=default.replace(LITERAL, "$"))


def of_ini(setting: Setting, config: Config) -> Expression:
    """Return what stands in an ini: placeholders are replaced, variables that are unknown stay."""
    cpus = _cpus(_expanded(setting.raw, config).strip())
    return Expression((cpus,) if cpus else tuple(_split(setting.value, INI)))


def counts_cpus_here(setting: Setting, config: Config) -> bool:
    """Return whether a value has this machine's number of CPUs, as `of_ini` does not read it."""
    written = _expanded(setting.raw, config)
    return re.search("(?<!%)(?:%%)*%k", written) is not None and _cpus(written.strip()) is None


def _cpus(written: str) -> Cpus | None:
    """
    Return what an ini computes from its number of CPUs; None: it is none, or not understood.

    >>> _cpus("%(%k + 1 * 2)")
    Cpus(times=2, plus=2)
    """
    if written == "%k":
        return Cpus()
    match = OF_CPUS.fullmatch(written)
    if match is None:
        return None
    first, sign, others = match.groups()
    steps = [(sign, int(first))] if first else []
    steps += [(sign, int(number)) for sign, number in re.findall(r"([*+]) +(\d+)", others)]
    cpus = Cpus()
    for sign, number in steps:
        added, factor = (number, 1) if sign == "+" else (0, number)
        cpus = Cpus(cpus.times * factor, cpus.plus * factor + added)
    return cpus if cpus.times else None


def _expanded(raw: str, config: Config) -> str:
    """Return *raw* with each %(name) in it as it is written where that is set."""
    for _ in range(20):
        match = re.search(r"%\(([\w.-]+)\)", raw)
        setting = config.first(match[1]) if match else None
        if match is None or setting is None or setting.raw == raw:
            break
        raw = raw[: match.start()] + setting.raw + raw[match.end() :]
    return raw


def of_python(source: str) -> Expression | None:
    """
    Return what an expression of Python's is, as far as it is a value that others can be told.

    >>> print(of_python("int(os.getenv('N', '2'))"), of_python("cpu_count() * 2 + 1"), sep=", ")
    $N, CPUs x 2 + 1
    """
    try:
        node = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _python(node)


def of_list(source: str) -> list[tuple[str, Expression | None]]:
    """
    Return the entries of a list of Python's, each as it is written and as a value, None of what
    only running it would tell; nothing of what is no list.

    >>> [(text, str(value)) for text, value in of_list("['A=1', secret()]")]
    [("'A=1'", 'A=1'), ('secret()', 'None')]
    """
    try:
        node = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    entries = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return [(ast.unparse(entry), _python(entry)) for entry in entries]


def _python(node: ast.expr) -> Expression | None:
    match node:
        case ast.Constant(value=str() | int() | float() as value):
            return Expression.of(str(value))
        case ast.Call(func=ast.Name(id="int" | "str"), args=[inner]):
            return _python(inner)
        case ast.JoinedStr(values=values):
            parts = [_python(value) for value in values]
            known = [part.parts for part in parts if part is not None]
            return Expression(sum(known, ())) if len(known) == len(parts) else None
        case ast.FormattedValue(value=value):
            return _python(value)
        case ast.BoolOp(op=ast.Or(), values=[first, ast.Constant(value=other)]):
            is_text = isinstance(other, str | int | float) and not isinstance(other, bool)
            return _with_default(_python(first), str(other)) if is_text else None
        case ast.Subscript(value=value, slice=ast.Constant(value=str(name))):
            named = _is(value, "environ") and NAME.fullmatch(name)
            return Expression((Variable(name),)) if named else None
        case ast.Call(func=func, args=[ast.Constant(value=str(name)), *rest]):
            default = [str(node.value) for node in rest if isinstance(node, ast.Constant)]
            is_written = len(default) == len(rest)
            named = is_written and _is(func, "getenv", "get") and NAME.fullmatch(name)
            variable = Variable(name, default[0] if default else None)
            return Expression((variable,)) if named else None
        case ast.Call(func=func, args=[]) if _is(func, "cpu_count", "process_cpu_count"):
            return Expression((Cpus(),))
        case ast.BinOp(left=left, op=ast.Mult() | ast.Add() as op, right=right):
            adds = isinstance(op, ast.Add) and (_is_number(left) or _is_number(right))
            return _combined(_python(left), op, _python(right), adds=adds)
    return None


def _is(node: ast.expr, *names: str) -> bool:
    """Return whether *node* is a name, or an attribute of one, that is called so."""
    return (isinstance(node, ast.Attribute) and node.attr in names) or (
        isinstance(node, ast.Name) and node.id in names
    )


def _with_default(value: Expression | None, default: str) -> Expression | None:
    match value:
        case Expression(parts=(Variable() as variable,)):
            return Expression((replace(variable, default=default, empty=True),))
    return None


def _is_number(node: ast.expr) -> bool:
    """Return whether a term of a sum is a number, so that it is no part of a text."""
    match node:
        case ast.BinOp(left=left, right=right):
            return _is_number(left) or _is_number(right)
        case ast.Call(func=ast.Name(id="int")):
            return True
    return isinstance(node, ast.Constant) and not isinstance(node.value, str)


def _combined(
    one: Expression | None, op: ast.operator, other: Expression | None, *, adds: bool
) -> Expression | None:
    if one is None or other is None:
        return None
    is_text = isinstance(op, ast.Add) and not adds and None in {one.number, other.number}
    joined = Expression((*one.parts, *other.parts)) if is_text else None
    if one.number is not None:
        one, other = other, one
    number = other.number
    match one.parts:
        case (Cpus() as cpus,) if number is not None:
            if isinstance(op, ast.Add):
                return Expression((replace(cpus, plus=cpus.plus + number),))
            return Expression((Cpus(cpus.times * number, cpus.plus * number),))
        case (Variable() as variable,) if number is not None and isinstance(op, ast.Mult):
            return Expression((replace(variable, times=variable.times * number),))
    return joined


def mask_of(text: str) -> int | None:
    """Return a mask of permissions as a number: also 0117 is octal."""
    try:
        return int(re.sub("^0(?=[0-7])", "0o", text), 0)
    except ValueError:
        return None
