"""The command ``mindtorch``: one module of this package for each of its commands.

`COMMANDS` says which there are. A command's module has two functions: ``add_arguments(parser)``, and
``run(options)``, which prints to standard output and returns the exit status. It is imported when
the command is given.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, Final, TextIO

from .. import __version__
from .usage import UsageError

__all__ = ["COMMANDS", "main"]

# Name of each command and what it does. Its module is named alike, with underscores for hyphens.
COMMANDS: Final = {
    "explain": "show which kernels a call of an op runs, and why",
    "ops": "list the ops and how a backend serves them",
    "keys": "list the dispatch keys in their order, and the aliases",
    "backends": "list the installed backends, and why one cannot be used",
    "cache": "show what backends keep on disk for later processes, and clear it",
    "bench": "measure what calls cost, beside PyTorch where it is installed",
    "doctor": "examine what the installed backends need, and say what is missing",
    "verify": "test an installed backend with the conformance kit",
    "new-backend": "write the package of a new backend",
    "run": "run a program that says `import torch` on mindtorch",
    "wheel-torch": "write a wheel named torch that is mindtorch, for what requires torch",
    "trace": "run a script and show what its pipelines record and launch",
    "predict-scaling": "predict how long a training step takes on many ranks",
    "completion": "print what makes a shell complete the commands and their options",
}

DESCRIPTION: Final = "Look into mindtorch: how ops are dispatched, and what backends serve."
EPILOG: Final = "'mindtorch COMMAND --help' tells more of a command."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: arguments without the program's name; by default those of the process.

    Returns:
        The exit status: 0 for success, 2 where the arguments were not understood.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            status = _run(arguments)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader, such as `head`, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            status = 141  # what a shell reports for it
        except KeyboardInterrupt:
            status = 130
    return status


def _run(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("mindtorch", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"mindtorch {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    modules: dict[str, Any] = {}
    for name, summary in COMMANDS.items():
        sub = commands.add_parser(name, help=summary)
        if name in arguments:
            module = importlib.import_module(f".{name.replace('-', '_')}", __package__)
            sub.description = (module.__doc__ or "").strip()
            sub.formatter_class = argparse.RawDescriptionHelpFormatter
            module.add_arguments(sub)
            modules[name] = module
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        commands.choices[options.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        status: int = modules[options.command].run(options)
    except UsageError as error:
        print(f"mindtorch {options.command}: {error}", file=sys.stderr)
        return 2
    return status


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as one line: which line of the framework gave it is of no use here."""
    print(f"mindtorch: warning: {str(message).removeprefix('mindtorch: ')}", file=sys.stderr)
