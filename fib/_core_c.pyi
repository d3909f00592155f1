# The compiled build of fib/_core.py: the same names, with the same types.

from fib._core import COMPILED as COMPILED
from fib._core import TABLE_DIGITS as TABLE_DIGITS
from fib._core import U64_TOP as U64_TOP
from fib._core import get as get
from fib._core import get_json as get_json
from fib._core import last_index as last_index
from fib._core import loop as loop
