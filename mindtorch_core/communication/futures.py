"""`Future`: a value that comes later, by PyTorch's names."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, NoReturn, TypeVar

from .errors import DistributedError

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A value that comes later.

    Args:
        devices: taken for PyTorch's sake.
    """

    def __init__(self, *, devices: Any = None) -> None:
        self._changed = threading.Condition()
        self._done = False
        self._result: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future[T]], object]] = []
        self._before: Sequence[Future[Any]] = ()  # what it is made of

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise RuntimeError("Can not pickle torch.futures.Future")

    # ---- what brings the value where nobody sets it ------------------------------------------------

    def _pull(self, *, waits: bool) -> None:
        """Have the value come: now, if it waits, else if that needs no waiting."""
        for each in self._before:
            each._pull(waits=waits)

    def _pulled(self) -> bool:
        """Whether somebody has to ask for the value: it is not set by another thread."""
        return any(each._pulled() for each in self._before)

    # ---- the value -----------------------------------------------------------------------------------

    def done(self) -> bool:
        """Whether there is a value, or an error in its place. Never waits."""
        if not self._done:
            self._pull(waits=False)
        return self._done

    def wait(self) -> T:
        """Wait for the value.

        Raises:
            BaseException: the error that came in its place.
        """
        if not self._done:
            self._pull(waits=True)
        with self._changed:
            while not self._done:
                self._changed.wait()
        return self.value()

    def value(self) -> T:
        """The value, which is there.

        Raises:
            RuntimeError: if it is not.
            BaseException: the error that came in its place.
        """
        if not self.done():
            raise RuntimeError("the future has no value yet: wait() waits for it")
        if self._error is not None:
            raise self._error
        found: T = self._result
        return found

    def set_result(self, result: T) -> None:
        """Give the value, and call what waits for it.

        Raises:
            RuntimeError: if there was one before.
        """
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Give an error in place of a value.

        Raises:
            RuntimeError: if there was one before.
        """
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result!r} is of type {type(result)}, not an Exception.")
        self._complete(None, result)

    def _complete(self, result: Any, error: BaseException | None) -> None:
        with self._changed:
            if self._done:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future can only "
                    "be marked completed once."
                )
            self._result, self._error, self._done = result, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for each in callbacks:
            each(self)

    # ---- what comes after it -------------------------------------------------------------------------

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """The value that a function makes of this future when it is done.

        The function is called by who sets the value, or where an asynchronous call brings it, by who waits
        for either future first.
        """
        after = Future[S]()
        after._before = (self,)

        def go_on(before: Future[T]) -> None:
            try:
                result = callback(before)
            except BaseException as error:  # noqa: BLE001 (given to whoever waits)
                after.set_exception(_told(before, error))
            else:
                after.set_result(result)

        self._when_done(go_on)
        return after

    def add_done_callback(self, callback: Callable[[Future[T]], object]) -> None:
        """Call a function with this future when it is done, by another thread if need be.

        What it raises is dropped: nobody waits for it.
        """

        def quiet(future: Future[T]) -> None:
            with contextlib.suppress(Exception):
                callback(future)

        self._when_done(quiet)
        if not self.done() and self._pulled():
            waiting = threading.Thread(target=_wait_quietly, args=(self,), daemon=True)
            waiting.start()

    def _when_done(self, callback: Callable[[Future[T]], object]) -> None:
        with self._changed:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)


def _told(before: Future[Any], error: BaseException) -> BaseException:
    """What waiting raises: the error as PyTorch tells it, or as it is where other ranks failed before."""
    handed_on = error is before._error and isinstance(error, DistributedError)
    if handed_on or not isinstance(error, Exception):
        return error
    text = f"Got the following error when running the callback: {type(error).__name__}: {error}"
    told = RuntimeError(text)
    told.__cause__ = error
    return told


def _wait_quietly(future: Future[Any]) -> None:
    with contextlib.suppress(BaseException):  # the callback asks for it
        future.wait()


def collect_all(futures: Sequence[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future of all of them, done when the last is."""
    whole = Future[list[Future[Any]]]()
    whole._before = found = list(futures)
    left, count = len(found), threading.RLock()

    def one(_: Future[Any]) -> None:
        nonlocal left
        with count:
            left -= 1
            last = not left
        if last:
            whole.set_result(found)

    for each in found:
        each._when_done(one)
    if not found:
        whole.set_result(found)
    return whole


def wait_all(futures: Sequence[Future[Any]]) -> list[Any]:
    """All values, which are waited for."""
    return [each.wait() for each in collect_all(futures).wait()]
