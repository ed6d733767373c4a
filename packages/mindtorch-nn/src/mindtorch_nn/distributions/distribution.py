"""The base of all distributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._constructed import Constructed
from mindtorch_core.utils._own_frames import hide, warn_user

from . import constraints
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Distribution"]


class Distribution(Constructed):
    """Base of distributions.

    Args:
        batch_shape: of the distributions that one object stands for.
        event_shape: of one sample of one of them.
        validate_args: whether parameters and values are checked; None for the default.

    Attributes:
        has_rsample: whether samples have gradients.
        has_enumerate_support: whether all values can be listed.

    Raises:
        ValueError: if a parameter violates its constraint.
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__
    # Parameters and parts that `expand` expands, and how many of their last dimensions are one event's.
    _expanded: ClassVar[Mapping[str, int]] = {}
    # Other attributes that an expanded copy has too.
    _kept: ClassVar[tuple[str, ...]] = ()
    arg_constraints: Any

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions check their arguments unless told otherwise."""
        if value not in (True, False):
            raise ValueError(f"expected True or False, got {value!r}")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Any = (),
        event_shape: Any = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = torch.Size(batch_shape)
        self._event_shape = torch.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            try:
                self._check_parameters()
            except ValueError as error:
                hide(error)
                raise

    def _check_parameters(self) -> None:
        known = getattr(self, "arg_constraints", None)
        if known is None:
            warn_user(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or "
                f"initialize the distribution with `validate_args=False` to turn off validation.",
            )
            return
        for name, constraint in known.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(
                getattr(type(self), name, None), lazy_property
            ):
                continue  # not given: it follows from others
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid "
                    f"values:\n{value}"
                )

    # ---- shapes --------------------------------------------------------------------------------

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for another batch shape, sharing memory.

        Raises:
            NotImplementedError: for a subclass with an ``__init__`` but no ``expand`` of its own.
        """
        if not self._expanded:
            raise NotImplementedError
        batch_shape = torch.Size(batch_shape)
        new = self._expanded_copy(batch_shape, _instance)
        return self._finish(new, batch_shape, self._event_shape)

    def _expanded_copy(self, batch_shape: Any, _instance: Any) -> Any:
        """The beginning of `expand`: all attributes but the shapes."""
        owner = next(c for c in type(self).__mro__ if "_expanded" in vars(c))
        new = self._get_checked_instance(owner, _instance)
        for name, dims in self._expanded.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                event = value.shape[value.dim() - dims :] if dims else ()
                new.__dict__[name] = value.expand((*batch_shape, *event))
        for name in self._kept:
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name]
        return new

    def _finish(self, new: Any, batch_shape: Any, event_shape: Any) -> Any:
        """The end of `expand`: shapes, without a second check of parameters."""
        Distribution.__init__(new, batch_shape, event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method "
                f"must also define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    @property
    def batch_shape(self) -> Any:
        """Shape of the distributions that this object stands for."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """Shape of one sample of one of them."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Any = ()) -> Any:
        return torch.Size((*sample_shape, *self._batch_shape, *self._event_shape))

    # ---- what a distribution tells -------------------------------------------------------------

    @property
    def support(self) -> Any:
        """The constraint that samples satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The most likely value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.variance.sqrt()

    def log_prob(self, value: Any) -> Any:
        """Logarithm of the density, or of the probability, at a value."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """Probability of what is not above a value."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """The value below which a share lies."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values, along a first dimension.

        Args:
            expand: whether they are expanded to the batch shape.
        """
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy, in nats."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """The exponential of the entropy."""
        return torch.exp(self.entropy())

    # ---- samples -------------------------------------------------------------------------------

    def sample(self, sample_shape: Any = ()) -> Any:
        """Samples without gradients.

        Args:
            sample_shape: of the batches of samples.
        """
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Samples with gradients to the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """``n`` batches of samples; deprecated."""
        warn_user(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.",
            FutureWarning,
        )
        return self.sample((n,))

    def _validate_sample(self, value: Any) -> None:
        """Refuse values of other shapes or out of the support, if arguments are checked.

        Raises:
            ValueError: for such a value.
        """
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape = value.size()
        if shape[len(shape) - len(self._event_shape) :] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {shape} vs {self._event_shape}."
            )
        expected = torch.Size((*self._batch_shape, *self._event_shape))
        for i, j in zip(reversed(shape), reversed(expected), strict=False):
            if i not in (1, j) and j != 1:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warn_user(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize "
                f"the distribution with `validate_args=False` to turn off validation.",
            )
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within "
                f"the support ({support!r}) of the distribution {self!r}, but found invalid values:\n"
                f"{value}"
            )

    def __repr__(self) -> str:
        found = {k: self.__dict__[k] for k in self.arg_constraints if k in self.__dict__}
        parts = [f"{k}: {v if v.numel() == 1 else v.size()}" for k, v in found.items()]
        return f"{type(self).__name__}({', '.join(parts)})"


class OfProbabilities(Distribution):
    """Base of distributions with the parameter ``probs`` or ``logits``: the other one follows.

    Attributes:
        is_binary: whether each probability is one of its own, or the last dimension's are of one choice.
    """

    is_binary: ClassVar[bool] = True

    @staticmethod
    def _one_of(probs: Any, logits: Any) -> Any:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        return logits if probs is None else probs

    def _take(self, probs: Any, logits: Any, *others: Any) -> tuple[Tensor, ...]:
        """Keep the parameter that is given, of one shape with others: it, and they."""
        given, *more = broadcast_all(self._one_of(probs, logits), *others)
        self._has_probs = probs is not None
        setattr(self, "probs" if self._has_probs else "logits", given)
        return given, *more

    @property
    def _param(self) -> Tensor:
        given: Tensor = self.__dict__["probs"] if self._has_probs else self.__dict__["logits"]
        return given

    # Which of both was given.
    _has_probs: bool

    @lazy_property
    def logits(self) -> Any:
        """Logarithms of the odds, or of the probabilities up to a constant."""
        return probs_to_logits(self.probs, is_binary=self.is_binary)

    @lazy_property
    def probs(self) -> Any:
        """Probabilities."""
        return logits_to_probs(self.logits, is_binary=self.is_binary)

    @property
    def param_shape(self) -> Any:
        """Shape of the parameter."""
        return self._param.size()

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._param.new(*args, **kwargs)
