"""A backend in the middle of whose registration something may go wrong.

Like ``plugin.py`` it is copied into a package of its own, beside a ``config.py``.
"""

from mindtorch_core.backend import Runtime
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.plugins import Backend, hookimpl

from .config import DEVICE, FAILS


class NoRuntime(Runtime):
    """A device that is never used."""

    def device_count(self):
        return 0

    def allocate(self, nbytes, on):
        raise NotImplementedError

    def copy_from_host(self, memory, start, data):
        raise NotImplementedError

    def copy_to_host(self, memory, start, nbytes):
        raise NotImplementedError


@hookimpl
def mindtorch_backend():
    return Backend(device=DEVICE, runtime=NoRuntime(), api=2)


@hookimpl
def mindtorch_register(key):
    registry.register_kernel("add", key, print)
    registry.register_kernel("add", DispatchKey.CPU, print)
    registry.register_kernel("mul", key, print).remove()
    registry.register_schema("bad::op", "op(Tensor x) -> Tensor")
    registry.register("bad::op", key, print, meta=print, plan=print)
    registry.register_fallthrough("sub", key)
    registry.register_fallback(key, print)
    with registry.transaction():
        registry.register_kernel("exp", key, print)
    if FAILS:
        raise RuntimeError("the half-way point")
