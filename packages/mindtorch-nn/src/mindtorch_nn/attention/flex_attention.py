"""``torch.nn.attention.flex_attention``: attention whose scores and mask are functions.

Scores are computed in full; a block mask says the same as its function does, and no block is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import islice, product
from typing import Any, Final, Literal, NamedTuple, NoReturn, TypedDict

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F
from mindtorch_core.utils._own_frames import warn_user

from .blocks import dense, lines, listed, listed_by_column

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "FlexKernelOptions",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]

_DEFAULT_SPARSE_BLOCK_SIZE = 128

MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


class AuxRequest(NamedTuple):
    """What `flex_attention` gives beside its result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for with `AuxRequest`; the rest is None."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def noop_mask(batch: Tensor, head: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
    """Everything is seen."""
    return batch.new_ones((), dtype=torch.bool)


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """What all of the functions let be seen."""

    def mask(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        found = noop_mask(b, h, q, k)
        for each in mask_mods:
            found = found & each(b, h, q, k)
        return found

    return mask


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """What some of the functions lets be seen."""

    def mask(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        found = ~noop_mask(b, h, q, k)
        for each in mask_mods:
            found = found | each(b, h, q, k)
        return found

    return mask


class FlexKernelOptions(TypedDict, total=False):
    """Options of PyTorch's kernels for GPUs, which change no result: taken, without effect."""

    num_warps: int
    num_stages: int
    BLOCK_M: int
    BLOCK_N: int
    BLOCK_M1: int
    BLOCK_N1: int
    BLOCK_M2: int
    BLOCK_N2: int
    PRESCALE_QK: bool
    ROWS_GUARANTEED_SAFE: bool
    BLOCKS_ARE_CONTIGUOUS: bool
    WRITE_DQ: bool
    FORCE_USE_FLEX_ATTENTION: bool
    USE_TMA: bool
    kpack: int
    matrix_instr_nonkdim: int
    waves_per_eu: int
    BACKEND: Literal["AUTO", "TRITON", "FLASH", "TRITON_DECODE"]


def _places(b: int, h: int, q: int, k: int, device: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Numbers of batch, head, query and key that spread to (b, h, q, k)."""
    sizes = (b, h, q, k)
    made = [
        torch.arange(n, device=device).reshape([n if i == d else 1 for d in range(4)])
        for i, n in enumerate(sizes)
    ]
    return made[0], made[1], made[2], made[3]


def create_mask(
    mod_fn: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
) -> Tensor:
    """A function of places as a boolean mask (B, H, Q_LEN, KV_LEN)."""
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    return mod_fn(*_places(*shape, device)).expand(shape)


def _mask_of_a_part(batch: Tensor, head: Tensor, q_idx: Tensor, kv_idx: Tensor) -> NoReturn:
    raise RuntimeError(
        "Cannot use mask_mod from a sliced BlockMask: set one first, made of the whole mask's mask_mod"
    )


class BlockMask:
    """A mask as a function of places, and which blocks of it let anything be seen.

    Each attribute whose name begins with ``full_`` is of blocks that let everything be seen, or None where
    these are not told apart. `flex_attention` asks the function alone.

    Attributes:
        seq_lengths: queries and keys.
        kv_num_blocks: (batch, heads, rows), how many blocks of keys count for a block of queries.
        kv_indices: (batch, heads, rows, columns), which they are.
        full_kv_num_blocks: as kv_num_blocks.
        full_kv_indices: as kv_indices.
        q_num_blocks: (batch, heads, columns), how many blocks of queries count for a block of keys.
        q_indices: (batch, heads, columns, rows), which they are.
        full_q_num_blocks: as q_num_blocks.
        full_q_indices: as q_indices.
        BLOCK_SIZE: queries and keys of a block.
        mask_mod: the function.
    """

    _TENSOR_ATTRS: Final = (
        "kv_num_blocks",
        "kv_indices",
        "full_kv_num_blocks",
        "full_kv_indices",
        "q_num_blocks",
        "q_indices",
        "full_q_num_blocks",
        "full_q_indices",
    )

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (_DEFAULT_SPARSE_BLOCK_SIZE, _DEFAULT_SPARSE_BLOCK_SIZE),
        mask_mod: MaskMod = noop_mask,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        for name, number, indices in (
            ("kv", full_kv_num_blocks, full_kv_indices),
            ("q", full_q_num_blocks, full_q_indices),
        ):
            if (number is None) != (indices is None):
                raise AssertionError(
                    f"full_{name}_num_blocks and full_{name}_indices must be both provided or omitted"
                )
        self.seq_lengths = seq_lengths
        self.kv_num_blocks = kv_num_blocks
        self.kv_indices = kv_indices
        self.full_kv_num_blocks = full_kv_num_blocks
        self.full_kv_indices = full_kv_indices
        self.q_num_blocks = q_num_blocks
        self.q_indices = q_indices
        self.full_q_num_blocks = full_q_num_blocks
        self.full_q_indices = full_q_indices
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: MaskMod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """A mask of the blocks of keys that count for each block of queries.

        Args:
            kv_num_blocks: how many.
            kv_indices: which.
            full_kv_num_blocks: how many of which everything is seen.
            full_kv_indices: which those are.
            BLOCK_SIZE: queries and keys of a block.
            mask_mod: what is seen; by default everything.
            seq_lengths: queries and keys; by default what the blocks cover.
            compute_q_blocks: whether to list the blocks of queries too.
        """
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if seq_lengths is None:
            seq_lengths = (kv_indices.size(-2) * size[0], kv_indices.size(-1) * size[1])
        of_queries: tuple[Any, ...] = (None,) * 4
        if compute_q_blocks:
            partial = listed_by_column(kv_num_blocks, kv_indices)
            of_queries = (*partial, *listed_by_column(full_kv_num_blocks, full_kv_indices))
        of_keys = (kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices)
        tensors: dict[str, Any] = dict(zip(cls._TENSOR_ATTRS, of_keys + of_queries, strict=True))
        return cls(seq_lengths, **tensors, BLOCK_SIZE=size, mask_mod=mask_mod or noop_mask)

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """What it is made of; lengths and sizes of blocks each as a number if flattened."""
        pairs = self.seq_lengths, self.BLOCK_SIZE
        lengths, size = pairs if flatten else ((pair,) for pair in pairs)
        return (
            *lengths,
            *(getattr(self, name) for name in self._TENSOR_ATTRS),
            *size,
            self.mask_mod,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """(batch, heads, queries, keys)."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def __getitem__(self, index: Any) -> BlockMask:
        """Part of the batch, heads and blocks of queries; set ``mask_mod`` before it is used."""
        given = index if isinstance(index, tuple) else (index,)
        places = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in given)
        of_keys: dict[str, Any] = {
            n: None if (t := getattr(self, n)) is None else t[places]
            for n in self._TENSOR_ATTRS[:4]
        }
        return self.from_kv_blocks(
            **of_keys,
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=_mask_of_a_part,
            seq_lengths=self.seq_lengths,
            compute_q_blocks=self.q_indices is not None,
        )

    def numel(self) -> int:
        """How many pairs of a query and a key it covers."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """How many percent of the pairs are in blocks that let nothing be seen."""
        counted = self.kv_num_blocks.sum().item()
        if self.full_kv_num_blocks is not None:
            counted += self.full_kv_num_blocks.sum().item()
        return 100 * (1 - counted * math.prod(self.BLOCK_SIZE) / self.numel())

    def to_dense(self) -> Tensor:
        """Which blocks let anything be seen, as 0 and 1."""
        made = dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is None or self.full_kv_indices is None:
            return made
        return made | dense(self.full_kv_num_blocks, self.full_kv_indices)

    def to(self, device: Any) -> BlockMask:
        """The same on another device."""
        found = {n: getattr(self, n) for n in self._TENSOR_ATTRS}
        moved: dict[str, Any] = {n: None if t is None else t.to(device) for n, t in found.items()}
        return BlockMask(
            self.seq_lengths, **moved, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod
        )

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """A picture of each head: blocks that let something be seen are dark, and grey in part.

        Args:
            grid_size: how many rows and columns of it at most; -1 for all.
            limit: how many heads.
        """
        seen = self.to_dense()
        rows, columns = seen.shape[-2:]
        most = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        if grid_size == -1:
            most = (rows, columns)
        steps = max(1, -(-rows // most[0])), max(1, -(-columns // most[1]))
        heads = product(*map(range, seen.shape[:-2]))
        made = ["\n".join((str(h), *lines(seen[h], *steps), "")) for h in islice(heads, limit)]
        if next(heads, None) is not None:
            made += [
                "...",
                "To print out more, set BlockMask.to_string(limit=N)",
                "You can also index (BlockMask[batch, head]) to choose a specific batch or head",
            ]
        return "\n".join(made)

    def __str__(self) -> str:
        head = f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n"
        return f"{head}{self.to_string().strip()}\n)"

    def __repr__(self) -> str:
        facts = {
            n: None if (t := getattr(self, n)) is None else t.shape for n in self._TENSOR_ATTRS
        }
        facts |= {"BLOCK_SIZE": self.BLOCK_SIZE, "shape": self.shape}
        facts |= {"sparsity": f"{self.sparsity():.2f}%"}
        facts |= {"mask_mod": getattr(self.mask_mod, "__name__", self.mask_mod)}
        text = ",\n".join(f"    {name}={value}" for name, value in facts.items())
        return f"BlockMask(\n{text}\n)"


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
) -> BlockMask:
    """A `BlockMask` of a function of batch, head, query and key.

    Args:
        mask_mod: gives whether a key is seen.
        B: batches; None if the mask does not depend on them.
        H: heads; None if the mask does not depend on them.
        Q_LEN: queries.
        KV_LEN: keys.
        device: where the mask is.
        BLOCK_SIZE: queries and keys of a block.
    """
    rows, columns = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    whole = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    b, h = whole.shape[:2]
    up, across = -(-Q_LEN // rows), -(-KV_LEN // columns)
    padded = F.pad(whole.to(torch.uint8), (0, across * columns - KV_LEN, 0, up * rows - Q_LEN))
    seen = padded.reshape(b, h, up, rows, across, columns).sum((3, 5))
    full = seen == rows * columns
    partial = (seen > 0) & ~full
    return BlockMask.from_kv_blocks(
        *listed(partial), *listed(full), (rows, columns), mask_mod, (Q_LEN, KV_LEN)
    )


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Attention whose scores a function changes.

    Args:
        query: (batch, heads, queries, features).
        key: (batch, heads, keys, features).
        value: (batch, heads, keys, features of the result).
        score_mod: of a score and its batch, head, query and key.
        block_mask: what is seen.
        scale: of scores; by default one by the root of the features.
        enable_gqa: whether several heads of queries share one of keys and values.
        return_lse: return also the logarithm of the sum of each query's exponentials; deprecated.
        kernel_options: accepted for compatibility.
        return_aux: return also an `AuxOutput` with what this asks for.

    Returns:
        (batch, heads, queries, features of the result); a query that sees nothing gets zeros.

    Raises:
        NotImplementedError: for other ranks.
        ValueError: if sizes do not fit together.
    """
    _check(query, key, value, block_mask)
    if return_lse and return_aux is not None:
        raise ValueError("return_lse is deprecated: give return_aux=AuxRequest(lse=True) alone")
    if return_lse:
        warn_user("return_lse is deprecated: use return_aux=AuxRequest(lse=True)", FutureWarning)
    heads, groups = query.size(1), key.size(1)
    if heads != groups:
        if not enable_gqa or heads % groups:
            raise ValueError(
                f"query has {heads} heads and key {groups}: pass enable_gqa=True, with heads that are a "
                f"multiple, if they are shared"
            )
        key, value = (t.repeat_interleave(heads // groups, dim=1) for t in (key, value))
    by = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = query @ key.transpose(-2, -1) * by
    places = _places(query.size(0), heads, query.size(2), key.size(2), query.device)
    if score_mod is not None:
        scores = score_mod(scores, *places)
    if block_mask is not None:
        scores = scores.masked_fill(~block_mask.mask_mod(*places), float("-inf"))
    lse = torch.logsumexp(scores, dim=-1)
    blind = (lse == float("-inf")).unsqueeze(-1)
    weights = torch.exp(scores - lse.unsqueeze(-1).masked_fill(blind, 0.0))
    made = weights.to(value.dtype) @ value
    if return_aux is not None:
        most = scores.amax(-1) if return_aux.max_scores else None
        return made, AuxOutput(lse if return_aux.lse else None, most)
    return (made, lse) if return_lse else made


def _check(query: Tensor, key: Tensor, value: Tensor, mask: BlockMask | None) -> None:
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError("query, key, and value must be 4D tensors")
    if query.size(-1) != key.size(-1):
        raise ValueError(
            f"Expect query and key/value to have the same embedding dimension but got "
            f"E={query.size(-1)} and E={key.size(-1)}."
        )
    if query.size(0) not in (key.size(0), None if mask is None else mask.shape[0]):
        raise ValueError(
            f"Expect query and key/value, or query and a block_mask, to have the same batch size, but got "
            f"Bq={query.size(0)}, Bkv={key.size(0)}, block_mask={mask}."
        )
    lengths = query.size(-2), key.size(-2)
    if mask is not None and mask.seq_lengths != lengths:
        raise ValueError(
            f"block_mask was created for block_mask.shape={mask.shape} but got q_len={lengths[0]} and "
            f"kv_len={lengths[1]}: create one of these lengths"
        )
