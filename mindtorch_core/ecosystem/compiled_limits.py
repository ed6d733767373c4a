"""How many kinds of arguments a compiled function may be called with: PyTorch's limits of recompiling.

Nothing here is compiled for sizes. Programs that ask to be told of recompiling are told where PyTorch's
compiler would recompile because of the tensors among the arguments; other numbers and texts count nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Final

from ..tensors.tensor import Tensor
from .compiler_errors import FailOnRecompileLimitHit, RecompileError

__all__ = ["Kinds"]

_SETTINGS: Final = f"{__name__.rpartition('.')[0]}._dynamo.config"
_Sizes = tuple[int | None, ...]


class Kinds:
    """The kinds of tensors that a compiled function was called with.

    Args:
        fn: the function.
        fullgraph: whether it is to be one graph.
        dynamic: whether sizes make no kind of their own; None for those that have changed once.
        limit: how many there may be; None for what the settings say.
    """

    def __init__(self, fn: Any, fullgraph: bool, dynamic: bool | None, limit: int | None) -> None:
        self._fn, self._fullgraph, self._dynamic, self._limit = fn, fullgraph, dynamic, limit
        self._known: dict[Any, list[_Sizes]] = {}  # sizes by all else; None for any size

    def forget(self) -> None:
        """Forget them."""
        self._known.clear()

    def meet(self, mode: Any, tensors: Sequence[Tensor]) -> None:
        """Note a call.

        Args:
            mode: under which the function is called.
            tensors: among the arguments.

        Raises:
            RecompileError: for another kind than before, where that is to be an error.
            FailOnRecompileLimitHit: beyond the limit, where the function is to be one graph or the
                settings ask for it.
        """
        key = (
            mode,
            *[(len(t._shape), t._dtype, t._device, t.requires_grad) for t in tensors],
        )
        sizes = [s for t in tensors for s in t._shape]
        known = self._known.get(key, [])
        if any(_fits(sizes, each) for each in known):
            return
        config = importlib.import_module(_SETTINGS)
        count = sum(map(len, self._known.values()))
        if count and config.error_on_recompile:
            raise RecompileError(
                f"Recompiling function {self._name()}: {self._difference(key, known)}, and "
                "torch._dynamo.config.error_on_recompile is set. Call it with arguments of one kind, or "
                "compile it with dynamic=True"
            )
        limit = config.recompile_limit if self._limit is None else self._limit
        limit = min(limit, config.accumulated_recompile_limit)
        if count >= limit:
            self._hit(limit, config.fail_on_recompile_limit_hit)
            return
        self._known.setdefault(key, []).append(self._noted(sizes, known))

    def _hit(self, limit: int, fails: bool) -> None:
        why = "fail_on_recompile_limit_hit" if fails else "fullgraph=True"
        if fails or self._fullgraph:
            raise FailOnRecompileLimitHit(
                f"Hard failure due to {why}: {self._name()} was called with more than {limit} kinds of "
                "tensors. Compile it with dynamic=True if sizes differ, or raise "
                "torch._dynamo.config.recompile_limit"
            )

    def _noted(self, sizes: Sequence[int], known: list[_Sizes]) -> _Sizes:
        """Sizes, without those that are not looked at from now on."""
        if self._dynamic:
            return (None,) * len(sizes)
        if self._dynamic is None and known:
            return tuple([n if n == old else None for n, old in zip(sizes, known[-1], strict=True)])
        return tuple(sizes)

    def _name(self) -> str:
        return str(getattr(self._fn, "__qualname__", self._fn))

    def _difference(self, key: Any, known: list[_Sizes]) -> str:
        if known:
            return "sizes of the tensors among its arguments have changed"
        before = next(reversed(self._known))
        if len(key) != len(before):
            return (
                f"{len(key) - 1} tensors are among its arguments, before it were {len(before) - 1}"
            )
        names = ("rank", "dtype", "device", "requires_grad")
        for n, (now, old) in enumerate(zip(key[1:], before[1:], strict=True)):
            for name, a, b in zip(names, old, now, strict=True):
                if a != b:
                    return f"tensor {n} of its arguments: {name} mismatch. expected {a}, actual {b}"
        return "gradients are recorded, or functions transformed, in another way than before"


def _fits(sizes: Sequence[int], known: _Sizes) -> bool:
    return all(old is None or n == old for n, old in zip(sizes, known, strict=True))
