"""Run a program that says `import torch` on mindtorch, unchanged and without installing anything.

It runs as 'python' would run it, and so do the processes that it starts. Options of this command, and those
of Python that are named below, stand before the script, -m or -c; what follows is the program's.

Examples:
  mindtorch run train.py --epochs 1
  mindtorch run -m pytest tests
  mindtorch run -c "import torch; print(torch.ones(2))"
  mindtorch run -u -W error < train.py
  mindtorch run -i                     a prompt
  mindtorch run --device npu --as-cuda train.py --device cuda
  mindtorch run -n 4 train.py          four processes, see torch.distributed
  mindtorch run --json train.py        how it was run and how it ended; what it prints goes to standard error
  mindtorch run -n 4 --elastic train.py   replaces one that dies, see torch.distributed.elastic
"""

from __future__ import annotations

import argparse
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .usage import UsageError, add_json, add_rest, output_aside, print_json

if TYPE_CHECKING:
    from .logs import Logs

__all__ = ["add_arguments", "run"]

# What stands in it is on the program's path: a package `torch`, and its metadata.
FOLDER: Final = Path(__file__).parent / "dropin"
HIDING: Final = (
    "-E",
    "-I",
    "-S",
)  # options of Python that leave out that path, or what is installed


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
    parser.add_argument(
        "--grace",
        type=float,
        metavar="SECONDS",
        help="with -n: how long the others may take to end by themselves after a failure (5)",
    )
    parser.add_argument("--plain", action="store_true", help="with -n: lines without ranks")
    _add_logs(parser)
    add_json(parser)
    _add_options_of_python(parser)
    rest = argparse.REMAINDER
    parser.add_argument("-m", dest="module", nargs=rest, metavar="...", help="a module to run")
    parser.add_argument("-c", dest="code", nargs=rest, metavar="...", help="a text to run")
    parser.add_argument("script", nargs="?", metavar="SCRIPT", help="the Python file to run")
    add_rest(parser)


def _add_logs(parser: argparse.ArgumentParser) -> None:
    """Torchrun's options about what processes write."""
    for flag, metavar, meaning in (
        ("--log-dir", "DIR", "where files of what processes write are made"),
        (
            "--redirects",
            "STREAMS",
            "what goes into files: 1 stdout, 2 stderr, 3 both, or by rank as 0:3,1:2",
        ),
        ("--tee", "STREAMS", "what goes into files and is shown too"),
        ("--local-ranks-filter", "RANKS", "the ranks of which anything is shown, as 0,2"),
    ):
        parser.add_argument(flag, metavar=metavar, help=f"with -n: {meaning}")


