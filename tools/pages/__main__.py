"""The command: rewrite what is not as it is stored any more, and name every file that changed."""

from __future__ import annotations

import sys

from lab.errors import LabError
from tools.pages import commands, directives, house, index_of_runs, lint, profiles, schema

try:
    for part in (schema, index_of_runs, profiles, commands, lint, house, directives):
        for path in part.refresh():
            print(path)
except LabError as problem:
    sys.exit(str(problem))
