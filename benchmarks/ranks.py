"""Libraries that are compared in two processes each, with one thread, which take turns.

A script that uses this asks with `Peer`, and answers with `serve` where it is started with `--serve NAME`.
Those that have no turn wait at a socket."""

from __future__ import annotations

import importlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

RANKS = 2
LIBRARIES = ("mindtorch", "torch")


def serve(library: str, answer: Callable[[Any, Any], Any]) -> None:
    """Be a process of a library: answer requests until there are no more.

    Args:
        library: its module, which has a group of all its processes when it is asked.
        answer: given the module and a request, gives what JSON can say.
    """
    torch = importlib.import_module(library)
    torch.distributed = importlib.import_module(f"{library}.distributed")
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo" if library == "torch" else None)
    link = socket.create_connection(("127.0.0.1", int(os.environ["BENCHMARK_PORT"])))
    with link, link.makefile("rw", encoding="ascii") as turns:
        for line in turns:
            turns.write(json.dumps(answer(torch, json.loads(line))) + "\n")
            turns.flush()
    torch.distributed.destroy_process_group()


class Peer:
    """The processes of a library.

    Args:
        library: mindtorch, which is started by ``mindtorch run``, or torch.
        script: what they run.
    """

    def __init__(self, library: str, script: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            free = probe.getsockname()[1]
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(60)
        env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        env |= {"BENCHMARK_PORT": str(self._server.getsockname()[1])}
        own = [script, "--serve", library]
        if library == "torch":
            env |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free), "WORLD_SIZE": str(RANKS)}
            self._started = [
                subprocess.Popen([sys.executable, *own], env={**env, "RANK": str(rank)})
                for rank in range(RANKS)
            ]
        else:
            command = [sys.executable, "-m", "mindtorch_core", "run", "-n", str(RANKS), *own]
            self._started = [subprocess.Popen(command, env=env)]
        self._links: list[Any] = []

    def __enter__(self) -> Peer:
        for _ in range(RANKS):
            self._links.append(self._server.accept()[0].makefile("rw", encoding="ascii"))
        return self

    def ask(self, request: Any) -> list[Any]:
        """What each process answers, in no order."""
        for link in self._links:
            link.write(json.dumps(request) + "\n")
            link.flush()
        return [json.loads(link.readline()) for link in self._links]

    def __exit__(self, *error: object) -> None:
        for link in self._links:
            link.close()
        self._server.close()
        for each in self._started:
            try:
                each.wait(20)
            except subprocess.TimeoutExpired:
                each.kill()
