"""Transactions: registrations that are taken back together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from ..values.forks import fork_safe
from ..values.interrupts import contextmanager

__all__ = ["Transactions"]


class _ThreadJournal(threading.local):
    """The transaction that the current thread is in."""

    journal: list[Callable[[], None]] | None = None
    distribution = ""
    checks: list[Callable[[], None]] | None = None
    following = False


class Transactions:
    """What of the registry knows how to undo: each registration notes it in its thread's journal."""

    def __init__(self) -> None:
        self._lock = fork_safe(threading.RLock())
        self._thread = _ThreadJournal()

    @contextmanager
    def transaction(
        self, distribution: str = "", *, independent: bool = False
    ) -> Iterator[list[Callable[[], None]]]:
        """Undo every registration this thread makes in the block if the block raises.

        Yields the journal: undo functions, oldest first. After success it can be kept and run in
        reverse to take the registrations back later.

        Args:
            distribution: who registers; kept in the records.
            independent: what succeeded here stays when a transaction around it is undone.
        """
        mine = self._thread
        outer, owner, waiting = mine.journal, mine.distribution, mine.checks
        journal: list[Callable[[], None]] = []
        mine.journal, mine.distribution, mine.checks = journal, distribution or owner, []
        following, mine.following = mine.following, mine.following and not independent
        try:
            yield journal
            for check in mine.checks:
                check()
        except BaseException:
            for undo in reversed(journal):
                undo()
            raise
        else:
            if outer is not None and not independent:
                outer.extend(journal)
        finally:
            mine.journal, mine.distribution, mine.checks = outer, owner, waiting
            mine.following = following

    def at_the_end(self, check: Callable[[], None]) -> None:
        """Look at what was registered when the running transaction ends, or now if none runs."""
        if self._thread.checks is None:
            check()
        else:
            self._thread.checks.append(check)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Take every registration made in the block back when the block ends. For tests."""
        mine = self._thread
        outer = mine.journal
        journal: list[Callable[[], None]] = []
        mine.journal = journal
        try:
            yield
        finally:
            mine.journal = outer
            for undo in reversed(journal):
                undo()

    @contextmanager
    def apart(self, journal: list[Callable[[], None]] | None = None) -> Iterator[None]:
        """Registrations in the block belong to no distribution, and to no transaction around it.

        Args:
            journal: what their undo functions are put into.
        """
        mine = self._thread
        outer, owner, checks = mine.journal, mine.distribution, mine.checks
        following, mine.following = mine.following, False
        mine.journal, mine.distribution, mine.checks = journal, "", None
        try:
            with self._lock:
                yield
        finally:
            mine.journal, mine.distribution, mine.checks = outer, owner, checks
            mine.following = following

    @contextmanager
    def following(self) -> Iterator[None]:
        """What is registered in the block for an op goes when the op's definition does."""
        mine = self._thread
        outer, mine.following = mine.following, True
        try:
            yield
        finally:
            mine.following = outer

    @property
    def owner(self) -> str:
        """The distribution that the running transaction registers for."""
        return self._thread.distribution

    @property
    def journal(self) -> list[Callable[[], None]] | None:
        """Undo functions of the running transaction, or None where none is running."""
        return self._thread.journal

    def note(self, undo: Callable[[], None]) -> None:
        """Put an undo function of a plugin's other registrations into the running transaction."""
        if self._thread.journal is not None:
            self._thread.journal.append(undo)
