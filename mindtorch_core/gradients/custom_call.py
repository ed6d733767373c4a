"""Recording a call whose gradient a user computes: the node, and the making of it.

`torch.autograd.Function` and the backward functions of custom ops are built on `record_call`. The
node does not refer to the call's outputs, and keeps outputs that were saved by their parts, so a
graph nobody walks is freed at once.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

from ..dispatch.functions import fn
from ..dispatch.keys import AUTOGRAD, MASKS, is_recording, with_masks, without_gradients
from ..tensors.autograd_state import INFERENCE, AutogradMeta
from ..tensors.tensor import Tensor
from ..values.devices import TABLE
from ..values.dtypes import INTEGER
from ..values.shapes import Shape, show
from ..values.user_warnings import warn_user
from . import packing
from .conform import conform
from .inference import refuse_saving
from .inplace import rebase, refresh_views, refuse_leaves
from .node import SHOWN, Node, freed_error
from .saved import output_parts, saved_input, saved_output
from .within import keeps_graph

__all__ = ["ASKED_FIRST", "FunctionCtx", "FunctionNode", "record_call"]

Saved = tuple[Any, Any]
# Asked, with ``apply`` and its arguments, before an operation is called: an answer other than NotImplemented
# is what the call returns.
ASKED_FIRST: Final[list[Callable[..., Any]]] = []


class FunctionCtx:
    """What a forward function leaves for its backward: saved tensors, and attributes of any name.

    Attributes:
        needs_input_grad: for each input, whether it requires grad.
    """

    needs_input_grad: tuple[Any, ...] = ()
    _to_save: tuple[Any, ...] = ()
    _dirty: tuple[Tensor, ...] = ()
    _non_differentiable: tuple[Tensor, ...] = ()
    _materialize = True
    _for_forward: tuple[Any, ...] | None = None
    _saved: tuple[Saved | None, ...] | None = ()
    _node: weakref.ref[Node] | None = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for backward, which finds them in ``saved_tensors``.

        They are checked for changes in place. Other values are kept as attributes of ``ctx``.

        Raises:
            TypeError: from ``apply``, if there is something else than tensors and None.
        """
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for ``jvp``, which finds them in ``saved_tensors``."""
        self._for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which inputs forward changed in place; they must be among the outputs."""
        self._dirty = _only_tensors("mark_dirty", args)

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which outputs have no gradient. Those of integer dtype never have one."""
        self._non_differentiable = _only_tensors("mark_non_differentiable", args)

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (the default) or None for outputs that nobody used."""
        self._materialize = bool(value)

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What `save_for_backward` kept.

        Raises:
            RuntimeError: if a tensor was changed in place since, or the graph was freed.
        """
        if self._saved is None:
            raise freed_error()
        return tuple(map(self._unpack, self._saved))

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """The name that ``saved_tensors`` had of old."""
        warn_user("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    def maybe_clear_saved_tensors(self) -> None:
        """Free in backward what `save_for_backward` kept, unless the walk keeps it for another one."""
        if not keeps_graph():
            self._saved = None

    def _unpack(self, saved: Saved | None) -> Tensor | None:
        if saved is None:
            return None
        what, how = saved
        node = None if self._node is None else self._node()
        if isinstance(what, int) and node is not None:
            return saved_output(node, what, how)
        t: Tensor = saved_input(what, how)
        return t


def _only_tensors(method: str, args: tuple[Any, ...]) -> tuple[Tensor, ...]:
    for i, a in enumerate(args):
        if not isinstance(a, Tensor):
            raise RuntimeError(
                f"{method} can only accept tensors, but argument {i} is of type {type(a).__name__}"
            )
    return args


class FunctionNode(Node):
    """Node of a call whose gradient a user computes.

    Attributes:
        ctx: what forward left.
        inputs: per input its (shape, dtype, device), None where it is no tensor.
        results: the same per output.
        shows: whether ``run`` is a user's function, which may keep the gradients it is handed.
    """

    __slots__ = ("ctx", "inputs", "results")
    custom: ClassVar[bool] = True
    shows: ClassVar[bool] = True

    def __init__(self, ctx: FunctionCtx, inputs: Sequence[Any]) -> None:
        edges = tuple(
            v._autograd if v._keys & AUTOGRAD else None for v in inputs if isinstance(v, Tensor)
        )
        super().__init__(edges, (), None)
        if self.shows:
            SHOWN.gradients = True
        self.ctx = ctx
        self.inputs = tuple(map(_metadata, inputs))
        self.results: tuple[Metadata | None, ...] = ()
        ctx._node = weakref.ref(self)

    def run(self, *grads: Any) -> Any:
        """What the user's backward returns; a subclass calls it here."""
        raise NotImplementedError

    def apply(self, *grads: Any) -> tuple[Any, ...]:
        """Gradients of the tensors among the inputs, checked and brought to their shapes."""
        if self.ctx._materialize:
            grads = tuple(
                _zeros(like) if g is None and like is not None else g
                for g, like in zip(grads, self.results, strict=True)
            )
        return self._checked(self.run(*grads))

    def _checked(self, returned: Any) -> tuple[Any, ...]:
        found = returned if isinstance(returned, tuple) else (returned,)
        expected = len(self.inputs)
        extra = found[expected:]
        if len(found) < expected or any(g is not None for g in extra):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{expected}, got {len(found)})"
            )
        out: list[Any] = []
        for position, (g, like) in enumerate(zip(found, self.inputs, strict=False), 1):
            if like is None:
                if g is not None:
                    raise RuntimeError(
                        f"function {self.name()} returned a gradient different than None at position "
                        f"{position}, but the corresponding forward input was not a Variable"
                    )
                continue
            wanted = g is not None and self.edges[len(out)] is not None
            out.append(self._fitting(len(out), g, *like) if wanted else None)
        return tuple(out)

    def _fitting(self, index: int, g: Any, shape: Shape, d: Any, on: Any) -> Tensor:
        """Check one gradient and bring it to the shape and dtype of its input."""
        if type(g) is Tensor and g._shape == shape and g._dtype is d and g._device is on:
            return g
        if not isinstance(g, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(g).__name__})")
        if not _expands_to(shape, g._shape):
            problem = f"got {show(g._shape)} but expected shape compatible with {show(shape)}"
        elif g._device is not on:
            problem = f"expected device {on} but got {g._device}"
        elif g._dtype.is_complex and not d.is_complex:
            problem = f"got {g._dtype} but expected a real dtype, as the input's: {d}"
        else:
            fitting: Tensor = conform(g, shape, d)
            return fitting
        raise RuntimeError(
            f"Function {self.name()} returned an invalid gradient at index {index} - {problem}"
        )

    def release(self) -> None:
        """Free what was saved. Attributes of ``ctx`` stay."""
        self.ctx._saved = None

    def __getattr__(self, name: str) -> Any:
        """What users find on ``grad_fn`` besides a node's own: everything on ``ctx``."""
        if name == "ctx":  # not there yet
            raise AttributeError(name)
        return getattr(self.ctx, name)


