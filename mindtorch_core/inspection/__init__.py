"""Looking in: which kernel a call runs and why, what a backend serves, which keys there are.

The answers are data: frozen dataclasses with ``to_dict()`` for tools and ``str()`` for people. They
are read off the dispatcher itself, so they say what it does, not what it should do.
"""

from .explanation import Explanation, KernelInfo, Row
from .functions import FunctionInfo, find_function
from .key_list import AliasInfo, KeyInfo, aliases, keys
from .naming import find_op, key_of
from .support import Coverage, OpSupport, coverage
from .walk import explain

__all__ = [
    "AliasInfo",
    "Coverage",
    "Explanation",
    "FunctionInfo",
    "KernelInfo",
    "KeyInfo",
    "OpSupport",
    "Row",
    "aliases",
    "coverage",
    "explain",
    "find_function",
    "find_op",
    "key_of",
    "keys",
]
