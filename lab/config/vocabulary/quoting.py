"""
The edge of each language that is written: here alone a value becomes a piece of a file.

An edge spells a value so that its language yields exactly that text. Where it cannot, or where the
language would evaluate what stands there, `refused_by_*` says why, and the edge itself raises
ValueError: nothing gets past it.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator

from lab.config.vocabulary.values import NAME, Cpus, Expression, Variable
from lab.model.wording import in_a_line

NOT_COPIED = "the value contains a line end or a command, which lab does not copy: write it anew"

NUL = "the value contains a NUL, at which the operating system ends a string: write it without"

UNSEEN = (
    "the value contains an invisible character or is not UTF-8, and lab does not copy that: write "
    "it anew"
)

DIGITS = re.compile("0|[1-9][0-9]{0,8}")
"""Numbers that every shell computes alike: no octal ones, and none beyond its range."""

SHELLS_OWN = re.compile(
    "CPUS|PATH|IFS|ENV|_|OPT(?:IND|ARG|ERR)|E?UID|PPID|GROUPS|S?RANDOM|SECONDS|LINENO|HISTCMD"
    "|EPOCH(?:SECONDS|REALTIME)|DIRSTACK|FUNCNAME|PIPESTATUS|SHELLOPTS|POSIXLY_CORRECT"
    "|(?:EXEC|GLOB)IGNORE|PS4|SHLVL|COMP_WORDBREAKS|BASH.*|LD_.*|DYLD_.*"
)
"""
Variables that no file sets which a shell reads: it finds programs by them, computes what it is
given (`SECONDS` in bash), or refuses to change them. `CPUS` is the script's.
"""


def _texts(value: Expression) -> Iterator[str]:
    """Yield the texts of a value as a whole, with a blank for each variable, and its defaults."""
    yield "".join(part if isinstance(part, str) else " " for part in value.parts)
    for part in value.parts:
        if isinstance(part, Variable) and part.default is not None:
            yield part.default


def _refused(value: Expression, *, number: bool) -> str:
    """Return why no language gets a value, such as what its source would have evaluated."""
    texts = list(_texts(value))
    if any("\0" in text for text in texts):
        return NUL
    if any(re.search(r"[\x00-\x1f\x7f]|[@$]\(|`", text) for text in texts):
        return NOT_COPIED
    for part in value.parts:
        if not isinstance(part, Variable):
            continue
        if part.times != 1 and not number:
            return f"${part.name} is multiplied, and its value is not a number: write the value"
        if number and part.default is not None and not DIGITS.fullmatch(part.default):
            return f"the default of ${part.name} is not a whole number: write one in digits"
    return ""


def _check(reason: str) -> None:
    if reason:
        raise ValueError(reason)


# -- Python ----------------------------------------------------------------------------------------


def refused_by_python(value: Expression, *, number: bool = False) -> str:
    """Return why a file of Python's cannot have a value; empty where it can."""
    return _refused(value, number=number)


def as_python(value: Expression, *, number: bool) -> str:
    """Return a value as an expression of Python's, which needs `os` and `cpus()`."""
    _check(refused_by_python(value, number=number))
    if value.text is not None:
        return str(value.number) if number and value.number is not None else _quoted(value.text)
    if number and len(value.parts) == 1:
        return _as_number(value.parts[0])
    text = " + ".join(_as_text(part) for part in value.parts)
    return f"int({text})" if number else text


def _as_number(part: str | Variable | Cpus) -> str:
    if isinstance(part, Cpus):
        times = f" * {part.times}" * (part.times != 1)
        return "cpus()" + times + f" + {part.plus}" * bool(part.plus)
    times = f" * {part.times}" if isinstance(part, Variable) and part.times != 1 else ""
    return f"int({_as_text(part)}){times}"


def _as_text(part: str | Variable | Cpus) -> str:
    if isinstance(part, str):
        return _quoted(part)
    if isinstance(part, Cpus):
        return f"str({_as_number(part)})"
    if part.times != 1:
        return f"str({_as_number(part)})"
    if part.default is None:
        return f"os.environ[{_quoted(part.name)}]"
    if part.empty:
        return f"(os.environ.get({_quoted(part.name)}) or {_quoted(part.default)})"
    return f"os.environ.get({_quoted(part.name)}, {_quoted(part.default)})"


def _quoted(text: str) -> str:
    """Return a text as Python writes it, in double quotes where all of it can be printed."""
    return json.dumps(text, ensure_ascii=False) if text.isprintable() else repr(text)


def python_comment(text: str) -> str:
    """Return a comment; one that says `coding:` would name the encoding of the file (PEP 263)."""
    return "# " + re.sub("coding(?=[:=])", "coding ", in_a_line(text))


# -- the shell, and the file of variables that it reads --------------------------------------------


def refused_by_shell(value: Expression, *, number: bool = False) -> str:
    """Return why a script, or the file of its variables, cannot have a value; empty: it can."""
    if reason := _refused(value, number=number):
        return reason
    if any(in_a_line(text) != text for text in _texts(value)):
        return UNSEEN
    for part in value.parts:
        if isinstance(part, Variable) and (reason := refused_name(part.name)):
            return reason
        # Of quotes and braces within ${NAME:-...} one shell makes this, and the next one that.
        if isinstance(part, Variable) and re.search(r"""["'$\\{}]""", part.default or ""):
            return f"the default of ${part.name} has a character of the shell's: set ${part.name}"
    return ""


def refused_name(name: str) -> str:
    """Return why a script cannot set or read an environment variable; empty where it can."""
    if SHELLS_OWN.fullmatch(name):
        return f"a shell or the loader uses {name}: set it where you start the service"
    return ""


