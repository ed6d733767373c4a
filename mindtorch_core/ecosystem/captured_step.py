"""One recording of a captured function: what it was given, what it computes, what it returns."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..deferred.dependence import memory_of
from ..deferred.programs.describing import Description
from ..deferred.programs.program import Program, Value
from ..deferred.replay.known import partition
from ..dispatch.dispatcher import dispatch
from ..dispatch.masks import without_gradients
from ..gradients.node import HOOKED_LEAVES, Error
from ..tensors.autograd_state import AutogradMeta
from ..tensors.making import make_view, tensor_over
from ..tensors.tensor import Tensor
from ..utils._pytree import (
    TreeSpec,
    tree_flatten,
    tree_leaves,
    tree_structure,
    tree_unflatten,
)
from ..values.errors import CaptureError
from ..values.shapes import Shape
from .captured_computing import Computing
from .captured_grads import Grad, Touched, grads_of, shown_as
from .captured_guards import Identities, guard_of, hooks_of, shown
from .captured_names import is_same
from .captured_settings import Settings
from .captured_surroundings import Surroundings

__all__ = ["Constant", "Step"]


class Constant(NamedTuple):
    """A tensor that the function makes of Python's data, which is new in each call.

    Attributes:
        tensor: the one that it has made.
        before: what that was, before anything was written to it.
    """

    tensor: Tensor
    before: Tensor


class _Part(NamedTuple):
    """A tensor over the memory of another one that is there at a call.

    Attributes:
        of: the number of an argument; of a constant where it is negative, counted from -1.
        shape, strides, dtype: what it is like.
        start: where it begins behind the other one, in bytes; None for that one itself.
    """

    of: int
    shape: Shape
    strides: Shape
    dtype: Any
    start: int | None


class _Kept(NamedTuple):
    """What the function has put somewhere, which is filled anew by each call.

    Attributes:
        output: which output it is.
        memory: its storage, weakly, or the tensor where it has none.
        strides, offset: how it lies there.
    """

    output: int
    memory: weakref.ref[Any]
    strides: Shape
    offset: int


class Step:
    """A recording.

    Args:
        name, fn: of the function, for errors.
        leaves, spec: its arguments.
        result: what it returned.
        constants: the tensors that it has made of Python's data.
        around: what it reads besides its arguments.
        settings: what was set.
    """

    def __init__(
        self,
        name: str,
        fn: Callable[..., Any],
        leaves: list[Any],
        spec: TreeSpec,
        result: Any,
        constants: list[Constant],
        around: Surroundings,
        settings: Settings,
    ) -> None:
        self._name, self._fn = name, fn
        self._around, self._settings = around, settings
        self._leaves = [guard_of(t) if isinstance(t, Tensor) else t for t in leaves]
        self._identities = Identities(leaves, around.name_of, around.names)
        self._spec = spec
        # The classes of the arguments, where none is a container and none has a name.
        plain = spec == tree_structure(((None,) * len(leaves), {}))
        self._classes = [type(leaf) for leaf in leaves] if plain else None
        results, self._result_spec = tree_flatten(result)
        self._program: Program | None = None
        self._fresh: list[Tensor] = []
        self._made_of = constants
        self._given = leaves  # until it is known what is computed
        self._results = results
        self._returned: list[tuple[int, Value] | None] = [None] * len(results)
        self._kept: list[_Kept] = []
        self._first: list[weakref.ref[Tensor]] = []  # what has the history of the first call
        self._numbers: list[Any] = []
        self._grads: list[Grad] = []
        self._put: list[Grad] = []  # of those, what each call sets or adds to
        self._hooked: list[tuple[AutogradMeta, Any]] = []
        self._any_hooks = False

    def is_like(self, other: Step) -> bool:
        """Whether another recording does the same, of the same things."""
        a, b = self._program, other._program
        if (a is None) is not (b is None) or len(self._inputs) != len(other._inputs):
            return False
        return (
            (a is None or b is None or a.key == b.key)
            and repr(self._numbers) == repr(other._numbers)
            and all(
                v is w or (v.__class__ is w.__class__ is _Part and v == w)
                for v, w in zip(self._inputs, other._inputs, strict=True)
            )
            and self._result_spec == other._result_spec
            and len(self._grads) == len(other._grads)
            and all(v.is_like(w) for v, w in zip(self._grads, other._grads, strict=True))
            and all(
                isinstance(v, Tensor | _Part) or is_same(v, w)
                for v, w in zip(self._constants, other._constants, strict=True)
            )
        )

    def changes_grads(self, leaves: Sequence[Any]) -> str | None:
        """Which grad is not what the next call wants, so that this recording does not stand for it."""
        found = (grad.changed(leaves) for grad in self._grads)
        return next((text for text in found if text is not None), None)

    def refusal(self, leaves: Sequence[Any]) -> str | None:
        """Why later calls could not leave what this one has left; None where they can."""
        for grad in self._put:
            left = grad.of(leaves).grad
            if left is not None and left.requires_grad:
                return "it leaves a grad that has a history, which that of a later call has not"
        return None

    def only_adds_to(self, before: Step) -> bool:
        """Whether it differs from an earlier recording in that it has added to the grads that this made."""
        made = {id(grad.leaf) for grad in before._grads if grad.left == "added"}
        return len(made) == len(before._grads) == len(self._grads) > 0 and all(
            grad.only_added and id(grad.leaf) in made for grad in self._grads
        )

    def compute(
        self,
        found: Description | None,
        program: Program | None,
        touched_grads: Sequence[Touched],
    ) -> None:
        """Compute ops in each call.

        Args:
            found: the ops; None where there are none.
            program: the same.
            touched_grads: leaves whose grad the function has asked for, or changed.
        """
        leaves = self._given
        at = {id(t): i for i, t in enumerate(leaves) if isinstance(t, Tensor)}
        self._grads = grads_of(touched_grads, at, found, program, self._results)
        self._put = [grad for grad in self._grads if grad.left != "kept"]
        results = [*self._results, *(grad.of(leaves).grad for grad in self._put)]
        # Whose memory is that of an argument, or of what is made anew in each call.
        memories: dict[int, tuple[int, Tensor]] = {}
        touched = {id(memory_of(t)) for t in results if isinstance(t, Tensor)}
        if found is not None and program is not None:
            touched |= {
                id(memory_of(t))
                for t, n in zip(found.inputs, program.inputs, strict=True)
                if program.values[n].memory in program.written
            }
        new = [c for c in self._made_of if id(memory_of(c.tensor)) in touched]
        self._fresh = [c.before for c in new]
        for i, made in enumerate(new):
            memories[id(memory_of(made.tensor))] = -1 - i, made.tensor
        for i, t in enumerate(leaves):
            if isinstance(t, Tensor):
                memories.setdefault(id(memory_of(t)), (i, t))

        def source(t: Any) -> Any:
            if not isinstance(t, Tensor):
                return t
            if id(t) in at:
                return _Part(at[id(t)], t._shape, (), t._dtype, None)
            if self._around.name_of(t) is not None:  # whatever an argument shows of its memory
                return t
            number, base = memories.get(id(memory_of(t)), (0, None))
            return t if base is None else _part(number, base, t)

        self._inputs: list[Any] = []
        self._around.describe({id(t) for t in (() if found is None else found.inputs)})
        self._program = program
        outputs = [] if found is None else found.outputs
        made_of = _Made([*outputs, *(c.tensor for c in new)])
        self._returned = [made_of(t) for t in results]
        if found is not None and program is not None:
            self._inputs = [source(t) for t in found.inputs]
            self._compute_ops(found, program)
            handed_out = (t for entry in found.entries for t in entry.outs)
            self._first = [weakref.ref(t) for t in handed_out if t.grad_fn is not None]
        self._kept = made_of.kept({r[0] for r in self._returned if r is not None})
        self._constants = [
            t if r is None else None
            for t, r in zip(map(source, results), self._returned, strict=True)
        ]
        del self._given, self._results, self._made_of

    def _compute_ops(self, found: Description, program: Program) -> None:
        self._computing = Computing(program)
        self._numbers = found.numbers
        self._looks: list[tuple[Any, ...]] = []
        self._guards = [guard_of(t) for t in found.inputs]
        written = program.written
        self._written = [
            i for i, n in enumerate(program.inputs) if program.values[n].memory in written
        ]
        self._sharing = partition(found.inputs) if self._written else None
        self._hooked = [
            (meta, hooks_of(meta))
            for t in found.inputs
            if (meta := t._autograd) is not None and meta.is_leaf
        ]
        self._any_hooks = any(hooks for _, hooks in self._hooked)

    def first(self, result: Any) -> Any:
        """What the call returns that was recorded: without history, as later ones do."""
        results = [
            t if made is None or not t.requires_grad else t.detach()
            for t, made in zip(tree_leaves(result), self._returned, strict=False)
        ]
        return tree_unflatten(results, self._result_spec)

    def flattened(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Sequence[Any], TreeSpec]:
        """The leaves of a call's arguments, and their structure."""
        if not kwargs and [*map(type, args)] == self._classes:
            return args, self._spec
        return tree_flatten((args, kwargs))

    def __call__(self, leaves: Sequence[Any], spec: TreeSpec) -> Any:
        """Compute what was recorded, of other arguments."""
        self._check(leaves, spec)
        for grad in self._grads:
            grad.check(self._name, leaves)
        fresh = [without_gradients(dispatch, "clone", None, t) for t in self._fresh]
        program, outputs = self._program, fresh
        if program is not None:
            inputs: list[Tensor] = [
                _taken(t, leaves, fresh) if t.__class__ is _Part else t for t in self._inputs
            ]
            if not self._as_before(inputs):
                self._check_inputs(inputs)
                self._looks = [
                    (t._payload, t._storage, t._shape, t._strided, t._keys) for t in inputs
                ]
            if HOOKED_LEAVES or self._any_hooks:
                self._check_hooks()
            outputs = self._computing(inputs, self._numbers)
            outputs += fresh
            for i in self._written:
                inputs[i]._own_storage().version += 1
        if self._first:
            self._end_histories()
        if self._kept:
            without_gradients(self._fill_kept, outputs)
        results: list[Any] = []
        for made, constant in zip(self._returned, self._constants, strict=True):
            if made is not None:
                results.append(shown_as(outputs[made[0]], made[1]))
            elif constant.__class__ is _Part:
                results.append(_taken(constant, leaves, fresh))
            else:
                results.append(constant)
        if self._put:
            count = len(results) - len(self._put)
            for grad, value in zip(self._put, results[count:], strict=True):
                grad.put(value, leaves)
            del results[count:]
        if self._result_spec.type is None:
            return results[0]
        return tree_unflatten(results, self._result_spec)

    def _as_before(self, inputs: Sequence[Tensor]) -> bool:
        """Whether what the call reads and writes are the very objects that the last one did."""
        for t, (data, storage, shape, layout, keys) in zip(inputs, self._looks, strict=False):
            if (
                t._payload is not data or t._storage is not storage or t._shape is not shape
                or t._strided is not layout or t._keys != keys or data is None
            ):  # fmt: skip
                return False
        return len(inputs) == len(self._looks)

    def _check_inputs(self, inputs: list[Tensor]) -> None:
        """Check what the function uses besides its arguments, and who shares memory."""
        for i, (t, guard) in enumerate(zip(inputs, self._guards, strict=True)):
            if t._pending or t._payload is None:
                t._settled()
            if self._inputs[i].__class__ is not _Part and guard_of(t) != guard:
                raise CaptureError(
                    f"{self._name}(): a tensor that it used was {shown(guard)} when it was captured, "
                    f"and is {shown(guard_of(t))} now"
                )
        if self._sharing is not None and partition(inputs) != self._sharing:
            raise CaptureError(
                f"{self._name}(): other tensors share memory than when it was captured, and it writes "
                f"to some of them"
            )

    def _check_hooks(self) -> None:
        for meta, was in self._hooked:
            if hooks_of(meta) != was:
                raise CaptureError(
                    f"{self._name}(): the hooks of a tensor that it used are other ones than when it was "
                    f"captured; reset() captures anew"
                )

    def _end_histories(self) -> None:
        """What the function has put somewhere is filled anew: its gradient is not that of the first call."""
        for left in self._first:
            t = left()
            if t is not None and t._autograd is not None:
                t._autograd = AutogradMeta(Error(
                    f"a call of {self._name}(), which was captured, has filled this tensor anew: it has no "
                    f"history from then on. Return it, or have the function put its detach() there"
                ))  # fmt: skip
        self._first = []

    def _fill_kept(self, outputs: list[Tensor]) -> None:
        """Fill anew what the function has put somewhere."""
        for each in self._kept:
            kept, made = each.memory(), outputs[each.output]
            if isinstance(kept, Tensor):
                dispatch("copy_", None, kept, made)
            elif kept is not None and kept.memory is not None:
                like = made._shape, made._dtype, made._device, each.strides, each.offset
                over = tensor_over(kept.memory, kept.size_bytes, *like)
                dispatch("copy_", None, over, made)
                kept.version += 1

    def _check(self, leaves: Sequence[Any], spec: TreeSpec) -> None:
        otherwise = self._settings.difference() or self._around.difference()
        if otherwise is not None:
            raise CaptureError(f"{self._name}(): {otherwise}; reset() captures anew")
        if spec is not self._spec and spec != self._spec:
            raise CaptureError(
                f"{self._name}(): the arguments are other ones than when it was captured: "
                f"{_called_with(spec)} instead of {_called_with(self._spec)}; reset() captures anew"
            )
        for i, (value, wanted) in enumerate(zip(leaves, self._leaves, strict=True)):
            if isinstance(value, Tensor):
                if (found := guard_of(value)) != wanted:
                    was = shown(wanted) if wanted.__class__ is tuple else repr(wanted)
                    raise CaptureError(
                        f"{self._name}(): {self.argument(i)} was {was} when it was captured, and is "
                        f"{shown(found)} now; reset() captures anew"
                    )
            elif not is_same(value, wanted):
                was = shown(wanted) if wanted.__class__ is tuple else repr(wanted)
                raise CaptureError(
                    f"{self._name}(): {self.argument(i)} was {was} when it was captured, and is "
                    f"{value!r} now; reset() captures anew"
                )
        otherwise = self._identities.difference(leaves, self.argument)
        if otherwise is not None:
            raise CaptureError(f"{self._name}(): {otherwise}; reset() captures anew")

    def argument(self, leaf: int) -> str:
        """How an error names an argument."""
        placeholders = tree_unflatten(list(range(self._spec.num_leaves)), self._spec)
        args, kwargs = placeholders
        try:
            given = inspect.signature(self._fn).bind(*args, **kwargs).arguments
        except (TypeError, ValueError):
            return f"argument {leaf}"
        for name, value in given.items():
            if leaf in tree_leaves(value):
                return f"argument {name!r}"
        return f"argument {leaf}"


