"""The grads of leaves that a captured function uses: set anew, or added to, as it has done."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from ..deferred.programs.describing import Description
from ..deferred.programs.program import Instruction, Program, Value, refs_of
from ..dispatch.dispatcher import dispatch
from ..dispatch.masks import without_gradients
from ..dispatch.registry import registry
from ..tensors.making import make_view
from ..tensors.tensor import Tensor
from ..values.errors import CaptureError
from .captured_guards import guard_of, shown

__all__ = ["Grad", "Touched", "grads_of", "shown_as"]


class Touched:
    """What a function that is recorded does with the grad of a leaf.

    Attributes:
        leaf: the leaf, weakly: the function may have made it.
        before: the grad that was there when the function first came to it.
        first: what it did then: ``read`` or ``set`` it, or had a backward pass ``add`` to it.
        uses: all that it did.
    """

    __slots__ = ("before", "first", "leaf", "uses")

    def __init__(self, leaf: Tensor) -> None:
        self.leaf = weakref.ref(leaf)
        self.before = _grad_at(leaf)
        self.first = ""
        self.uses: set[str] = set()


class Grad:
    """The grad of a leaf that a captured function uses.

    Attributes:
        leaf: the tensor; the number of an argument.
        wanted: ``none`` where nothing may be there, ``same`` where it has to be the one that it was, and
            ``any`` where the function overwrites it, or only adds to it.
        was: the grad that was there.
        left: what is there afterwards: ``set`` anew, ``added`` to what is there, or ``kept``.
        only_added: whether nothing is done with the one that is there but that something is added to it.
    """

    __slots__ = ("leaf", "left", "only_added", "wanted", "was")

    def __init__(self, leaf: Any, wanted: str, was: Tensor | None, left: str) -> None:
        self.leaf, self.wanted, self.was, self.left = leaf, wanted, was, left
        self.only_added = False

    def of(self, leaves: Sequence[Any]) -> Tensor:
        """The leaf of a call with these arguments."""
        leaf: Tensor = leaves[self.leaf] if self.leaf.__class__ is int else self.leaf
        return leaf

    def is_like(self, other: Grad) -> bool:
        """Whether the same is done with the same grad."""
        same = self.leaf is other.leaf or self.leaf.__class__ is int is other.leaf.__class__
        return (
            same
            and self.was is other.was
            and (self.wanted, self.left)
            == (
                other.wanted,
                other.left,
            )
        )

    def changed(self, leaves: Sequence[Any]) -> str | None:
        """What the function does to a grad after which it is not what the next call wants."""
        leaf = self.of(leaves)
        if self.leaf.__class__ is int or (self.wanted == "any" and self.left != "added"):
            return None
        now = _grad_at(leaf)
        if now is (self.was if self.wanted == "same" else None):
            return None
        was, name = "None" if self.was is None else "another tensor", shown(guard_of(leaf))
        return f"the grad of a tensor, {name} was {was} before the call and is not after it"

    def check(self, name: str, leaves: Sequence[Any]) -> None:
        """Refuse a grad that the recording does not stand for."""
        if self.wanted == "any":
            return
        leaf = self.of(leaves)
        now = _grad_at(leaf)
        if self.wanted == "same" and now is not self.was:
            raise CaptureError(
                f"{name}(): the grad of a tensor that it used, {shown(guard_of(leaf))} was another "
                f"tensor when it was captured; reset() captures anew"
            )
        if self.wanted == "none" and now is not None:
            raise CaptureError(
                f"{name}(): the grad of a tensor that it used, {shown(guard_of(leaf))} was None when "
                f"it was captured, and is a tensor now: set it to None before, or in the function"
            )

    def put(self, value: Tensor | None, leaves: Sequence[Any]) -> None:
        """Set the grad, or add to it."""
        leaf = self.of(leaves)
        meta = leaf._autograd
        if meta is None:
            leaf.grad = value
        elif self.left == "added" and meta.grad is not None:
            without_gradients(dispatch, "add_", None, meta.grad, value)
        else:
            meta.grad = value


def _grad_at(leaf: Tensor) -> Tensor | None:
    return None if leaf._autograd is None else leaf._autograd.grad


def grads_of(
    touched: Iterable[Touched],
    arguments: dict[int, int],
    found: Description | None,
    program: Program | None,
    results: list[Any],
) -> list[Grad]:
    """What a function has done with grads, after it was recorded.

    Args:
        touched: the leaves, and how it came to their grads.
        arguments: by id of a tensor, which argument it is.
        found: the ops; None where there are none.
        program: the same.
        results: what it has returned.
    """
    number_of = {} if found is None else found.number_of
    instructions = () if program is None else program.instructions
    read = {n for each in instructions for n in refs_of((_read_by(each), each.kwargs))}
    returned = {id(t) for t in results}
    grads = []
    for each in touched:
        leaf, was = each.leaf(), each.before
        if leaf is None:
            continue
        now = _grad_at(leaf)
        n = number_of.get(id(now))
        wanted, left = "none" if was is None else "same", "kept" if now is was else "set"
        if each.first == "set":
            wanted, left = "any", "set"
        elif (
            was is None and now is not None and each.first == "add" and "set" not in each.uses
            and n not in read and id(now) not in returned
        ):  # fmt: skip
            wanted, left = "any", "added"
        grad = Grad(arguments.get(id(leaf), leaf), wanted, was, left)
        if each.first == "add" and left == "kept" and n is not None and id(now) not in returned:
            users = [e for e in instructions if n in {*refs_of((e.args, e.kwargs))}]
            adds = registry.entry("aten::add_").definition
            grad.only_added = [e.op.definition for e in users] == [adds] and users[0].args[0] == n
        grads.append(grad)
    return grads


def _read_by(each: Instruction) -> Any:
    """The arguments that an instruction reads: what a copy goes to is none."""
    d = each.op.definition
    copies = d is not None and d.functional is not None and d.functional.traits.copies
    return each.args[1:] if copies else each.args


def shown_as(t: Tensor, value: Value) -> Tensor:
    """An output, or the view of it that a function has left or returned."""
    if (
        t._shape == value.shape
        and t._dtype is value.dtype
        and t._geometry() == (value.strides, value.offset)
    ):
        return t
    return make_view(t, value.shape, value.strides, value.offset, value.dtype)
