"""``torch.nn.utils.rnn``: sequences of several lengths, padded or packed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._own_frames import guarded

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class PackedSequence_(NamedTuple):
    """The fields of `PackedSequence`."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """Sequences laid out step by step without padding, longest first; made by `pack_padded_sequence`.

    Attributes:
        data: all steps, (sum of lengths, *).
        batch_sizes: how many sequences have each step, on the CPU.
        sorted_indices: the order the sequences were put into; None if they had it.
        unsorted_indices: the order that takes them back.
    """

    def __new__(  # noqa: D102
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, list | tuple) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
                "created manually. They should be instantiated by functions like pack_sequence and "
                "pack_padded_sequences in nn.utils.rnn."
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move or convert the data, as ``Tensor.to``; orders move with it."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        orders = (
            None if order is None else order.to(data.device)
            for order in (self.sorted_indices, self.unsorted_indices)
        )
        return type(self)(data, self.batch_sizes, *orders)

    def pin_memory(self) -> Self:
        """Copy everything to page-locked memory."""
        mine: Any = self
        pinned = (None if t is None else t.pin_memory() for t in mine)
        data, _, *orders = pinned
        return type(self)(data, self.batch_sizes, *orders)

    def cuda(self, *args: Any, **kwargs: Any) -> Self:
        """Move the data to a GPU."""
        return self.to(*(args or ("cuda",)), **kwargs)

    def cpu(self, *args: Any, **kwargs: Any) -> Self:
        """Move the data to the CPU."""
        return self.to("cpu", *args, **kwargs)

    def double(self) -> Self:
        """Convert the data to float64."""
        return self.to(dtype=torch.float64)

    def float(self) -> Self:
        """Convert the data to float32."""
        return self.to(dtype=torch.float32)

    def half(self) -> Self:
        """Convert the data to float16."""
        return self.to(dtype=torch.float16)

    def long(self) -> Self:
        """Convert the data to int64."""
        return self.to(dtype=torch.int64)

    def int(self) -> Self:
        """Convert the data to int32."""
        return self.to(dtype=torch.int32)

    def short(self) -> Self:
        """Convert the data to int16."""
        return self.to(dtype=torch.int16)

    def char(self) -> Self:
        """Convert the data to int8."""
        return self.to(dtype=torch.int8)

    def byte(self) -> Self:
        """Convert the data to uint8."""
        return self.to(dtype=torch.uint8)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a GPU."""
        return self.data.device.type == "cuda"

    def is_pinned(self) -> bool:
        """Whether the data is in page-locked memory."""
        return self.data.is_pinned()


@guarded
def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The order that takes a permutation back."""
    if permutation is None:
        return None
    places = torch.arange(0, permutation.numel(), device=permutation.device)
    return torch.empty_like(permutation).scatter_(0, permutation, places)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack padded sequences.

    Args:
        input: (steps, batch, *), or (batch, steps, *).
        lengths: of the sequences, a tensor on the CPU or numbers.
        batch_first: which of the two it is.
        enforce_sorted: refuse sequences that are not sorted by length; else sort them.

    Raises:
        RuntimeError: for lengths that do not fit.

    Example:
        >>> padded = torch.tensor([[1, 2], [3, 0]])
        >>> packed = torch.nn.utils.rnn.pack_padded_sequence(padded, [2, 1], batch_first=True)
        >>> packed.data, packed.batch_sizes
        (tensor([1, 3, 2]), tensor([2, 1]))
    """
    if isinstance(lengths, Tensor):
        lengths = lengths.to(dtype=torch.int64)
    else:
        lengths = torch.as_tensor(lengths, dtype=torch.int64, device="cpu")
    order = None
    if not enforce_sorted:
        lengths, order = torch.sort(lengths, descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    data, sizes = torch._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, sizes, order, None)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Pad packed sequences.

    Args:
        sequence: what is unpacked.
        batch_first: whether the result is (batch, steps, *), not (steps, batch, *).
        padding_value: what fills the rest.
        total_length: steps of the result; by default the longest length.

    Returns:
        The sequences in their first order, and their lengths.

    Raises:
        ValueError: if ``total_length`` is too short.

    Example:
        >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])])
        >>> torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        (tensor([[1, 2],
                [3, 0]]), tensor([2, 1]))
    """
    steps = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                f"Expected total_length to be at least the length of the longest sequence in input, but "
                f"got total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    made, lengths = torch._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, steps
    )
    order = sequence.unsorted_indices
    if order is None:
        return made, lengths
    return made.index_select(0 if batch_first else 1, order), lengths[order.cpu()]


@guarded
def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Put sequences (length, *) into one tensor.

    Args:
        sequences: tensors that differ in their first size only.
        batch_first: whether the result is (batch, steps, *), not (steps, batch, *).
        padding_value: what fills the rest.
        padding_side: "right" or "left".

    Raises:
        RuntimeError: for no sequences, or another side.

    Example:
        >>> torch.nn.utils.rnn.pad_sequence([torch.tensor([1, 2]), torch.tensor([3])], batch_first=True)
        tensor([[1, 2],
                [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    found = list(sequences.unbind(0) if isinstance(sequences, Tensor) else sequences)
    if not found:
        raise RuntimeError("received an empty list of sequences")
    for i, s in enumerate(found):
        if not isinstance(s, Tensor):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {type(s).__name__}"
            )
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    longest = max(s.size(0) for s in found)
    padded = []
    for s in found:
        gap = longest - s.size(0)
        if gap:
            fill = s.detach().new_full((gap, *s.shape[1:]), padding_value)
            s = torch.cat([fill, s] if padding_side == "left" else [s, fill])
        padded.append(s)
    return torch.stack(padded, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences that `pad_sequence` put into a tensor."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:length] for row, length in zip(rows.unbind(0), lengths.tolist(), strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences (length, *)."""
    lengths = torch.as_tensor([s.size(0) for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that `pack_sequence` packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
