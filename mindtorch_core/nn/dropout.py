"""Dropout as ``torch.nn.functional`` spells it: with ``training`` and ``inplace``."""

from __future__ import annotations

from typing import Any

from ..dispatch.asked_wrongly import guarded
from ..dispatch.functions import fn
from ..dispatch.written_functions import overridable
from ..tensors.tensor import Tensor
from ..values.user_warnings import warn_user

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
    "rrelu",
]


def _call(name: str, input: Tensor, p: float, training: bool, *, inplace: bool) -> Tensor:
    """One of the ops, or its in-place form.

    Raises:
        ValueError: if ``p`` is no probability.
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    op: Any = getattr(fn, f"{name}_" if inplace else name)
    done: Tensor = op(input, p, training)
    return done


@overridable
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeros with probability ``p``, the rest scaled by ``1 / (1 - p)`` (Srivastava et al., 2014).

    Args:
        input: a tensor of any shape, of floats or complex numbers.
        p: probability of becoming zero.
        training: whether anything is done at all.
        inplace: whether the input is changed.

    Raises:
        ValueError: if ``p`` is not within [0, 1].

    Example:
        >>> torch.nn.functional.dropout(torch.ones(1000), 0.5).unique()
        tensor([0., 2.])
        >>> torch.nn.functional.dropout(torch.ones(2), 0.5, training=False)
        tensor([1., 1.])
    """
    return _call("dropout", input, p, training, inplace=inplace)


@overridable
def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that keeps mean 0 and variance 1 (Klambauer et al., 2017).

    Args:
        input: a tensor of any shape.
        p: probability with which an element is replaced.
        training: whether anything is replaced at all.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        ValueError: if ``p`` is not within [0, 1].

    Example:
        >>> torch.nn.functional.alpha_dropout(torch.ones(1000), training=True).unique().numel()
        2
    """
    return _call("alpha_dropout", input, p, training, inplace=inplace)


@overridable
def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels."""
    return _call("feature_alpha_dropout", input, p, training, inplace=inplace)


@guarded
@overridable
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of sequences zero with probability ``p``.

    Args:
        input: (N, C, L) or (C, L).
        p: probability with which a channel becomes zero; the others are divided by ``1 - p``.
        training: whether anything becomes zero at all.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        RuntimeError: if the input has neither 2 nor 3 dimensions.

    Example:
        >>> dropped = torch.nn.functional.dropout1d(torch.ones(8, 16, 2))
        >>> dropped.unique()
        tensor([0., 2.])
        >>> bool((dropped[:, :, 0] == dropped[:, :, 1]).all())
        True
    """
    if 0.0 <= p <= 1.0 and input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input: a sequence per "
            f"channel, with or without a batch dimension"
        )
    return _channels(input, p, training, inplace, rank=3)


@guarded
@overridable
def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of images zero with probability ``p`` (Tompson et al., 2015).

    Args:
        input: (N, C, H, W) or (N, C, L).
        p: probability with which a channel becomes zero; the others are divided by ``1 - p``.
        training: whether anything becomes zero at all.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        ValueError: if ``p`` is not within [0, 1].

    Warns:
        UserWarning: if the input has neither 3 nor 4 dimensions, or 3, which are taken for a batch of
            sequences.

    Example:
        >>> dropped = torch.nn.functional.dropout2d(torch.ones(8, 16, 2, 2))
        >>> dropped.unique()
        tensor([0., 2.])
    """
    rank = input.dim()
    if rank not in (3, 4):
        _warn("dropout2d", rank, "images: 3D or 4D inputs")
    elif rank == 3:
        warn_user(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired: (N, C, L), as dropout1d. Call dropout1d for these; add a batch "
            "dimension to drop channels of one image",
            UserWarning,
        )
    return _call("feature_dropout", input, p, training, inplace=inplace)


@guarded
@overridable
def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of volumes zero with probability ``p`` (Tompson et al., 2015).

    Warns:
        UserWarning: if the input has neither 4 nor 5 dimensions.
    """
    if input.dim() not in (4, 5):
        _warn("dropout3d", input.dim(), "volumes: 4D or 5D inputs")
    return _channels(input, p, training, inplace, rank=5)


def _channels(input: Tensor, p: float, training: bool, inplace: bool, *, rank: int) -> Tensor:
    """Drop channels of a batch, or of one sample that has a dimension less."""
    if input.dim() == rank:
        return _call("feature_dropout", input, p, training, inplace=inplace)
    done = _call("feature_dropout", input.unsqueeze(0), p, training, inplace=inplace)
    return input if inplace else done.squeeze(0)


def _warn(name: str, rank: int, meant: str) -> None:
    warn_user(
        f"{name}: Received a {rank}-D input to {name}, which is meant for {meant}. Use dropout for "
        f"other inputs",
        UserWarning,
    )


@overridable
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Negative elements times random slopes, or their mean when not training (Xu et al., 2015)."""
    op: Any = fn.rrelu_ if inplace else fn.rrelu
    done: Tensor = op(input, lower, upper, training)
    return done
