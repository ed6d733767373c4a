"""Operators between their two phases."""

from __future__ import annotations

from ctypes import c_uint64
from itertools import compress
from operator import call
from typing import Any, ClassVar, Final, Protocol

from ..acl import ACLError
from .launching import Launchable, launch
from .signatures import Operator

__all__ = ["Alone", "Cells", "Collected", "Prepared"]

Cells: Final = c_uint64 * 2  # the size of the workspace and the executor, which phase one writes


class Bound(Launchable, Protocol):
    """What is asked of an operator here; see `mindtorch_npu.aclnn.calls.BoundOperator`."""

    row: Operator
    destroyers: tuple[Any, ...]

    def undestroyed(self, made: list[int | None], codes: list[int]) -> ACLError:
        """Try once more to destroy what could not be destroyed; gives the first failure."""


class Collected:
    """An operator after phase one, to be launched once, and released by whoever collects it.

    Attributes:
        operator: the operator.
        device_index: the device of its tensors.
        made: handles of what has to be destroyed: the executor, once it is given up, and the descriptors.
        cells: what phase one wrote: the size of the workspace, and the executor.
    """

    __slots__ = ("_arguments", "_ran", "cells", "device_index", "made", "operator")

    def __init__(self, operator: Bound, arguments: tuple[Any, ...]) -> None:
        """Make one that has nothing yet; the operator's `prepare` runs phase one.

        It keeps no arguments: their memory may serve again, right where what reuses it is queued after
        this operator. Errors show none then.
        """
        self.operator = operator
        self.device_index = 0
        self.made: list[int | None] = [0]
        self.cells = Cells()
        self._arguments: tuple[Any, ...] = ()
        self._ran: list[int] = []  # phase two's code

    @property
    def workspace_size(self) -> int:
        """How many bytes of workspace `launch` wants."""
        return self.cells[0]

    def launch(self, workspace: Any, stream: int | None) -> None:
        """Queue the operator's kernels.

        Args:
            workspace: address of at least `workspace_size` bytes that nothing else on another stream
                uses; 0 if none are wanted.
            stream: handle of a stream of the current device.

        Raises:
            ACLError: if it could not be queued; where launches are blocking, also if it fails.
            RuntimeError: if it was launched or released before.
        """
        size, executor = self.cells
        if self._ran or not executor:
            raise RuntimeError(f"{self!r} can be launched once, before it is released")
        try:
            launch(
                self.operator, self._arguments, workspace, size, executor, self.device_index, stream,
                self._ran,
            )  # fmt: skip
        except Exception:
            self.release()
            raise
        self.release()

    @property
    def launched(self) -> bool:
        """Whether phase two has run."""
        return bool(self._ran)

    def release(self) -> None:
        """Destroy what is left: the executor if it was not launched, and the descriptors."""
        made, codes = self.made, list[int]()
        gone = map(call, compress(self.operator.destroyers, made), filter(None, made))
        # No call from here to the one that destroys them all.
        if not self._ran:
            made[0] = self.cells[1]
        self.cells[1] = 0
        self.made = [0]
        codes.extend(gone)
        self._arguments = ()
        if any(codes):
            raise self.operator.undestroyed(made, codes)

    def __repr__(self) -> str:
        return f"<aclnn{self.operator.row.name}, prepared>"


class Prepared(Collected):
    """An operator after phase one, to be launched once; it releases itself."""

    __slots__ = ("__weakref__",)

    def __init__(self, operator: Bound, arguments: tuple[Any, ...]) -> None:
        """Make one that has nothing yet, whose errors show the arguments."""
        super().__init__(operator, arguments)
        self._arguments = arguments

    def __del__(self) -> None:
        if getattr(self, "made", ())[1:]:  # it has none where an interrupt came into `__init__`
            self.release()


class Alone:
    """Where an operator goes that no batch collects: to the caller.

    Attributes:
        kind: what the operator becomes.
        position: a batch's.
        opened: the operator while phase one runs.
        collected: the operator after that.
    """

    __slots__ = ("collected", "opened")

    kind: ClassVar[type[Collected]] = Prepared
    position: ClassVar[int] = 0

    def __init__(self) -> None:
        self.opened: Collected | None = None
        self.collected: list[tuple[int, Collected]] = []
