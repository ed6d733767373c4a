"""How a device's arithmetic differs from what the conformance kit expects, as its vendor declares it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from ..values.dtypes import DTYPES

__all__ = ["Numerics"]


@dataclass(frozen=True, slots=True)
class Numerics:
    """What a device's numbers are like. The conformance kit adapts to it, and its report says so.

    Attributes:
        flushes_subnormals: numbers below the smallest normal one become zeros.
        without: names of dtypes that the device does not have, such as ``("float64", "complex128")``.
        precision: the largest error of float32 results by name of op, in which ``*`` stands for
            anything: ``{"exp": 1e-5, "special_*": 1e-3}``. It is relative, below 1 absolute. An op that
            is made of another one has a line of its own.

    Raises:
        TypeError: if a field has another type.
        ValueError: for a dtype that there is none of, or an error that is no positive number below 1: with
            that one, any result would do.
    """

    flushes_subnormals: bool = False
    without: Sequence[str] = ()
    precision: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, kind in (
            ("flushes_subnormals", bool),
            ("without", tuple | list),
            ("precision", dict),
        ):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(f"Numerics({name}=...) takes another type than {value!r} is of")
        unknown = [str(name) for name in self.without if name not in DTYPES]
        if unknown:
            raise ValueError(f"Numerics(without=...) names no dtype: {', '.join(unknown)}")
        for op, error in self.precision.items():
            if type(error) not in (int, float) or not 0 < error < 1:
                raise ValueError(
                    f"Numerics(precision=...) takes positive numbers below 1, got {op}: {error!r}"
                )

    def error_of(self, op: str) -> float:
        """The largest error that is declared for an op, 0.0 for none."""
        name = op.removeprefix("aten::")
        names = name, name.partition(".")[0], name.rpartition(".")[2]
        return max(
            (
                error
                for pattern, error in self.precision.items()
                if any(fnmatchcase(n, pattern) for n in names)
            ),
            default=0.0,
        )

    def __str__(self) -> str:
        parts = ["flushes subnormal numbers"] * self.flushes_subnormals
        parts += [f"no {name}" for name in self.without]
        parts += [f"{op} to {error:g}" for op, error in self.precision.items()]
        return ", ".join(parts)
