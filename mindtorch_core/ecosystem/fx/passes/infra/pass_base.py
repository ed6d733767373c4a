"""What a pass is: it takes a module, and gives one and whether it changed it."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """What a pass gives.

    Attributes:
        graph_module: the module.
        modified: whether it was changed.
    """

    graph_module: Any
    modified: bool


class PassBase(abc.ABC):
    """The base class of passes; subclasses define `call`."""

    def __call__(self, graph_module: Any) -> PassResult | None:
        """Run the pass, with what it requires before and what it ensures after."""
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: Any) -> PassResult | None:
        """Do what the pass does."""

    def requires(self, graph_module: Any) -> None:  # noqa: B027  (a subclass may have none)
        """Check the module before."""

    def ensures(self, graph_module: Any) -> None:  # noqa: B027  (a subclass may have none)
        """Check the module after."""
