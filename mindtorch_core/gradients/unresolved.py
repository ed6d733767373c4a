"""The Conjugate and Negative keys: kernels below them meet plain tensors only.

Tensors with one of these keys are views of memory that holds the conjugates, or negatives, of their
elements (`mindtorch_core.tensors.unresolved`). An op that makes a view hands the mark on. Any other op
is given resolved copies, and what it wrote to a copy is written back. Ops that are made of others are
let through: their parts come here again. Where no tensor has such a key, nothing of this is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dispatch.entry import Kernel, OpEntry
from ..dispatch.functions import fn
from ..dispatch.keys import CONJUGATE, NEGATIVE, DispatchKey
from ..dispatch.registry import registry
from ..dispatch.written import Place, written, written_places
from ..opdefs.resizing import resize
from ..tensors.tensor import Tensor, make_tensor
from ..tensors.unresolved import fill, flipped
from ..values.containers import filled
from ..values.memory_formats import preserve_format
from .compositions import is_decomposed, unrecorded

__all__ = ["install"]


def _resolved(t: Tensor, bit: int) -> Tensor:
    """A copy of a tensor with a mark, without it."""
    plain = flipped(t, bit)
    return fn._conj_physical(plain) if bit == CONJUGATE else fn.neg(plain)


def conjugate_kernel(
    entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What the Conjugate key runs for an op; None where the op's parts come here."""
    return _kernel(CONJUGATE, entry, below_mask, resolve)


