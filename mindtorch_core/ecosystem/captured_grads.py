"""The grads of leaves that a captured function uses: set anew, or added to, as it has done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..deferred.programs.describing import Description
from ..deferred.programs.program import Instruction, Program, Value, refs_of
from ..dispatch.dispatcher import dispatch
from ..dispatch.masks import without_gradients
from ..tensors.autograd_state import AutogradMeta
from ..tensors.making import make_view
from ..tensors.tensor import Tensor
from ..values.errors import CaptureError
from .captured_guards import guard_of, shown

__all__ = ["Grad", "grads_of", "shown_as"]


class Grad:
    """The grad of a leaf that the function uses.

    Attributes:
        leaf: the tensor.
        output: which output its gradient is; -1 where that is added to a grad that is there.
        value: what it is like, where it is a view of the output.
        only_added: whether nothing else is done with the one that is there.
        how: ``set`` where the function begins anew, ``add`` where it adds to what is there, ``none``
            where nothing may be there, as the function computes with it, ``same`` for a grad that has
            to be the one it was.
        was: that one.
    """

    __slots__ = ("how", "leaf", "only_added", "output", "value", "was")

    def __init__(
        self,
        leaf: Tensor,
        output: int,
        how: str,
        was: Tensor | None = None,
        value: Value | None = None,
    ) -> None:
        self.leaf, self.output, self.how, self.was, self.value = leaf, output, how, was, value
        self.only_added = False

    def is_there(self) -> bool:
        """Whether the leaf has one."""
        return self.leaf._autograd is not None and self.leaf._autograd.grad is not None

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
        found = outputs[self.output]
        if self.value is not None:
            found = shown_as(found, self.value)
        if self.how == "add" and meta.grad is not None:
            without_gradients(dispatch, "add_", None, meta.grad, found)
        else:
            meta.grad = found


def grads_of(
    found: Description,
    program: Program,
    unset: Sequence[AutogradMeta],
    results: list[Any],
    made_of: Callable[[Any], tuple[int, Value] | None],
) -> list[Grad]:
    """The grads of the leaves that a program uses, after it was recorded.

    Args:
        found: the ops.
        program: the same.
        unset: places of the tensors whose grad the function has set to None.
        results: what it has returned.
        made_of: which output a tensor shows, and how.
    """
    returned = {id(t) for t in results}
    inputs = {id(t) for t in found.inputs}
    read = {n for each in program.instructions for n in refs_of((_read_by(each), each.kwargs))}
    grads = []
    for leaf in found.inputs:
        meta = leaf._autograd
        g = None if meta is None or not meta.is_leaf else meta.grad
        if g is None:
            continue
        if (made := made_of(g)) is not None:
            how = "add"
            if any(meta is each for each in unset):
                how = "set"
            elif found.number_of.get(id(g)) in read or id(g) in returned:
                how = "none"
            grads.append(Grad(leaf, made[0], how, value=made[1]))
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


def _read_by(each: Instruction) -> Any:
    """The arguments that an instruction reads: what a copy goes to is none."""
    return each.args[1:] if each.name == "aten::copy_" else each.args


def shown_as(t: Tensor, value: Value) -> Tensor:
    """An output, or the view of it that a function has left or returned."""
    if (
        t._shape == value.shape
        and t._dtype is value.dtype
        and t._geometry() == (value.strides, value.offset)
    ):
        return t
    return make_view(t, value.shape, value.strides, value.offset, value.dtype)
