"""The options that uWSGI itself gets from a file, which our own reader is held to."""

from lab.bench.machine.programs import binary
from lab.bench.profiles import asking
from lab.bench.profiles.reading import options_of, read_ini
from lab.model.runtime import OURS


class RefusedError(Exception):
    """uWSGI refuses the file; the message is what it says."""


def confirmed(path, runtime=OURS):
    """Return the options of an ini as they are served, when uWSGI has confirmed them."""
    reading = read_ini(path, runtime)
    asking.confirm(reading, runtime)
    return options_of(reading, runtime)[0]


def options(config):
    """
    Return the options that uWSGI gets from the ini that *config* was read from.

    Raises:
        RefusedError: uWSGI does not read it to its end.
    """
    known, path = config.known, config.file
    cwd = known.cwd or path.absolute().parent
    # Told that it is an ini: else variables such as %P are empty.
    given = "--ini", asking.named(path, known.section)
    printed = asking.ask(binary(), given, path, cwd, known.environ)
    if not asking.whole(printed):
        raise RefusedError("\n".join(printed))
    return asking.pairs(asking.listed(printed))[1:]  # the first is the file itself
