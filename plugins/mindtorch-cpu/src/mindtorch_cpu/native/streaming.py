"""Results larger than the caches, written past them.

A store first reads the line of memory that it changes, and pushes another line out of the caches. Vectors
that fill lines go past them: a third of the traffic of an element-wise op less. LLVM makes no such vectors of
a loop over elements, so stores are marked in its text, and are changed once they are vectors.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["LINE", "MARK", "MARKS", "PAST", "streamed"]

LINE: Final = 64  # bytes
# Of functions whose marked stores go past the caches.
PAST: Final = "_past"
# LLVM keeps this when it makes vectors; it says nothing of loops that do not name it.
MARK: Final = "!llvm.access.group !0"
MARKS: Final = ("!0 = distinct !{}", "!1 = !{i32 1}")

_FUNCTION: Final = re.compile(rf"^define [^\n]*{PAST}\([^\n]*\n.*?^}}", re.MULTILINE | re.DOTALL)
_STORE: Final = re.compile(r"(store <(\d+) x (\w+)> [^\n]*, align )1(?=, !llvm\.access\.group)")
_SIZES: Final = {
    "double": 8,
    "i64": 8,
    "float": 4,
    "i32": 4,
    "half": 2,
    "bfloat": 2,
    "i16": 2,
    "i8": 1,
}


def streamed(text: str) -> str:
    """The text of an optimised module whose marked stores of vectors go past the caches."""

    def store(found: re.Match[str]) -> str:
        size = int(found[2]) * _SIZES.get(found[3], 0)
        return f"{found[1]}{size}, !nontemporal !1" if size in (16, 32, LINE) else found[0]

    return _FUNCTION.sub(lambda function: _STORE.sub(store, function[0]), text)
