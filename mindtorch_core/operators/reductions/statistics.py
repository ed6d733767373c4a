"""Counts, sums and means without NaN, extremes together, moments together, quantiles, covariance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF
from ...gradients.conform import sum_to
from ...opdefs import rules
from ...opdefs.define import op
from ...opdefs.formulas import has_elements
from ...tensors.tensor import Tensor
from ...values.dtypes import BOOL, COMPLEX, FLOATING, float32, float64, int64
from ...values.shapes import broadcast_or_none, reduced, show, wrap_dim, wrap_dims
from ...values.user_warnings import warn_user

_REDUCTION = frozenset({"reduction"})

# ---- counts, and sums without NaN ---------------------------------------------------------------

op(
    "count_nonzero(Tensor self, int? dim=None) -> Tensor",
    doc="How many elements are not zero, in all or along a dimension.",
    grad=NONDIFF,
    decomposition=lambda self, dim=None: (self != 0).sum(dim),
    tags=_REDUCTION,
)
op(
    "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
    doc="How many elements are not zero over dimensions.",
    grad=NONDIFF,
    decomposition=lambda self, dim: (self != 0).sum(list(dim) or None),
    varargs="dim",
    tags=_REDUCTION,
)


def _nansum(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    if self._dtype.category == COMPLEX:
        raise RuntimeError(f"nansum on {self._device.type.upper()} does not support complex inputs")
    if self._dtype.category == FLOATING:
        if dtype is not None and dtype.category == COMPLEX:
            raise NotImplementedError(f"\"nansum_cpu\" not implemented for '{dtype.label}'")
        self = fn.where(self.isnan(), 0, self)
    return self.sum(dim, keepdim, dtype=dtype)  # type: ignore[no-any-return]


def _nanmean(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    if self._dtype.category < FLOATING:
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got "
            f"{self._dtype.label}"
        )
    if dtype is not None and dtype.category < FLOATING:
        raise RuntimeError(
            f"nanmean(): could not infer output dtype. Optional dtype must be either a floating point "
            f"or complex dtype. Got: {dtype.label}"
        )
    count = self.isnan().logical_not().sum(dim, keepdim)
    mean: Tensor = fn.nansum(self, dim, keepdim, dtype=dtype) / count
    return mean


for _name, _doc, _composed in (
    ("nansum", "Sum over dimensions (all if ``dim`` is None) in which NaN count as zero.", _nansum),
    ("nanmean", "Mean over dimensions (all if ``dim`` is None) of what is not NaN.", _nanmean),
):
    op(
        f"{_name}(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        doc=_doc,
        decomposition=_composed,
        out=True,
        out_needs=(
            "cast",
            "floats computed in",
            *(("whole computed in",) if _name == "nansum" else ()),
        ),
        tags=_REDUCTION,
    )


def _sum_to_size(self: Tensor, size: Any) -> Tensor:
    shape = tuple(size)
    if broadcast_or_none(shape, self._shape) != self._shape:
        raise RuntimeError(
            f"size {{{show(shape)}}} is not expandable to size {{{show(self._shape)}}}."
        )
    return sum_to(self, shape) if shape else self.sum()


op(
    "sum_to_size(Tensor self, int[] size) -> Tensor",
    doc="Sum over the dimensions along which ``size`` would be expanded to the tensor's shape.",
    decomposition=_sum_to_size,
    varargs="size",
    namespaces=("Tensor",),
)

# ---- two results at once ------------------------------------------------------------------------


def _aminmax(self: Any, *, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    rules.limited(rules.reduction(), "aminmax", "bif", operands=1)(self, dim, keepdim)
    if dim is None and 0 in self._shape:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
            "identity. Give a dim that has elements"
        )
    rules.nonempty("aminmax", self, dim)
    dims: Any = [] if dim is None else dim
    return self.amin(dims, keepdim), self.amax(dims, keepdim)


op(
    "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    doc="The smallest and the largest element, of all or along a dimension.",
    decomposition=_aminmax,
    out=True,
    tags=_REDUCTION,
)


def _moments(name: str) -> Callable[..., tuple[Tensor, Tensor]]:
    def composed(
        self: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False
    ) -> tuple[Tensor, Tensor]:
        spread = getattr(fn, name)(self, dim, correction=correction, keepdim=keepdim)
        return spread, self.mean(dim, keepdim)

    return composed


for _name, _word in (("var", "Variance"), ("std", "Standard deviation")):
    _both = _moments(_name)
    op(
        f"{_name}_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
        "bool keepdim=False) -> (Tensor, Tensor)",
        doc=f"{_word} and mean over dimensions (all if ``dim`` is None).",
        decomposition=_both,
        namespaces=("torch",),
        tags=_REDUCTION,
    )
    op(
        f"{_name}_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) "
        "-> (Tensor, Tensor)",
        doc=f"{_word} and mean over dimensions (all if ``dim`` is None).",
        decomposition=lambda self, dim, unbiased=True, keepdim=False, _both=_both: _both(
            self, dim, correction=int(unbiased), keepdim=keepdim
        ),
        namespaces=("torch",),
        tags=_REDUCTION,
    )
    op(
        f"{_name}_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
        doc=f"{_word} and mean of all elements.",
        decomposition=lambda self, unbiased=True, _both=_both: _both(
            self, correction=int(unbiased)
        ),
        namespaces=("torch",),
        tags=_REDUCTION,
    )

# ---- quantiles ----------------------------------------------------------------------------------

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _check_quantile(self: Tensor, q: Tensor, interpolation: str) -> None:
    if 0 in self._shape:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if len(q._shape) > 1:
        raise RuntimeError(
            f"quantile() q must be a scalar or 1D tensor, but it has {len(q._shape)} dimensions"
        )
    if q._dtype is not self._dtype:
        raise RuntimeError(
            f"quantile() q tensor must be same dtype as the input tensor: {q._dtype}, not "
            f"{self._dtype}"
        )
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"quantile() interpolation must be one of {', '.join(_INTERPOLATIONS)}, but got "
            f"{interpolation}"
        )


def _fractions(self: Any, q: Any) -> Any:
    """The fractions below the quantiles as a tensor."""
    if self._dtype not in (float32, float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q}")
        return self.new_full((), q)
    if has_elements(q) and not bool(((q >= 0) & (q <= 1)).all()):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    return q


def _quantile(ignore_nan: bool) -> Callable[..., Tensor]:
    def composed(
        self: Any,
        q: Any,
        dim: int | None = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
    ) -> Tensor:
        q = _fractions(self, q)
        _check_quantile(self, q, interpolation)
        rank = len(self._shape)
        shape = reduced(self._shape, wrap_dims(dim, rank), keepdim)
        whole = dim is None or not rank
        ordered = fn.sort(self.reshape(-1) if whole else self.transpose(dim, -1), -1)[0]
        ranks = _ranks(ordered, q.reshape(-1), ignore_nan)
        found: Any = _at_ranks(ordered, ranks, interpolation)
        if dim is not None and rank:
            found = found.unsqueeze(-2).transpose(wrap_dim(dim, rank), -2)
        last = len(found._shape) - 1
        return found.permute((last, *range(last))).reshape((*q._shape, *shape))  # type: ignore[no-any-return]

    return composed


def _ranks(ordered: Any, q: Any, ignore_nan: bool) -> Any:
    """Positions of the quantiles in sorted lines, as fractions; where NaN stands, its position."""
    n = ordered._shape[-1]
    missing = ordered.isnan()
    if ignore_nan:
        valid = missing.logical_not().sum(-1, True)
        return q * (valid - 1).clamp(min=0).to(q._dtype)
    return fn.where(missing.any(-1, True), n - 1, q * (n - 1))


def _at_ranks(ordered: Any, ranks: Any, interpolation: str) -> Any:
    """Values at fractional positions along the last, sorted dimension."""
    if interpolation == "nearest":
        return ordered.gather(-1, ranks.round().to(int64))
    if interpolation == "higher":
        return ordered.gather(-1, ranks.ceil().to(int64))
    below = ranks.detach().floor()
    low = ordered.gather(-1, below.to(int64))
    if interpolation == "lower":
        return low
    weight = fn.full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - below
    high = ordered.gather(-1, ranks.detach().ceil().to(int64))
    return fn.lerp(low, high, weight)


for _name, _ignore in (("quantile", False), ("nanquantile", True)):
    _doc = "Quantiles of all elements or along a dimension; " + (
        "NaN are left out." if _ignore else "NaN where there is a NaN."
    )
    for _suffix, _type in (("", "Tensor"), (".scalar", "float")):
        op(
            f"{_name}{_suffix}(Tensor self, {_type} q, int? dim=None, bool keepdim=False, *, "
            "str interpolation='linear') -> Tensor",
            doc=_doc,
            decomposition=_quantile(_ignore),
            out=True,
        )

# ---- covariance ---------------------------------------------------------------------------------


def _check_weights(name: str, weights: Any, count: int) -> None:
    whole = name == "fweights"
    if len(weights._shape) > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{len(weights._shape)} dimensions"
        )
    if weights._dtype.category != (FLOATING if not whole else 1):
        raise RuntimeError(
            f"cov(): expected {name} to have {'integral' if whole else 'floating point'} dtype but "
            f"got {name} with {weights._dtype.label} dtype"
        )
    if weights.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input "
            f"but got {weights.numel()} != {count}"
        )
    if count and has_elements(weights) and bool((weights < 0).any()):
        raise RuntimeError(f"cov(): {name} cannot be negative")


def _weights(fweights: Any, aweights: Any, count: int) -> Any:
    """How often each observation counts; None if all count once."""
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None:
            _check_weights(name, given, count)
    if fweights is None or aweights is None:
        return fweights if aweights is None else aweights
    return fweights * aweights


def _cov(self: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    if len(self._shape) > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with "
            f"{len(self._shape)} dimensions"
        )
    if self._dtype.category == BOOL:
        raise RuntimeError("cov(): bool dtype is not supported for input tensor")
    rows = self if len(self._shape) == 2 else self.reshape(1, -1)
    count = rows._shape[1]
    weights = _weights(fweights, aweights, count)
    if weights is None:
        total: Any = count
        mean = rows.sum(1, True) / count
        free: Any = count - correction
    else:
        total = weights.sum()
        if count and has_elements(total) and not bool(total != 0):
            raise RuntimeError("cov(): weights sum to zero, can't be normalized")
        mean = (rows * weights).sum(1, True) / total
        share = 1 if aweights is None else (weights * aweights).sum() / total
        free = total - correction * share
    if (not isinstance(free, Tensor) or has_elements(free)) and bool(free <= 0):
        warn_user(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number "
            "of observations.",
            UserWarning,
        )
        free = free.clamp(min=0) if isinstance(free, Tensor) else 0
    centred = rows - mean
    other = (centred if weights is None else centred * weights).transpose(0, 1)
    return (centred.matmul(other.conj()) / free).squeeze()  # type: ignore[no-any-return]


op(
    "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
    doc="Covariance matrix of variables (rows) from observations (columns), with frequencies "
    "``fweights`` and importances ``aweights``.",
    decomposition=_cov,
)


def _corrcoef(self: Any) -> Tensor:
    if len(self._shape) > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{len(self._shape)} dimensions"
        )
    c = _cov(self)
    if not c._shape:
        return c / c
    deviations = c.diagonal().real.sqrt()
    c = c / deviations.unsqueeze(-1) / deviations
    if c._dtype.category != COMPLEX:
        return c.clip(-1, 1)  # type: ignore[no-any-return]
    return fn.complex(c.real.clip(-1, 1), c.imag.clip(-1, 1))


op(
    "corrcoef(Tensor self) -> Tensor",
    doc="Pearson's correlation coefficients of variables (rows) from observations (columns).",
    decomposition=_corrcoef,
)
