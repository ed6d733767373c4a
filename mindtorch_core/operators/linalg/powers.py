"""Powers and exponentials of matrices, and matrices of powers."""

from __future__ import annotations

import math
from typing import Any

from ...dispatch.functions import fn, fn_linalg
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import BOOL, FLOATING, bool_, float32, int64
from ...values.promotion import WIDER
from .matrices import adjoint, check_matrix, identity_like, is_empty

# ---- whole powers -------------------------------------------------------------------------------


def _matrix_power(self: Tensor, n: int) -> Any:
    name = "linalg.matrix_power"
    check_matrix(name, self)
    if self._shape[-1] != self._shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {self._shape[-2]} by "
            f"{self._shape[-1]} matrices"
        )
    if n == 0:  # its gradient is zero rather than none
        never = fn.full((), False, dtype=bool_, device=self._device)
        return fn.where(never, self, identity_like(self))
    base: Any = self
    if n < 0:
        base, n = fn_linalg.inv(self), -n
    if n == 1:
        return base.clone() if base is self else base
    result = None
    while n:  # by squaring
        if n & 1:
            result = base if result is None else result.matmul(base)
        n >>= 1
        if n:
            base = base.matmul(base)
    return result


for _name, _places in (
    ("linalg_matrix_power", ("linalg:matrix_power",)),
    ("matrix_power", ("torch", "Tensor")),
):
    op(
        f"{_name}(Tensor self, int n) -> Tensor",
        doc="Product of a square matrix with itself, ``n`` times; of its inverse if ``n`` is negative.",
        decomposition=_matrix_power,
        out=True,
        out_needs=("cast",),
        namespaces=_places,
    )

# ---- exponential --------------------------------------------------------------------------------

# Norm up to which the Taylor polynomial of degree 16 is exact, in single and in double precision
# (after Al-Mohy and Higham, 2011, table 3.1).
_RADII = {True: 2.2, False: 0.64}
_DEGREE = 16


def _exp_rule(self: Tensor) -> TensorSpec:
    check_matrix("linalg.matrix_exp", self)
    if self._dtype.category < FLOATING:
        raise RuntimeError(
            f"linalg.matrix_exp: Expected a floating point or complex tensor as input. Got "
            f"{self._dtype.label}"
        )
    if self._shape[-1] != self._shape[-2]:
        raise RuntimeError(
            f"linalg.matrix_exp: A must be batches of square matrices, but they are "
            f"{self._shape[-2]} by {self._shape[-1]} matrices"
        )
    return TensorSpec(self._shape, self._dtype)


def _taylor(a: Any, unit: Any) -> Any:
    """The polynomial, with four powers and three further products (Paterson and Stockmeyer, 1973)."""
    a2 = a.matmul(a)
    a3, a4 = a2.matmul(a), a2.matmul(a2)
    powers = (unit, a, a2, a3)

    def block(i: int, start: Any) -> Any:
        for j, power in enumerate(powers):
            start = start + power / math.factorial(4 * i + j)
        return start

    total = a4 / math.factorial(_DEGREE)
    for i in (3, 2, 1, 0):
        total = block(i, total if i == 3 else total.matmul(a4))
    return total


def _matrix_exp(self: Tensor) -> Any:
    _exp_rule(self)
    if is_empty(self):
        return self.clone()
    if self._dtype in WIDER:
        return _matrix_exp(self.to(WIDER[self._dtype])).to(self._dtype)
    unit = identity_like(self)
    if self._shape[-1] == 1:
        return self.exp()
    norm = self.abs().sum(-2).amax(-1)
    radius = _RADII[norm._dtype is float32]
    halvings = (norm / radius).log2().ceil().clamp(0, 1100)
    finite = fn.where(halvings == halvings, halvings, 0)
    most = int(finite.max().item())
    steps = finite.unsqueeze(-1).unsqueeze(-1)
    result = _taylor(self * (0.5**steps).to(self._dtype), unit)
    for i in range(most):  # each matrix is squared as often as it was halved
        result = fn.where(steps > i, result.matmul(result), result)
    return result


def _exp_backward(g: Any, self: Any) -> Any:
    """A corner of the exponential of ``[[A^H, g], [0, A^H]]`` (Mathias, 1996)."""
    n, a = self._shape[-1], adjoint(self)
    top = fn.cat([a, g], -1)
    bottom = fn.cat([fn.zeros_like(a), a], -1)
    whole = fn_linalg.matrix_exp(fn.cat([top, bottom], -2))
    return whole.narrow(-2, 0, n).narrow(-1, n, n)


op(
    "linalg_matrix_exp(Tensor self) -> Tensor",
    doc="Exponential of square matrices, by scaling, a Taylor polynomial, and squaring.",
    rule=_exp_rule,
    grad={"self": _exp_backward},
    decomposition=_matrix_exp,
    out=True,
    namespaces=("linalg:matrix_exp",),
)
op(
    "matrix_exp(Tensor self) -> Tensor",
    doc="Exponential of square matrices.",
    decomposition=lambda self: fn_linalg.matrix_exp(self),
)

# ---- matrices of powers -------------------------------------------------------------------------


def _powers(x: Any, count: int) -> list[Any]:
    out = [fn.ones_like(x)]
    for _ in range(count - 1):
        out.append(out[-1] * x)
    return out[:count]


def _linalg_vander(x: Tensor, *, N: int | None = None) -> Any:
    if not x._shape and N is None:
        raise RuntimeError("linalg.vander: The input tensor x must have at least one dimension.")
    count = x._shape[-1] if N is None else N
    if count <= 1 and N is not None:
        raise RuntimeError(f"linalg.vander: N must be greater than 1. Got {N}")
    if x._dtype.category == BOOL:
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got Bool"
        )
    if x._dtype.category < FLOATING:
        x = x.to(int64)
    x = x if x._shape else x.unsqueeze(0)
    return fn.stack(_powers(x, count), -1) if count else x.new_empty((*x._shape, 0))


op(
    "linalg_vander(Tensor x, *, int? N=None) -> Tensor",
    doc="Vandermonde matrix: the powers 0 to N-1 of each element, N being by default the number of "
    "elements.",
    decomposition=_linalg_vander,
    namespaces=("linalg:vander",),
)


def _vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Any:
    if len(x._shape) != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x._shape[0] if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    if x._dtype.category < FLOATING:
        x = x.to(int64)
    if not count:
        return x.new_empty((x._shape[0], 0))
    columns = _powers(x, count)
    return fn.stack(columns if increasing else columns[::-1], -1)


op(
    "vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
    doc="Vandermonde matrix of a vector, by default with the highest power first.",
    decomposition=_vander,
    namespaces=("torch",),
)
