"""``torch.cuda.nvtx``: marks for a profiler of CUDA, which is not here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...values.interrupts import contextmanager
from ..absent import names_of

__getattr__ = names_of(__name__)


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A block or function between marks: refused where it begins, as decorators stand in modules.

    Args:
        msg: its name, which is formatted with the others.
        args: for the name.
        kwargs: for the name.

    Raises:
        NotImplementedError: when it is entered.
    """
    __getattr__("range_push")(msg.format(*args, **kwargs))
    yield
