"""The ops that are defined when they are first asked for, so that they cost the import nothing.

A name that the registry does not know defines all of them. Backends register their kernels for
these ops then as well.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from .entry import source_of

if TYPE_CHECKING:
    from .registry import OperatorRegistry

__all__ = ["Rest"]

Step = Callable[[], None]


class Rest:
    """What defines the rest of the ops, and who waits for them.

    Attributes:
        pending: whether they are still to be defined.
    """

    def __init__(self, registry: OperatorRegistry) -> None:
        self._registry: Final = registry
        self._define: Step | None = None
        self._waiting: list[_Waiting] = []
        self.pending = False

    def defined_by(self, define: Step) -> None:
        """Name the function that defines the rest of the ops."""
        self._define = define
        self.pending = True

    def define(self) -> None:
        """Define the rest of the ops, if that is still to be done."""
        if not self.pending or self._define is None:
            return
        with self._registry.apart():
            if not self.pending:  # another thread did while this one waited
                return
            self.pending = False  # what runs now looks ops up as well
            try:
                self._define()
            except BaseException:
                self.pending = True
                raise
            waiting, self._waiting = self._waiting, []
            for each in waiting:
                each.run()

    def when_defined(self, register: Step) -> None:
        """Call a backend's function that registers kernels, once all ops are defined.

        Its registrations belong to the transaction that is running now, and are taken back with it.
        """
        if not self.pending:
            register()
            return
        each = _Waiting(self._registry, register)
        self._waiting.append(each)

        def forget() -> None:
            if each in self._waiting:
                self._waiting.remove(each)
            each.take_back()

        self._registry.note(forget)


class _Waiting:
    """A function that is to register kernels, for a distribution."""

    def __init__(self, registry: OperatorRegistry, register: Step) -> None:
        self._registry = registry
        self._register = register
        self._owner = registry.owner
        self._journal: list[Step] = []

    def run(self) -> None:
        """Register; a failure leaves these kernels out with a warning."""
        try:
            with self._registry.transaction(self._owner) as journal:
                self._register()
                self._journal = journal
        except Exception as error:  # noqa: BLE001 (a plugin's code may raise anything)
            warnings.warn(
                f"{self._owner or self._register.__module__} failed to register kernels for the ops "
                f"that are defined on demand, and goes on without them: "
                f"{type(error).__name__}: {error} (in {source_of(self._register)})",
                stacklevel=2,
            )

    def take_back(self) -> None:
        """Undo what was registered."""
        for undo in reversed(self._journal):
            undo()
        self._journal = []
