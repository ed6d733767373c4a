"""Run a program that says `import torch` on mindtorch, unchanged and without installing anything.

It runs as 'python' would run it, and so do the processes that it starts. Options of this command stand
before the script, -m or -c; what follows is the program's.

Examples:
  mindtorch run train.py --epochs 1
  mindtorch run -m pytest tests
  mindtorch run -c "import torch; print(torch.ones(2))"
  mindtorch run --device npu --as-cuda train.py --device cuda
  mindtorch run -n 4 train.py          four processes, see torch.distributed
  mindtorch run -n 4 --elastic train.py   replaces one that dies, see torch.distributed.elastic
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from .usage import UsageError

__all__ = ["add_arguments", "run"]

# What stands in it is on the program's path: a package `torch`, and its metadata.
FOLDER: Final = Path(__file__).parent / "dropin"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--device", help="the device that torch.accelerator shows, where several are installed"
    )
    parser.add_argument(
        "--as-cuda",
        action="store_true",
        help="let torch.cuda and the device 'cuda' mean that device, for programs written for GPUs",
    )
    parser.add_argument(
        "-n",
        dest="count",
        type=int,
        metavar="COUNT",
        help="run so many processes of it, which torch.distributed connects",
    )
    parser.add_argument(
        "--elastic",
        action="store_true",
        help="with -n: a process that dies is replaced while the others go on, see torch.distributed.elastic",
    )
    parser.add_argument(
        "--max-restarts",
        type=int,
        metavar="COUNT",
        help="with -n: how often all begin again after a failure, or one is replaced (0; 3 with --elastic)",
    )
    parser.add_argument("--plain", action="store_true", help="with -n: lines without ranks")
    rest = argparse.REMAINDER
    parser.add_argument("-m", dest="module", nargs=rest, metavar="...", help="a module to run")
    parser.add_argument("-c", dest="code", nargs=rest, metavar="...", help="a text to run")
    parser.add_argument("script", nargs="?", metavar="SCRIPT", help="the Python file to run")
    args = parser.add_argument("args", nargs=rest, metavar="...", help="its arguments")
    args.required = False


def run(options: argparse.Namespace) -> int:
    """Run the program; this process becomes it where the system allows that."""
    command = [sys.executable, *_interpreter_options(), *_program(options)]
    env = {**os.environ, **_environment(options)}
    sys.stdout.flush()
    sys.stderr.flush()
    if options.count is not None:
        if options.count < 1:
            raise UsageError(f"-n wants a number of processes, got {options.count}")
        from .launch import launch

        restarts = options.max_restarts
        if restarts is not None and restarts < 0:
            raise UsageError(f"--max-restarts wants a number that is not negative, got {restarts}")
        return launch(
            command, env, options.count, elastic=options.elastic, labelled=not options.plain,
            restarts=(3 if options.elastic else 0) if restarts is None else restarts,
        )  # fmt: skip
    if options.elastic or options.max_restarts is not None or options.plain:
        raise UsageError("--elastic, --max-restarts and --plain go with -n")
    if os.name == "posix":
        os.execve(command[0], command, env)
    return subprocess.run(command, env=env, check=False).returncode


def _program(options: argparse.Namespace) -> list[str]:
    """What the interpreter is told to run.

    Raises:
        UsageError: if that is nothing, or a file that is not there.
    """
    for flag, given in (("-m", options.module), ("-c", options.code)):
        if given is not None:
            if not given:
                raise UsageError(f"{flag} wants an argument")
            return [flag, *given]
    if options.script is None:
        raise UsageError("name a script, or a module after -m, or a text after -c")
    if options.script != "-" and not Path(options.script).exists():
        raise UsageError(f"there is no file {options.script!r}")
    return [options.script, *options.args]


def _interpreter_options() -> list[str]:
    """The options of Python that this process was started with, such as -W error."""
    found: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # as multiprocessing
    return found


def _environment(options: argparse.Namespace) -> dict[str, str]:
    """What the program and its children inherit."""
    path = os.environ.get("PYTHONPATH")
    env = {
        "PYTHONPATH": os.pathsep.join([str(FOLDER), *([path] if path else [])]),
        "MINDTORCH_TORCH": "1",
    }
    device = options.device
    if device is not None:
        env["MINDTORCH_ACCELERATOR"] = _known(device)
    if options.as_cuda:
        env["MINDTORCH_STANDS_FOR"] = f"cuda={device or _accelerator()}"
    return env


def _known(device: str) -> str:
    """A type of devices that an installed backend serves.

    Raises:
        UsageError: if none does.
    """
    from ..values.devices import row_of

    try:
        return row_of(device).type
    except RuntimeError as error:
        raise UsageError(" ".join(str(error).split())) from None


def _accelerator() -> str:
    """The type of the machine's accelerator.

    Raises:
        UsageError: if there is none.
    """
    from ..ecosystem.accelerator import current_accelerator

    found = current_accelerator()
    if found is None:
        raise UsageError(
            "--as-cuda: no installed backend has an accelerator; name one with --device"
        )
    return found.type
