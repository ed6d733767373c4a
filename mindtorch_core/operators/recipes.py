"""Sample calls of ops as plain data: tensors are described, and made on a device when a test runs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..tensors.tensor import Tensor, from_values
from ..values.devices import concrete
from ..values.dtypes import BOOL, COMPLEX, DTYPES, FLOATING
from ..values.shapes import Shape, contiguous_strides, numel, storage_extent

__all__ = [
    "DEVICE",
    "EXPANDED",
    "LAYOUTS",
    "Sample",
    "TensorRecipe",
    "build",
    "tensor",
    "values_of",
]

# Ways to lay the same elements out in memory. Each is a view of a larger block except the first.
LAYOUTS: Final = ("contiguous", "transposed", "strided", "offset")
# One row of memory that stands for all: for elements of which all rows are alike.
EXPANDED: Final = "expanded"

# Stands for the device under test among a sample's arguments.
DEVICE: Final = object()

_STEP: Final = 16  # values are multiples of 1/16, which every floating type holds exactly


@dataclass(frozen=True, slots=True)
class TensorRecipe:
    """How to make one tensor.

    Attributes:
        shape: sizes.
        dtype: name of the element type.
        low, high: range that the elements are drawn from, both included.
        seed: chooses the elements together with the tensor's place among the arguments.
        layout: one of `LAYOUTS`, or `EXPANDED`.
        values: the elements themselves, row-major, instead of drawn ones.
    """

    shape: Shape
    dtype: str = "float32"
    low: float = -3.0
    high: float = 3.0
    seed: int = 0
    layout: str = "contiguous"
    values: tuple[Any, ...] | None = None

    def __str__(self) -> str:
        layout = "" if self.layout == "contiguous" else f" {self.layout}"
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]{layout}"


def tensor(*shape: int, dtype: str = "float32", **options: Any) -> TensorRecipe:
    """A recipe; the options are fields of `TensorRecipe`."""
    return TensorRecipe(shape, dtype, **options)


@dataclass(frozen=True, slots=True)
class Sample:
    """One call of an op.

    Attributes:
        name: tells the samples of one op apart; part of test ids.
        args: positional arguments: recipes, lists of them, `DEVICE` or plain values.
        kwargs: keyword arguments.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def build(self, device: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The call's arguments with fresh tensors on a device; the same values every time."""
        return self.arguments(lambda recipe: build(recipe, device), device)

    def arguments(
        self, make: Callable[[TensorRecipe], Any], device: str
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The call's arguments, with tensors of any library made from the recipes."""
        place = iter(range(1000))

        def made(value: Any) -> Any:
            if isinstance(value, TensorRecipe):
                return make(replace(value, seed=value.seed + 1000 * next(place)))
            return device if value is DEVICE else value

        return (
            tuple(_mapped(a, made) for a in self.args),
            {k: _mapped(v, made) for k, v in self.kwargs.items()},
        )

    def recipes(self) -> list[TensorRecipe]:
        """The tensors among the arguments, also those in lists."""
        return list(_recipes((*self.args, *self.kwargs.values())))

    def changed(self, change: Callable[[TensorRecipe], TensorRecipe]) -> Sample:
        """The same call with every recipe changed."""

        def each(value: Any) -> Any:
            return change(value) if isinstance(value, TensorRecipe) else value

        return Sample(
            self.name,
            tuple(_mapped(a, each) for a in self.args),
            {k: _mapped(v, each) for k, v in self.kwargs.items()},
        )

    def laid_out(self, layout: str) -> Sample:
        """The same call on tensors of another layout."""
        return self.changed(lambda recipe: replace(recipe, layout=layout))

    def in_float64(self) -> Sample:
        """The same call in the widest floating and complex types."""
        return self.changed(lambda recipe: replace(recipe, dtype=_widest(recipe.dtype)))

    def __str__(self) -> str:
        shown = [_shown(a) for a in self.args]
        shown += [f"{k}={_shown(v)}" for k, v in self.kwargs.items()]
        return f"({', '.join(shown)})"


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    return [change(v) for v in value] if isinstance(value, list) else change(value)


def _recipes(values: Any) -> Iterator[TensorRecipe]:
    for value in values:
        if isinstance(value, TensorRecipe):
            yield value
        elif isinstance(value, list):
            yield from _recipes(value)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return "device" if value is DEVICE else str(value)


def _widest(name: str) -> str:
    category = DTYPES[name].category
    return {FLOATING: "float64", COMPLEX: "complex128"}.get(category, name)


def build(recipe: TensorRecipe, device: str) -> Tensor:
    """Make a recipe's tensor on a device.

    Raises:
        ValueError: if there is no such layout.
    """
    d, on = DTYPES[recipe.dtype], concrete(device)
    values = values_of(recipe)
    if recipe.layout == "contiguous":
        return from_values(values, recipe.shape, d, on)
    strides, offset = _geometry(recipe)
    extent = storage_extent(recipe.shape, strides, offset)
    memory: list[Any] = [1] * extent
    for position, value in zip(_positions(recipe.shape, strides, offset), values, strict=True):
        memory[position] = value
    block = from_values(memory, (extent,), d, on)
    return block.as_strided(recipe.shape, strides, offset).detach()


def _geometry(recipe: TensorRecipe) -> tuple[Shape, int]:
    """Strides and offset of a layout."""
    plain = contiguous_strides(recipe.shape)
    if recipe.layout == "offset":
        return plain, 3
    if recipe.layout == EXPANDED:
        return (0, *plain[1:]) if plain else plain, 0
    if recipe.layout == "strided":
        return tuple(2 * s for s in plain), 0
    if recipe.layout == "transposed":
        return tuple(reversed(contiguous_strides(tuple(reversed(recipe.shape))))), 0
    raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}, got {recipe.layout!r}")


def _positions(shape: Shape, strides: Shape, offset: int) -> Iterator[int]:
    """Places in memory of the elements, row-major."""
    found = [offset]
    for size, stride in zip(shape, strides, strict=True):
        found = [at + i * stride for at in found for i in range(size)]
    return iter(found)


def values_of(recipe: TensorRecipe) -> list[Any]:
    """The elements of a recipe's tensor, row-major."""
    count = numel(recipe.shape)
    if recipe.values is not None:
        return list(recipe.values)
    draw = random.Random(recipe.seed)
    d = DTYPES[recipe.dtype]
    if d.category == BOOL:
        return [draw.random() < 0.5 for _ in range(count)]
    if d.category < FLOATING:
        low = math.ceil(recipe.low if d.is_signed else max(recipe.low, 0))
        return [draw.randint(low, math.floor(recipe.high)) for _ in range(count)]
    low, high = math.ceil(recipe.low * _STEP), math.floor(recipe.high * _STEP)

    def number() -> float:
        return draw.randint(low, high) / _STEP

    if d.category == COMPLEX:
        return [complex(number(), number()) for _ in range(count)]
    return [number() for _ in range(count)]
