"""Padding with a constant, or with the tensor's own elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...opdefs.formats import in_format
from ...tensors.tensor import Tensor
from ...values.shapes import Shape, show

__all__ = ["constant_pad_rule"]


def constant_pad_rule(self: Tensor, pad: Sequence[int], value: Any = 0) -> TensorSpec:
    """Shape of a tensor that grows (or shrinks) by pairs of sizes, the last dimension's first.

    Raises:
        RuntimeError: if there are too many numbers, or less than nothing would be left.
    """
    rank = len(self._shape)
    if len(pad) % 2:
        raise RuntimeError("Length of pad must be even but instead it equals " + str(len(pad)))
    if len(pad) > 2 * rank:
        raise RuntimeError(
            f"Length of pad should be no more than twice the number of dimensions of the input. Pad "
            f"length is {len(pad)} while the input has {rank} dimensions."
        )
    shape = list(self._shape)
    for i in range(len(pad) // 2):
        before, after = pad[2 * i], pad[2 * i + 1]
        at = rank - 1 - i
        shape[at] += before + after
        if shape[at] < 0:
            raise RuntimeError(
                f"The input size {self._shape[at]}, plus negative padding {before} and {after} "
                f"resulted in a negative output size, which is invalid. Check dimension {at} of your "
                f"input."
            )
    return TensorSpec(tuple(shape), self._dtype)


def _constant_pad(self: Tensor, pad: Sequence[int], value: Any = 0) -> Tensor:
    spec = constant_pad_rule(self, pad, value)
    out = self.new_full(spec.shape, value)
    source, target = self, out
    for i in range(len(pad) // 2):
        at = len(self._shape) - 1 - i
        first = max(-pad[2 * i], 0)
        start = max(pad[2 * i], 0)
        size = max(self._shape[at] - first - max(-pad[2 * i + 1], 0), 0)
        source = source.narrow(at, min(first, self._shape[at]), size)
        target = target.narrow(at, min(start, spec.shape[at]), size)
    target.copy_(source)
    return out


op(
    "constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
    doc="Pairs of sizes added before and after, last dimension first; negative ones cut off.",
    rule=in_format(constant_pad_rule),
    grad={"self": lambda g, pad: fn.constant_pad_nd(g, [-p for p in pad])},
    decomposition=in_format(_constant_pad),
    out=True,
    namespaces=("torch",),
)


# ---- with the tensor's own elements -------------------------------------------------------------


def _sources(kind: str, size: int, before: int, after: int, device: Any) -> Any:
    """Positions that a padded dimension is read from."""
    at = fn.arange(-before, size + after, 1, device=device)
    if kind == "replication":
        return at.clamp(0, size - 1)
    return (size - 1) - ((size - 1) - at.abs()).abs()


def _check(kind: str, n: int, self: Tensor, padding: Sequence[int]) -> Shape:
    """The padded shape.

    Raises:
        RuntimeError: if the padding does not fit the tensor.
    """
    shape, rank = self._shape, len(self._shape)
    if len(padding) != 2 * n:
        raise RuntimeError(f"padding size is expected to be {2 * n}, but got: {len(padding)}")
    if rank not in (n + 1, n + 2) or any(s == 0 for s in shape[rank - n - 1 :]):
        raise RuntimeError(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {show(shape)}"
        )
    out = list(shape)
    for i in range(n):
        at, before, after = rank - 1 - i, padding[2 * i], padding[2 * i + 1]
        if kind == "reflection" and (before >= shape[at] or after >= shape[at]):
            raise RuntimeError(
                f"Padding size should be less than the corresponding input dimension, but got: "
                f"padding ({before}, {after}) at dimension {at} of input {show(shape)}"
            )
        out[at] += before + after
        if out[at] < 1:
            raise RuntimeError(
                f"input (size {shape[at]} at dimension {at}) is too small. Calculated output size: "
                f"{out[at]}"
            )
    return tuple(out)


def _own(kind: str, n: int) -> None:
    """Define one kind of padding for ``n`` spatial dimensions."""
    name = f"{kind}_pad{n}d"

    def rule(self: Tensor, padding: Sequence[int]) -> TensorSpec:
        return TensorSpec(_check(kind, n, self, padding), self._dtype)

    def forward(self: Tensor, padding: Sequence[int]) -> Tensor:
        _check(kind, n, self, padding)
        for i in range(n):
            at = len(self._shape) - 1 - i
            before, after = padding[2 * i], padding[2 * i + 1]
            if before or after:
                index = _sources(kind, self._shape[at], before, after, self._device)
                self = self.index_select(at, index)
        return self.clone() if not any(padding) else self

    def back(grad_output: Tensor, self: Tensor, padding: Sequence[int]) -> Tensor:
        if grad_output._shape != _check(kind, n, self, padding):
            raise RuntimeError(
                f"grad_output of shape {show(grad_output._shape)} does not fit an input of shape "
                f"{show(self._shape)} with padding {show(tuple(padding))}"
            )
        g = grad_output
        for i in range(n):
            at = len(g._shape) - 1 - i
            index = _sources(kind, self._shape[at], padding[2 * i], padding[2 * i + 1], g._device)
            whole = (*g._shape[:at], self._shape[at], *g._shape[at + 1 :])
            g = g.new_zeros(whole).index_add(at, index, g)
        return g

    op(
        f"{name}(Tensor self, SymInt[{2 * n}] padding) -> Tensor",
        doc=f"Padding by {kind} of elements at the border, the last dimension's pair first.",
        rule=in_format(rule),
        grad={"self": lambda g, self, padding: getattr(fn, f"{name}_backward")(g, self, padding)},
        decomposition=in_format(forward),
        out=True,
        namespaces=("torch",),
    )
    op(
        f"{name}_backward(Tensor grad_output, Tensor self, SymInt[{2 * n}] padding) -> Tensor",
        doc=f"Gradient of `{name}`.",
        rule=in_format(
            lambda grad_output, self, padding: TensorSpec(self._shape, grad_output._dtype), 1
        ),
        grad={
            "grad_output": lambda g, padding: getattr(fn, name)(g, padding),
            "self": lambda self: fn.zeros_like(self),
        },
        decomposition=in_format(back, 1),
        namespaces=("torch",),
    )


for _kind in ("reflection", "replication"):
    for _count in (1, 2, 3):
        _own(_kind, _count)


def _circular(self: Tensor, pad: Sequence[int]) -> Tensor:
    rank, n = len(self._shape), len(pad) // 2
    if rank not in (n + 1, n + 2):
        raise RuntimeError(
            f"Invalid padding size, expected {2 * (rank - 2)} but got {len(pad)} numbers for an "
            f"input of {rank} dimensions"
        )
    for i in range(n):
        at, before, after = rank - 1 - i, pad[2 * i], pad[2 * i + 1]
        size = self._shape[at]
        if before > size or after > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        first = max(-before, 0)
        kept = size - first - max(-after, 0)  # what negative numbers leave is what repeats
        if kept < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        index = fn.arange(-max(before, 0), kept + max(after, 0), 1, device=self._device)
        if before or after:
            self = self.index_select(at, index.remainder(max(kept, 1)) + first)
    return self.clone() if not any(pad) else self


op(
    "_pad_circular(Tensor self, SymInt[] pad) -> Tensor",
    doc="Padding with the elements from the other end.",
    decomposition=_circular,
    namespaces=("torch",),
)

_KINDS = {"reflect": "reflection", "replicate": "replication"}


def _pad(
    self: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * len(self._shape):
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pad)} and input of dimension {len(self._shape)}"
        )
    if mode == "constant":
        return fn.constant_pad_nd(self, pad, 0.0 if value is None else float(value))
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    n = len(pad) // 2
    if 1 <= n <= 3 and len(self._shape) in (n + 1, n + 2):
        if mode == "circular":
            return fn._pad_circular(self, pad)
        if mode in _KINDS:
            return getattr(fn, f"{_KINDS[mode]}_pad{n}d")(self, pad)  # type: ignore[no-any-return]
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    raise NotImplementedError(
        f"Padding size {len(pad)} is not supported for {len(self._shape)}D input tensor.\n"
        "Supported combinations for non-constant padding:\n"
        "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
        "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
        "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
    )


op(
    "pad(Tensor self, SymInt[] pad, str mode='constant', float? value=None) -> Tensor",
    doc="Pairs of sizes added before and after, last dimension first; ``mode`` says what is put "
    "there: constant, reflect, replicate or circular.",
    decomposition=_pad,
    namespaces=("nn",),
)
