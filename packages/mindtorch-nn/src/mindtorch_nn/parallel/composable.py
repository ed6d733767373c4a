"""Ways to train in several processes that a module takes on in place, without a wrapper.

The public face is ``torch.distributed._composable``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from typing import Any, Final, NoReturn

from mindtorch_core.utils.checkpoint import checkpoint as recomputed

from ..modules.module import Module
from .distributed import DistributedDataParallel
from .mixed_precision import Narrowed

__all__ = ["DDP", "checkpoint", "contract", "replicate"]

_STATES: Final = (
    "__composable_api_state_key"  # where a module has them, by the names of the functions
)


class _State:
    """What a function of `contract` keeps of a module."""


def contract(state_cls: type[Any] = _State) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of functions that change a module, or a list of them, in place, each module once.

    ``function.state(module)`` is what the function keeps of a module, and None where it was not called.

    Args:
        state_cls: the class of that.

    Raises:
        AssertionError: by the function, for a module that it was called with.
        RuntimeError: by the function, if it changes the names of parameters, buffers or modules.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__

        @wraps(function)
        def once(module: Any, *args: Any, **kwargs: Any) -> Any:
            modules: Sequence[Module] = [module] if isinstance(module, Module) else list(module)
            state = state_cls()
            for each in modules:
                states = each.__dict__.setdefault(_STATES, OrderedDict())
                if name in states:
                    raise AssertionError(
                        "Each distinct composable distributed API can only be applied to a module once. "
                        f"{name} has already been applied to the following module:\n{each}"
                    )
                states[name] = state
            before = [_names(each) for each in modules]
            changed = function(module, *args, **kwargs)
            after = modules if changed is None else changed
            after = [after] if isinstance(after, Module) else list(after)
            if before != [_names(each) for each in after]:
                raise RuntimeError(
                    "Composable distributed API implementations cannot modify FQNs: "
                    f"{name} has changed the names of parameters, buffers or modules"
                )
            return module if changed is None else changed

        def state(module: Module) -> Any:
            return module.__dict__.get(_STATES, {}).get(name)

        once.state = state  # type: ignore[attr-defined]
        return once

    return decorate


def _names(module: Module) -> list[list[str]]:
    named = (module.named_parameters(), module.named_buffers(), module.named_modules())
    return [[name for name, _ in each] for each in named]


# ---- copies in several processes -----------------------------------------------------------------------


class DDP:
    """What the class of a module has more after `replicate`."""

    def set_requires_gradient_sync(self, requires_gradient_sync: bool) -> None:
        """Say whether backward sums gradients of all processes, as without `no_sync`."""
        _parallel(self).require_backward_grad_sync = requires_gradient_sync

    def register_comm_hook(self, state: Any, hook: Callable[[Any, Any], Any]) -> None:
        """See `DistributedDataParallel.register_comm_hook`."""
        _parallel(self).register_comm_hook(state, hook)

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise AssertionError(
            "DDP does not support deepcopy. Please use state dict for serialization."
        )


def _parallel(module: Any) -> DistributedDataParallel:
    found: DistributedDataParallel = replicate.state(module).parallel  # type: ignore[attr-defined]
    return found


class _Replicated(_State):
    parallel: DistributedDataParallel


@contract(state_cls=_Replicated)
def replicate(
    module: Module, ignored_modules: Iterable[Module] | None = None, **kwargs: Any
) -> Module:
    """Have a module's copies in all processes share their gradients, as `DistributedDataParallel` does.

    The module stays what it was, with the names of its parameters; its class is derived from `DDP` too.
    Buffers are each process's own.

    Args:
        module: the module, changed in place.
        ignored_modules: those in it that each process has for itself.
        **kwargs: options of `DistributedDataParallel`.

    Returns:
        The module.

    """
    inside = [each for one in ignored_modules or () for each in (*one.parameters(), *one.buffers())]
    ignored = {id(each) for each in inside}
    own = [
        name
        for name, each in (*module.named_parameters(), *module.named_buffers())
        if id(each) in ignored
    ]
    names = {*own, *(name for name, _ in module.named_buffers())}
    DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(module, names)
    parallel = DistributedDataParallel(module, **kwargs)
    parallel._is_called = False
    if narrowed := Narrowed.of(module, kwargs.get("mixed_precision"), own):
        module.forward = partial(narrowed.around, module.forward)
    replicate.state(module).parallel = parallel  # type: ignore[attr-defined]
    module.register_forward_pre_hook(lambda *_: parallel._begin(), prepend=True)
    module.register_forward_hook(lambda module, inputs, outputs: parallel._end(outputs))
    kind = type(module)
    module.__class__ = type(f"DDP{kind.__name__}", (DDP, kind), {})
    return module


# ---- activations ---------------------------------------------------------------------------------------


@contract()
def checkpoint(module: Module, **kwargs: Any) -> Module:
    """Have backward compute a module's activations again, see `torch.utils.checkpoint.checkpoint`.

    Args:
        module: the module, changed in place.
        **kwargs: options of that function; ``use_reentrant`` is False and may not be another.

    Raises:
        NotImplementedError: for ``use_reentrant=True``.
    """
    if kwargs.pop("use_reentrant", False):
        raise NotImplementedError(
            "use_reentrant=True is not supported in composable checkpoint. Please use "
            "torch.utils.checkpoint.checkpoint instead."
        )
    module.forward = partial(recomputed, module.forward, use_reentrant=False, **kwargs)
    return module
