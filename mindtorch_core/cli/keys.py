"""List the dispatch keys in their order, and the aliases with what they stand for.

A higher key goes first. Keys that exist once for each backend share a row.
"""

from __future__ import annotations

import argparse

from .tables import drawn, print_table
from .usage import add_json, print_json

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--all", action="store_true", help="a row for every single key")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    from ..inspection import aliases, keys
    from ..inspection.text import alias_text, key_rows, keys_text

    if options.json:
        print_json(
            {"keys": [k.to_dict() for k in keys()], "aliases": [a.to_dict() for a in aliases()]}
        )
    elif drawn():
        head, *rows = key_rows(keys(), every=options.all)
        print_table(head, rows, title="Runtime keys, highest priority first")
        print("\n".join(alias_text(keys(), aliases(), every=options.all)))
    else:
        print(keys_text(keys(), aliases(), every=options.all))
    return 0
