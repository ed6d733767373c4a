"""``python -m torch.distributed.launch``: torchrun by its older name; scripts are given ``--local-rank``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

# By its whole name: run as a module, this one is `torch.distributed.launch`.
from mindtorch_core.values.user_warnings import warn_user

from . import run as torchrun

__all__ = ["launch", "main", "parse_args"]


def parse_args(args: Sequence[str] | None) -> argparse.Namespace:
    """What a command line says: torchrun's options, and ``--use-env``."""
    parser = torchrun.get_args_parser()
    parser.add_argument(
        *("--use-env", "--use_env"), action="store_true", help="give the script no --local-rank"
    )
    return parser.parse_args(args)


def launch(args: argparse.Namespace) -> None:
    """Run a script in several processes, and wait.

    Raises:
        ValueError: as `torchrun.run`, or for a command that would be given ``--local-rank``.
        ChildFailedError: if a process fails.
    """
    torchrun.run(args)


def main(args: Sequence[str] | None = None) -> NoReturn:
    """The command: it warns, and this process becomes `mindtorch run -n`."""
    warn_user(
        "torch.distributed.launch is deprecated: use torchrun, of which scripts read the variable LOCAL_RANK "
        "instead of an option --local-rank",
        FutureWarning,
    )
    torchrun.main(parse_args(args))


if __name__ == "__main__":
    main()