Metadata = tuple[Shape, Any, Any]


def _metadata(value: Any) -> Metadata | None:
    return (value._shape, value._dtype, value._device) if isinstance(value, Tensor) else None


def _zeros(like: Metadata) -> Tensor:
    shape, d, on = like
    return fn.zeros(shape, dtype=d, device=on)


def _expands_to(small: Shape, large: Shape) -> bool:
    """Whether a tensor of shape ``small`` can be broadcast to ``large``."""
    lead = len(large) - len(small)
    return lead >= 0 and all(n in (1, m) for n, m in zip(small, large[lead:], strict=True))


# ---- recording a call --------------------------------------------------------------------------


def record_call(
    node_class: type[FunctionNode],
    ctx: FunctionCtx,
    inputs: Sequence[Any],
    forward: Callable[[], Sequence[Any]],
) -> tuple[Any, ...]:
    """Run a call unrecorded, and make its outputs results of a node if an input requires grad.

    Args:
        node_class: the node's class; its ``run`` is the backward function.
        ctx: the call's context.
        inputs: what gradients are computed for, in the order in which backward returns them; may
            contain other values than tensors.
        forward: makes the call and sets up ``ctx``; returns the outputs.

    Returns:
        The outputs as the caller gets them: inputs that were handed on are views of themselves.

    Raises:
        RuntimeError: if an input was changed that may not be, or was not returned.
        TypeError: if something else than a tensor is to be saved.
    """
    node = None
    if is_recording():
        for v in inputs:
            if isinstance(v, Tensor) and v._keys & AUTOGRAD:
                node = node_class(ctx, inputs)
                break
    raw = with_masks(MASKS.include, MASKS.keep & ~AUTOGRAD, forward)
    outputs = _Outputs(node, ctx, inputs, raw).finish()
    if ctx._to_save:
        if node is not None:
            ctx._saved = _packed(node, ctx._to_save, outputs)
        ctx._to_save = ()
    ctx._dirty = ctx._non_differentiable = ()
    return outputs


