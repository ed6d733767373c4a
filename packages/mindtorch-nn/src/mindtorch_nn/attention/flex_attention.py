"""``torch.nn.attention.flex_attention``: attention whose scores and mask are functions.

Scores are computed in full; a block mask says the same as its function does, and no block is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F
from mindtorch_core.utils._own_frames import warn_user

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
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


class BlockMask:
    """A mask as a function of places, and which blocks of it let anything be seen.

    Attributes:
        mask_mod: the function.
        seq_lengths: queries and keys.
        BLOCK_SIZE: queries and keys of a block.
        blocks: (batch, heads, blocks of queries, blocks of keys), whether something is seen.
    """

    def __init__(
        self,
        blocks: Tensor,
        mask_mod: MaskMod,
        seq_lengths: tuple[int, int],
        block_size: tuple[int, int],
    ) -> None:
        self.blocks = blocks
        self.mask_mod = mask_mod
        self.seq_lengths = seq_lengths
        self.BLOCK_SIZE = block_size

    @property
    def shape(self) -> tuple[int, ...]:
        """(batch, heads, queries, keys)."""
        return (*self.blocks.shape[:2], *self.seq_lengths)

    def to_dense(self) -> Tensor:
        """Which blocks let anything be seen."""
        return self.blocks

    def sparsity(self) -> float:
        """How many percent of the blocks let nothing be seen."""
        return 100.0 * (1.0 - float(self.blocks.float().mean()))

    def to(self, device: Any) -> BlockMask:
        """The same on another device."""
        return BlockMask(self.blocks.to(device), self.mask_mod, self.seq_lengths, self.BLOCK_SIZE)

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


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
    blocks = padded.reshape(b, h, up, rows, across, columns).amax((3, 5)).bool()
    return BlockMask(blocks, mask_mod, (Q_LEN, KV_LEN), (rows, columns))


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
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
