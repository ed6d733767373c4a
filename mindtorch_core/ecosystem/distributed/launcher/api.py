"""``torch.distributed.launcher.api``: a function in several processes of this machine."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....communication.launchers import free_port
from ....multiprocessing.spawn import ProcessException, start_processes
from ....serialization import load, save
from ..elastic.multiprocessing.api import LogsDest, LogsSpecs
from ..elastic.multiprocessing.errors import ChildFailedError, ProcessFailure, record
from .lines import Shown, redirect, streams_of

__all__ = ["LaunchConfig", "elastic_launch"]


@dataclass
class LaunchConfig:
    """How processes are started. What is about several machines is taken for PyTorch's sake.

    Attributes:
        min_nodes: the least number of machines, which must be 1.
        max_nodes: the greatest, which must be 1.
        nproc_per_node: how many processes.
        logs_specs: where their lines go; as they are, to where this process's do, by default.
        run_id: name of the run.
        role: of the processes.
        rdzv_endpoint: where the store is, as ``host:port``; a free port by default.
        max_restarts: how often all begin again after a failure.
        start_method: of `multiprocessing`.
        log_line_prefix_template: what stands before lines that go into a file and are shown.
    """

    min_nodes: int
    max_nodes: int
    nproc_per_node: int
    logs_specs: LogsSpecs | None = None
    run_id: str = ""
    role: str = "default_role"
    rdzv_endpoint: str = ""
    rdzv_backend: str = "etcd"
    rdzv_configs: dict[str, Any] = field(default_factory=dict)
    rdzv_timeout: int = -1
    max_restarts: int = 3
    monitor_interval: float = 0.1
    start_method: str = "spawn"
    log_line_prefix_template: str | None = None
    metrics_cfg: dict[str, str] = field(default_factory=dict)
    local_addr: str | None = None
    event_log_handler: str = "null"
    signals_to_handle: str = "SIGTERM,SIGINT,SIGHUP,SIGQUIT"
    duplicate_stdout_filters: list[str] | None = None
    duplicate_stderr_filters: list[str] | None = None
    virtual_local_rank: bool = False
    shutdown_timeout: int | None = None


class elastic_launch:
    """Runs a function in several processes: ``elastic_launch(config, function)(*args)``.

    Args:
        config: how.
        entrypoint: the function, which processes that do not fork must be able to import.

    Raises:
        ValueError: for several machines.
        TypeError: for something that is not a function: scripts are torchrun's.
    """

    def __init__(self, config: LaunchConfig, entrypoint: Callable[..., Any]) -> None:
        if (config.min_nodes, config.max_nodes) != (1, 1):
            raise ValueError("only the processes of one machine: start others by mpiexec or srun")
        if not callable(entrypoint):
            raise TypeError(
                f"entrypoint must be a function, got {entrypoint!r}; scripts are run by torchrun"
            )
        self._config, self._function = config, entrypoint

    def __call__(self, *args: Any) -> dict[int, Any]:
        """What the function returns, by rank.

        Raises:
            ChildFailedError: if a process fails once more than it may.
        """
        config = self._config
        for attempt in range(config.max_restarts + 1):
            with tempfile.TemporaryDirectory(prefix="mindtorch-launch-") as folder:
                envs = self._told(attempt, folder)
                logs = LogsDest() if config.logs_specs is None else config.logs_specs.reify(envs)
                streams = [streams_of(logs, rank) for rank in envs]
                try:
                    with Shown(logs, config.log_line_prefix_template, config.role):
                        start_processes(
                            _call, (envs, streams, folder, self._function, args), len(envs),
                            start_method=config.start_method,
                        )  # fmt: skip
                except ProcessException as error:
                    if attempt == config.max_restarts:
                        raise self._failed(error, envs) from error
                    continue
                return {rank: load(Path(folder) / str(rank), weights_only=False) for rank in envs}
        raise AssertionError("the last attempt returns or raises")

    def _told(self, attempt: int, folder: str) -> dict[int, dict[str, str]]:
        """What torchrun tells each process."""
        config = self._config
        host, _, port = config.rdzv_endpoint.rpartition(":")
        if not port or not int(port):
            port = str(free_port())
        count = str(config.nproc_per_node)
        all_of_them = {
            "WORLD_SIZE": count,
            "LOCAL_WORLD_SIZE": count,
            "ROLE_WORLD_SIZE": count,
            "ROLE_NAME": config.role,
            "GROUP_RANK": "0",
            "GROUP_WORLD_SIZE": "1",
            "MASTER_ADDR": host or "127.0.0.1",
            "MASTER_PORT": port,
            "TORCHELASTIC_RUN_ID": config.run_id or "none",
            "TORCHELASTIC_RESTART_COUNT": str(attempt),
            "TORCHELASTIC_MAX_RESTARTS": str(config.max_restarts),
        }
        told = {}
        for rank in range(config.nproc_per_node):
            own = {name: str(rank) for name in ("RANK", "LOCAL_RANK", "ROLE_RANK")}
            file = str(Path(folder) / f"{rank}.error.json")
            told[rank] = {**all_of_them, **own, "TORCHELASTIC_ERROR_FILE": file}
        return told

    def _failed(self, error: ProcessException, envs: dict[int, dict[str, str]]) -> ChildFailedError:
        status = getattr(error, "exit_code", 1)
        name = getattr(self._function, "__name__", repr(self._function))
        said = envs[error.error_index]["TORCHELASTIC_ERROR_FILE"]
        failure = ProcessFailure(error.error_index, error.pid, status, said)
        return ChildFailedError(name, {error.error_index: failure})


def _call(
    rank: int,
    envs: dict[int, dict[str, str]],
    streams: list[tuple[str, str]],
    folder: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
) -> None:
    """What a process does: the function, with torchrun's variables."""
    os.environ.update(envs[rank])
    redirect(streams[rank])
    save(record(function)(*args), Path(folder) / str(rank))
