"""``torch.distributed.run``, and so torchrun: its options, for `mindtorch run -n` on one machine."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Any, Final, NoReturn

from .elastic.multiprocessing.errors import ChildFailedError

__all__ = ["get_args_parser", "main", "parse_args", "run"]


# How a script, or a module, is run that is told its local rank as an argument.
_TOLD: Final = (
    "import os, runpy, sys; "
    "sys.argv[:2] = [sys.argv[1], '--local-rank=' + os.environ['LOCAL_RANK']]; "
)
_MODULE: Final = _TOLD + "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
_SCRIPT: Final = (
    _TOLD + "sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0])); "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)


class _FromEnvironment(argparse.Action):
    """An option whose default is a variable ``PET_<NAME>``."""

    def __init__(self, dest: str, default: Any = None, **kwargs: Any) -> None:
        super().__init__(
            dest=dest, default=os.environ.get(f"PET_{dest.upper()}", default), **kwargs
        )

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        setattr(namespace, self.dest, values)


# Options with a value, their defaults, and what becomes of them. Those of which nothing is said are
# taken so that commands written for PyTorch run, and change nothing on one machine.
_VALUES: tuple[tuple[str, Any, str], ...] = (
    ("nnodes", "1:1", "number of machines, which must be 1"),
    ("nproc-per-node", "1", "number of processes: a number, auto, cpu or gpu"),
    ("rdzv-backend", "static", ""),
    ("rdzv-endpoint", "", "where the store is, as host:port; a free port by default"),
    ("rdzv-id", "none", "name of the run, as TORCHELASTIC_RUN_ID"),
    ("rdzv-conf", "", ""),
    ("max-restarts", 0, "how often all begin again after a failure"),
    ("monitor-interval", 0.1, ""),
    ("start-method", "spawn", ""),
    ("event-log-handler", "null", ""),
    ("role", "default", "as ROLE_NAME"),
    ("log-dir", None, "where files of what processes write are made"),
    ("local-ranks-filter", "", "the ranks of which anything is shown, as 0,2"),
    ("duplicate-stdout-filters", "", "refused: filter the files of --tee"),
    ("duplicate-stderr-filters", "", "refused: filter the files of --tee"),
    ("node-rank", 0, "number of this machine, which must be 0"),
    ("master-addr", "127.0.0.1", "where the store is"),
    ("master-port", None, "the store's port; a free one by default"),
    ("local-addr", None, ""),
    ("logs-specs", None, "default; say where lines go by --log-dir, --redirects and --tee"),
    ("numa-binding", None, ""),
    ("signals-to-handle", "SIGTERM,SIGINT,SIGHUP,SIGQUIT", ""),
    ("shutdown-timeout", None, ""),
)
_TYPES = {
    "max-restarts": int,
    "node-rank": int,
    "master-port": int,
    "monitor-interval": float,
    "shutdown-timeout": int,
}
_FLAGS = (
    ("standalone", "take a free port, whatever else is said of the store"),
    ("run-path", "run the script by its path"),
    ("virtual-local-rank", ""),
)


def get_args_parser() -> argparse.ArgumentParser:
    """The options of torchrun."""
    parser = argparse.ArgumentParser(
        "torchrun",
        description="Run a script in several processes of one machine.",
        allow_abbrev=False,
    )
    taken = "taken for PyTorch's sake"
    for name, default, text in _VALUES:
        under = name.replace("-", "_")
        spelled = [f"--{name}"] + ([f"--{under}"] if under != name else [])
        parser.add_argument(
            *spelled, dest=under, default=default, type=_TYPES.get(name, str), help=text or taken,
            action=_FromEnvironment,
        )  # fmt: skip
    for name, text in _FLAGS:
        parser.add_argument(
            *dict.fromkeys([f"--{name}", f"--{name.replace('-', '_')}"]),
            action="store_true",
            help=text or taken,
        )
    parser.add_argument(
        "-m", "--module", action="store_true", help="run a module, as python -m does"
    )
    parser.add_argument(
        "--no-python", "--no_python", action="store_true", help="run a command that is no script"
    )
    for name, text in (
        ("redirects", "what goes into files: 1 stdout, 2 stderr, 3 both, or by rank as 0:3,1:2"),
        ("tee", "what goes into files and is shown too, with ranks"),
    ):
        parser.add_argument(
            f"-{name[0]}", f"--{name}", default="0", help=text, action=_FromEnvironment
        )
    parser.add_argument("training_script", help="the script")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def parse_args(args: Sequence[str] | None) -> argparse.Namespace:
    """What a command line says."""
    return get_args_parser().parse_args(args)


def run(args: argparse.Namespace) -> None:
    """Run a script in several processes, and wait.

    Raises:
        ValueError: for options that ask for more than one machine, or no number of processes.
        ChildFailedError: if a process fails.
    """
    command, env = _command(args)
    status = subprocess.run(command, env=env, check=False).returncode
    if status:
        raise ChildFailedError(args.training_script, {}, status)


def main(args: Sequence[str] | argparse.Namespace | None = None) -> NoReturn:
    """The command torchrun: this process becomes `mindtorch run -n`."""
    parsed = args if isinstance(args, argparse.Namespace) else parse_args(args)
    try:
        command, env = _command(parsed)
    except ValueError as error:
        print(f"torchrun: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        os.execve(command[0], command, env)
    sys.exit(subprocess.run(command, env=env, check=False).returncode)


def _command(args: argparse.Namespace) -> tuple[list[str], dict[str, str]]:
    """The command that runs the processes, and its environment."""
    if str(args.nnodes) not in ("1", "1:1") or int(args.node_rank):
        raise ValueError(
            f"--nnodes {args.nnodes} --node-rank {args.node_rank}: torchrun serves one machine; "
            "on several, start the processes by mpiexec or srun"
        )
    if args.logs_specs not in (None, "default") and not entry_points(
        group="torchrun.logs_specs", name=args.logs_specs
    ):
        raise ValueError(
            f"Could not find entrypoint under 'torchrun.logs_specs[{args.logs_specs}]' key"
        )
    for name in ("duplicate_stdout_filters", "duplicate_stderr_filters", "logs_specs"):
        if getattr(args, name) not in (None, "", "default"):
            raise ValueError(
                f"--{name.replace('_', '-')} is not supported: lines go where --log-dir, --redirects, "
                "--tee and --local-ranks-filter say"
            )
    if args.module and args.no_python:
        raise ValueError(
            "Don't use both the '--no-python' flag and the '--module' flag at the same time."
        )
    count = _count(str(args.nproc_per_node))
    start = [sys.executable, "-m", "mindtorch_core", "run", "-n", str(count)]
    start += ["--max-restarts", str(args.max_restarts)]
    if str(args.tee) == "0":
        start.append("--plain")
    for name in ("log-dir", "redirects", "tee", "local-ranks-filter"):
        if given := getattr(args, name.replace("-", "_")):
            start.append(f"--{name}={given}")
    if not getattr(args, "use_env", True):  # `launch` alone has it
        if args.no_python:
            raise ValueError(
                "When using the '--no-python' flag, you must also set the '--use-env' flag."
            )
        start += ["-c", _MODULE if args.module else _SCRIPT, args.training_script]
    elif args.no_python:
        code = "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"
        start += ["-c", code, args.training_script]
    else:
        start += ["-m", args.training_script] if args.module else [args.training_script]
    env = {**os.environ, "TORCHELASTIC_RUN_ID": args.rdzv_id, "ROLE_NAME": args.role}
    env.pop("MASTER_PORT", None)
    if not args.standalone:
        host, _, port = args.rdzv_endpoint.rpartition(":")
        env["MASTER_ADDR"] = host or args.master_addr
        if port or args.master_port is not None:
            env["MASTER_PORT"] = port or str(args.master_port)
    return [*start, *args.training_script_args], env


def _count(text: str) -> int:
    """How many processes ``--nproc-per-node`` means.

    Raises:
        ValueError: if that is no number.
    """
    if text.isdigit() and int(text):
        return int(text)
    known: dict[str, Callable[[], int]] = {
        "cpu": lambda: os.cpu_count() or 1,
        "gpu": _devices,
        "auto": _devices,
    }
    if text not in known:
        raise ValueError(f"Unsupported nproc_per_node value: {text}")
    found = known[text]() or (known["cpu"]() if text == "auto" else 0)
    if not found:
        raise ValueError("Cuda is not available.")
    return found


def _devices() -> int:
    """How many devices the machine's accelerator has; 0 without one."""
    from ..accelerator import current_accelerator, device_count

    return 0 if current_accelerator() is None else device_count()


if __name__ == "__main__":
    main()
