"""A backend without data, under a PrivateUse key: its kernels are the rules of the ops.

It serves every op that has a rule, so it shows what the core does to calls on a device that is not
the CPU. Like ``plugin.py`` it is copied into a package of its own.
"""

import mindtorch_core as torch
from mindtorch_core.backend import Runtime, Storage, definitions, make_tensor
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.plugins import Backend, hookimpl

from .config import DEVICE


class ShapesRuntime(Runtime):
    """One device whose memory is nothing."""

    executes = False
    autocast_dtype = torch.float16

    def device_count(self):
        return 1

    def allocate(self, nbytes, on):
        return None

    def copy_from_host(self, memory, start, data):
        pass

    def copy_to_host(self, memory, start, nbytes):
        return memoryview(bytes(nbytes))

    def storage_of(self, tensor):
        return Storage(None, tensor.nbytes, tensor.device)


RUNTIME = ShapesRuntime()


@hookimpl
def mindtorch_backend():
    return Backend(device=DEVICE, runtime=RUNTIME, api=2)


@hookimpl
def mindtorch_register(key):
    for d in definitions():
        if d.rule is not None and not d.traits.view and not d.traits.data_dependent:
            registry.register_kernel(d.name, key, kernel(d), promoted=True)


def kernel(d):
    def made(spec):
        layout = None if spec.strides is None else (spec.strides, 0)
        on = torch.device(DEVICE, 0)
        return make_tensor(None, spec.shape, spec.dtype, on, RUNTIME.key, None, layout)

    def run(*args, **kwargs):
        spec = d.rule(*args, **kwargs)
        if d.functional is not None:
            return args[0]
        return tuple(map(made, spec)) if isinstance(spec, tuple) else made(spec)

    return run
