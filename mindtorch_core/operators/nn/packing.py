"""Sequences of several lengths laid out step by step, without the padding."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ...frontend.creation import tensor
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import int64


def _checked_lengths(lengths: Tensor, batch: int) -> list[int]:
    if len(lengths._shape) != 1 or lengths._device.type != "cpu" or lengths._dtype is not int64:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {len(lengths._shape)}D "
            f"{lengths._device.type} {lengths._dtype} tensor"
        )
    found: list[int] = lengths.tolist()
    if len(found) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(found)} "
            f"(batch_size={batch})"
        )
    if any(a < b for a, b in pairwise(found)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
            "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
            "requirement if you do not need ONNX exportability."
        )
    if found and found[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is "
            "<= 0"
        )
    return found


def _places(sizes: list[int], batch: int) -> list[int]:
    """Where each packed row stands among (steps * batch) rows, step by step."""
    return [step * batch + i for step, size in enumerate(sizes) for i in range(size)]


def _pack(input: Any, lengths: Any, batch_first: bool) -> tuple[Any, Any]:
    steps = input.transpose(0, 1) if batch_first else input
    if not len(steps._shape) or not steps.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    batch = steps._shape[1]
    found = _checked_lengths(lengths, batch)
    if found[0] > steps._shape[0]:
        raise RuntimeError(
            f"Expected lengths of at most {steps._shape[0]} steps, which the input has, but got {found[0]}"
        )
    sizes = [sum(length > step for length in found) for step in range(found[0])]
    at = tensor(_places(sizes, batch), dtype=int64, device=input._device)
    return steps.flatten(0, 1).index_select(0, at), tensor(sizes, dtype=int64, device="cpu")


def _unpack(
    data: Any, batch_sizes: Any, batch_first: bool, padding_value: Any, total_length: int
) -> tuple[Any, Any]:
    sizes: list[int] = batch_sizes.tolist()
    steps, batch = len(sizes), sizes[0]
    if total_length > 0:
        if total_length < steps:
            raise RuntimeError(
                f"Expected total_length to be at least the length of the longest sequence in input, but "
                f"got total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    rest = data._shape[1:]
    at = tensor(_places(sizes, batch), dtype=int64, device=data._device)
    empty = data.detach().new_full((steps * batch, *rest), padding_value)
    made = empty.index_copy(0, at, data).reshape(steps, batch, *rest)
    lengths = [sum(size > i for size in sizes) for i in range(batch)]
    return (
        made.transpose(0, 1) if batch_first else made,
        tensor(lengths, dtype=int64, device="cpu"),
    )


op(
    "_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)",
    doc="Steps of padded sequences, longest first, one after another without padding; and how many "
    "sequences have each step.",
    decomposition=_pack,
    namespaces=("torch",),
)
op(
    "_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, int "
    "total_length) -> (Tensor, Tensor)",
    doc="Padded sequences from packed ones, and their lengths.",
    decomposition=_unpack,
    namespaces=("torch",),
)