class _Outputs:
    """Turns what forward returned into the outputs of a call."""

    def __init__(
        self,
        node: FunctionNode | None,
        ctx: FunctionCtx,
        inputs: Sequence[Any],
        raw: Sequence[Any],
    ) -> None:
        self.node = node
        self.inputs = inputs
        self.raw = raw
        self.positions = _positions(inputs)
        self.dirty = _positions(ctx._dirty) if ctx._dirty else {}
        constant = _positions(ctx._non_differentiable) if ctx._non_differentiable else {}
        self.differentiable = [
            node is not None
            and isinstance(t, Tensor)
            and id(t) not in constant
            and t._dtype.category > INTEGER
            for t in raw
        ]
        if ctx._dirty:
            self._check_dirty(ctx._dirty)

    def _check_dirty(self, dirty: tuple[Tensor, ...]) -> None:
        returned = _positions(self.raw)
        for t in dirty:
            if id(t) not in self.positions:
                warn_user(
                    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
                    "have been mutated should be passed to ctx.mark_dirty().",
                )
            elif id(t) not in returned:
                raise RuntimeError(
                    "Some elements marked as dirty during the forward method were not returned as "
                    "output. The inputs that are modified inplace must all be outputs of the Function."
                )

    def finish(self) -> tuple[Any, ...]:
        """The outputs, with their places in the graph."""
        out = tuple(
            self._finished(i, t) if isinstance(t, Tensor) else t for i, t in enumerate(self.raw)
        )
        if self.node is not None:
            self.node.outputs = len(out)
            self.node.results = tuple(map(_metadata, out))
        return out

    def _finished(self, i: int, t: Tensor) -> Tensor:
        if id(t) in self.dirty and id(t) in self.positions:
            return self._changed(i, t)
        if not self.differentiable[i] and t._keys & AUTOGRAD:
            return t.detach()
        if id(t) in self.positions:
            t = without_gradients(t.view, t._shape)
        return self._at(i, t) if self.differentiable[i] else t

    def _changed(self, i: int, t: Tensor) -> Tensor:
        """An input that forward changed in place."""
        t._own_storage().version += 1
        node = self.node
        if node is None or not self.differentiable[i]:
            return t if node is None else t.detach()
        refuse_leaves(t)
        base, before = t._base, t._autograd
        if base is None:
            self._at(i, t)
            refresh_views(t, before)
            return t
        if sum(self.differentiable) > 1:
            raise RuntimeError(
                "If your Function modifies inplace an input that is a view of another Tensor, your "
                "Function cannot return more than one Tensor. Pass a clone of the view, or split the "
                "Function into one that does the inplace and one that does the rest."
            )
        at = sum(isinstance(v, Tensor) for v in self.inputs[: self.positions[id(t)]])
        node.outputs = 1
        rebase(base, t, node, at)
        return t

    def _at(self, i: int, t: Tensor) -> Tensor:
        """Give a tensor the place in the graph of output ``i``."""
        t._autograd = AutogradMeta(self.node, i)
        t._keys |= TABLE[t._device.type].autograd_key
        return t


def _positions(values: Sequence[Any]) -> dict[int, int]:
    """Position of each tensor among values, by identity; the first one counts."""
    out: dict[int, int] = {}
    for i, v in enumerate(values):
        if isinstance(v, Tensor):
            out.setdefault(id(v), i)
    return out


def _packed(
    node: FunctionNode, tensors: tuple[Any, ...], outputs: tuple[Any, ...]
) -> tuple[Saved | None, ...]:
    """Saved tensors as `FunctionCtx` keeps them: with their version, outputs by their parts."""
    returned = _positions(outputs)
    pair = packing.active_hooks()
    packed: list[Saved | None] = []
    for i, t in enumerate(tensors):
        if t is None:
            packed.append(None)
            continue
        if not isinstance(t, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {i} is of type "
                f"{type(t).__name__}"
            )
        if t._keys & INFERENCE:
            refuse_saving(t)
        output = id(t) in returned and t._autograd is not None and t._autograd.node is node
        if pair is not None:
            number = returned[id(t)] if output else None
            value = packing.packed(t, pair, number)
            packed.append((value, 0) if number is None else (number, value))
        elif output:
            packed.append((returned[id(t)], output_parts(t)))
        else:
            packed.append((t, t._version))
    return tuple(packed)