def as_shell(value: Expression) -> str:
    """
    Return a value as a word of a shell's.

    It needs $CPUS where a number of CPUs is meant, and `guards` above where it computes.
    """
    _check(refused_by_shell(value, number=value.multiplies))
    if value.text is not None:
        return shlex.quote(value.text)
    return '"' + "".join(_as_shell(part) for part in value.parts) + '"'


def _as_shell(part: str | Variable | Cpus) -> str:
    if isinstance(part, Cpus):
        plus = f" + {part.plus}" if part.plus else ""
        return f"$((CPUS * {part.times}{plus}))" if part != Cpus() else "$CPUS"
    if isinstance(part, Variable):
        return f"$(({_read(part)} * {part.times}))" if part.times != 1 else _read(part)
    return re.sub(r'(["$`\\])', r"\\\1", part)


def _read(variable: Variable) -> str:
    mark = ":-" if variable.empty else "-"
    default = "" if variable.default is None else f"{mark}{variable.default}"
    return f"${{{variable.name}{default}}}"


def assignment(name: str, value: Expression) -> str:
    """Return the line of a file of variables that sets one."""
    _check(
        refused_name(name)
        or ("" if NAME.fullmatch(name) else f"{name}: not the name of a variable")
    )
    return f"{name}={as_shell(value)}"


def guards(values: Iterable[Expression]) -> str:
    """
    Return lines that stop a script before it computes with a variable that is no number.

    A shell evaluates what it computes with: of a[$(command)] bash runs the command. Digits are
    written out, as a range of them holds others in some locales.
    """
    parts = (part for value in values for part in value.parts)
    computed = [part for part in parts if isinstance(part, Variable) and part.times != 1]
    return "".join(
        f"case \"{_read(part)}\" in '' | *[!0123456789]* | 0?* | ??????????*)\n"
        f'    echo "{part.name} must be a whole number of at most 9 digits: set it" >&2\n'
        f"    exit 1 ;;\nesac\n"
        for part in dict.fromkeys(computed)
    )


def shell_comment(text: str) -> str:
    """Return a comment."""
    return f"# {in_a_line(text)}"


def shell_file(name: str) -> str:
    """Return the name of a file as a word of a command, and no option of it."""
    return shlex.quote(f"./{name}" if name.startswith("-") else name)


# -- an ini of uWSGI's -----------------------------------------------------------------------------

SAID = Variable("_")
"""What the condition above a line found in the environment."""


def refused_by_ini(value: Expression, *, number: bool = False) -> str:
    """Return why an ini cannot have a value; empty where it can."""
    if reason := _refused(value, number=number):
        return reason
    if any(in_a_line(text) != text for text in _texts(value)):
        return UNSEEN
    variables = [part for part in value.parts if isinstance(part, Variable)]
    if any(part.times != 1 for part in variables):
        return "an ini cannot multiply a variable: set the product as a variable"
    if sum(part.default is not None for part in variables) > 1:
        return "an ini can have a default for one variable in a value: write the others"
    # uWSGI replaces $(), @() and %() one after the other, also in what it has put in.
    for variable in "@", "(", "a":
        for default in (True, False):
            text = _with(value, variable, default=default)
            if re.search(r"[@$%]\(", text):
                return "uWSGI would replace a part of the value: write it without @(, $( and %("
            if text != text.strip():
                return "uWSGI removes the spaces around the value: write it without"
    return ""


def _with(value: Expression, variable: str, *, default: bool) -> str:
    def of(part: str | Variable | Cpus) -> str:
        if isinstance(part, Variable) and part.default is not None and default:
            return part.default
        return part if isinstance(part, str) else variable

    return "".join(map(of, value.parts))


def ini_lines(option: str, value: Expression) -> list[str]:
    """
    Return the lines of an ini that set an option; one without a default is one line.

    >>> ini_lines("workers", Expression((Variable("N", "4"),)))[:3]
    ['if-env = N', 'workers = %(_)', 'endif =']
    """
    _check(refused_by_ini(value))
    variables = (part for part in value.parts if isinstance(part, Variable) and part.default)
    variable = next(variables, None)
    if variable is None:
        return [f"{option} = {''.join(_as_ini(part) for part in value.parts)}"]

    def with_it(instead: str | Variable) -> str:
        parts = (_as_ini(instead if part is variable else part) for part in value.parts)
        return f"{option} = {''.join(parts)}"

    there = [f"if-env = {variable.name}", with_it(SAID), "endif ="]
    absent = [f"if-not-env = {variable.name}", with_it(variable.default or ""), "endif ="]
    return there + absent


def _as_ini(part: str | Variable | Cpus) -> str:
    if isinstance(part, Cpus):
        times = f" * {part.times}" if part.times != 1 else ""
        plus = f" + {part.plus}" if part.plus else ""
        return f"%(%k{times}{plus})" if times or plus else "%k"
    if isinstance(part, Variable):
        return "%(_)" if part is SAID else f"$({part.name})"
    return part.replace("%", "%%")


def ini_comment(text: str) -> str:
    """Return a comment; uWSGI replaces percent signs there, too, and one takes the line's end."""
    return "# " + in_a_line(text).replace("%", "%%")


# -- nginx -----------------------------------------------------------------------------------------


def as_nginx(value: Expression) -> str | None:
    """Return a part of an address as nginx takes it without quotes; None where it cannot."""
    text = value.text
    plain = re.fullmatch(r"[\w./@+,=~*\[\]:-]*", text or "", re.ASCII)
    return text if plain else None
