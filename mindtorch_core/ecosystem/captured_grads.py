"""The grads of leaves that a captured function uses: set anew, or added to, as it has done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..deferred.programs.describing import Description
from ..deferred.programs.program import Program, refs_of
from ..dispatch.dispatcher import dispatch
from ..dispatch.masks import without_gradients
from ..tensors.autograd_state import AutogradMeta
from ..tensors.tensor import Tensor
from .captured_guards import CaptureError, guard_of, shown

__all__ = ["Grad", "grads_of"]


class Grad:
    """The grad of a leaf that the function uses.

    Attributes:
        leaf: the tensor.
        output: which output its gradient is; -1 where that is added to a grad that is there.
        only_added: whether nothing else is done with the one that is there.
        how: ``set`` where the function begins anew, ``add`` where it adds to what is there, ``none``
            where nothing may be there, as the function computes with it, ``same`` for a grad that has
            to be the one it was.
        was: that one.
    """

    __slots__ = ("how", "leaf", "only_added", "output", "was")

    def __init__(self, leaf: Tensor, output: int, how: str, was: Tensor | None = None) -> None:
        self.leaf, self.output, self.how, self.was = leaf, output, how, was
        self.only_added = False

    def check(self, name: str) -> None:
        """Refuse a grad that the recording does not stand for."""
        meta = self.leaf._autograd
        now = None if meta is None else meta.grad
        if self.how == "same" and now is not self.was:
            raise CaptureError(
                f"{name}(): the grad of a tensor that it used, {shown(guard_of(self.leaf))} was another "
                f"tensor when it was captured; reset() captures anew"
            )
        if self.how == "none" and now is not None:
            raise CaptureError(
                f"{name}(): the grad of a tensor that it used, {shown(guard_of(self.leaf))} was None when "
                f"it was captured, and is a tensor now: set it to None before, or in the function"
            )

    def put(self, outputs: list[Tensor]) -> None:
        """Set the grad, or add to it."""
        meta = self.leaf._autograd
        if self.output < 0 or meta is None:
            return
        if self.how == "add" and meta.grad is not None:
            without_gradients(dispatch, "add_", None, meta.grad, outputs[self.output])
        else:
            meta.grad = outputs[self.output]


def grads_of(
    found: Description, program: Program, unset: Sequence[AutogradMeta], results: list[Any]
) -> list[Grad]:
    """The grads of the leaves that a program uses, after it was recorded."""
    returned = {id(t) for t in results}
    made = {id(t): i for i, t in enumerate(found.outputs)}
    inputs = {id(t) for t in found.inputs}
    read = {n for each in program.instructions for n in refs_of((each.args, each.kwargs))}
    grads = []
    for leaf in found.inputs:
        meta = leaf._autograd
        g = None if meta is None or not meta.is_leaf else meta.grad
        if g is None:
            continue
        if id(g) in made:
            how = "add"
            if any(meta is each for each in unset):
                how = "set"
            elif found.number_of[id(g)] in read or id(g) in returned:
                how = "none"
            grads.append(Grad(leaf, made[id(g)], how))
        elif id(g) in inputs:
            grads.append(Grad(leaf, -1, "same", g))
            n = found.number_of[id(g)]
            users = [e for e in program.instructions if n in {*refs_of((e.args, e.kwargs))}]
            grads[-1].only_added = (
                len(users) == 1
                and users[0].name == "aten::add_"
                and users[0].args[0] == n
                and id(g) not in returned
            )
    return grads
