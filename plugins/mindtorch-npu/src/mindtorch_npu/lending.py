"""What is lent out, and comes back by itself when whoever has it lets go of it.

Ctrl-C, and whatever else a signal handler raises, comes where Python looks for signals: where a function
begins, where a call has returned and where a loop turns, also in the first line of a ``finally`` that
calls something and in ``__del__``, whose exceptions are lost. It comes nowhere else: not between
assignments, and not inside a function that is written in C. So in this package

- what has to be given back belongs to an object, and a function written in C (`deque.append`) puts it back
  as that object goes: see `Return`;
- what is taken out of one place and put into another is moved by assignments and ``del`` alone, after
  everything that these need was computed ("no call from here on");
- functions of CANN whose effect has to be known are called by ``codes.extend(map(function, ...))``: that
  is one call, after which their answers are in the list, whatever comes then.

An op in a finaliser or a signal handler comes in at the same places. Locks can be taken again by the thread
that has them, and what was read before a call is looked at again after it.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

__all__ = ["Lent", "Return"]


class Lent:
    """What whoever borrows something holds; it is given back as the last reference to this goes."""

    __slots__ = ("__weakref__",)


class Return(ref[Any]):
    """Put into a deque when a borrower goes: ``Return(borrower, deque.append)``.

    Somebody has to keep it until then.

    Attributes:
        lent: what was lent.
    """

    __slots__ = ("lent",)
    lent: Any
