"""What of `Tensor` and of ``torch`` is written in Python and can be overridden by ``__torch_function__``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any, Final, Self

from ..dispatch.exchanged import exchanged_with
from ..dispatch.overrides import WHEN_USED, pop_mode, push_mode
from ..dispatch.written_functions import arm_functions, ask_first, overridable
from ..opdefs.packets import is_made_for_op
from ..tensors.attached import WHEN_ATTACHED
from ..tensors.subclasses import NOT_WRAPPED
from ..tensors.tensor import FIELDS, Tensor
from ..values.interrupts import leaving
from ..values.user_warnings import warn_user
from . import creation, foreign_arrays, tensor_properties, type_promotion

__all__ = ["TorchFunctionMode", "arm", "members"]

# Members that are never handed on.
LEFT_ALONE: Final = frozenset({
    "__array_priority__", "__delitem__", "__dir__", "__getattribute__", "__hash__", "__init__",
    "__init_subclass__", "__iter__", "__new__", "__setstate__", "__subclasshook__",
    "__torch_dispatch__", "__torch_function__", "as_subclass", "raw_geometry", "settled",
    "storage",
})  # fmt: skip
_PRIVATE: Final = frozenset({"_is_view", "_version"})
# Methods that are written in Python in PyTorch too: their handlers get keywords in any case.
_IN_PYTHON: Final = frozenset({
    "__array__", "__contains__", "__deepcopy__", "__dlpack__", "__dlpack_device__", "__format__",
    "__len__", "__reduce_ex__", "__repr__", "__reversed__", "backward", "norm", "register_hook",
    "register_post_accumulate_grad_hook", "storage", "unique", "unique_consecutive",
})  # fmt: skip


def members() -> Iterator[tuple[str, Any]]:
    """Methods and properties of `Tensor` that are written in Python and can be overridden."""
    return _overridable(
        {n: m for kind in reversed(Tensor.__mro__[:-1]) for n, m in vars(kind).items()}
    )


def _overridable(found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    hidden = {id(m) for name, m in found.items() if name[0] == "_" and name[:2] != "__"}
    for name, member in found.items():
        if (
            name in LEFT_ALONE
            or name in FIELDS
            or (name[0] == "_" and name[:2] != "__" and name not in _PRIVATE)
        ):
            continue
        if isinstance(member, property) or (
            isinstance(member, FunctionType)
            and not is_made_for_op(member)
            and (id(member) not in hidden or name in _PRIVATE)
        ):
            yield name, member


def arm() -> None:
    """From now on all that is written in Python asks whether its calls are overridden."""
    _arm_members(dict(members()))
    WHEN_ATTACHED.append(_arm_members)  # some come with the ops that are defined on demand
    arm_functions()


def _arm_members(found: Mapping[str, Any]) -> None:
    done: set[int] = set()
    for name, member in _overridable(found):
        if isinstance(member, property):
            for accessor, shown in (
                (member.fget, member.__get__),
                (member.fset, member.__set__),
                (member.fdel, member.__delete__),
            ):
                if isinstance(accessor, FunctionType) and not hasattr(accessor, "__wrapped__"):
                    ask_first(accessor, shown, asked=1)
        elif id(member) not in done and (
            not hasattr(member, "__wrapped__") or exchanged_with(member, "explain")
        ):
            done.add(id(member))
            if name[:2] == "__" or member.__name__[0] == "_":
                member.__name__, member.__qualname__ = name, f"Tensor.{name}"
            ask_first(member, member, _as_it_is if name in _IN_PYTHON else None)


def _as_it_is(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


class TorchFunctionMode:
    """A context in which ``__torch_function__`` is called for every function of torch.

    Inside the handler the mode itself is off and modes around it are on.

    Example:
        >>> class Show(TorchFunctionMode):
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         print(func.__name__)
        ...         return func(*args, **(kwargs or {}))
    """

    def __torch_function__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Answer for one call.

        Args:
            func: what was called, such as ``torch.add`` or ``torch.Tensor.shape.__get__``.
            types: classes among the arguments with a handler of their own.
            args: positional arguments.
            kwargs: keyword arguments.

        Returns:
            What the call returns, or NotImplemented to leave it to the arguments' classes.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define __torch_function__(self, func, types, args=(), "
            f"kwargs=None)"
        )

    def __enter__(self) -> Self:
        push_mode(self)
        return self

    def _leave(self) -> None:
        pop_mode()

    __exit__ = leaving(_leave)

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Self:
        """An instance; to be entered with ``with``."""
        warn_user(
            "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`"
        )
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        return func(*args, **(kwargs or {}))


for _function in (creation.tensor, creation.as_tensor, creation.from_numpy, foreign_arrays.asarray,
                  foreign_arrays.frombuffer):  # fmt: skip
    overridable(_function, by_modes_alone=True)
for _name in (*tensor_properties.__all__, "result_type"):
    if _name not in ("is_storage", "is_tensor", "typename"):
        overridable(getattr(type_promotion if _name == "result_type" else tensor_properties, _name))

NOT_WRAPPED.add(Tensor.grad.__get__)
WHEN_USED.append(arm)
