"""Communicators that are wrong in one thing each, which the variable WRONG names: the kit must find it."""

import os

from mindtorch_core.communication import Finished
from mindtorch_core.plugins import hookimpl
from mindtorch_mpi.communicator import MPICommunicator
from mindtorch_mpi.engine import MPIEngine

FAULT = os.environ["WRONG"]


class Wrong(MPICommunicator):
    def all_reduce(self, call, tensor, reduction):
        if FAULT == "patient":
            call.deadline += 1000
        if FAULT == "early" and not call.waits:
            # What it says is done never comes, so that no test depends on its speed.
            return Finished()
        task = super().all_reduce(call, tensor, reduction)
        if FAULT == "sum" and tensor.numel():
            task.wait()
            tensor.view(-1)[-1] += 1
        return task

    def all_gather(self, call, output, tensor):
        task = super().all_gather(call, output, tensor)
        if FAULT == "order":
            task.wait()
            output.copy_(output.reshape(self.size, -1).flip(0).reshape(output.shape))
        return task

    def send(self, call, tensor, peer, tag):
        return super().send(call, tensor, peer, 0 if FAULT == "tags" else tag)

    def recv(self, call, tensor, peer, tag):
        return super().recv(call, tensor, peer, 0 if FAULT == "tags" else tag)

    def split(self, call, ranks):
        found = super().split(call, sorted(ranks) if FAULT == "group" else ranks)
        if found is not None:
            found.__class__ = Wrong
        return found

    def _agree(self, call):
        if FAULT == "silent":
            return
        yield from super()._agree(call)


class WrongEngine(MPIEngine):
    name = "wrong"

    def connect(self, rank, size, store, timeout):
        made = super().connect(rank, size, store, timeout)
        made.__class__ = Wrong
        return made


@hookimpl
def mindtorch_communicator():
    return WrongEngine()
