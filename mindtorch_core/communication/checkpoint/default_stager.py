"""`DefaultStager`: a state is copied beside the program, in memory that is kept for the next copy."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from .metadata import STATE_DICT_TYPE
from .staging import AsyncStager, BlockingAsyncStager

__all__ = ["DefaultStager", "StagingOptions"]


@dataclass
class StagingOptions:
    """How a state is copied.

    Attributes:
        use_pinned_memory: accepted: host memory of copies is the backend's to choose.
        use_shared_memory: accepted: a thread writes, which sees the memory.
        use_async_staging: whether a thread copies, and `DefaultStager.stage` returns a future.
        use_non_blocking_copy: accepted: how an accelerator's tensors are copied is its backend's to choose.
    """

    use_pinned_memory: bool = True
    use_shared_memory: bool = True
    use_async_staging: bool = True
    use_non_blocking_copy: bool = True


class DefaultStager(AsyncStager):
    """Copies tensors to host memory, by options; `close` it in the end.

    Args:
        config: how.
    """

    def __init__(self, config: StagingOptions = StagingOptions()) -> None:  # noqa: B008 (never changed)
        self._copier = BlockingAsyncStager(cache_staged_state_dict=True)
        self._thread = ThreadPoolExecutor(1) if config.use_async_staging else None
        self._last: Future[STATE_DICT_TYPE] | None = None

    @property
    def cache_staged_state_dict(self) -> bool:
        """True: the memory of a copy is used again, so that it must have been written before."""
        return True

    def stage(
        self, state_dict: STATE_DICT_TYPE, **kwargs: Any
    ) -> Future[STATE_DICT_TYPE] | STATE_DICT_TYPE:
        """See `AsyncStager`: a future where a thread copies."""
        if self._thread is None:
            return self._copier.stage(state_dict)
        self._last = self._thread.submit(self._copier.stage, state_dict)
        return self._last

    def synchronize_staging(self) -> None:
        if self._last is not None:
            self._last.result()

    def close(self) -> None:
        """See `AsyncStager`: ends the thread."""
        if self._thread is not None:
            self._thread.shutdown(wait=True)
        self._copier.close()
