"""A communicator that is wrong in the things that the variable WRONG names: the kit must find them."""

import os

from mindtorch_core.communication import Finished, Then
from mindtorch_core.plugins import hookimpl
from mindtorch_mpi.communicator import MPICommunicator
from mindtorch_mpi.engine import MPIEngine

FAULTS = os.environ["WRONG"].split()


class Unfinished(Then):
    done = False


class Wrong(MPICommunicator):
    def all_reduce(self, call, tensor, reduction):
        if "patient" in FAULTS:
            call.deadline += 1000
        if "early" in FAULTS and not call.waits:
            # What it says is done never comes, so that no test depends on its speed.
            return Finished()
        task = super().all_reduce(call, tensor, reduction)
        if "unfinished" in FAULTS and not call.waits:
            return Unfinished([task])
        if "sum" in FAULTS and tensor.numel():
            task.wait()
            tensor.view(-1)[-1] += 1
        return task

    def all_gather(self, call, output, tensor):
        task = super().all_gather(call, output, tensor)
        if "order" in FAULTS:
            task.wait()
            output.copy_(output.reshape(self.size, -1).flip(0).reshape(output.shape))
        return task

    def barrier(self, call, device):
        return Finished() if "open" in FAULTS else super().barrier(call, device)

    def send(self, call, tensor, peer, tag):
        return super().send(call, tensor, peer, 0 if "tags" in FAULTS else tag)

    def recv(self, call, tensor, peer, tag):
        return super().recv(call, tensor, peer, 0 if "tags" in FAULTS else tag)

    def split(self, call, ranks):
        found = super().split(call, sorted(ranks) if "group" in FAULTS else ranks)
        if found is not None:
            found.__class__ = Wrong
        return found

    def _agree(self, call):
        if "silent" in FAULTS:
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
