"""Which shapes ``T``, ``H``, ``mT`` and ``mH`` are for: what is said to other tensors."""

from __future__ import annotations

from ..values.user_warnings import warn_user

__all__ = ["check_rank"]


def check_rank(name: str, rank: int) -> None:
    """Refuse or deprecate, as PyTorch does, an attribute of a tensor that has no matrix for it.

    Args:
        name: that of the attribute.
        rank: number of dimensions of the tensor.

    Raises:
        RuntimeError: if it has one dimension, or for ``H`` more than two.
    """
    if not rank:
        warn_user(f"Tensor.{name} is deprecated on 0-D tensors: they have no matrix")
    elif name == "T":
        if rank != 2:
            warn_user(
                "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated. "
                f"This one has {rank}: write x.mT for a batch of matrices, or "
                "x.permute(*range(x.ndim - 1, -1, -1)) to reverse all dimensions"
            )
    elif name == "H" and rank != 2:
        more = " For batches of matrices, consider using tensor.mH" if rank > 2 else ""
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {rank}-D tensor.{more}"
        )
    elif rank == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
