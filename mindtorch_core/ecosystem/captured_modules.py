"""What a captured function reads of modules and optimizers: their parts, numbers and hooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from .captured_names import is_constant, read_by_own
from .captured_watches import MISSING, Watch, parts_in_order

__all__ = ["STEP_HOOKS", "hooks_held", "parts_of_hooks", "parts_of_module"]

STEP_HOOKS: Final = "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks"
_HOOKS: Final = "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"
_PARTS: Final = "_parameters", "_buffers", "_modules"


def hooks_held(held: dict[str, Any], names: Sequence[str] = _HOOKS) -> list[dict[int, Any]]:
    """The tables of hooks among the attributes of a module, or of something else that has some."""
    return [held[name] for name in names if name in held]


def parts_of_module(path: str, module: Any) -> Iterator[Watch | tuple[str, Any]]:
    """What is to be watched of a module, and what it consists of, with how that is called."""
    held, kind = module.__dict__, type(module)
    plain = [n for n in sorted(read_by_own(kind)) if is_constant(held.get(n, held))]
    names = ["training", "forward", *plain]
    watch = Watch(
        lambda: [type(module), *[held.get(n, MISSING) for n in names]],
        [f"the class of {path}", *[f"{path}.{n}" for n in names]],
    )
    yield watch
    yield from zip(watch.names, watch.was, strict=True)
    watch = parts_in_order([held[name] for name in _PARTS], path)
    yield watch
    yield from zip(watch.names, watch.was, strict=True)


def parts_of_hooks(
    path: str, tables: Sequence[dict[int, Any]]
) -> Iterator[Watch | tuple[str, Any]]:
    """What is to be watched of tables of hooks, and the hooks."""
    number = f"the number of hooks of {path}"
    yield Watch(lambda: [*map(len, tables)], [number] * len(tables))
    hooks = [hook for table in tables for hook in table.values()]
    name = f"a hook of {path}"
    yield Watch(lambda: [hook for table in tables for hook in table.values()], [name] * len(hooks))
    yield from ((name, hook) for hook in hooks)
