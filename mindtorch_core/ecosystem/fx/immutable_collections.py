"""Lists and dicts that nobody changes: the arguments of nodes, whose users are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeVar

from ...utils import _pytree as pytree

__all__ = ["frozen", "immutable_dict", "immutable_list"]

_T = TypeVar("_T")
_K = TypeVar("_K")
_V = TypeVar("_V")


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Refuse a change.

    Raises:
        TypeError: always.
    """
    raise TypeError(
        f"{type(self).__name__!r} object does not support mutation. If you are attempting to modify the "
        f"kwargs or args of a torch.fx.Node object,\ninstead create a new copy of it and assign the copy "
        f"to the node:\n\n    new_args = ...  # copy and mutate args\n    node.args = new_args"
    )


class immutable_list(list[_T]):
    """A list that cannot be changed, and can be hashed if its elements can."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)


class immutable_dict(dict[_K, _V]):
    """A dict that cannot be changed, and can be hashed if its values can."""

    __delitem__ = __ior__ = __setitem__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self.items()),)


def frozen(value: Any, leaf: Callable[[Any], Any] = lambda each: each) -> Any:
    """A value whose containers cannot be changed.

    Args:
        value: tuples, lists, dicts, slices and ranges are gone through, and what these hold.
        leaf: what becomes of everything else.
    """
    kind = type(value)
    if isinstance(value, tuple):
        parts = [frozen(each, leaf) for each in value]
        return kind(*parts) if hasattr(value, "_fields") else kind(parts)
    if isinstance(value, list):
        return immutable_list([frozen(each, leaf) for each in value])
    if isinstance(value, dict):
        return immutable_dict({key: frozen(each, leaf) for key, each in value.items()})
    if isinstance(value, slice | range):
        return kind(*(frozen(each, leaf) for each in (value.start, value.stop, value.step)))
    return leaf(value)


def _register(kind: type, flatten: Any, unflatten: Any, with_keys: Any) -> None:
    pytree.register_pytree_node(
        kind,
        flatten,
        unflatten,
        serialized_type_name=f"torch.fx.immutable_collections.{kind.__name__}",
        flatten_with_keys_fn=with_keys,
    )


def _list_of(values: Iterable[Any], context: Any) -> immutable_list[Any]:
    return immutable_list(values)


def _dict_of(values: Iterable[Any], context: Any) -> immutable_dict[Any, Any]:
    return immutable_dict(zip(context, values, strict=True))


def _parts_of_dict(value: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
    return [*value.values()], [*value]


_register(immutable_list, pytree._list_flatten, _list_of, pytree._list_flatten_with_keys)
_register(immutable_dict, _parts_of_dict, _dict_of, pytree._dict_flatten_with_keys)
