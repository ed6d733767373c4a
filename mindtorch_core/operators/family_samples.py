"""What a family of ops is tested with: said in ``samples.py`` beside its rows, read by the testing kit.

Nothing else imports those modules. An op that they do not name has samples that follow from its row
(`mindtorch_core.testing.samples`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..values.shapes import numel
from .recipes import Sample, TensorRecipe, tensor

__all__ = ["EDGES", "HOLEY", "LIMITS", "NUMBERS", "SHARES", "TIES", "FamilySamples", "at", "call"]
__all__ += ["distinct", "ints", "mask", "rows", "sample", "special_rows"]

Range = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilySamples:
    """Sample calls of a family's ops, and what the conformance kit must know of their results.

    Names of ops have their overload, as ``max.dim``, unless it is said otherwise.

    Attributes:
        calls: sample calls by op, where those that follow from its row do not fit.
        functions: one call of each function that Python makes of ops, by namespace and name, such as
            ``nn.cross_entropy``.
        untested: ops and functions that have no sample, each with the reason.
        domains: by name without overload, the range that each operand is drawn from, for functions
            that are not defined, or not of interest, everywhere.
        edges: by op, calls on values at the edges of their range, where what is tried of all
            element-wise ops and reductions does not fit.
        no_limits: names without overload of element-wise ops that are undefined at the limits of
            integers: divisions by zero, shifts by more bits than there are.
        signed_zeros: ops that tell one zero from the other, or keep its sign.
        no_differences: names without overload of ops whose samples lie where differences say nothing
            of gradients: on jumps, kinks and ends of the domain; and ops with arguments that count as
            constants, such as weights of classes.
        needs_layout: ops that read the memory behind a tensor, so that its layout changes their result,
            and views made of other views, which refuse layouts that they have no strides for.
        needs_dtype: ops that mean something else when their tensors are float64.
        unlike_pytorch: by name without overload, why PyTorch's results may be others.
        few: ops that the level smoke tests closely: some of every kind.
        closely: element-wise ops whose edges the level core looks at; full looks at all.
    """

    calls: Mapping[str, Sequence[Sample]] = field(default_factory=dict)
    functions: Mapping[str, Sample] = field(default_factory=dict)
    untested: Mapping[str, str] = field(default_factory=dict)
    domains: Mapping[str, Sequence[Range]] = field(default_factory=dict)
    edges: Mapping[str, Sequence[Sample]] = field(default_factory=dict)
    no_limits: Sequence[str] = ()
    signed_zeros: Sequence[str] = ()
    no_differences: Sequence[str] = ()
    needs_layout: Sequence[str] = ()
    needs_dtype: Sequence[str] = ()
    unlike_pytorch: Mapping[str, str] = field(default_factory=dict)
    few: Sequence[str] = ()
    closely: Sequence[str] = ()


# ---- short forms for tables ---------------------------------------------------------------------


def sample(name: str, *args: Any, **kwargs: Any) -> Sample:
    """A sample of an op."""
    return Sample(name, args, kwargs)


def call(*args: Any, **kwargs: Any) -> Sample:
    """The sample of a function, which has no others to be told from."""
    return Sample("", args, kwargs)


def ints(*values: int, shape: tuple[int, ...] = ()) -> TensorRecipe:
    """Given whole numbers."""
    return tensor(*(shape or (len(values),)), dtype="int64", values=values)


def at(*shape: int, below: int) -> TensorRecipe:
    """Positions from 0 to ``below - 1``."""
    return tensor(*shape, dtype="int64", low=0, high=below - 1)


def mask(*shape: int) -> TensorRecipe:
    """Booleans."""
    return tensor(*shape, dtype="bool")


def distinct(*shape: int) -> TensorRecipe:
    """Different elements in no order, so that positions are unique and gradients smooth."""
    return tensor(*shape, values=tuple((7 * i % 24) / 4 - 3 for i in range(numel(shape))))


EDGES: Final = tensor(4, values=(-2.0, -0.5, 0.5, 2.0))
NUMBERS: Final = ints(3, 0, 3, 1, 0, 3)
SHARES: Final = tuple(
    sample(name, tensor(*shape, dtype=d, low=0.125, high=0.875))
    for name, shape, d in (
        ("float32", (2, 3), "float32"),
        ("float64", (4,), "float64"),
        ("bfloat16", (4,), "bfloat16"),
        ("0d", (), "float32"),
        ("empty", (0, 3), "float32"),
    )
)


# ---- values at edges ----------------------------------------------------------------------------

_NAN: Final = float("nan")
_INF: Final = float("inf")
HOLEY: Final = tensor(2, 3, values=(1.0, _NAN, -2.0, 0.5, 3.0, _NAN))
LIMITS: Final = {
    "uint8": (0, 1, 2, 127, 128, 254, 255),
    "int32": (0, 1, -1, 2, 65536, 2147483647, -2147483648),
    "int64": (0, 1, -1, 3, 1 << 33, (1 << 53) + 1, 1 << 53, (1 << 63) - 1, -(1 << 63)),
    "bool": (False, True, True, False, True),
}
TIES: Final = tuple(i * 7 % 5 % 3 for i in range(96))


def rows(dtype: str, given: Sequence[tuple[Any, ...]]) -> TensorRecipe:
    """A matrix of given rows."""
    flat = tuple(value for row in given for value in row)
    return tensor(len(given), len(given[0]), dtype=dtype, values=flat)


def special_rows() -> TensorRecipe:
    """Rows with a nan at the start, at the end, with infinities, with zeros of both signs."""
    return rows(
        "float32",
        [
            (_NAN, 1.0, _INF, 2.0),
            (1.0, -_INF, 3.0, _NAN),
            (_INF, _INF, -1.0, 0.0),
            (0.0, -0.0, -0.0, 0.0),
            (-_INF, 5.0, -5.0, 5.0),
        ],
    )
