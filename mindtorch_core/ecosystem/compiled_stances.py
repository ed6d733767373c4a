"""Stances of compiled functions: what their calls do, above all where something new would be compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

__all__ = ["DEFAULT", "STANCE", "STANCES", "Called", "Stance"]

STANCES: Final = (
    "default", "force_eager", "eager_on_recompile", "fail_on_recompile", "eager_then_compile",
    "aot_eager_then_compile",
)  # fmt: skip


class Stance(NamedTuple):
    """How compiled functions are called.

    Attributes:
        name: one of `STANCES`.
        compiled: makes of a function, and of whether it is to be one graph, the one that is called in
            the stead of the compiled one; None where that is called.
    """

    name: str
    compiled: Callable[[Any, bool], Callable[..., Any]] | None = None


DEFAULT: Final = Stance("default")
STANCE: Final = [DEFAULT]  # that of all threads, as PyTorch's


class Called:
    """A compiled function under other stances than the default one.

    Args:
        fn: what was compiled.
        fullgraph: whether it is to be one graph.
        forced: whether it is what a stance has others replaced by.
    """

    def __init__(self, fn: Any, fullgraph: bool, forced: bool) -> None:
        self._fn, self._fullgraph, self._is_forced = fn, fullgraph, forced
        self._called = False
        self._forced: tuple[Stance, Callable[..., Any]] | None = None

    def instead(self) -> Callable[..., Any] | None:
        """What is called in the stead of the compiled function; None for that."""
        stance = STANCE[0]
        if stance.compiled is not None and not self._is_forced:
            if self._forced is None or self._forced[0] != stance:
                self._forced = stance, stance.compiled(self._fn, self._fullgraph)
            return self._forced[1]
        if stance.name == "force_eager":
            return self._fn  # type: ignore[no-any-return]
        if stance.name.endswith("eager_then_compile") and not self._called:
            self._called = True
            return self._fn  # type: ignore[no-any-return]
        return None

    def is_left(self, reason: Callable[[], str]) -> bool:
        """Whether a call for which something new would be compiled is left as it is.

        Args:
            reason: says what was not compiled before.

        Raises:
            RuntimeError: where that is to fail.
        """
        name = STANCE[0].name
        if name == "fail_on_recompile":
            owner = getattr(self._fn, "__self__", None)
            code = getattr(getattr(owner, "forward", self._fn), "__code__", None)
            place = "" if code is None else (
                f"filename: '{code.co_filename}', function name: '{code.co_name}', "
                f"line number: {code.co_firstlineno}\n    "
            )  # fmt: skip
            raise RuntimeError(
                "Detected recompile when torch.compile stance is 'fail_on_recompile'. "
                f"{place}{reason()}"
            )
        return name == "eager_on_recompile"