def _called_with(spec: TreeSpec) -> str:
    """Arguments as an error shows them: how many, and how they are called."""
    args, kwargs = tree_unflatten(["..."] * spec.num_leaves, spec)
    given = [str(a).replace("'", "") for a in args] + [f"{k}=..." for k in kwargs]
    return f"({', '.join(given)})"


def _part(number: int, base: Tensor, t: Tensor) -> _Part:
    strides, offset = t._geometry()
    start = offset * t._dtype.itemsize - base._geometry()[1] * base._dtype.itemsize
    if t._shape == base._shape and t._dtype is base._dtype and t._geometry() == base._geometry():
        return _Part(number, t._shape, strides, t._dtype, None if number < 0 else start)
    return _Part(number, t._shape, strides, t._dtype, start)


def _taken(part: _Part, leaves: Sequence[Any], fresh: list[Tensor]) -> Tensor:
    """A tensor over the memory of an argument of this call, or of what is new in it."""
    base: Tensor = leaves[part.of] if part.of >= 0 else fresh[-part.of - 1]
    if part.start is None:
        return base
    offset = (base._geometry()[1] * base._dtype.itemsize + part.start) // part.dtype.itemsize
    t = make_view(base, part.shape, part.strides, offset, part.dtype)
    t._base = None
    return t


class _Made:
    """Which tensor over the memory of what a call makes stands for which of it.

    Args:
        tensors: what it makes: the outputs of the ops, then what is new in each call.
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._tensors = tensors
        self._at = {id(memory_of(t)): i for i, t in enumerate(tensors)}

    def __call__(self, t: Any) -> tuple[int, Value] | None:
        """How to make a tensor of one of them; None for what the call does not make."""
        i = self._at.get(id(memory_of(t))) if isinstance(t, Tensor) else None
        return None if i is None else (i, _value_of(t, self._tensors[i]))

    def kept(self, others: set[int]) -> list[_Kept]:
        """What may be put somewhere, besides some of it: views show it when it is gone itself."""
        return [
            _Kept(i, weakref.ref(memory_of(t)), *t._geometry())
            for i, t in enumerate(self._tensors)
            if i not in others
        ]


def _value_of(t: Tensor, output: Tensor) -> Value:
    """What a tensor over the memory of an output is like."""
    strides, offset = t._geometry()
    size = t._dtype.itemsize
    start = offset * size - output._geometry()[1] * output._dtype.itemsize
    return Value(t._shape, t._dtype, t._device, strides, start // size, 0)
