"""The Autocast keys: kernels that cast an op's arguments and call the op again.

The call starts over at the top with the key taken out of the thread's masks. So autograd records the
casts, gradients come back in the dtype of what was cast, and what the op is made of is left alone.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from ..dispatch.autocast_keys import AUTOCAST_OF
from ..dispatch.dispatcher import kernel_for, keys_of
from ..dispatch.entry import Kernel, OpEntry, Registration
from ..dispatch.keys import AUTOGRAD, MASKS, DispatchKey, with_masks
from ..dispatch.registry import registry
from ..dispatch.whole import by_parts_because
from ..opdefs.packets import front
from ..tensors.tensor import Tensor
from ..values.dtypes import FLOATING, dtype, float32, float64
from .policies import Policy, composed, policy_of
from .state import STATE, checked_device, dtype_in_use

__all__ = ["autocast_kernel", "set_policy"]

BACKEND_OF: Final = {a: b for b, a in AUTOCAST_OF.items()}
_INFERENCE: Final = DispatchKey.Inference

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def autocast_kernel(
    key: DispatchKey, entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What an Autocast key runs for an op; None where it is left alone."""
    backend = BACKEND_OF[key]
    if not below_mask & backend:
        return None
    policy = policy_of(entry, key)
    if policy is not None:
        return _casting(entry, key, policy)
    if _computed_from_parts(entry, backend, below_mask) and not composed(entry):
        return _without(key, resolve(below_mask))
    return None


def _computed_from_parts(entry: OpEntry, backend: DispatchKey, below_mask: int) -> bool:
    """Whether a call runs the op's decomposition, whose ops autocast would see one by one."""
    d = entry.definition
    if d is None or d.decomposition is None or d.traits.view:
        return False
    recorded = d.grad is None and below_mask & AUTOGRAD
    return bool(recorded and by_parts_because(entry)) or backend not in entry.kernels


def _without(key: DispatchKey, below: Kernel) -> Kernel:
    """Run what is below with autocast off."""
    off = ~int(key)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        return with_masks(MASKS.include & off, MASKS.keep, below, *args, **kwargs)

    kernel.__doc__ = "runs the op with autocast off, which does not look into what it is made of"
    return kernel


