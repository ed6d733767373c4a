"""List the ops and how a backend serves them.

An op is served by a kernel of the backend's own, by a decomposition into other ops, or not at all.
Primitives are the ops that a backend has to supply; everything else can be made of them.

Examples:
  mindtorch ops
  mindtorch ops softmax
  mindtorch ops 'linalg_*' --backend meta
  mindtorch ops --backend meta --missing
  mindtorch ops --backend CUDA --primitives
"""

from __future__ import annotations

import argparse
import fnmatch

from ..dispatch.nearest import suggestion
from .tables import drawn, print_table
from .usage import UsageError, add_json, add_modules, import_modules, print_json, usage_errors

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "pattern",
        metavar="NAME",
        nargs="?",
        help="list only ops whose names contain it, or match it if it has a '*' or '?'",
    )
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
    from ..inspection.text import PRIMITIVES, coverage_head, coverage_text, support_rows

    import_modules(options.modules)
    with usage_errors():
        found = coverage(options.backend)
    shown = [
        each
        for each in found.ops
        if (each.served == "missing" or not options.missing)
        and (each.primitive or not options.primitives)
        and (options.pattern is None or _matches(each.op, options.pattern))
    ]
    if options.pattern is not None and not shown:
        bases = {each.op.partition("::")[2].partition(".")[0] for each in found.ops}
        near = suggestion(options.pattern, bases)
        raise UsageError(f"no op listed by these options matches {options.pattern!r}.{near}")
    if options.json:
        print_json({**found.to_dict(), "ops": [each.to_dict() for each in shown]})
    elif shown and drawn():
        print("\n".join(coverage_head(found)))
        head, *rows = support_rows(shown)
        print_table(head, rows)
        print(PRIMITIVES if any(each.primitive for each in shown) else "", end="\n")
    else:
        print(coverage_text(found, shown))
    return 0


def _matches(op: str, pattern: str) -> bool:
    """Whether a qualified name is meant: with its namespace only where the pattern has one."""
    name = op if "::" in pattern else op.partition("::")[2]
    if "*" in pattern or "?" in pattern:
        return fnmatch.fnmatchcase(name, pattern)
    return pattern in name
