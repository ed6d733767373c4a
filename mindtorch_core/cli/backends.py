"""List the installed backends: who supplies them, what they serve, and why one cannot be used.

All of them are loaded, but those that MINDTORCH_BACKENDS leaves out. The exit status is 1 if one failed.

Examples:
  mindtorch backends
  mindtorch backends --json
  MINDTORCH_BACKENDS=cpu,acme mindtorch backends
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from .tables import print_table
from .usage import add_json, print_json

if TYPE_CHECKING:
    from ..plugins import BackendStatus

__all__ = ["add_arguments", "run"]


@dataclass(frozen=True, slots=True)
class _Row:
    """What is shown of a backend.

    Attributes:
        name: of its entry point.
        distribution, version: who supplies it.
        status: ``loaded``, ``failed`` or ``disabled``.
        key, device: what it serves; empty if it is not loaded.
        devices: how many there are, or None.
        milliseconds: how long loading took, imports included.
        kernels: ops that it has kernels for, or None.
        ops: ops that work on it, or None.
        known: all ops, or None.
        reason: why it failed, or is left out.
    """

    name: str
    distribution: str
    version: str
    status: str
    key: str = ""
    device: str = ""
    devices: int | None = None
    milliseconds: float | None = None
    kernels: int | None = None
    ops: int | None = None
    known: int | None = None
    reason: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the list; 1 if a backend failed."""
    from ..plugins import backends, load_all
    from ..plugins.absence import unknown_names
    from ..plugins.loader import VARIABLE, chosen_by

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each failure has a row
        load_all()
        rows = [_row(status) for status in backends()]
    problem = unknown_names(VARIABLE, chosen_by(VARIABLE) or (), [row.name for row in rows])
    if options.json:
        print_json([asdict(row) for row in rows])
    else:
        _show(rows)
    if problem:
        print(f"mindtorch: warning: {problem}", file=sys.stderr)
    return 1 if any(row.status == "failed" for row in rows) else 0


def _row(status: BackendStatus) -> _Row:
    """What is known of a backend once it was asked to load."""
    name, _, version = status.distribution.rpartition(" ")
    if status.state != "loaded":
        reason = "left out by MINDTORCH_BACKENDS" if status.state == "disabled" else ""
        if status.error is not None:
            reason = f"{_told(status.error)} (at {status.place})"
        taken = 1000 * status.seconds if status.seconds else None
        return _Row(status.name, name, version, status.state, milliseconds=taken, reason=reason)
    from ..inspection import coverage
    from ..values.devices import TABLE

    state, devices, reason = "loaded", None, ""
    try:
        devices = TABLE[status.device].runtime.device_count()
    except Exception as error:  # noqa: BLE001 (a plugin may raise anything)
        state, reason = "failed", f"device_count() raised {_told(error)}"
    totals = coverage(status.device).totals
    unserved = totals["host"] + totals["missing"]
    known = sum(totals.values())
    return _Row(
        status.name, name, version, state, status.key, status.device, devices,
        1000 * status.seconds, totals["kernel"], known - unserved, known, reason,
    )  # fmt: skip


def _told(error: BaseException) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _show(rows: list[_Row]) -> None:
    """Print the rows as a table, and the reasons below it."""
    if not rows:
        print("No backend is installed.\n  fix: pip install mindtorch-cpu")
        return
    head = ("name", "distribution", "version", "status", "key", "devices", "ms", "kernels", "ops")
    print_table(head, [_cells(row) for row in rows])
    reasons = [f"{row.name}: {row.reason}" for row in rows if row.reason]
    if reasons:
        print("", *reasons, sep="\n")


def _cells(row: _Row) -> tuple[str, ...]:
    """A row of the table."""
    covered = "-" if row.ops is None else f"{row.ops} of {row.known}"
    numbers = map(_number, (row.devices, row.milliseconds, row.kernels))
    return row.name, row.distribution, row.version, row.status, row.key or "-", *numbers, covered


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"
