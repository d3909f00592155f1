"""What the vocabulary says, for the tests that try it on the servers."""

from __future__ import annotations

from lab.config.vocabulary.senses import hidden, senses

DOES = {difference.key: difference.does for difference in hidden()}
"""Key of a difference that no option shows -> program -> what it does."""


CASES = {difference.key: difference.cases for difference in hidden()}
"""Key of a difference that no option shows -> program -> facts -> what it then does."""


def says(key, program):
    """Return all that is said of a sense on a server."""
    column = senses()[key].columns[program]
    return f"{column.says} {column.explains} {column.lost}"
