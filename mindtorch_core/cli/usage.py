"""What commands share: reporting what the user got wrong, importing the user's modules, JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..dispatch.keys import DispatchKey
from ..values.errors import BackendUnavailableError

__all__ = [
    "UsageError",
    "add_json",
    "add_modules",
    "add_rest",
    "import_modules",
    "output_aside",
    "print_json",
    "usage_errors",
]


class UsageError(Exception):
    """Something in the arguments names what does not exist; the text is one line."""


@contextmanager
def usage_errors() -> Iterator[None]:
    """Report the errors of a block that looks up what the user named: one line, no traceback."""
    try:
        yield
    except (RuntimeError, TypeError) as error:
        text = " ".join(line.strip() for line in str(error).splitlines())
        key = str(getattr(error, "device", "")).upper()
        if isinstance(error, BackendUnavailableError) and key in DispatchKey.__members__:
            text += f" (or ask for the dispatch key {key}, which needs no backend)"
        raise UsageError(text) from None


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON, for tools")


def add_rest(parser: argparse.ArgumentParser) -> None:
    """Add what stands behind a script: its arguments, all that are left."""
    rest = argparse.REMAINDER
    parser.add_argument("args", nargs=rest, metavar="...", help="its arguments").required = False


def add_modules(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--import``."""
    parser.add_argument(
        "--import",
        dest="modules",
        metavar="MODULE",
        action="append",
        default=[],
        help="import a module first, for ops and kernels that it registers; may be repeated",
    )


def import_modules(names: list[str]) -> None:
    """Import the modules that the user named; the current folder is searched, as by ``python -m``.

    Raises:
        UsageError: if one cannot be imported.
    """
    if names and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 (a module may raise anything)
            lines = " ".join(str(error).split())
            raise UsageError(f"cannot import {name!r}: {type(error).__name__}: {lines}") from None


def print_json(data: Any) -> None:
    """Print plain data as JSON."""
    print(json.dumps(data, indent=2))


@contextmanager
def output_aside(wanted: bool = True) -> Iterator[None]:
    """Have what others print, in this process or in those it starts, go to standard error.

    So standard output is left for `print_json`.
    """
    if not wanted:
        yield
        return
    own = sys.stdout
    own.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        sys.stderr.flush()
        sys.stdout = own
        os.dup2(kept, 1)
        os.close(kept)
