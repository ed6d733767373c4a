"""Functions of ops by name, for code that stands below the ops' definitions.

Formulas, decompositions and everything else that computes with tensors write ``fn.where(...)``. A name
is looked up when it is first used, so nothing here imports an op: definitions put their functions into
`FUNCTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

from .entry import OpEntry
from .registry import registry

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

__all__ = [
    "FUNCTIONS",
    "Packet",
    "find_packet",
    "fn",
    "fn_fft",
    "fn_linalg",
    "fn_nn",
    "fn_special",
    "forget",
    "function",
    "names_in",
    "names_known",
]


class Packet(Protocol):
    """All overloads of one name in one namespace.

    Attributes:
        name: of the function.
        entries: the overloads.
        made: the function made of them, once it was asked for.
        python: a Python function that is shown instead.
    """

    name: str
    entries: list[OpEntry]
    made: Callable[..., Any] | None
    python: Callable[..., Any] | None

    def function(self) -> Callable[..., Any]:
        """The function users call."""


# By namespace and name; `torch.__getattr__` and `torch.nn.functional` read this.
FUNCTIONS: Final[dict[str, dict[str, Packet]]] = {
    name: {} for name in ("torch", "Tensor", "nn", "linalg", "special", "fft", "masked", "signal")
}


def function(name: str, namespace: str = "torch") -> Callable[..., Any]:
    """The function of an op, for use inside decompositions and formulas.

    Raises:
        AttributeError: if there is none of that name.
    """
    packet = find_packet(namespace, name)
    if packet is None:
        raise AttributeError(f"there is no function {name!r} in {namespace!r}")
    return packet.function()


def find_packet(namespace: str, name: str) -> Packet | None:
    """The overloads of a name, defined now if it is a name of ops on demand."""
    packets = FUNCTIONS[namespace]
    found = packets.get(name)
    if found is None or registry.on_demand.unsettled:
        registry.on_demand.define(namespace, name)
        found = packets.get(name)
    return found


def names_in(namespace: str) -> list[str]:
    """All names of functions in a namespace."""
    registry.on_demand.define_all()
    return sorted(FUNCTIONS[namespace])


def names_known(namespace: str) -> set[str]:
    """The same as far as they are known without defining any: what is listed for a demand included."""
    return {*FUNCTIONS[namespace], *registry.on_demand.waiting(namespace)}


class _Functions:
    """Functions of ops as attributes."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace

    def __getattr__(self, name: str) -> Callable[..., Tensor]:
        if name.startswith("__"):  # what tools look for on any object
            raise AttributeError(name)
        made = function(name, self._namespace)
        setattr(self, name, made)
        return made


_CALLED: Final = {namespace: _Functions(namespace) for namespace in FUNCTIONS}
fn: Final = _CALLED["torch"]
fn_nn: Final = _CALLED["nn"]
fn_linalg: Final = _CALLED["linalg"]
fn_special: Final = _CALLED["special"]
fn_fft: Final = _CALLED["fft"]


def forget(namespace: str, name: str) -> None:
    """Look a name up again when it is next used: its overloads changed."""
    vars(_CALLED[namespace]).pop(name, None)