def _casting(entry: OpEntry, key: DispatchKey, policy: Policy | dtype) -> Kernel:
    """The kernel of an op with a policy: cast, and call the op from the top with autocast off."""
    adapt = _adapter(entry, key, policy)
    off = ~int(key)
    call: Kernel | None = None

    def kernel(*args: Any, **kwargs: Any) -> Any:
        nonlocal call
        if call is None:
            call = _from_the_top(entry)
        return with_masks(MASKS.include & off, MASKS.keep, cast_and_call, call, args, kwargs)

    def cast_and_call(call: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs = adapt(args, kwargs)
        return call(*args, **kwargs)

    return kernel


def _from_the_top(entry: OpEntry) -> Kernel:
    d = entry.definition
    if (
        d is not None and not d.operands.varargs
    ):  # which users may have spread, and kernels get as a list
        return front(entry)
    return lambda *args, **kwargs: kernel_for(entry, keys_of(args, kwargs))(*args, **kwargs)


# ---- what each policy does to the arguments ----------------------------------------------------


def _adapter(
    entry: OpEntry, key: DispatchKey, policy: Policy | dtype
) -> Callable[[tuple[Any, ...], dict[str, Any]], Arguments]:
    """The function that does to a call's arguments what a policy says."""
    backend = BACKEND_OF[key]
    if policy is Policy.LOWER_PRECISION_FP:
        return lambda args, kwargs: _cast_all(args, kwargs, dtype_in_use(key), backend)
    if policy is Policy.PROMOTE:
        return lambda args, kwargs: _cast_all(
            args, kwargs, _widest(args, kwargs, key, backend), backend
        )
    if policy is Policy.FP32_SET_OPT_DTYPE:
        return _dtype_setter(entry, backend)
    if policy is Policy.BANNED:
        return lambda args, kwargs: _refuse(entry)
    target = float32 if policy is Policy.FP32 else policy
    return lambda args, kwargs: _cast_all(args, kwargs, target, backend)


def _eligible(value: Any, backend: DispatchKey) -> bool:
    """Whether autocast concerns itself with a value."""
    return (
        isinstance(value, Tensor)
        and value._dtype.category == FLOATING
        and value._dtype is not float64
        and bool(value._keys & backend)
    )


def _cast_all(
    args: tuple[Any, ...], kwargs: dict[str, Any], to: Any, backend: DispatchKey
) -> Arguments:
    """Every eligible tensor among arguments in another dtype."""
    return (
        tuple([_cast(a, to, backend) for a in args]),
        {k: _cast(v, to, backend) for k, v in kwargs.items()} if kwargs else kwargs,
    )


def _cast(value: Any, to: dtype, backend: DispatchKey) -> Any:
    if isinstance(value, Tensor):
        if value._dtype is to or not _eligible(value, backend):
            return value
        return _cast_tensor(value, to)
    if isinstance(value, list | tuple) and any(isinstance(v, Tensor) for v in value):
        return [_cast(v, to, backend) for v in value]
    return value


def _widest(
    args: tuple[Any, ...], kwargs: dict[str, Any], key: DispatchKey, backend: DispatchKey
) -> dtype:
    """The dtype in which the tensors of a `Policy.PROMOTE` op meet."""
    lower = found = dtype_in_use(key)
    for value in (*args, *kwargs.values()):
        for t in value if isinstance(value, list | tuple) else (value,):
            if not _eligible(t, backend):
                continue
            if t._dtype is float32:
                found = float32
            elif t._dtype is not lower and found is not float32:
                raise RuntimeError(
                    f"Unexpected floating dtype {t._dtype} under autocast to {lower}: this op takes "
                    f"{lower} and float32 tensors here. Convert the tensor to one of them."
                )
    return found


def _dtype_setter(
    entry: OpEntry, backend: DispatchKey
) -> Callable[[tuple[Any, ...], dict[str, Any]], Arguments]:
    """Fill in ``dtype=float32`` where the first tensor is eligible and the caller gave no dtype."""
    schema = entry.schema
    has_dtype = schema is not None and any(a.name == "dtype" for a in schema.arguments)
    names = [] if schema is None else [a.name for a in schema.positional]
    at = names.index("dtype") if "dtype" in names else len(names)

    def adapt(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        if not args or not _eligible(args[0], backend):
            return args, kwargs
        if not has_dtype:
            return _cast_all(args, kwargs, float32, backend)
        if at < len(args):
            return (*args[:at], args[at] or float32, *args[at + 1 :]), kwargs
        return args, {**kwargs, "dtype": kwargs.get("dtype") or float32}

    return adapt


def _refuse(entry: OpEntry) -> Arguments:
    hint = ""
    if "binary_cross_entropy" in entry.name:
        hint = (
            " Or use binary_cross_entropy_with_logits, which takes the values before the sigmoid and "
            "is safe."
        )
    raise RuntimeError(
        f"{entry.name} is unsafe to autocast: its values or gradients leave the range of lower "
        f"precision. Call it inside torch.autocast(..., enabled=False) with float32 tensors.{hint}"
    )


# ---- the cache of weights ----------------------------------------------------------------------


class _Kept(NamedTuple):
    """A cast that is kept, and what its weight was when it was cast.

    Attributes:
        weight: weak reference; when the weight goes, so does the cast.
        storage, version: what changes if the weight is changed in place or replaced.
        cast: the cast tensor.
    """

    weight: weakref.ref[Tensor]
    storage: Any
    version: int
    cast: Tensor

    def valid(self, weight: Tensor) -> bool:
        """Whether the cast still is what casting the weight would give."""
        storage = weight._storage
        if storage is not self.storage:
            return False
        if storage is not None and storage.version != self.version:
            return False
        if not self.cast._keys & AUTOGRAD:  # made where nothing was recorded
            return not MASKS.keep & DispatchKey.Autograd
        meta = self.cast._autograd
        return meta is None or meta.node is None or meta.node.saved is not None


def _cast_tensor(t: Tensor, to: dtype) -> Tensor:
    """A tensor in another dtype; casts of weights are kept until the outermost block ends."""
    if not (
        STATE.cache_enabled
        and t._keys & AUTOGRAD
        and t._dtype is float32
        and to is not float32
        and t._base is None
        and t.is_leaf
        and not t._keys & _INFERENCE
    ):
        return t.to(to)
    casts = STATE.casts
    key = (id(t), to)
    kept: _Kept | None = casts.get(key)
    if kept is not None and kept.weight() is t and kept.valid(t):
        return kept.cast
    made = t.to(to)
    storage = t._storage
    version = 0 if storage is None else storage.version
    weight = weakref.ref(
        t, partial(casts.pop, key)
    )  # built in: no interrupt comes in it and is lost
    casts[key] = _Kept(weight, storage, version, made)
    return made


# ---- policies of third parties -----------------------------------------------------------------


def set_policy(op: str, device_type: str, policy: Policy | dtype | str | None) -> Registration:
    """Give an op a policy on a device type, or another one than the built-in.

    Args:
        op: name of a registered op, such as ``acme::fold``.
        device_type: such as ``cpu``.
        policy: a `Policy` or its name; a dtype, to which floating-point tensors are cast; or None,
            to have the op left alone.

    Returns:
        A handle; its ``remove()`` restores what was before.

    Raises:
        RuntimeError: if there is no such op, or no autocast on the device type.
        TypeError: if ``policy`` is none of these.
        ValueError: if no policy has that name.
    """
    entry = registry.get(op)
    key = checked_device("set_policy", device_type).key
    if policy is None:
        return registry.register_fallthrough(entry.name, key)
    if isinstance(policy, str):
        names = [p.value for p in Policy]
        if policy not in names:
            raise ValueError(f"no autocast policy is called {policy!r}: choose {', '.join(names)}")
        policy = Policy(policy)
    if not isinstance(policy, Policy | dtype):
        raise TypeError(
            f"an autocast policy is a Policy, its name, a dtype or None, not {type(policy).__name__}"
        )
    return registry.register_kernel(entry.name, key, _casting(entry, key, policy), promoted=True)
