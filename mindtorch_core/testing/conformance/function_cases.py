"""The calls that the tests of functions are made of: functions that Python makes of ops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ...dispatch.functions import FUNCTIONS
from ...dispatch.registry import registry
from ...operators.recipes import Sample
from ..samples import merged

__all__ = ["FUNCTION_CALLS", "FUNCTION_TESTS", "FunctionCase", "function_cases"]

# The tests of functions. They are no part of the level smoke: what functions are made of is.
FUNCTION_TESTS: Final = ("test_functions", "test_deferred_functions", "test_function_gradients")
# By namespace and name, as in ``nn.cross_entropy``.
FUNCTION_CALLS: Final[dict[str, Sample]] = merged("functions")


@dataclass(frozen=True, slots=True)
class FunctionCase:
    """One function and one sample call of it.

    Attributes:
        name: namespace and name, such as ``nn.cross_entropy``.
        sample: the call.
    """

    name: str
    sample: Sample

    @property
    def id(self) -> str:
        """As it stands in test ids."""
        return self.name

    @property
    def dtype(self) -> str:
        """Name of the dtype of its first tensor."""
        return self.sample.recipes()[0].dtype

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function."""
        place, _, name = self.name.partition(".")
        packet = FUNCTIONS[place][name]
        assert packet.python is not None, self.name  # the kit's own tests compare the names
        return packet.python(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self.name}{self.sample}"


def function_cases(level: str) -> Iterator[FunctionCase]:
    """The cases of each test of functions at a level."""
    if level == "smoke":
        return
    registry.on_demand.define_all()
    for name, sample in FUNCTION_CALLS.items():
        yield FunctionCase(name, sample)
