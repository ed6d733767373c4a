"""Getting the samples of a batch out of a data set."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

__all__ = ["Fetcher", "fetcher"]

Fetcher = Callable[[Any], Any]


def fetcher(
    dataset: Any, *, streams: bool, batches: bool, collate_fn: Callable[[Any], Any], drop_last: bool
) -> Fetcher:
    """What gives the data for what a sampler gave.

    Args:
        dataset: the data set.
        streams: whether it is a stream.
        batches: whether the sampler gives lists.
        collate_fn: makes a batch of samples.
        drop_last: whether a stream's last, shorter batch is left out.

    Returns:
        A function that raises StopIteration at a stream's end.
    """
    if not streams:
        many = getattr(dataset, "__getitems__", None)

        def from_map(index: Any) -> Any:
            if not batches:
                return collate_fn(dataset[index])
            if callable(many):
                return collate_fn(many(index))
            return collate_fn([dataset[i] for i in index])

        return from_map
    source = iter(dataset)

    def from_stream(index: Any) -> Any:
        if not batches:
            return collate_fn(next(source))
        found = list(itertools.islice(source, len(index)))
        if not found or (drop_last and len(found) < len(index)):
            raise StopIteration
        return collate_fn(found)

    return from_stream
