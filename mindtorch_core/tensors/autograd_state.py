"""What a tensor knows about autograd: its place in the graph, and whether it is kept out of it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..dispatch.keys import ACTIVE, ADINPLACE, MASKS, DispatchKey

if TYPE_CHECKING:
    from ..gradients.node import Node
    from .tensor import Tensor

__all__ = ["BORN", "GRADS_USED", "INFERENCE", "AutogradMeta", "born"]

# Bit of inference tensors, in place of ADInplaceOrView; in a thread's include mask, the mode.
INFERENCE: Final = int(DispatchKey.Inference)

# Called with each tensor that no op makes, and whether its memory is its own.
BORN: Final[list[Callable[[Tensor, bool], None]]] = []

# Called with a tensor before its grad is asked for (``"read"``), set by a user (``"set"``) or, of a leaf,
# set or added to by a backward pass (``"add"``).
GRADS_USED: Final[list[Callable[[Tensor, str], None]]] = []

T = TypeVar("T")


class AutogradMeta:
    """A tensor's node and output number; consumers keep it as their edge to the tensor.

    It is never changed in what backward reads (an in-place op gives the tensor a new one), so a
    graph built earlier keeps pointing where it did.

    Attributes:
        node: the node whose gradient this is: the op's for results, an accumulator for leaves.
        output_nr: which of the node's outputs the tensor is.
        grad: accumulated gradient of a leaf, or of a result that retains it.
        is_leaf: whether the user made the tensor.
        owner: a weak reference to the leaf; not there for results.
    """

    __slots__ = ("__weakref__", "grad", "is_leaf", "node", "output_nr", "owner")

    owner: weakref.ref[Tensor]

    def __init__(self, node: Node | None, output_nr: int = 0, is_leaf: bool = False) -> None:
        self.node = node
        self.output_nr = output_nr
        self.grad: Any = None
        self.is_leaf = is_leaf

    @classmethod
    def of_leaf(cls, t: Any) -> AutogradMeta:
        """The place of a leaf."""
        made = cls(None, 0, True)
        made.owner = weakref.ref(t)
        return made

    def tensor(self) -> Tensor | None:
        """The leaf whose place it is; None for results, and for a leaf that is gone."""
        owner = getattr(self, "owner", None)
        return None if owner is None else owner()


def born(t: T, *, own: bool = False) -> T:
    """Make a new tensor an inference tensor if this thread is in inference mode; returns it.

    For tensors that no op makes, such as those of ``torch.tensor(data)``.

    Args:
        t: the tensor.
        own: whether its memory is its own, and not that of an array, say.
    """
    if BORN:
        for note in BORN:
            note(t, own)  # type: ignore[arg-type]
    if ACTIVE and MASKS.include & INFERENCE:
        t._keys = (t._keys & ~ADINPLACE) | INFERENCE  # type: ignore[attr-defined]
    return t
