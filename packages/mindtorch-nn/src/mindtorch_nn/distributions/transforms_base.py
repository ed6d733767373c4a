"""The base of transforms, and transforms made of transforms."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch_core as torch

from . import constraints
from .utils import lazy_property, sum_rightmost

__all__ = [
    "ComposeTransform",
    "IndependentTransform",
    "ReshapeTransform",
    "Transform",
    "identity_transform",
]


class Transform:
    """Base of transforms that can be inverted, at least on one branch.

    A subclass gives `_call`, `_inverse`, where it can `log_abs_det_jacobian`, and the constraints of both
    sides.

    Args:
        cache_size: how many pairs are remembered, 0 or 1.

    Attributes:
        bijective: whether each value comes from one value alone.
        domain, codomain: the constraints of both sides.
        sign: 1 or -1 for transforms of single numbers that rise or fall.

    Raises:
        ValueError: for another cache size.
    """

    bijective: Any = False
    domain: Any
    codomain: Any
    # The attributes that a class is made from, in the order of its arguments, where it has any.
    _arguments: ClassVar[tuple[str, ...]]

    def __init__(self, cache_size: int = 0) -> None:
        self._cache_size = cache_size
        self._inv: Any = None
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cached_x_y: tuple[Any, Any] = (None, None)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> int:
        """Dimensions of one value, where both sides have as many.

        Raises:
            ValueError: if they differ.
        """
        if self.domain.event_dim == self.codomain.event_dim:
            return int(self.domain.event_dim)
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Any:
        """The inverse."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    @property
    def sign(self) -> Any:
        """1 or -1 for transforms that rise or fall."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache size."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        owner = next((c for c in type(self).__mro__ if "_arguments" in vars(c)), None)
        if owner is None:
            raise NotImplementedError(f"{type(self)}.with_cache is not implemented")
        return owner(*(getattr(self, name) for name in self._arguments), cache_size=cache_size)

    # A transform without parameters equals every one of its class.
    _plain = False

    def __eq__(self, other: object) -> bool:
        return self is other or (self._plain and type(self) is type(other))

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Any) -> Any:
        """The transform of a value."""
        if self._cache_size == 0:
            return self._call(x)
        known, found = self._cached_x_y
        if x is not known:
            found = self._call(x)
            self._cached_x_y = x, found
        return found

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size == 0:
            return self._inverse(y)
        found, known = self._cached_x_y
        if y is not known:
            found = self._inverse(y)
            self._cached_x_y = found, y
        return found

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Logarithm of how much volumes grow, from a value and its transform."""
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Any:
        """Shape of what is made of a shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """Shape of what a shape is made of."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _InverseTransform(Transform):
    """The inverse of a transform."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv: Any = transform

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The other's codomain."""
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The other's domain."""
        return self._inv.domain

    @property
    def bijective(self) -> bool:
        """Whether the other is."""
        return bool(self._inv.bijective)

    @property
    def sign(self) -> Any:
        """The other's."""
        return self._inv.sign

    @property
    def inv(self) -> Any:
        """The other."""
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Any:
        """The inverse of the other with another cache size."""
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Any) -> Any:
        """The other's inverse of a value."""
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The other's, negated."""
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        """The other's, backwards."""
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        """The other's, backwards."""
        return self._inv.forward_shape(shape)


class ComposeTransform(Transform):
    """Transforms one after the other.

    Args:
        parts: the transforms.
        cache_size: of each.
    """

    _arguments = ("parts",)

    def __init__(self, parts: list[Any], cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.parts = [p.with_cache(cache_size) for p in parts] if cache_size else parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = None

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The first one's, with as many dimensions as the others need."""
        if not self.parts:
            return constraints.real
        found, dims = self.parts[0].domain, self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            dims += part.domain.event_dim - part.codomain.event_dim
            dims = max(dims, part.domain.event_dim)
        more = dims - found.event_dim
        return constraints.independent(found, more) if more else found

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The last one's, with as many dimensions as the others give."""
        if not self.parts:
            return constraints.real
        found, dims = self.parts[-1].codomain, self.parts[0].domain.event_dim
        for part in self.parts:
            dims += part.codomain.event_dim - part.domain.event_dim
            dims = max(dims, part.codomain.event_dim)
        more = dims - found.event_dim
        return constraints.independent(found, more) if more else found

    @lazy_property
    def bijective(self) -> bool:
        """Whether all are."""
        return all(p.bijective for p in self.parts)

    @lazy_property
    def sign(self) -> Any:
        """The product of all."""
        sign: Any = 1
        for p in self.parts:
            sign = sign * p.sign
        return sign

    @property
    def inv(self) -> Any:
        """All inverses, backwards."""
        if self._inv is None:
            self._inv = ComposeTransform([p.inv for p in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum of all."""
        if not self.parts:
            return torch.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        dims, total = self.domain.event_dim, None
        for part, before, after in zip(self.parts, values[:-1], values[1:], strict=True):
            term = part.log_abs_det_jacobian(before, after)
            term = sum_rightmost(term, dims - part.domain.event_dim)
            total = term if total is None else total + term
            dims += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        inside = ",\n    ".join(map(repr, self.parts))
        return f"{type(self).__name__}(\n    {inside}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last batch dimensions belong to one value.

    Args:
        base_transform: the transform.
        reinterpreted_batch_ndims: how many dimensions.
        cache_size: how many pairs are remembered, 0 or 1.
    """

    _arguments = ("base_transform", "reinterpreted_batch_ndims")

    def __init__(
        self, base_transform: Any, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The base's, of more dimensions."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The base's, of more dimensions."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:
        """Whether the base is."""
        return bool(self.base_transform.bijective)

    @property
    def sign(self) -> Any:
        """The base's."""
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum over the dimensions."""
        found = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Another shape of an event.

    Args:
        in_shape: from which shape.
        out_shape: to which.
        cache_size: how many pairs are remembered, 0 or 1.

    Raises:
        ValueError: if they have different numbers of elements.
    """

    bijective = True
    _arguments = ("in_shape", "out_shape")

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape = torch.Size(in_shape)
        self.out_shape = torch.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        """All real numbers of the one shape."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        """All real numbers of the other shape."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape((*x.shape[: x.dim() - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Any) -> Any:
        return y.reshape((*y.shape[: y.dim() - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Zeros."""
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return _other_end(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return _other_end(shape, self.out_shape, self.in_shape)


def _other_end(shape: Any, end: Any, other: Any) -> Any:
    if len(shape) < len(end):
        raise ValueError("Too few dimensions on input")
    cut = len(shape) - len(end)
    if tuple(shape[cut:]) != tuple(end):
        raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {end}")
    return torch.Size((*shape[:cut], *other))
