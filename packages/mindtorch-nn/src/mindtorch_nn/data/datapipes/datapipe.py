"""The two kinds of data pipes, and their methods."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, TypeVar

from mindtorch_core.utils._own_frames import warn_user

from ..dataset import Dataset, IterableDataset

__all__ = [
    "DataChunk",
    "IterDataPipe",
    "MapDataPipe",
    "copied",
    "functional_datapipe",
]

C = TypeVar("C", bound=type)


def copied(source: Any, kind: str) -> Any:
    """A deep copy of samples; themselves, with a warning, where there is none, as of generators."""
    try:
        return copy.deepcopy(source)
    except TypeError:
        warn_user(
            f"The input {kind} can not be deepcopied, please be aware of in-place modification would "
            f"affect source data."
        )
        return source


class _Methods:
    """What both kinds have: classes that are registered are methods of every pipe of the kind."""

    functions: ClassVar[dict[str, type]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = cls.__dict__.get("__iter__")
        if own is not None and hasattr(cls, "reset"):
            cls.__iter__ = _fresh(own)  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Any:
        """A registered class, with this pipe as its first argument."""
        made = type(self).functions.get(name)
        if made is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return functools.partial(made, self)

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register: type, enable_df_api_tracing: bool = False
    ) -> None:
        """Make a class a method of all pipes of this kind.

        Raises:
            Exception: if there is one of that name.
        """
        if function_name in cls.functions:
            raise Exception(
                f"Unable to add DataPipe function name {function_name} as it is already taken"
            )
        cls.functions[function_name] = cls_to_register

    def __reduce_ex__(self, protocol: Any) -> Any:
        return object.__reduce_ex__(self, protocol)

    def __repr__(self) -> str:
        return type(self).__qualname__


def _fresh(own: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
    """An ``__iter__`` that first calls ``reset``."""

    @functools.wraps(own)
    def __iter__(self: Any) -> Iterator[Any]:
        self.reset()
        return own(self)

    return __iter__


class IterDataPipe(_Methods, IterableDataset[Any]):
    """A stream of samples: a subclass has ``__iter__``, and may have a ``reset`` for each new pass."""

    functions: ClassVar[dict[str, type]] = {}


class MapDataPipe(_Methods, Dataset[Any]):
    """Samples by key: a subclass has ``__getitem__``, and ``__len__``."""

    functions: ClassVar[dict[str, type]] = {}


def functional_datapipe(name: str, enable_df_api_tracing: bool = False) -> Callable[[C], C]:
    """Decorate a class of data pipes to be a method of all of its kind.

    Args:
        name: of the method.
        enable_df_api_tracing: accepted.

    Raises:
        TypeError: when it decorates anything else.

    Example:
        >>> @torch.utils.data.functional_datapipe("doubled")
        ... class Doubled(torch.utils.data.IterDataPipe):
        ...     def __init__(self, source):
        ...         self.source = source
        ...     def __iter__(self):
        ...         return (2 * x for x in self.source)
        >>> from torch.utils.data.datapipes.iter import IterableWrapper
        >>> list(IterableWrapper([1, 2]).doubled())
        [2, 4]
    """

    def register(cls: C) -> C:
        for kind in (IterDataPipe, MapDataPipe):
            if issubclass(cls, kind):
                kind.register_datapipe_as_function(name, cls)
                return cls
        raise TypeError("`functional_datapipe` can only decorate IterDataPipe or MapDataPipe")

    return register


class DataChunk(list[Any]):
    """The samples of a batch.

    Args:
        items: the samples.
    """

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = list(items)
        super().__init__(self.items)

    def as_str(self, indent: str = "") -> str:
        """The samples' texts."""
        return f"{indent}[{', '.join(map(str, self))}]"

    def raw_iterator(self) -> Iterator[Any]:
        """The samples."""
        return iter(self.items)
