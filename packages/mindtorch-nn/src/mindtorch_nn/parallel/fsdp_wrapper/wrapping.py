"""Policies: which modules below a module are wrapped, too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from ...modules.container import ModuleDict, ModuleList
from ...modules.module import Module
from ...modules.multihead import MultiheadAttention

__all__ = [
    "CustomPolicy",
    "ModuleWrapPolicy",
    "_or_policy",
    "always_wrap_policy",
    "enable_wrap",
    "lambda_auto_wrap_policy",
    "size_based_auto_wrap_policy",
    "transformer_auto_wrap_policy",
    "wrap",
]

Options = dict[str, Any]
_ENABLED: Final[ContextVar[tuple[Any, Options] | None]] = ContextVar("_ENABLED", default=None)


class ModuleWrapPolicy:
    """Wrap modules of some classes."""

    def __init__(self, module_classes: Iterable[type[Module]]) -> None:
        self._module_classes = set(module_classes)

    def __call__(self, module: Module, recurse: bool, *args: Any, **kwargs: Any) -> bool:
        """Whether to look into the module, or to wrap it."""
        return recurse or isinstance(module, tuple(self._module_classes))

    def __repr__(self) -> str:
        return f"{super().__repr__()}({self._module_classes})"


class CustomPolicy:
    """Wrap modules of which a function says True, or gives options of their own."""

    def __init__(self, lambda_fn: Callable[[Module], bool | Options]) -> None:
        self._lambda_fn = lambda_fn

    def options(self, module: Module) -> Options | None:
        """What a module is wrapped with; None if it is not.

        Raises:
            ValueError: if the function gives something else.
        """
        found = self._lambda_fn(module)
        if not isinstance(found, dict | bool):
            raise ValueError(
                f"The lambda_fn passed to CustomPolicy should return False/True or a kwarg dict, but it "
                f"returned {found}"
            )
        return found if isinstance(found, dict) else ({} if found else None)


def always_wrap_policy(*args: Any, **kwargs: Any) -> bool:
    """Wrap everything."""
    return True


def lambda_auto_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, lambda_fn: Callable[[Module], bool]
) -> bool:
    """Wrap modules of which a function says True."""
    return recurse or bool(lambda_fn(module))


def transformer_auto_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, transformer_layer_cls: set[type[Module]]
) -> bool:
    """Wrap modules of the classes of layers."""
    return recurse or isinstance(module, tuple(transformer_layer_cls))


def _or_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, policies: Iterable[Callable[..., bool]]
) -> bool:
    """Wrap what one of some policies wraps."""
    return any(
        policy(module=module, recurse=recurse, nonwrapped_numel=nonwrapped_numel)
        for policy in policies
    )


def size_based_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    min_num_params: int = int(1e8),
    force_leaf_modules: set[type[Module]] | None = None,
    exclude_wrap_modules: set[type[Module]] | None = None,
) -> bool:
    """Wrap modules with so many elements that no inner one has taken."""
    leaves = size_based_auto_wrap_policy.FORCE_LEAF_MODULES  # type: ignore[attr-defined]
    excluded = size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES  # type: ignore[attr-defined]
    leaves = leaves if force_leaf_modules is None else force_leaf_modules
    excluded = excluded if exclude_wrap_modules is None else exclude_wrap_modules
    large = nonwrapped_numel >= min_num_params
    return large and not isinstance(module, tuple(leaves if recurse else excluded))


size_based_auto_wrap_policy.FORCE_LEAF_MODULES = {MultiheadAttention}  # type: ignore[attr-defined]
size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES = {ModuleList, ModuleDict}  # type: ignore[attr-defined]


def wrapped_below(
    root: Module, policy: Any, ignored: set[int], wrapper: Callable[[Module, Options], Module]
) -> None:
    """Wrap the modules below a root that a policy names, inner ones first.

    Args:
        root: is not wrapped.
        policy: one of the above, or such a function.
        ignored: modules and parameters, by identity.
        wrapper: wraps a module with options.
    """
    done: dict[int, tuple[Module, int]] = {}

    def walk(module: Module) -> tuple[Module, int]:
        """What stands for a module, and how many elements are wrapped in it."""
        parameters = {id(p): p for p in module.parameters() if id(p) not in ignored}
        numel, total = sum(p.numel() for p in parameters.values()), 0
        looks = isinstance(policy, CustomPolicy)
        if not looks and not policy(module=module, recurse=True, nonwrapped_numel=numel):
            return module, 0
        for name, child in list(module.named_children()):
            if id(child) not in ignored:
                if id(child) not in done:
                    done[id(child)] = walk(child)
                setattr(module, name, done[id(child)][0])
                total += done[id(child)][1]
        options = None if module is root else _options(policy, module, numel - total)
        return (module, total) if options is None else (wrapper(module, options), numel)

    walk(root)


def _options(policy: Any, module: Module, left: int) -> Options | None:
    if isinstance(policy, CustomPolicy):
        return policy.options(module)
    return {} if policy(module=module, recurse=False, nonwrapped_numel=left) else None


@contextmanager
def enable_wrap(*, wrapper_cls: Any, **wrapper_kwargs: Any) -> Iterator[None]:
    """A block in which `wrap` wraps."""
    before = _ENABLED.set((wrapper_cls, wrapper_kwargs))
    try:
        yield
    finally:
        _ENABLED.reset(before)


def wrap(module: Module, **wrap_overrides: Any) -> Module:
    """The module, wrapped where `enable_wrap` says so."""
    found = _ENABLED.get()
    if found is None:
        return module
    made: Module = functools.partial(found[0], **found[1])(module, **wrap_overrides)
    return made
