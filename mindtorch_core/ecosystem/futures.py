"""``torch.futures``: results that come later, set by whoever makes them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A value or an exception that one thread sets and others wait for.

    Args:
        devices: of the tensors in the value; they need nothing here.
    """

    def __init__(self, *, devices: Any = None) -> None:
        self._set = threading.Event()
        self._lock = threading.Lock()
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def done(self) -> bool:
        """Whether a value or an exception is there."""
        return self._set.is_set()

    def wait(self) -> T:
        """The value, once it is there; its exception is raised."""
        self._set.wait()
        return self.value()

    def value(self) -> T:
        """The value; its exception is raised.

        Raises:
            RuntimeError: if there is none yet.
        """
        if not self.done():
            raise RuntimeError("the future is not completed: wait() waits until it is")
        if self._error is not None:
            raise self._error
        found: T = self._value
        return found

    def set_result(self, result: T) -> None:
        """Give the value, and call what waits for it.

        Raises:
            RuntimeError: if there is one already.
        """
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Give an exception in the place of the value."""
        if not isinstance(result, Exception):
            raise TypeError(f"{result} is of type {type(result)}, not an Exception.")
        self._complete(None, result)

    def _complete(self, value: Any, error: BaseException | None) -> None:
        with self._lock:
            if self.done():
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future can "
                    "only be marked completed once."
                )
            self._value, self._error = value, error
            self._set.set()
            waiting, self._callbacks = self._callbacks, []
        for each in waiting:
            each(self)

    def _when_done(self, callback: Callable[[Future[T]], Any]) -> None:
        with self._lock:
            if not self.done():
                self._callbacks.append(callback)
                return
        callback(self)

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Have a function called with this future when it is done; what it raises is dropped."""

        def quiet(future: Future[T]) -> None:
            try:
                callback(future)
            except Exception:  # noqa: BLE001 (nobody waits for what it does)
                return

        self._when_done(quiet)

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future of what a function gives for this one, when it is done."""
        following: Future[S] = Future()

        def follow(future: Future[T]) -> None:
            try:
                made = callback(future)
            except Exception as error:  # noqa: BLE001 (it is raised where the result is asked for)
                text = f"Got the following error when running the callback: {type(error).__name__}: {error}"
                wrapped = RuntimeError(text)
                wrapped.__cause__ = error
                following.set_exception(wrapped)
            else:
                following.set_result(made)

        self._when_done(follow)
        return following


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future that is done when all of some are; its value is their list."""
    together: Future[list[Future[Any]]] = Future()
    if not futures:
        together.set_result([])
    left, lock = [len(futures)], threading.Lock()

    def one_less(future: Future[Any]) -> None:
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            together.set_result(list(futures))

    for each in futures:
        each._when_done(one_less)
    return together


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """The values of all, when all are there; the first exception is raised."""
    return [each.wait() for each in collect_all(futures).wait()]
