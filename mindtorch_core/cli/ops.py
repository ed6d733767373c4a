"""List the ops and how a backend serves them.

An op is served by a kernel of the backend's own, by a decomposition into other ops, or not at all.
Primitives are the ops that a backend has to supply; everything else can be made of them.

Examples:
  mindtorch ops
  mindtorch ops --backend meta --missing
  mindtorch ops --backend CUDA --primitives
"""

from __future__ import annotations

import argparse

from .usage import add_json, add_modules, import_modules, print_json, usage_errors

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--backend",
        default="cpu",
        help="a device (default: cpu), or a backend's dispatch key such as CUDA",
    )
    parser.add_argument("--missing", action="store_true", help="list only ops it does not serve")
    parser.add_argument("--primitives", action="store_true", help="list only primitives")
    add_modules(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    from ..inspection import coverage
    from ..inspection.text import coverage_text

    import_modules(options.modules)
    with usage_errors():
        found = coverage(options.backend)
    shown = [
        each
        for each in found.ops
        if (each.served == "missing" or not options.missing)
        and (each.primitive or not options.primitives)
    ]
    if options.json:
        print_json({**found.to_dict(), "ops": [each.to_dict() for each in shown]})
    else:
        print(coverage_text(found, shown))
    return 0
