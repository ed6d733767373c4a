"""Show what backends keep on disk for later processes, such as compiled kernels, and clear it.

Examples:
  mindtorch cache
  mindtorch cache --clear
"""

from __future__ import annotations

import argparse
from contextlib import suppress

from .tables import drawn, print_table
from .usage import add_json, print_json

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--clear", action="store_true", help="delete it")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print a line for each backend that keeps something; one that cannot be loaded keeps nothing."""
    from ..plugins import backends
    from ..plugins.loader import ask
    from ..values.errors import BackendUnavailableError

    found = {}
    for status in backends():
        with suppress(BackendUnavailableError):
            told = ask(status.name, "mindtorch_cache", clear=options.clear)
            if told is not None:
                found[status.name] = str(told)
    if options.json:
        print_json(found)
    elif found and drawn():
        print_table(("backend", "keeps"), list(found.items()))
    else:
        for name, text in found.items():
            print(f"{name}: {text}")
    return 0
