"""Random numbers: a seed and a position of the device's generator for each op."""

from __future__ import annotations

from typing import Any

from mindtorch_core.backend import Tensor, concrete_device, exact_integers, int64, numel, source_for

from .operands import cast, computed_in, empty, made, takes, written
from .steps import Call, Work, rule_of, steps

__all__: list[str] = []

# The last number that the operator for whole numbers takes as a bound.
_HIGHEST = (1 << 63) - 1


def _drawn(self: Tensor, operator: str, arguments: tuple[Any, ...], generator: Any) -> Work | None:
    """The call that fills a tensor with random numbers."""
    if not takes(operator, self.raw_dtype):
        return None
    source = source_for(generator, self.raw_device)
    if not numel(self.raw_shape):
        return self, []
    return self, [(operator, (self, *arguments, *_position(operator, source)))]


def _position(operator: str, source: Any) -> tuple[int, int]:
    """Seed and position; most operators take the seed as a signed number."""
    seed, offset = source.draw()
    if operator != "InplaceUniform" and seed >= 1 << 63:
        seed -= 1 << 64
    return seed, offset


@steps("aten::uniform_")
def uniform_(self: Any, low: float = 0, high: float = 1, *, generator: Any = None) -> Work | None:
    """Uniform numbers from [low, high)."""
    rule_of("uniform")(self, low, high)
    return _drawn(self, "InplaceUniform", (low, high), generator)


@steps("aten::normal_")
def normal_(self: Any, mean: float = 0, std: float = 1, *, generator: Any = None) -> Work | None:
    """Normal numbers."""
    rule_of("normal")(self, mean, std)
    return _drawn(self, "InplaceNormal", (mean, std), generator)


@steps("aten::random_.from")
def random_(self: Any, low: int, high: int | None, *, generator: Any = None) -> Work | None:
    """Whole numbers from [low, high); up to the largest that the dtype holds exactly without ``high``."""
    rule_of("random.from")(self, low, high)
    bound = min(exact_integers(self.raw_dtype) + 1, _HIGHEST) if high is None else high
    if bound > _HIGHEST:
        return None
    return _drawn(self, "InplaceRandom", (low, bound), generator)


@steps("aten::bernoulli_p_")
def bernoulli_p_(self: Any, p: float = 0.5, *, generator: Any = None) -> Work | None:
    """Ones with probability p."""
    rule_of("bernoulli_p")(self, p)
    return _drawn(self, "InplaceBernoulli", (float(p),), generator)


@steps("aten::bernoulli")
def bernoulli(self: Any, *, generator: Any = None) -> Work | None:
    """Ones with the probabilities that the input gives."""
    spec = rule_of("bernoulli")(self)
    d = spec.dtype
    wide = computed_in("BernoulliTensor", d, "prob")
    if wide is None:
        return None
    source = source_for(generator, self.raw_device)
    out, calls = made(spec, self.raw_device), list[Call]()
    if numel(spec.shape):
        target = out if wide is d else empty(spec.shape, wide, self.raw_device)
        probabilities = cast(self, wide, calls)
        position = _position("BernoulliTensor", source)
        calls.append(("BernoulliTensor", (target, probabilities, *position, target)))
        written(out, target, calls)
    return out, calls


@steps("aten::randperm")
def randperm(
    n: int, *, generator: Any = None, dtype: Any = None, device: Any = None
) -> Work | None:
    """A random order of 0 to n - 1."""
    rule_of("randperm")(n, dtype=dtype)
    d, on = dtype or int64, concrete_device(device)
    if not takes("Randperm", d, "out"):
        return None
    source = source_for(generator, on)
    out = empty((n,), d, on)
    return out, [("Randperm", (n, *_position("Randperm", source), out))] if n else []