def _add_options_of_python(parser: argparse.ArgumentParser) -> None:
    for flag, meaning in (
        ("-u", "as of python: write output at once"),
        ("-O", "as of python: leave out assert; twice: docstrings too"),
        ("-B", "as of python: write no .pyc files"),
        ("-b", "as of python: warn where bytes are compared with text; twice: raise"),
        ("-i", "as of python: a prompt after the program, or instead of one"),
        ("-P", "as of python: leave the program's folder out of the path"),
        ("-q", "as of python: a prompt without a heading"),
        ("-s", "as of python: leave the user's own packages out of the path"),
        ("-v", "as of python: tell of each import"),
        ("-x", "as of python: skip the program's first line"),
    ):
        parser.add_argument(flag, dest="python", action="append_const", const=flag, help=meaning)
    for flag in HIDING:
        parser.add_argument(
            flag, dest="python", action="append_const", const=flag, help=argparse.SUPPRESS
        )
    for letter, meaning in (("W", "what warnings do"), ("X", "an option of the interpreter")):
        parser.add_argument(
            f"-{letter}", dest="python", action="append", type=f"-{letter}{{}}".format,
            metavar="VALUE", help=f"as of python: {meaning}",
        )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Run the program; this process becomes it where the system allows that."""
    command = [sys.executable, *_interpreter_options(options), *_program(options)]
    added = _environment(options)
    env = {**os.environ, **added}
    if options.count is not None and options.count < 1:
        raise UsageError(f"-n wants a number of processes, got {options.count}")
    sys.stdout.flush()
    sys.stderr.flush()
    if options.count is None:
        _refuse_options_of_several(options)
    if options.grace is not None and not 0 <= options.grace < float("inf"):
        raise UsageError(f"--grace wants a number of seconds, got {options.grace:g}")
    if options.max_restarts is not None and options.max_restarts < 0:
        raise UsageError(
            f"--max-restarts wants a number that is not negative, got {options.max_restarts}"
        )
    if options.json:
        start = time.perf_counter()
        with output_aside():
            status = _status(command, env, options)
        seconds = round(time.perf_counter() - start, 3)
        print_json({"command": command, "environment": added, "status": status, "seconds": seconds})
        return status
    if options.count is None and os.name == "posix":
        os.execve(command[0], command, env)
    return _status(command, env, options)


def _refuse_options_of_several(options: argparse.Namespace) -> None:
    """Refuse what one process cannot have.

    Raises:
        UsageError: if anything of it is asked for.
    """
    given = (options.max_restarts, options.grace, options.log_dir, options.redirects, options.tee)
    if options.elastic or options.plain or {*given, options.local_ranks_filter} != {None}:
        raise UsageError(
            "--elastic, --max-restarts, --grace, --plain, --log-dir, --redirects, --tee and "
            "--local-ranks-filter go with -n"
        )


def _logs(options: argparse.Namespace) -> Logs:
    """Where what processes write goes.

    Raises:
        UsageError: for texts that mean nothing, or a folder that is a file.
    """
    from .logs import Logs

    run, shown = os.environ.get("TORCHELASTIC_RUN_ID", "none"), options.local_ranks_filter or ""
    try:
        return Logs(options.log_dir, run, options.redirects or "0", options.tee or "0", shown)
    except (ValueError, OSError) as error:
        raise UsageError(str(error)) from None


def _status(command: list[str], env: dict[str, str], options: argparse.Namespace) -> int:
    """Run the program, or so many processes of it, to its end."""
    if options.count is None:
        code = subprocess.run(command, env=env, check=False).returncode
        return code if code >= 0 else 128 - code  # as a shell tells of a signal
    from .launch import launch

    restarts = options.max_restarts
    return launch(
        command, env, options.count, elastic=options.elastic, labelled=not options.plain,
        restarts=(3 if options.elastic else 0) if restarts is None else restarts,
        grace=5.0 if options.grace is None else options.grace,
        logs=_logs(options),
    )  # fmt: skip


def _program(options: argparse.Namespace) -> list[str]:
    """What the interpreter is told to run.

    Raises:
        UsageError: if that is nothing and nothing is piped in, or a file that is not there.
    """
    for flag, given in (("-m", options.module), ("-c", options.code)):
        if given is not None:
            if not given:
                raise UsageError(f"{flag} wants an argument")
            return [flag, *given]
    if options.script is None:
        prompt = "-i" in (options.python or ())
        if options.count is None and (prompt or _program_on_standard_input()):
            return []
        raise UsageError("name a script, or a module after -m, or a text after -c")
    if options.script != "-" and not Path(options.script).exists():
        raise UsageError(f"there is no file {options.script!r}")
    return [options.script, *options.args]


def _program_on_standard_input() -> bool:
    """Whether a pipe or a file stands there; a terminal has nothing to run."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:  # it was closed
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _interpreter_options(options: argparse.Namespace) -> list[str]:
    """The options of Python that this process was started with, such as -W error, and those given.

    Raises:
        UsageError: for one with which Python would not find mindtorch.
    """
    started: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # as multiprocessing
    given = [*started, *(options.python or ())]
    for flag in HIDING:
        if flag in given:
            raise UsageError(
                f"{flag} hides mindtorch from Python: leave it out, or install mindtorch-torch and run the "
                "program with 'python'"
            )
    return given


def _environment(options: argparse.Namespace) -> dict[str, str]:
    """What the program and its children inherit."""
    path = os.environ.get("PYTHONPATH")
    env = {
        "PYTHONPATH": os.pathsep.join([str(FOLDER), *([path] if path else [])]),
        "MINDTORCH_TORCH": "1",
    }
    device = _accelerator() if options.as_cuda and options.device is None else options.device
    if device is not None:
        env["MINDTORCH_ACCELERATOR"] = _known(device)
    if options.as_cuda:
        env["MINDTORCH_STANDS_FOR"] = f"cuda={device}"
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