def negative_kernel(
    entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What the Negative key runs for an op; None where the op's parts come here."""
    return _kernel(NEGATIVE, entry, below_mask, resolve)


def _kernel(
    bit: int, entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    special = _SPECIAL.get((bit, entry.name))
    if special is not None:
        return special(bit, resolve(below_mask))
    d, schema = entry.definition, entry.schema
    if d is not None and d.traits.view:
        return _viewing(bit, resolve(below_mask))
    if is_decomposed(entry, below_mask):
        return None
    shares = schema is not None and any(r.alias and not r.alias.is_write for r in schema.returns)
    if shares and d is not None and d.decomposition is not None:
        return unrecorded(d.decomposition)  # its parts say whether the result is a view
    return _reading(entry, bit, resolve(below_mask))


def _reading(entry: OpEntry, bit: int, below: Kernel) -> Kernel:
    """Hand an op resolved copies, and write back what it wrote to them."""

    def read(value: Any) -> Any:
        if isinstance(value, Tensor):
            return _resolved(value, bit) if value._keys & bit else value
        return filled(type(value), map(read, value)) if isinstance(value, list | tuple) else value

    def reading(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            kwargs = {k: read(v) for k, v in kwargs.items()}
        return below(*map(read, args), **kwargs)

    places = written_places(entry.schema)
    return _writing(places, bit, below, reading) if places else reading


def _writing(places: tuple[Place, ...], bit: int, below: Kernel, reading: Kernel) -> Kernel:
    """Write to copies of the marked tensors that an op writes, and then to these.

    Args:
        places: where the arguments are that it writes.
        bit: the mark.
        below: runs the op.
        reading: the same, with resolved copies of the tensors that it reads.
    """

    def kernel(*args: Any, **kwargs: Any) -> Any:
        targets = {id(t): t for t in written(places, args, kwargs) if t._keys & bit}
        if not targets:
            return reading(*args, **kwargs)
        copies = {n: _resolved(t, bit) for n, t in targets.items()}

        def stand_in(value: Any) -> Any:
            return _mapped(lambda t: copies.get(id(t), t), value)

        result = reading(*map(stand_in, args), **{k: stand_in(v) for k, v in kwargs.items()})
        for n, t in targets.items():
            copy = copies[n]
            if copy._shape != t._shape:  # an output of another shape
                resize(t, copy._shape, copy._geometry()[0])
            flipped(t, bit).copy_(flipped(copy, bit))
        originals = {id(copies[n]): t for n, t in targets.items()}
        return _mapped(lambda t: originals.get(id(t), t), result)

    return kernel


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """A function of a value, or of each element of a sequence."""
    if isinstance(value, list | tuple):
        return filled(type(value), [_mapped(function, v) for v in value])
    return function(value)


def _viewing(bit: int, below: Kernel, toggled: int | None = None) -> Kernel:
    """Make a view of a tensor without the mark, and mark it.

    Args:
        bit: the mark.
        below: makes the view.
        toggled: which marks of the view are turned round, if not that one.
    """
    marks = bit if toggled is None else toggled

    def kernel(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        fill(self)
        plain = make_tensor(
            self._payload, self._shape, self._dtype, self._device, self._keys ^ bit,
            self._own_storage(), self._strided,
        )  # fmt: skip

        def marked(view: Any) -> Any:
            if view is plain:
                return self
            if view._base is plain:
                view._base = self if self._base is None else self._base
            view._keys ^= marks
            return view

        return _mapped(marked, below(plain, *args, **kwargs))

    return kernel


# ---- ops with something of their own to do ------------------------------------------------------


def _copying(bit: int, below: Kernel) -> Kernel:
    """``copy_``: whatever has the mark, no more than the source is computed anew."""

    def kernel(self: Tensor, src: Tensor, *args: Any, **kwargs: Any) -> Any:
        if not self._keys & bit:
            return below(self, _resolved(src, bit), *args, **kwargs)
        source = flipped(src, 0)
        if source._dtype is not self._dtype:
            source = source.to(self._dtype)
        flipped(self, bit).copy_(flipped(source, bit), *args, **kwargs)
        return self

    return kernel


def _cloning(bit: int, below: Kernel) -> Kernel:
    """``clone``: a resolved tensor is a copy already."""

    def kernel(self: Tensor, *, memory_format: Any = None) -> Any:
        made = _resolved(self, bit)
        if memory_format in (None, preserve_format):
            return made
        return below(made, memory_format=memory_format)

    return kernel


def _undoing(bit: int, below: Kernel) -> Kernel:
    """What computes the very thing that the mark stands for: the memory is copied as it is."""
    return lambda self: flipped(self, bit).clone()


def _refusing(text: str) -> Callable[[int, Kernel], Kernel]:
    def factory(bit: int, below: Kernel) -> Kernel:
        def kernel(*args: Any, **kwargs: Any) -> Any:
            raise RuntimeError(text)

        return kernel

    return factory


_SPECIAL: Final[dict[tuple[int, str], Callable[[int, Kernel], Kernel]]] = {
    **{
        (bit, name): make
        for bit in (CONJUGATE, NEGATIVE)
        for name, make in (("aten::copy_", _copying), ("aten::clone", _cloning))
    },
    (CONJUGATE, "aten::_conj_physical"): _undoing,
    (NEGATIVE, "aten::neg"): _undoing,
    (CONJUGATE, "aten::_real"): lambda bit, below: _viewing(bit, below, 0),
    (CONJUGATE, "aten::_imag"): lambda bit, below: _viewing(bit, below, NEGATIVE),
    (CONJUGATE, "aten::view_as_real"): _refusing(
        "view_as_real doesn't work on unresolved conjugated tensors. To resolve the conjugate tensor "
        "so you can view it as real, use self.resolve_conj(); however, be warned that the resulting "
        "tensor will NOT alias the original."
    ),
    (CONJUGATE, "aten::view.dtype"): _refusing(
        "torch.Tensor.view is not supported for conjugate view tensors when converting to a different "
        "dtype."
    ),
    (NEGATIVE, "aten::view.dtype"): _refusing(
        "torch.Tensor.view is not supported for tensors with negative bit set when converting to a "
        "different dtype."
    ),
}


def install() -> None:
    """Serve both keys."""
    registry.wrappers[DispatchKey.Conjugate] = conjugate_kernel
    registry.wrappers[DispatchKey.Negative] = negative_kernel
